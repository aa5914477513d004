/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Processes die, one or two at a time, at random moments of messages, collectives, creations,
 * agreements, revocations and shrinks, until two are left.  A member that gets an error revokes the
 * communicator; all agree on whether anybody has; then they shrink it and go on.
 *
 * A process dies when its first endpoint comes to a step that is chosen at random, or a random time after
 * the beginning of its round.  The plan follows from the seed, which is printed.
 *
 *   --ep N     endpoints per process
 *   --seed N   of the plan
 *
 * Guards: coll_epcoll_agreement.c, coll_epcoll_agreement_messages.c, coll_epcoll_consensus.c,
 * pml_epml_shrink.c, pml_epml_leave.c, pml_epml_left.c, pml_epml_creation.c
 */

#include "ulfm_kit.h"

enum { LARGE = 40000, STEPS = 8, WORD = 3, MOST_PROCESSES = 16 };

enum { VALUES, CLASSES, SAME, MEMBERS, SHRINKS, TOPICS };

static const char *const names[TOPICS] = {
    "what succeeds has the right values",
    "what fails ends with the class of a failure or of a revocation",
    "all survivors have the same values and errors of all agreements",
    "all survivors have the same members, in order",
    "a shrink succeeds",
};

/** A member's part in the test. */
typedef struct part_t {
    member_t *m;
    MPI_Comm comm;         /**< of the members that are left */
    int rank, size;        /**< in it */
    unsigned int plan;     /**< random numbers that are the same at all members */
    unsigned int agreed;   /**< digest of all agreements */
    int victims[2], count; /**< processes that die in this round */
    int root;              /**< of this step, the same at all members */
    int step, last;        /**< steps in this round; the one that is the last of a victim, or -1 */
    bool alive[MOST_PROCESSES];
} part_t;

static int draw(part_t *p, int below)
{
    return (int) ((unsigned int) rand_r(&p->plan) % (unsigned int) below);
}

/** @return whether rc is success; an error has to be one that a death can cause */
static bool is_well(int rc, const char *what, int line)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    if (MPI_SUCCESS != class && MPIX_ERR_PROC_FAILED != class && MPIX_ERR_REVOKED != class) {
        kit_class(CLASSES, MPIX_ERR_PROC_FAILED, rc, what, line);
    }
    return MPI_SUCCESS == class;
}

#define WELL(call) is_well((call), #call, __LINE__)

static bool is_victim(const part_t *p, int process)
{
    return process == p->victims[0] || (2 == p->count && process == p->victims[1]);
}

/** A victim may die here. */
static void step(part_t *p)
{
    if (p->step++ == p->last && 0 == p->m->index && is_victim(p, kit_process)) {
        kit_die();
    }
}

/* ---- what members do -------------------------------------------------------------------------- */

static bool reduce(part_t *p, MPI_Comm comm, int count)
{
    int *data = malloc(2 * sizeof(*data) * (size_t) count), rank, size;
    bool well;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    (void) p;
    for (int i = 0; i < count; ++i) {
        data[i] = rank + i;
    }
    well = WELL(MPI_Allreduce(data, data + count, count, MPI_INT, MPI_SUM, comm));
    for (int i = 0; well && i < count; ++i) {
        if (size * (size - 1) / 2 + size * i != data[count + i]) {
            CHECK(VALUES, size * (size - 1) / 2 + size * i == data[count + i]);
            break;
        }
    }
    free(data);
    return well;
}

static bool use_small(part_t *p)
{
    return WELL(MPI_Barrier(p->comm)) && reduce(p, p->comm, 1);
}

static bool use_large(part_t *p)
{
    return reduce(p, p->comm, LARGE);
}

static bool use_bcast(part_t *p)
{
    int *data = calloc(LARGE, sizeof(*data));
    const int root = p->root % p->size;
    bool well;

    for (int i = 0; root == p->rank && i < LARGE; ++i) {
        data[i] = root + i;
    }
    well = WELL(MPI_Bcast(data, LARGE, MPI_INT, root, p->comm));
    CHECK(VALUES, !well || (root == data[0] && root + LARGE - 1 == data[LARGE - 1]));
    free(data);
    return well;
}

static bool use_nonblocking(part_t *p)
{
    int mine[4 * KIT_MOST_EP], all[4 * KIT_MOST_EP];
    MPI_Request request;
    bool well;

    for (int i = 0; i < p->size; ++i) {
        mine[i] = 100 * p->rank + i;
    }
    well = WELL(MPI_Ialltoall(mine, 1, MPI_INT, all, 1, MPI_INT, p->comm, &request))
           && WELL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; well && i < p->size; ++i) {
        CHECK(VALUES, 100 * i + p->rank == all[i]);
    }
    return well;
}

/** Everybody to its neighbour, large, which receives from anybody. */
static bool use_messages(part_t *p)
{
    int *data = malloc(2 * LARGE * sizeof(*data));
    const int left = (p->rank + p->size - 1) % p->size;
    MPI_Status status;
    bool well;

    for (int i = 0; i < LARGE; ++i) {
        data[i] = p->rank + i;
    }
    well = WELL(MPI_Sendrecv(data, LARGE, MPI_INT, (p->rank + 1) % p->size, WORD, data + LARGE,
                             LARGE, MPI_INT, MPI_ANY_SOURCE, WORD, p->comm, &status));
    CHECK(VALUES, !well || (left == status.MPI_SOURCE && left + LARGE - 1 == data[2 * LARGE - 1]));
    free(data);
    return well;
}

static bool use_dup(part_t *p)
{
    MPI_Comm made = MPI_COMM_NULL;
    bool well = WELL(MPI_Comm_dup(p->comm, &made));

    if (well) {
        well = reduce(p, made, 1);
        MPI_Comm_free(&made);
    }
    return well;
}

static bool use_split(part_t *p)
{
    MPI_Comm made = MPI_COMM_NULL;
    bool well = WELL(MPI_Comm_split(p->comm, p->rank % 2, p->rank, &made));

    if (well) {
        well = reduce(p, made, 1);
        MPI_Comm_free(&made);
    }
    return well;
}

/** Two new endpoints of each member.  A creation may succeed at some members alone; collectives of the
 * new communicator then end at these. */
static bool use_endpoints(part_t *p)
{
    MPI_Comm made[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int rank[2], size, sum[2] = {-1, -1};
    bool well = WELL(MPIX_Comm_create_endpoints(p->comm, 2, MPI_INFO_NULL, made));

    if (!well) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_set_errhandler(made[i], MPI_ERRORS_RETURN);
        MPI_Comm_rank(made[i], &rank[i]);
        MPI_Comm_size(made[i], &size);
        CHECK(VALUES, 2 * p->rank + i == rank[i] && 2 * p->size == size);
        well = WELL(MPI_Iallreduce(&rank[i], &sum[i], 1, MPI_INT, MPI_SUM, made[i], &requests[i]))
               && well;
    }
    for (int i = 0; i < 2; ++i) {
        well = WELL(MPI_Wait(&requests[i], MPI_STATUS_IGNORE)) && well;
    }
    CHECK(VALUES, !well || (size * (size - 1) / 2 == sum[0] && sum[0] == sum[1]));
    MPI_Comm_free(&made[0]);
    MPI_Comm_free(&made[1]);
    return well;
}

/** Even with odd ranks. */
static bool use_inter(part_t *p)
{
    MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    const int odd = p->rank % 2;
    bool well = WELL(MPI_Comm_split(p->comm, odd, p->rank, &half));
    int sum = -1, one = 1;

    if (!well) {
        return false;
    }
    well = WELL(MPI_Intercomm_create(half, 0, p->comm, 1 - odd, WORD, &inter));
    if (well) {
        well = WELL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
        CHECK(VALUES, !well || (p->size + odd) / 2 == sum);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
    return well;
}

static bool (*const uses[])(part_t *) = {use_small,    use_large, use_bcast,
                                         use_messages, use_dup,   use_nonblocking,
                                         use_split,    use_inter, use_endpoints};

/* ---- agreeing and shrinking --------------------------------------------------------------------- */

/** Digest of what an agreement has given, which has to be the same at all that survive it. */
static void note(part_t *p, int class, int flag)
{
    p->agreed = (p->agreed ^ (unsigned int) (1000 * class + flag)) * 16777619u;
}

/** @return whether all are well, which all say alike */
static bool agree(part_t *p, bool well)
{
    int flag = well ? ~0 : ~1, class = MPI_SUCCESS, rc;
    MPI_Request request;

    if (0 == draw(p, 2)) {
        rc = MPIX_Comm_agree(p->comm, &flag);
    } else {
        rc = MPIX_Comm_iagree(p->comm, &flag, &request);
        rc = MPI_SUCCESS == rc ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
    }
    MPI_Error_class(rc, &class);
    CHECK(CLASSES, MPI_SUCCESS == class || MPIX_ERR_PROC_FAILED == class);
    note(p, class, flag & 1);
    return MPI_SUCCESS == class && 0 != (flag & 1);
}

/** All that are in the new communicator have the same of it, and the same past. */
static bool compare(part_t *p, bool *complete)
{
    int all[3 * 4 * KIT_MOST_EP], mine[3] = {p->m->rank, (int) p->agreed, p->size};
    bool gone[MOST_PROCESSES];

    if (!WELL(MPI_Allgather(mine, 3, MPI_INT, all, 3, MPI_INT, p->comm))) {
        return false;
    }
    for (int i = 0; i < kit_processes; ++i) {
        gone[i] = p->alive[i];
    }
    for (int i = 0; i < p->size; ++i) {
        const int *of = all + 3 * i;

        CHECK(SAME, mine[1] == of[1]);
        CHECK(MEMBERS, p->size == of[2] && (0 == i || of[-3] < of[0]));
        CHECK(MEMBERS, p->alive[kit_process_of(of[0])]);
        gone[kit_process_of(of[0])] = false;
    }
    *complete = true;
    for (int i = 0; i < kit_processes; ++i) {
        CHECK(MEMBERS, !gone[i] || is_victim(p, i));
        *complete = *complete && gone[i] == (p->alive[i] && is_victim(p, i));
    }
    return true;
}

static void shrink(part_t *p)
{
    MPI_Comm made = MPI_COMM_NULL;

    OK(SHRINKS, MPIX_Comm_shrink(p->comm, &made));
    if (MPI_COMM_NULL == made) {
        printf("Bail out! no communicator of the survivors\n");
        exit(1);
    }
    MPI_Comm_free(&p->comm);
    p->comm = made;
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    MPI_Comm_rank(made, &p->rank);
    MPI_Comm_size(made, &p->size);
}

/* ---- rounds ----------------------------------------------------------------------------------- */

static void *die_soon(void *argument)
{
    (void) usleep(*(const useconds_t *) argument);
    kit_die();
    return NULL;
}

/** Choose which process dies in this round, and when. */
static void choose(part_t *p, int living)
{
    static const int ranges[] = {300, 3000, 30000};
    static useconds_t after;
    int order[MOST_PROCESSES], count = 0, when;
    pthread_t thread;

    for (int i = 0; i < kit_processes; ++i) {
        if (p->alive[i]) {
            order[count++] = i;
        }
    }
    p->count = 3 < living && 0 == draw(p, 3) ? 2 : 1;
    /* The first one coordinates agreements. */
    p->victims[0] = 0 == draw(p, 2) ? order[0] : order[draw(p, living)];
    do {
        p->victims[1] = order[draw(p, living)];
    } while (p->victims[0] == p->victims[1]);
    p->step = 0;
    p->last = draw(p, 2 * STEPS);
    when = draw(p, ranges[draw(p, 3)]);
    if (STEPS < p->last) {
        p->last = -1;
        if (0 == p->m->index && is_victim(p, kit_process)) {
            after = (useconds_t) when;
            pthread_create(&thread, NULL, die_soon, &after);
        }
    }
}

/** Until those that had to die have, and the others have a communicator. */
static void run_round(part_t *p)
{
    bool complete = false;

    while (!complete) {
        bool well = true;

        for (int i = 0; i < 3; ++i) {
            const int which = draw(p, (int) (sizeof(uses) / sizeof(uses[0])));

            p->root = draw(p, 4 * KIT_MOST_EP);
            step(p);
            if (well && !uses[which](p)) {
                well = false;
                step(p);
                OK(CLASSES, MPIX_Comm_revoke(p->comm));
            }
        }
        step(p);
        if (!agree(p, well)) {
            do {
                step(p);
                shrink(p);
                step(p);
                well = compare(p, &complete);
                step(p);
            } while (!agree(p, well));
        }
    }
}

static void member_run(member_t *m)
{
    part_t p = {.m = m, .rank = m->rank, .size = m->size, .plan = kit_seed, .agreed = 1};
    int living = kit_processes;

    if (0 == m->rank) {
        printf("# seed %u\n", kit_seed);
        (void) fflush(stdout);
    }
    for (int i = 0; i < kit_processes; ++i) {
        p.alive[i] = true;
    }
    OK(SHRINKS, MPI_Comm_dup(m->comm, &p.comm));
    (void) MPI_Barrier(m->comm); /* nobody dies before all have the duplicate */
    while (2 < living) {
        choose(&p, living);
        run_round(&p);
        for (int i = 0; i < p.count; ++i) {
            p.alive[p.victims[i]] = false;
        }
        living -= p.count;
        CHECK(MEMBERS, kit_endpoints * living == p.size);
    }
    CHECK(VALUES, use_small(&p) && use_messages(&p) && use_dup(&p) && use_endpoints(&p));
    MPI_Comm_free(&p.comm);
}

int main(int argc, char **argv)
{
    return kit_main(argc, argv, names, TOPICS, NULL);
}
