/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process dies while members write or read one file together, at some moment: collectively, with
 * a filetype that interleaves them, or in order.  One process after the other dies, the last one
 * first; those that are left make a communicator and a file of their own before each.
 *
 * A survivor has success, or MPI_ERR_PROC_FAILED; then the next call fails as
 * well, and the file can be closed, of which nothing is left then.  In the file is what POSIX makes
 * of the writes: the bytes of all calls that were successful anywhere, and of the one that failed
 * here and there the old or the new ones.
 *
 *   --ep N     endpoints of each process
 *   --first N  changes the moments
 *
 * The program speaks TAP, process 0 for all; the launcher tells the survivors of each death.
 *
 * Guards: local_group.c, two_phase.c, fcoll_module.c, collective_calls.c, messages.c, shuffle.c
 */

#include "faults/death_rounds.h"

#include <dirent.h>
#include <stdbool.h>

enum { BLOCK = 4096, BLOCKS = 48, BYTES = BLOCK * BLOCKS };
enum { WRITES, READS, ORDERED, WAYS };

static const char *const way_names[] = {"write_at_all", "read_at_all", "write_ordered"};

typedef struct member_t {
    MPI_Comm comm;
    MPI_File file;
    int rank, size;
    unsigned char *data;
} member_t;

static atomic_int begun; /**< rounds of this process's members */
static atomic_int failures;
static char name[256]; /**< of the round's file; of process 0 */
static int key;        /**< of an attribute that an open file's own communicator has a copy of */
static atomic_int copies;
static int was_size;   /**< and its members' number; of process 0's first endpoint */

static int way_of(int round)
{
    return (round + first) % WAYS;
}

static void fail(int round, const member_t *m, const char *what, int number)
{
    atomic_fetch_add(&failures, 1);
    printf("not ok - %s, rank %d of %d (process %d): %s: %d\n", way_names[way_of(round)], m->rank,
           m->size, process, what, number);
    fflush(stdout);
}

/** With a view that interleaves the members; but a shared pointer wants one that all have. */
static void open_file(member_t *m, int way)
{
    MPI_Datatype block, mine;
    char shared[sizeof(name)];

    if (0 == m->rank) {
        const char *folder = getenv("TMPDIR");

        snprintf(name, sizeof(name), "%s/ept-death-%ld", NULL == folder ? "/tmp" : folder,
                 (long) getpid());
        was_size = m->size;
        memcpy(shared, name, sizeof(name));
    }
    MPI_Bcast(shared, sizeof(shared), MPI_CHAR, 0, m->comm);
    MPI_File_open(m->comm, shared, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &m->file);
    if (ORDERED == way) {
        return;
    }
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint) m->size * BLOCK, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(m->file, (MPI_Offset) m->rank * BLOCK, MPI_BYTE, mine, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&block);
    MPI_Type_free(&mine);
}

/** The n-th call.  What it writes is n everywhere. */
static int call(member_t *m, int way, int n)
{
    if (READS != way) {
        memset(m->data, n % 251, BYTES);
    }
    switch (way) {
    case WRITES:
        return MPI_File_write_at_all(m->file, 0, m->data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    case READS:
        return MPI_File_read_at_all(m->file, 0, m->data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    default:
        return MPI_File_write_ordered(m->file, m->data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

static int copy_attribute(MPI_Comm comm, int which, void *extra, void *from, void *to, int *flag)
{
    (void) comm;
    (void) which;
    (void) extra;
    atomic_fetch_add(&copies, 1);
    *(void **) to = from;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int which, void *value, void *extra)
{
    (void) comm;
    (void) which;
    (void) value;
    (void) extra;
    atomic_fetch_sub(&copies, 1);
    return MPI_SUCCESS;
}

static bool is_all(const unsigned char *bytes, size_t length, int one, int other)
{
    bool is = true;

    for (size_t i = 0; i < length; ++i) {
        is = is && (bytes[i] == one % 251 || bytes[i] == other % 251);
    }
    return is;
}

/** In calls until one fails.  @return its number: 1 for the second, the first one has been right */
static int survive(member_t *m, int round)
{
    const int way = way_of(round);
    int rc, next, n = 1;

    do {
        rc = class_of(call(m, way, ++n));
        if (MPI_SUCCESS == rc && READS == way && !is_all(m->data, BYTES, 1, 1)) {
            fail(round, m, "wrong data in call", n);
        }
    } while (MPI_SUCCESS == rc);
    next = class_of(MPI_File_write_at_all(m->file, 0, m->data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    if (MPI_ERR_PROC_FAILED != rc) {
        fail(round, m, "the call ends with class", rc);
    }
    if (MPI_ERR_PROC_FAILED != next) {
        fail(round, m, "the next one ends with class", next);
    }
    MPI_File_close(&m->file);
    return n;
}

/** What the last round has left in its file; n: the first call that has failed anywhere. */
static void check(const member_t *m, int round, int n)
{
    const size_t length = (size_t) was_size * BYTES;
    unsigned char *bytes = malloc(length);
    FILE *stream = fopen(name, "rb");
    const int way = way_of(round);

    for (int k = 1; NULL != stream && (ORDERED == way ? k < n : k < 2); ++k) {
        if (length != fread(bytes, 1, length, stream)) {
            fail(round, m, "the file is too short, calls before", n);
        } else if (!is_all(bytes, length, WRITES == way ? n - 1 : k, WRITES == way ? n : k)) {
            fail(round, m, "wrong bytes in the file, of call", WRITES == way ? n : k);
        }
    }
    if (NULL == stream) {
        fail(round, m, "no file", n);
    } else {
        fclose(stream);
    }
    free(bytes);
    unlink(name);
    printf("%s %d - %s, %d ranks, the %dth call\n", 0 == atomic_load(&failures) ? "ok" : "not ok",
           round + 1, way_names[way], was_size, n);
    fflush(stdout);
}

static void *endpoint(void *argument)
{
    MPI_Comm world = *(MPI_Comm *) argument;
    member_t m = {.data = malloc(BYTES)};
    int n = 0, least;

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int round = 0; round < processes; ++round) {
        m.comm = rounds_comm(world, (processes - round) * endpoints, round);
        MPI_Comm_rank(m.comm, &m.rank);
        MPI_Comm_size(m.comm, &m.size);
        if (0 < round) {
            MPI_Allreduce(&n, &least, 1, MPI_INT, MPI_MIN, m.comm);
            if (0 == m.rank) {
                check(&m, round - 1, least);
            }
        }
        if (round < processes - 1) {
            atomic_store(&doing, way_names[way_of(round)]);
            MPI_Comm_set_attr(m.comm, key, &m);
            MPI_Barrier(m.comm);
            open_file(&m, way_of(round));
            if (MPI_SUCCESS != call(&m, ORDERED == way_of(round) ? ORDERED : WRITES, 1)) {
                fail(round, &m, "the first call fails, round", round);
            }
            MPI_Barrier(m.comm);
            atomic_fetch_add(&begun, 1);
            n = survive(&m, round);
        }
        MPI_Comm_free(&m.comm);
    }
    free(m.data);
    return NULL;
}

/** The process's last moments. */
static void die(int round)
{
    const int us = 300 + (first * 7919 + round * 3571) % 20000;
    const struct timespec moment = {0, us * 1000L}, nap = {0, 100000};

    while ((round + 1) * endpoints > atomic_load(&begun)) {
        (void) nanosleep(&nap, NULL);
    }
    (void) nanosleep(&moment, NULL);
    (void) kill(getpid(), SIGKILL);
}

/** How many of the rounds' files are still open? */
static int files_open(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    int count = 0;

    while (NULL != folder && NULL != (entry = readdir(folder))) {
        char target[sizeof(name) + 16] = "";

        (void) readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
        count += NULL != strstr(target, "/ept-death-");
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return count;
}

int main(int argc, char **argv)
{
    rounds_begin(argc, argv);
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    rounds_run(endpoints, endpoint, die);
    if (0 != files_open()) {
        printf("not ok - files that are still open: %d\n", files_open());
    }
    /* Each member's own is deleted with its communicator, and was no copy. */
    if (-(processes - 1) * endpoints != atomic_load(&copies)) {
        printf("not ok - communicators of files that are left: %d\n",
               atomic_load(&copies) + (processes - 1) * endpoints);
    }
    rounds_end();
}
