/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators of endpoints with members of several jobs.  The processes of the test spawn others
 * over MPI_COMM_WORLD; all have endpoints, and make communicators of them together: by
 * MPI_Intercomm_create over a communicator of processes of both, by MPIX_Comm_create_endpoints from
 * such a communicator, and by MPIX_Comm_merge along a chain of three jobs, of which the two at its
 * ends have never met.
 *
 *   --child 1, 2  this is a child: of the first spawned job, of the second one
 *
 * Guards: pml_epml_job.c, pml_epml_context.c, pml_epml_address.c, pml_epml_intercomm.c,
 * pml_epml_merge.c, pml_epml_proc.c, btl_epshm_peer_proc.c
 */

#define _GNU_SOURCE

#include "jobs.h"

#if defined(HAVE_EP)

#    define CHILDREN 2   /* processes of each further job */
#    define OWN_MAX 4    /* endpoints of a process */
#    define RANKS_MAX 64 /* of all jobs */
#    define LONG_SIZE 300000

/* ---- what all jobs do ------------------------------------------------------------------------ */

/* A process, and what its threads share. */
static struct {
    int job;                /* 0: parents */
    int count;              /* endpoints of this process */
    int parents, processes; /* endpoints of parents, their processes */
    bool is_net;            /* parents have been told not to use memory of the node */
    MPI_Comm own[OWN_MAX];  /* of all endpoints of the job */
    MPI_Comm inter[2];      /* processes of parents and of each spawned job; of a child, its own */
    MPI_Comm merged[2];     /* likewise, parents first */
    MPI_Comm made[OWN_MAX]; /* by the process for its threads */
    pthread_barrier_t barrier;
} here;

/* Everybody with everybody: a short message, a long one, from whom each is. */
static void ring(MPI_Comm comm, int rank, int size)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    char *out = malloc(LONG_SIZE), *in = calloc(LONG_SIZE, 1);
    int told = -1;
    MPI_Status status;

    if (NULL == out || NULL == in) {
        abort();
    }
    for (int step = 1; step < size; ++step) {
        const int to = (rank + step) % size, from = (rank + size - step) % size,
                  word = 100 * rank + to;

        OK(MPI_Sendrecv(&word, 1, MPI_INT, to, 1, &told, 1, MPI_INT, from, 1, comm, &status));
        SAME(100 * from + rank, told);
        SAME(from, status.MPI_SOURCE);
    }
    memset(out, rank + 1, LONG_SIZE);
    OK(MPI_Sendrecv(out, LONG_SIZE, MPI_CHAR, next, 2, in, LONG_SIZE, MPI_CHAR, MPI_ANY_SOURCE, 2,
                    comm, &status));
    SAME(before, status.MPI_SOURCE);
    for (int i = 0; i < LONG_SIZE; ++i) {
        if (in[i] != (char) (before + 1)) {
            SAME(before + 1, in[i]);
            break;
        }
    }
    free(out);
    free(in);
}

static void collectives(MPI_Comm comm, int rank, int size)
{
    int sum = -1, all[RANKS_MAX], word = 7;
    const int own = rank + 1;

    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
    SAME(size * (size + 1) / 2, sum);
    OK(MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) {
        SAME(i + 1, all[i]);
    }
    word = size - 1 == rank ? 9 : 7;
    OK(MPI_Bcast(&word, 1, MPI_INT, size - 1, comm));
    SAME(9, word);
    OK(MPI_Barrier(comm));
}

/* Communicators out of one, with members of several jobs or of one. @param mine  members in this
 * process */
static void derive(MPI_Comm comm, int rank, int size, int mine)
{
    MPI_Comm dup, part;
    MPI_Group group, other;
    int result = -1, part_size = -1, sum = -1, ranks[RANKS_MAX], there[RANKS_MAX];

    OK(MPI_Comm_dup(comm, &dup));
    collectives(dup, rank, size);
    OK(MPI_Comm_compare(comm, dup, &result));
    SAME(MPI_CONGRUENT, result);
    /* By job; in the opposite order. */
    OK(MPI_Comm_split(dup, here.job, size - rank, &part));
    OK(MPI_Comm_size(part, &part_size));
    OK(MPI_Allreduce(&here.job, &sum, 1, MPI_INT, MPI_SUM, part));
    SAME(here.job * part_size, sum);
    OK(MPI_Comm_group(part, &group));
    OK(MPI_Comm_group(comm, &other));
    for (int i = 0; i < part_size; ++i) {
        ranks[i] = i;
    }
    OK(MPI_Group_translate_ranks(group, part_size, ranks, other, there));
    for (int i = 1; i < part_size; ++i) {
        SAME(1, there[i] < there[i - 1]);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&other);
    OK(MPI_Comm_free(&part));
    /* The members of even rank, of all jobs. */
    OK(MPI_Comm_split(dup, rank % 2, rank, &part));
    OK(MPI_Comm_size(part, &part_size));
    collectives(part, rank / 2, part_size);
    ring(part, rank / 2, part_size);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(comm, MPIX_COMM_TYPE_ADDRESS_SPACE, rank, MPI_INFO_NULL, &part));
    OK(MPI_Comm_size(part, &part_size));
    SAME(mine, part_size);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&dup));
}

/* All are on one node: members of another job are reached by its memory, as those of the own one,
 * where that may be used at all. */
static void use_one_way(MPI_Comm comm, int rank, int size)
{
    unsigned long long net_messages = 0;
    /* Open MPI 6.0.0rc2 takes the address of a handle for that of the communicator: zeros. */
    struct {
        MPI_Comm comm;
        unsigned char zeros[2048];
    } bound = {.comm = comm};
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int index = -1, count = 0, provided;

    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_index("pml_epml_ep_net_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, &bound.comm, &handle, &count));
    ring(comm, rank, size);
    OK(MPI_T_pvar_read(session, handle, &net_messages));
    SAME(here.is_net, 0 < net_messages);
    OK(MPI_T_pvar_handle_free(session, &handle));
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
}

static void use(MPI_Comm comm, int expected, int mine)
{
    int rank = -1, size = -1;

    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    SAME(expected, size);
    if (expected == size) {
        use_one_way(comm, rank, size);
        collectives(comm, rank, size);
        derive(comm, rank, size, mine);
    }
}

/* Both groups, and what comes of them when they are merged. */
static void use_inter(MPI_Comm comm, int expected_local, int expected_remote, int mine)
{
    int rank = -1, size = -1, remote = -1, told = -1, sum = -1;
    MPI_Comm all;

    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Comm_remote_size(comm, &remote));
    SAME(expected_local, size);
    SAME(expected_remote, remote);
    if (rank < expected_remote) {
        const int word = 1000 * here.job + rank;

        OK(MPI_Sendrecv(&word, 1, MPI_INT, rank, 3, &told, 1, MPI_INT, rank, 3, comm,
                        MPI_STATUS_IGNORE));
        SAME(1000 * !here.job + rank, told);
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    SAME(remote * (remote - 1) / 2, sum);
    OK(MPI_Intercomm_merge(comm, here.job, &all));
    use(all, size + remote, mine);
    OK(MPI_Comm_free(&all));
}

/* ---- the cases ------------------------------------------------------------------------------- */

/* All endpoints of both jobs, in each way to make a communicator of them. */
static void two_jobs(int index)
{
    const int children = CHILDREN * here.count, local = here.job ? children : here.parents;
    const int remote = here.parents + children - local;
    MPI_Comm bridge = 0 == index ? here.merged[0] : MPI_COMM_NULL, comm;

    OK(MPI_Intercomm_create(here.own[index], 0, bridge, here.job ? 0 : here.processes, 5, &comm));
    use_inter(comm, local, remote, here.count);
    OK(MPI_Comm_free(&comm));
    OK(MPIX_Comm_merge(here.own[index], bridge, &comm));
    use(comm, local + remote, here.count);
    OK(MPI_Comm_free(&comm));
    for (int kind = 0; kind < 2; ++kind) {
        pthread_barrier_wait(&here.barrier);
        if (0 == index) {
            OK(MPIX_Comm_create_endpoints(0 == kind ? here.merged[0] : here.inter[0], here.count,
                                          MPI_INFO_NULL, here.made));
        }
        pthread_barrier_wait(&here.barrier);
        if (0 == kind) {
            use(here.made[index], local + remote, here.count);
        } else {
            use_inter(here.made[index], local, remote, here.count);
        }
        OK(MPI_Comm_free(&here.made[index]));
    }
}

/* Endpoints of a job with processes of the other one. */
static void one_sided(int index)
{
    MPI_Comm comm;

    if (!here.job) {
        OK(MPI_Intercomm_create(here.own[index], 0, 0 == index ? here.merged[0] : MPI_COMM_NULL,
                                here.processes, 6, &comm));
        use_inter(comm, here.parents, CHILDREN, here.count);
        OK(MPI_Comm_free(&comm));
    } else if (0 == index) {
        OK(MPI_Intercomm_create(MPI_COMM_WORLD, 0, here.merged[0], 0, 6, &comm));
        use_inter(comm, CHILDREN, here.parents, 1);
        OK(MPI_Comm_free(&comm));
    }
    pthread_barrier_wait(&here.barrier);
}

/* A process each: jobs 1 and 2 have met job 0, and meet each other by that; then a ring, in which
 * they have a communicator of their own as well. */
static void three_jobs(void)
{
    MPI_Comm chain, part, ring_of_all;
    int rank = -1;

    OK(MPIX_Comm_merge(here.merged[0], here.job ? MPI_COMM_NULL : here.merged[1], &chain));
    use(chain, here.processes + 2 * CHILDREN, 1);
    OK(MPI_Comm_rank(chain, &rank));
    OK(MPI_Comm_split(chain, here.job ? 1 : MPI_UNDEFINED, rank, &part));
    OK(MPIX_Comm_merge(here.merged[0], here.job ? part : here.merged[1], &ring_of_all));
    use(ring_of_all, here.processes + 2 * CHILDREN, 1);
    OK(MPI_Comm_free(&ring_of_all));
    if (here.job) {
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_free(&chain));
}

static void endpoint(int index)
{
    if (2 > here.job) {
        two_jobs(index);
        one_sided(index);
    }
    pthread_barrier_wait(&here.barrier);
    if (0 == index) {
        three_jobs();
    }
    pthread_barrier_wait(&here.barrier);
}

/* Processes of both jobs; which they are. */
static void meet(int number, MPI_Comm inter)
{
    const char *processes = getenv("OMPI_MCA_btl_epshm_processes");
    int facts[3] = {here.parents, here.processes, NULL != processes && 0 == strcmp(processes, "0")};

    here.inter[number] = inter;
    OK(MPI_Intercomm_merge(inter, 0 < here.job, &here.merged[number]));
    OK(MPI_Bcast(facts, 3, MPI_INT, 0, here.merged[number]));
    here.parents = facts[0];
    here.processes = facts[1];
    here.is_net = facts[2];
}

/* @return what has failed, here and in the other job */
static int part_from(int number)
{
    int bad = atomic_load(&jobs.bad), all = 0;

    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, here.merged[number]);
    OK(MPI_Comm_free(&here.merged[number]));
    OK(MPI_Comm_disconnect(&here.inter[number]));
    return all;
}

/* ---- children -------------------------------------------------------------------------------- */

static void *child_thread(void *arg)
{
    endpoint((int) (intptr_t) arg);
    return NULL;
}

static void child(int job)
{
    pthread_t threads[OWN_MAX];
    MPI_Comm parent;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_get_parent(&parent);
    here.job = job;
    jobs.is_child = true;
    here.count = 2;
    meet(0, parent);
    pthread_barrier_init(&here.barrier, NULL, (unsigned int) here.count);
    OK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, here.count, MPI_INFO_NULL, here.own));
    for (int i = 0; i < here.count; ++i) {
        if (0 != pthread_create(&threads[i], NULL, child_thread, (void *) (intptr_t) i)) {
            abort();
        }
    }
    for (int i = 0; i < here.count; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < here.count; ++i) {
        OK(MPI_Comm_free(&here.own[i]));
    }
    (void) part_from(0);
    MPI_T_finalize();
    MPI_Finalize();
    exit(0 == atomic_load(&jobs.bad) ? 0 : 1);
}

int test_process_init(int *argc, char ***argv)
{
    const int job = (int) ept_option_long("child", 0);
    int provided;

    if (0 < job) {
        child(job);
    }
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    return provided;
}

/* ---- parents --------------------------------------------------------------------------------- */

static void spawn(int number)
{
    char path[4096], job[] = {(char) ('1' + number), '\0'};
    char *argv[] = {"--child", job, NULL};
    const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    MPI_Comm inter;

    path[0 < size ? size : 0] = '\0';
    OK(MPI_Comm_spawn(path, argv, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                      MPI_ERRCODES_IGNORE));
    meet(number, inter);
}

static void case_jobs(MPI_Comm comm, struct ept *t)
{
    here.own[t->local] = comm;
    if (0 == t->local) {
        here.count = t->nlocal;
        here.parents = t->size;
        here.processes = t->nprocs;
        pthread_barrier_init(&here.barrier, NULL, (unsigned int) t->nlocal);
        spawn(0);
        spawn(1);
    }
    ept_local_barrier(t);
    endpoint(t->local);
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_EQ(t, 0, part_from(1));
        EPT_EQ(t, 0, part_from(0));
    }
    ept_local_barrier(t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_jobs);
    return 0;
}

#else

JOBS_WITHOUT_ENDPOINTS;

#endif
