/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/create/pml_epml_traversal.c, with the rounds of a creation
 * (pml_epml_phases.h): whatever fails, at which member and in which exchange, all come back, all
 * with an error unless it was at the very end; and if nothing fails all have heard all.
 *
 * Members are threads, in webs made up (pml_epml_graph.c); the collectives are a model: one that
 * fails at a member fails at the members that wait in it, and so do all later ones of the
 * communicator.
 *
 * Guards: pml_epml_traversal.c, pml_epml_traversal.h, pml_epml_graph.c, pml_epml_graph.h, pml_epml_phases.h
 */

#include <pthread.h>

#include "tap.h"

#include "ompi/mca/pml/epml/create/pml_epml_phases.h"
#include "ompi/mca/pml/epml/create/pml_epml_traversal.c"
#include "ompi/mca/pml/epml/create/pml_epml_graph.c"

/** How libmpi hands a count over. */
#if OMPI_MAJOR_VERSION >= 6
typedef size_t coll_count_t;
#else
typedef int coll_count_t;
#endif

#define MEMBERS_MAX 8
#define COMMS_MAX 8
#define ROUNDS 3
#define BYTES MEMBERS_MAX

/* ---- the model ------------------------------------------------------------------------------- */

/** What the members of a communicator share. */
typedef struct model_t {
    int size;
    bool lost;   /**< nothing works any more */
    int arrived; /**< at the collective under way */
    int over;
    int64_t data[2][BYTES]; /**< of collectives by turns: the first one in the next collective may
                                 find others that have not taken this one's */
} model_t;

struct member_t;

/** A member's handle. */
typedef struct handle_t {
    ompi_communicator_t comm; /**< first */
    ompi_group_t group;
    struct mca_coll_base_comm_coll_t coll;
    model_t *model;
    struct member_t *member;
} handle_t;

/** Which member fails in a run, and at which of its points. */
typedef struct run_t {
    int members;
    int comm[MEMBERS_MAX][2]; /**< -1: none */
    int member, point;        /**< the member that fails, where; -1: none */
    bool late;                /**< when what it has for the others is with them already */
} run_t;

typedef struct member_t {
    const run_t *run;
    int index;
    handle_t handle[2];
    mca_pml_epml_traversal_t traversal;
    int points; /**< passed so far */
    bool has_failed, at_end;
    int round;
    bool tells, owes;
    int64_t values[2]; /**< the worst, and the highest member */
    unsigned char addresses[BYTES];
    int rc;
} member_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static model_t models[COMMS_MAX];

int mca_pml_epml_bootstrap_within(const mca_pml_epml_bootstrap_t *meeting, int rc)
{
    (void) meeting;
    return rc;
}

/** One more point where something may fail.  @return whether it does */
static bool point(member_t *m)
{
    const bool fails = m->run->member == m->index && m->run->point == m->points++;

    if (fails) {
        m->has_failed = true;
        m->at_end = m->tells && ROUNDS - 1 == m->round;
    }
    return fails;
}

static void lose(model_t *model)
{
    model->lost = true;
    (void) pthread_cond_broadcast(&changed);
}

/** All members come, each with what it has; each that needs it gets what is there in the end. */
static int collective(handle_t *handle, void (*add)(void *, bool, const void *, int),
                      const void *mine, void *result, int count)
{
    model_t *model = handle->model;
    const int number = model->over;
    int64_t *data = model->data[number % 2];
    const bool fails = point(handle->member);

    if (model->lost || (fails && !handle->member->run->late)) {
        lose(model);
        return OMPI_ERROR;
    }
    add(data, 0 == model->arrived, mine, count);
    if (++model->arrived == model->size) {
        model->arrived = 0;
        ++model->over;
        (void) pthread_cond_broadcast(&changed);
    }
    while (number == model->over && !model->lost) {
        (void) pthread_cond_wait(&changed, &lock);
    }
    if (fails) {
        lose(model);
    }
    if (fails || number == model->over) {
        return MPI_ERR_PROC_FAILED;
    }
    if (NULL != result) {
        memcpy(result, data, (size_t) count);
    }
    return OMPI_SUCCESS;
}

static void add_max(void *data, bool is_first, const void *mine, int size)
{
    const int64_t *values = mine;
    int64_t *most = data;

    for (int i = 0; i < size / 8; ++i) {
        most[i] = is_first || most[i] < values[i] ? values[i] : most[i];
    }
}

static void add_bits(void *data, bool is_first, const void *mine, int size)
{
    const unsigned char *bytes = mine;
    unsigned char *bits = data;

    for (int i = 0; i < size; ++i) {
        bits[i] = (unsigned char) ((is_first ? 0 : bits[i]) | bytes[i]);
    }
}

/** Of the root. */
static void add_one(void *data, bool is_first, const void *mine, int size)
{
    (void) is_first;
    if (NULL != mine) {
        memcpy(data, mine, (size_t) size);
    }
}

static int model_reduce(const void *sbuf, void *rbuf, coll_count_t count,
                        struct ompi_datatype_t *type, struct ompi_op_t *op, int root,
                        struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    handle_t *handle = (handle_t *) comm;
    int rc;

    (void) module;
    (void) type;
    (void) pthread_mutex_lock(&lock);
    rc = collective(handle, MPI_MAX == op ? add_max : add_bits, MPI_IN_PLACE == sbuf ? rbuf : sbuf,
                    root == ompi_comm_rank(comm) ? rbuf : NULL,
                    (int) (MPI_MAX == op ? 8 * count : count));
    (void) pthread_mutex_unlock(&lock);
    return rc;
}

static int model_bcast(void *buff, coll_count_t count, struct ompi_datatype_t *type, int root,
                       struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    handle_t *handle = (handle_t *) comm;
    const int size = (int) (MPI_INT64_T == type ? 8 * count : count);
    const bool gives = root == ompi_comm_rank(comm);
    int rc;

    (void) module;
    (void) pthread_mutex_lock(&lock);
    rc = collective(handle, add_one, gives ? buff : NULL, gives ? NULL : buff, size);
    (void) pthread_mutex_unlock(&lock);
    return rc;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int hear(void *work, int rc)
{
    member_t *m = work;
    const int gathered = mca_pml_epml_traversal_gather(&m->traversal, m->addresses, BYTES);

    return 0 != rc ? rc : gathered;
}

static int make(void *work)
{
    return point(work) ? OMPI_ERR_OUT_OF_RESOURCE : 0;
}

static int tell(void *work, int rc)
{
    member_t *m = work;

    m->values[0] = 0 != rc;
    m->values[1] = m->index;
    m->tells = true;
    rc = mca_pml_epml_traversal_max(&m->traversal, m->values, 2, &m->owes);
    m->tells = false;
    return rc;
}

static epml_verdict_t conclude(void *work, int *rc)
{
    member_t *m = work;

    ++m->round;
    if (0 != m->values[0]) {
        *rc = 0 == *rc ? OMPI_ERROR : *rc;
        return EPML_VERDICT_FAILED;
    }
    return EPML_VERDICT_NEXT;
}

static bool owes(const void *work)
{
    return ((const member_t *) work)->owes;
}

static void *member_run(void *work)
{
    static const epml_phase_t alone
        = {.make = make, .agree = tell, .conclude = conclude},
        heard = {.exchange = hear, .make = make, .agree = tell, .conclude = conclude};
    static const epml_phase_t *const rounds[ROUNDS] = {&alone, &alone, &heard};
    member_t *m = work;

    m->rc = epml_phases_run(rounds, ROUNDS, owes, m, 0);
    return NULL;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/** Which member calls, by the web; each with handles of its own. */
static void meet(const run_t *run, member_t members[])
{
    epml_graph_participant_t participants[MEMBERS_MAX] = {{0}};
    epml_graph_t graph = {.count = 0};

    memset(models, 0, sizeof(models));
    TAP_CHECK(epml_graph_reserve(&graph, run->members), "no memory");
    for (int i = 0; i < 2 * run->members; ++i) {
        if (0 <= run->comm[i / 2][i % 2]) {
            participants[i / 2].edge[i % 2].rank = models[run->comm[i / 2][i % 2]].size++;
        }
    }
    for (int i = 0; i < run->members; ++i) {
        participants[i].name = (uint32_t) i;
        for (int slot = 0; slot < 2 && 0 <= run->comm[i][slot]; ++slot) {
            participants[i].edge[slot].id = (uint64_t) run->comm[i][slot];
            participants[i].edge[slot].size = models[run->comm[i][slot]].size;
        }
        epml_graph_learn(&graph, &participants[i], -1);
    }
    epml_graph_settle(&graph);
    for (int i = 0; i < run->members; ++i) {
        member_t *m = &members[i];
        epml_graph_view_t view;

        epml_graph_lay_out(&graph, &participants[i], &view);
        m->traversal.stops = view.stops;
        for (int stop = 0; stop < view.stops; ++stop) {
            const epml_graph_edge_t *edge = &participants[i].edge[view.stop[stop]];
            handle_t *handle = &m->handle[stop];

            handle->model = &models[edge->id];
            handle->member = m;
            handle->coll.coll_reduce = model_reduce;
            handle->coll.coll_bcast = model_bcast;
            handle->group.grp_proc_count = edge->size;
            handle->comm.c_local_group = &handle->group;
            handle->comm.c_my_rank = edge->rank;
            handle->comm.c_coll = &handle->coll;
            m->traversal.stop[stop] = (mca_pml_epml_stop_t){.comm = &handle->comm,
                                                            .root = view.parent[stop]};
        }
    }
    epml_graph_end(&graph);
}

static void check(const run_t *run, const member_t *m, bool has_failed, bool at_end)
{
    TAP_CHECK(has_failed || 0 == m->rc, "member %d: error %d", m->index, m->rc);
    TAP_CHECK(!has_failed || at_end || 0 != m->rc, "member %d has not noticed: point %d of %d, %d",
              m->index, run->point, run->member, run->late);
    TAP_CHECK(0 != m->rc || run->members - 1 == m->values[1], "member %d: the highest is %d",
              m->index, (int) m->values[1]);
    for (int i = 0; 0 == m->rc && i < run->members; ++i) {
        TAP_EQ(i + 1, m->addresses[i]);
    }
}

/** @return whether the point at which something was to fail was there */
static bool run_once(const run_t *run)
{
    static member_t members[MEMBERS_MAX];
    pthread_t threads[MEMBERS_MAX];
    bool has_failed = false, at_end = false;

    memset(members, 0, sizeof(members));
    meet(run, members);
    for (int i = 0; i < run->members; ++i) {
        members[i].run = run;
        members[i].index = i;
        members[i].addresses[i] = (unsigned char) (i + 1);
        (void) pthread_create(&threads[i], NULL, member_run, &members[i]);
    }
    for (int i = 0; i < run->members; ++i) {
        (void) pthread_join(threads[i], NULL);
        has_failed = has_failed || members[i].has_failed;
        at_end = at_end || members[i].at_end;
    }
    for (int i = 0; i < run->members; ++i) {
        check(run, &members[i], has_failed, at_end);
    }
    return has_failed;
}

static void case_web(const char *what, run_t run)
{
    tap_case("%s: nobody fails, and each one, everywhere", what);
    run.member = -1;
    TAP_CHECK(!run_once(&run), "something has failed");
    for (run.member = 0; run.member < run.members; ++run.member) {
        for (int late = 0; late < 2; ++late) {
            run.late = 0 != late;
            for (run.point = 0; run_once(&run); ++run.point) {
            }
            TAP_CHECK(2 * ROUNDS < run.point, "%d points", run.point);
        }
    }
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_traversal", 60);
    case_web("one communicator", (run_t){.members = 3, .comm = {{0, -1}, {0, -1}, {0, -1}}});
    case_web("a chain", (run_t){.members = 5, .comm = {{0, -1}, {0, 1}, {1, 2}, {2, 3}, {3, -1}}});
    case_web("a ring", (run_t){.members = 4, .comm = {{0, 1}, {1, 2}, {2, 3}, {3, 0}}});
    case_web("processes and their endpoints",
             (run_t){.members = 6, .comm = {{0, 1}, {1, -1}, {0, 2}, {2, -1}, {0, 3}, {3, -1}}});
    case_web("two that all pass", (run_t){.members = 3, .comm = {{0, 1}, {1, 0}, {0, 1}}});
    case_web("two ways to some",
             (run_t){.members = 7,
                     .comm = {{0, 1}, {0, 2}, {0, -1}, {1, 3}, {2, 3}, {3, -1}, {2, -1}}});
    return tap_end();
}
