/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Attributes of endpoints: keyvals that all share, values of each, those that are there from the
 * beginning, wrong use, and many threads that set, read and delete at once.
 *
 * Guards: attributes.c, place.c, endpoint_attributes.c
 */

#define _GNU_SOURCE

#include "static.h"

#if defined(HAVE_EP)

#    include <net/if.h>
#    include <sched.h>

#    define THREADS 8
#    define ROUNDS 2000

int test_process_init(int *argc, char ***argv)
{
    static_code = static_begin(argc, argv);
    return MPI_THREAD_MULTIPLE;
}

/* What is there, or NULL; an error counts. */
static void *value_of(struct ept *t, int index, int keyval)
{
    void *const none = t;
    void *value = none;
    int flag = -1;

    EPT_OK(t, MPIX_Endpoint_get_attr(static_endpoints[index], keyval, &value, &flag));
    EPT_CHECK(t, 1 == flag || (0 == flag && none == value), "flag %d, value %p", flag, value);
    return 1 == flag ? value : NULL;
}

/* Each endpoint has its own value under a keyval. */
static void case_values(MPI_Comm comm, struct ept *t)
{
    const int count = static_count(t->proc);
    int a = MPI_KEYVAL_INVALID, b = MPI_KEYVAL_INVALID, kept;
    char place[STATIC_MAX];

    (void) comm;
    EPT_OK(t, MPIX_Endpoint_create_keyval(&a));
    EPT_OK(t, MPIX_Endpoint_create_keyval(&b));
    EPT_CHECK(t, a != b && MPI_KEYVAL_INVALID != a, "keyvals %d and %d", a, b);
    for (int i = 0; i < count; ++i) {
        EPT_CHECK(t, NULL == value_of(t, i, a), "endpoint %d has a value already", i);
        EPT_OK(t, MPIX_Endpoint_set_attr(static_endpoints[i], a, &place[i]));
    }
    EPT_OK(t, MPIX_Endpoint_set_attr(static_endpoints[0], b, place));
    for (int i = 0; i < count; ++i) {
        EPT_CHECK(t, &place[i] == value_of(t, i, a), "another value at endpoint %d", i);
    }
    /* Another one in its place; none. */
    EPT_OK(t, MPIX_Endpoint_set_attr(static_endpoints[0], a, t));
    EPT_CHECK(t, t == value_of(t, 0, a), "the value was not replaced");
    EPT_OK(t, PMPIX_Endpoint_delete_attr(static_endpoints[0], a));
    EPT_CHECK(t, NULL == value_of(t, 0, a), "the value was not deleted");
    EPT_OK(t, MPIX_Endpoint_delete_attr(static_endpoints[0], a));
    EPT_CHECK(t, place == value_of(t, 0, b), "another keyval's value is gone");
    /* A keyval that has been freed stays as long as it has values. */
    kept = b;
    EPT_OK(t, MPIX_Endpoint_free_keyval(&b));
    EPT_EQ(t, MPI_KEYVAL_INVALID, b);
    EPT_CHECK(t, place == value_of(t, 0, kept), "the value went with its keyval");
    EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_set_attr(static_endpoints[0], kept, t));
    b = kept;
    EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_free_keyval(&b));
    EPT_OK(t, MPIX_Endpoint_delete_attr(static_endpoints[0], kept));
    EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_delete_attr(static_endpoints[0], kept));
    EPT_OK(t, MPIX_Endpoint_free_keyval(&a));
}

/* Cores in a list as the kernel writes it. */
static int cores_in(const char *list, cpu_set_t *set)
{
    int first, last, read;

    CPU_ZERO(set);
    while (1 == sscanf(list, "%d%n", &first, &read)) {
        list += read;
        last = first;
        if (1 == sscanf(list, "-%d%n", &last, &read)) {
            list += read;
        }
        for (int cpu = first; cpu <= last; ++cpu) {
            CPU_SET(cpu, set);
        }
        list += ',' == *list;
    }
    return CPU_COUNT(set);
}

/* The NUMA node that has all these cores, as the system lists them; -1: none. */
static int node_of(const cpu_set_t *set)
{
    for (int node = 0; node < 1024; ++node) {
        char path[64], list[4096] = "";
        cpu_set_t all;
        FILE *in;

        (void) snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
        in = fopen(path, "r");
        if (NULL == in) {
            continue;
        }
        if (NULL != fgets(list, sizeof(list), in) && 0 < cores_in(list, &all)) {
            CPU_AND(&all, &all, set);
            if (CPU_EQUAL(&all, set)) {
                (void) fclose(in);
                return node;
            }
        }
        (void) fclose(in);
    }
    return -1;
}

/* The level that attaching gives; and, while somebody is attached, that one again. */
static void check_levels(struct ept *t, int index, bool is_attached)
{
    const int *now = value_of(t, index, MPIX_CURRENT_THREAD_LEVEL);
    const int *most = value_of(t, index, MPIX_MAX_THREAD_LEVEL);

    EPT_EQ(t, static_level(), NULL != most ? *most : -1);
    EPT_EQ(t, is_attached ? static_level() : -1, NULL != now ? *now : -1);
}

static void case_levels(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    for (int i = 0; i < static_count(t->proc); ++i) {
        check_levels(t, i, 0 == i); /* by default */
        EPT_OK(t, MPIX_Thread_attach_index(i));
        check_levels(t, i, true);
        EPT_OK(t, MPIX_Thread_detach());
        check_levels(t, i, 0 == i);
    }
}

static void case_predefined(MPI_Comm comm, struct ept *t)
{
    const int count = static_count(t->proc);
    const char *cores = value_of(t, 0, MPIX_ENDPOINT_CORES);
    const int *node = value_of(t, 0, MPIX_ENDPOINT_NUMA_NODE);
    cpu_set_t listed, own;

    (void) comm;
    for (int i = 0; i < count; ++i) {
        const int *index = value_of(t, i, MPIX_ENDPOINT_INDEX);

        EPT_EQ(t, i, NULL != index ? *index : -1);
    }
    EPT_CHECK(t, NULL != cores, "no list of cores");
    EPT_EQ(t, 0, sched_getaffinity(0, sizeof(own), &own));
    EPT_CHECK(t, NULL == cores || 0 < cores_in(cores, &listed), "cores \"%s\"", cores);
    if (NULL != cores) {
        cpu_set_t both;

        CPU_AND(&both, &own, &listed);
        EPT_CHECK(t, CPU_EQUAL(&both, &own), "this thread's cores are not in \"%s\"", cores);
        EPT_EQ(t, node_of(&listed), NULL != node ? *node : -1);
    }
}

/* By which network: the provider that --net names, and an interface that this machine has; none
 * without. */
static void case_network(MPI_Comm comm, struct ept *t)
{
    const char *net = ept_option("net", "");
    const char *provider = value_of(t, 0, MPIX_ENDPOINT_PROVIDER);
    const char *interface = value_of(t, 0, MPIX_ENDPOINT_INTERFACE);

    (void) comm;
    EPT_CHECK(t, 0 == strcmp(net, NULL != provider ? provider : ""), "provider %s",
              NULL != provider ? provider : "none");
    EPT_CHECK(t, ('\0' == *net) == (NULL == interface), "interface %s",
              NULL != interface ? interface : "none");
    EPT_CHECK(t, NULL == interface || 0 < if_nametoindex(interface), "interface %s is not here",
              interface);
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    static const int predefined[] = {MPIX_MAX_THREAD_LEVEL, MPIX_CURRENT_THREAD_LEVEL,
                                     MPIX_ENDPOINT_INDEX, MPIX_ENDPOINT_CORES,
                                     MPIX_ENDPOINT_NUMA_NODE, MPIX_ENDPOINT_PROVIDER,
                                     MPIX_ENDPOINT_INTERFACE};
    MPIX_Endpoint own = static_endpoints[0];
    int keyval, flag, wrong = MPI_KEYVAL_INVALID;
    void *value;

    (void) comm;
    EPT_OK(t, MPIX_Endpoint_create_keyval(&keyval));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Endpoint_create_keyval(NULL));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Endpoint_free_keyval(NULL));
    EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_free_keyval(&wrong));
    EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_set_attr(own, wrong, &wrong));
    EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_get_attr(own, wrong, &value, &flag));
    EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_delete_attr(own, keyval + 1));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Endpoint_get_attr(own, keyval, NULL, &flag));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Endpoint_get_attr(own, keyval, &value, NULL));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Endpoint_set_attr(MPIX_ENDPOINT_NULL, keyval, t));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS,
              MPIX_Endpoint_get_attr((MPIX_Endpoint) (void *) ((char *) own + 8), keyval, &value,
                                     &flag));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Endpoint_delete_attr((MPIX_Endpoint) (void *) t, keyval));
    for (size_t i = 0; i < sizeof(predefined) / sizeof(*predefined); ++i) {
        wrong = predefined[i];
        EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_set_attr(own, wrong, t));
        EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_delete_attr(own, wrong));
        EPT_CLASS(t, MPI_ERR_KEYVAL, MPIX_Endpoint_free_keyval(&wrong));
        EPT_EQ(t, predefined[i], wrong);
    }
    EPT_OK(t, MPIX_Endpoint_free_keyval(&keyval));
}

struct worker {
    struct ept *t;
    pthread_t thread;
};

/* A keyval of its own at all endpoints, and one that all threads share. */
static int shared;

static void *work(void *arg)
{
    struct ept *t = ((struct worker *) arg)->t;
    const int count = static_count(t->proc);

    for (int round = 0; round < ROUNDS; ++round) {
        const int index = round % count;
        void *value;
        int own;

        EPT_OK(t, MPIX_Endpoint_create_keyval(&own));
        EPT_OK(t, MPIX_Endpoint_set_attr(static_endpoints[index], own, arg));
        EPT_OK(t, MPIX_Endpoint_set_attr(static_endpoints[index], shared, t));
        EPT_CHECK(t, arg == value_of(t, index, own), "round %d: another value", round);
        value = value_of(t, index, shared);
        EPT_CHECK(t, NULL == value || t == value, "round %d: %p is shared", round, value);
        EPT_OK(t, MPIX_Endpoint_delete_attr(static_endpoints[index], shared));
        if (0 == round % 2) {
            EPT_OK(t, MPIX_Endpoint_delete_attr(static_endpoints[index], own));
        }
        EPT_OK(t, MPIX_Endpoint_free_keyval(&own)); /* what is left goes when MPI ends */
    }
    return NULL;
}

static void case_threads(MPI_Comm comm, struct ept *t)
{
    struct worker worker[THREADS];

    (void) comm;
    EPT_OK(t, MPIX_Endpoint_create_keyval(&shared));
    for (int i = 0; i < THREADS; ++i) {
        worker[i].t = t;
        EPT_EQ(t, 0, pthread_create(&worker[i].thread, NULL, work, &worker[i]));
    }
    for (int i = 0; i < THREADS; ++i) {
        EPT_EQ(t, 0, pthread_join(worker[i].thread, NULL));
    }
    EPT_OK(t, MPIX_Endpoint_free_keyval(&shared));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_EQ(t, MPI_SUCCESS, static_code);
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_values);
    EPT_CASE(t, case_levels);
    EPT_CASE(t, case_predefined);
    EPT_CASE(t, case_network);
    EPT_CASE(t, case_errors);
    EPT_CASE(t, case_threads);
    return 0;
}

#else

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    ept_skip(t, "attributes", "no endpoints");
    return 0;
}

#endif
