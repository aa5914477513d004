/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The environment of a rank: an array and strings of its own, in the program's variable environ.
 *
 * At first it is the process's, with two differences.  Variables that give a process its place in the
 * job give the rank's.  What has loaded this library is not in it, so what a rank executes sees what
 * it would see without -ranks: an MPI program that a rank starts by system() does not become several
 * ranks, and a tool does not load MPI.
 *
 * Rank 0 of a process has libc's own variable, so libc itself (TZ, LANG, TMPDIR) and threads of no rank
 * see that rank's.
 *
 * Tests: ranks_environment, ranks_told
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/** Guards writes of all ranks' environments.  A read takes no lock, as in POSIX: a program that
 * writes while another thread reads has to order the two. */
static pthread_mutex_t writes = PTHREAD_MUTEX_INITIALIZER;

/** What a launcher or batch system tells a process, and the rank's. */
static const struct place_t {
    const char *name;
    size_t offset;
    bool is_always; /**< else only where it is set */
} places[] = {
    {"OMPI_COMM_WORLD_RANK", offsetof(mpix_rank_t, number), true},
    {"OMPI_COMM_WORLD_SIZE", offsetof(mpix_rank_t, size), true},
    {"OMPI_COMM_WORLD_LOCAL_RANK", offsetof(mpix_rank_t, local), true},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", offsetof(mpix_rank_t, local_size), true},
    {"OMPI_COMM_WORLD_NODE_RANK", offsetof(mpix_rank_t, local), true},
    {"PMIX_RANK", offsetof(mpix_rank_t, number), false},
    {"PMI_RANK", offsetof(mpix_rank_t, number), false},
    {"PMI_SIZE", offsetof(mpix_rank_t, size), false},
    {"SLURM_PROCID", offsetof(mpix_rank_t, number), false},
    {"SLURM_LOCALID", offsetof(mpix_rank_t, local), false},
    {"SLURM_NTASKS", offsetof(mpix_rank_t, size), false},
    {"SLURM_NPROCS", offsetof(mpix_rank_t, size), false},
};

/** Is that the name of the variable in the string? */
static bool is_of(const char *string, const char *name, size_t length)
{
    return 0 == strncmp(string, name, length) && '=' == string[length];
}

static char **environ_find(char **array, const char *name, size_t length)
{
    for (; NULL != array && NULL != *array; ++array) {
        if (**array == *name && is_of(*array, name, length)) {
            return array;
        }
    }
    return NULL;
}

/** LD_PRELOAD without our libraries, or NULL if nothing is left of it. */
static char *preload_without_ours(const char *list)
{
    static const char name[] = "LD_PRELOAD=";
    char *text = malloc(sizeof(name) + strlen(list));
    char *end = text;

    if (NULL == text) {
        return NULL;
    }
    end = stpcpy(end, name);
    for (const char *at = list; '\0' != *at;) {
        const size_t length = strcspn(at, ": ");
        const char *file = memrchr(at, '/', length);
        const char *base = NULL == file ? at : file + 1;

        if (length > 0 && 0 != strncmp(base, "libmpix_ranks.so", 16)
            && 0 != strncmp(base, "libmpix_endpoints.so", 20)) {
            if (end != text + strlen(name)) {
                *end++ = ':';
            }
            end = mempcpy(end, at, length);
            *end = '\0';
        }
        at += length;
        at += strspn(at, ": ");
    }
    if (end == text + strlen(name)) {
        free(text);
        return NULL;
    }
    return text;
}

/** A string of the process's environment as the rank has it, or NULL: it has not. */
static char *string_of_rank(const mpix_rank_t *rank, char *string)
{
    char *own;

    if (0 == strncmp(string, "MPIX_RANKS", 10)) {
        return NULL;
    }
    if (is_of(string, "LD_PRELOAD", 10)) {
        return preload_without_ours(string + 11);
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
        if (is_of(string, places[i].name, strlen(places[i].name))) {
            const int number = *(const int *) ((const char *) rank + places[i].offset);

            return asprintf(&own, "%s=%d", places[i].name, number) < 0 ? NULL : own;
        }
    }
    return string;
}

void mpix_ranks_environment_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable)
{
    static char **process; /* libc's, before rank 0 has it */
    mpix_ranks_environment_t *own = &rank->libc->environment;
    size_t count = 0;

    if (NULL == process) {
        process = environ;
    }
    while (NULL != process && NULL != process[count]) {
        ++count;
    }
    own->slot = variable(rank, "environ");
    own->slot = NULL != own->slot ? own->slot : variable(rank, "__environ");
    own->slot = NULL != own->slot ? own->slot : &own->at;
    own->capacity = count + 64;
    own->array = calloc(own->capacity, sizeof(*own->array));
    if (NULL == own->array) {
        mpix_ranks_refuse("no memory for the environment");
    }
    char **end = own->array;

    for (size_t i = 0; i < count; ++i) {
        *end = string_of_rank(rank, process[i]);
        end += NULL != *end;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
        if (places[i].is_always
            && NULL == environ_find(own->array, places[i].name, strlen(places[i].name))) {
            char text[64];

            (void) snprintf(text, sizeof(text), "%s=", places[i].name);
            *end++ = string_of_rank(rank, text);
        }
    }
    *own->slot = own->array;
}

static mpix_ranks_environment_t *rank_environment(void)
{
    return &mpix_ranks_self->libc->environment;
}

char **mpix_ranks_environment(void)
{
    return NULL == mpix_ranks_self ? environ : *rank_environment()->slot;
}

char **mpix_ranks_libc_environment(mpix_rank_t *rank)
{
    return *rank->libc->environment.slot;
}

MPIX_RANKS_EXPORT char *getenv(const char *name)
{
    const size_t length = strlen(name);
    char **found;

    /* Before this library has begun, and so before libc can be asked for its function. */
    found = environ_find(mpix_ranks_environment(), name, length);
    return NULL == found ? NULL : *found + length + 1;
}

MPIX_RANKS_EXPORT char *secure_getenv(const char *name)
{
    return NULL == mpix_ranks_self ? MPIX_RANKS_NEXT(secure_getenv)(name) : getenv(name);
}

static bool is_name(const char *name)
{
    return NULL != name && '\0' != *name && NULL == strchr(name, '=');
}

/** libc itself reads some variables: of the environment that rank 0 of the process has.  Another
 * rank's is read by nobody, and MPI has read its own before the rank has begun. */
static void environ_notice(const char *name)
{
    if (0 == strncmp(name, "OMPI_MCA_", 9) || 0 == strncmp(name, "PMIX_MCA_", 9)) {
        MPIX_RANKS_SAY_ONCE("a rank sets %s, which has no effect: MPI has begun before main", name);
    }
}

/** With `writes` held: the string into the array, in place of one of that name if there is one. */
static int string_set(char *string, size_t length)
{
    mpix_ranks_environment_t *own = rank_environment();
    char **array = *own->slot;
    char **found = environ_find(array, string, length);
    size_t count = 0;

    if (NULL != found) {
        *found = string;
        return 0;
    }
    while (NULL != array && NULL != array[count]) {
        ++count;
    }
    if (array != own->array || count + 2 > own->capacity) {
        /* What was allocated before stays: another thread may be reading it. */
        char **larger = calloc(2 * count + 64, sizeof(*larger));

        if (NULL == larger) {
            errno = ENOMEM;
            return -1;
        }
        if (count > 0) {
            memcpy(larger, array, count * sizeof(*larger));
        }
        own->array = larger;
        own->capacity = 2 * count + 64;
        *own->slot = larger;
        array = larger;
    }
    array[count + 1] = NULL;
    array[count] = string;
    return 0;
}

MPIX_RANKS_EXPORT int setenv(const char *name, const char *value, int is_forced)
{
    char *string;
    int rc = 0;

    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(setenv)(name, value, is_forced);
    }
    if (!is_name(name)) {
        errno = EINVAL;
        return -1;
    }
    environ_notice(name);
    if (asprintf(&string, "%s=%s", name, value) < 0) {
        errno = ENOMEM;
        return -1;
    }
    (void) pthread_mutex_lock(&writes);
    if (is_forced || NULL == environ_find(*rank_environment()->slot, name, strlen(name))) {
        rc = string_set(string, strlen(name));
    }
    (void) pthread_mutex_unlock(&writes);
    return rc;
}

MPIX_RANKS_EXPORT int unsetenv(const char *name)
{
    char **found;

    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(unsetenv)(name);
    }
    if (!is_name(name)) {
        errno = EINVAL;
        return -1;
    }
    (void) pthread_mutex_lock(&writes);
    found = environ_find(*rank_environment()->slot, name, strlen(name));
    while (NULL != found) {
        for (char **at = found; NULL != *at; ++at) {
            at[0] = at[1];
        }
        found = environ_find(found, name, strlen(name));
    }
    (void) pthread_mutex_unlock(&writes);
    return 0;
}

MPIX_RANKS_EXPORT int putenv(char *string)
{
    const char *end = strchr(string, '=');
    int rc;

    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(putenv)(string);
    }
    if (NULL == end) {
        return unsetenv(string);
    }
    environ_notice(string);
    (void) pthread_mutex_lock(&writes);
    rc = string_set(string, (size_t) (end - string));
    (void) pthread_mutex_unlock(&writes);
    return rc;
}

MPIX_RANKS_EXPORT int clearenv(void)
{
    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(clearenv)();
    }
    (void) pthread_mutex_lock(&writes);
    *rank_environment()->slot = NULL;
    (void) pthread_mutex_unlock(&writes);
    return 0;
}
