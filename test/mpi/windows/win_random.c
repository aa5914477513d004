/* EPT-PARTS: win_random_model.c win_random_access.c win_random_ops.c */
/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Random one-sided operations of all members at all members, in random epochs, against a sequential
 * model of each phase.
 *
 * The part of a target holds, for each origin, some *cells* of that origin alone, where the model
 * knows each value; one cell in which all origins accumulate by one commuting operation; a counter
 * that all increment and fetch; and a word that all compare and swap.  Every rank computes what all
 * origins do to its own part, and what its own operations return: each draw is from the seed, the
 * phase, the origin and the target.  What is compared is every byte of the window, of results, and
 * around both.
 *
 * Within an epoch operations on a cell do not conflict (MPI 4.1, 12.7): one put, one get, or
 * accumulates of one operation and MPI_NO_OP, in order.  With passive target synchronization several
 * such steps follow each other, with a flush between them.
 *
 * case_together is not random: all ranks add to the same few elements many times.
 *
 * Options: --phases N, --bytes N (of a cell), --shared 0 (members of a node share no memory),
 * --device 1 (buffers, created windows and attached memory are a device's: of fake_accelerator)
 *
 * Guards: osc_epwin_walk.c, osc_epwin_apply.c, osc_epwin_word.c, osc_epwin_accumulate_lock.c,
 * osc_epwin_range.c, osc_epwin_put_get.c, osc_epwin_accumulate.c, osc_epwin_device.c,
 * osc_epwin_device_memory.c
 */

#include "device/device.h"
#include "win_random.h"

enum epoch { FENCE, PSCW, LOCK, LOCK_ALL, NUM_EPOCHS };
enum flavor { ALLOCATE, CREATE, SHARED, DYNAMIC };

/** A window, and what a rank knows of it. */
struct run {
    struct win_run ops;
    struct ept *t;
    MPI_Comm comm;
    enum flavor flavor;
    unsigned char *part;      /**< my part */
    struct ept_buffer buffer; /**< where it is mine */
    bool is_device; /**< it is device memory, and buffer has what is written and compared */
    uint64_t phase_key;
    enum epoch epoch;
};

/* ---- epochs ----------------------------------------------------------------------------------- */

/** Does the origin access the target in this phase?  With post and start some do, else all. */
static bool is_edge(const struct run *run, int origin, int target)
{
    return PSCW != run->epoch
           || 0 != ept_mix(run->phase_key, (uint64_t) origin, (uint64_t) target, 77) % 3;
}

/** The targets of this rank, or those that have it as a target. */
static MPI_Group edge_group(const struct run *run, bool targets)
{
    const int rank = run->ops.rank, size = run->ops.size;
    int *ranks = malloc((size_t) size * sizeof(*ranks));
    MPI_Group all, group;
    int n = 0;

    for (int peer = 0; peer < size; ++peer) {
        if (targets ? is_edge(run, rank, peer) : is_edge(run, peer, rank)) {
            ranks[n++] = peer;
        }
    }
    MPI_Comm_group(run->comm, &all);
    MPI_Group_incl(all, n, ranks, &group);
    MPI_Group_free(&all);
    free(ranks);
    return group;
}

static void access_targets(struct run *run, uint64_t *random)
{
    struct ept *t = run->t;
    const int size = run->ops.size;
    int *order = malloc((size_t) size * sizeof(*order));
    uint64_t common = run->phase_key;

    /* In every second phase all come to the same target at about the same time. */
    ept_shuffle(order, size, 0 != (run->phase_key >> 30 & 1) ? &common : random);
    for (int i = 0; i < size; ++i) {
        const int target = order[i];

        if (!is_edge(run, run->ops.rank, target)) {
            continue;
        }
        if (LOCK == run->epoch) {
            const int kind = 0 == ept_random_below(random, 3) ? MPI_LOCK_EXCLUSIVE
                                                              : MPI_LOCK_SHARED;

            ept_phase(t, "lock of %d", target);
            EPT_OK(t, MPI_Win_lock(kind, target, 0, run->ops.win));
        }
        ept_phase(t, "operations at %d", target);
        win_ops_issue(&run->ops, target);
        if (LOCK == run->epoch) {
            ept_phase(t, "unlock of %d", target);
            EPT_OK(t, MPI_Win_unlock(target, run->ops.win));
        }
    }
    free(order);
}

static void epoch_fence(struct run *run, uint64_t *random)
{
    struct ept *t = run->t;
    const bool hinted = 0 != (run->phase_key >> 20 & 1); /* the same at all */

    EPT_OK(t, MPI_Win_fence(hinted ? MPI_MODE_NOPRECEDE : 0, run->ops.win));
    access_targets(run, random);
    ept_phase(t, "second fence");
    EPT_OK(t, MPI_Win_fence(hinted ? MPI_MODE_NOSUCCEED : 0, run->ops.win));
}

static void epoch_pscw(struct run *run, uint64_t *random)
{
    struct ept *t = run->t;
    MPI_Group targets = edge_group(run, true);
    MPI_Group origins = edge_group(run, false);

    EPT_OK(t, MPI_Win_post(origins, 0, run->ops.win));
    ept_phase(t, "start");
    EPT_OK(t, MPI_Win_start(targets, 0, run->ops.win));
    access_targets(run, random);
    ept_phase(t, "complete");
    EPT_OK(t, MPI_Win_complete(run->ops.win));
    ept_phase(t, "wait");
    if (0 == ept_random_below(random, 2)) {
        EPT_OK(t, MPI_Win_wait(run->ops.win));
    } else {
        for (int over = 0; !over;) {
            if (MPI_SUCCESS != MPI_Win_test(run->ops.win, &over)) {
                break;
            }
        }
    }
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
}

static void epoch_lock_all(struct run *run, uint64_t *random)
{
    struct ept *t = run->t;

    EPT_OK(t,
           MPI_Win_lock_all(0 != (run->phase_key >> 20 & 1) ? MPI_MODE_NOCHECK : 0, run->ops.win));
    access_targets(run, random);
    ept_phase(t, "unlock_all");
    EPT_OK(t, MPI_Win_unlock_all(run->ops.win));
}

/* ---- phases ----------------------------------------------------------------------------------- */

/** My own part may be read and written by loads and stores between the two. */
static void part_begin(struct run *run)
{
    EPT_OK(run->t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, run->ops.rank, 0, run->ops.win));
}

static void part_end(struct run *run)
{
    EPT_OK(run->t, MPI_Win_unlock(run->ops.rank, run->ops.win));
    EPT_OK(run->t, MPI_Barrier(run->comm));
}

static void phase_run(struct run *run, int number)
{
    static const char *const names[] = {"fence", "pscw", "lock", "lock_all"};
    struct ept *t = run->t;
    uint64_t random;

    run->phase_key = ept_mix(t->seed, (uint64_t) number, run->flavor, 4711);
    run->epoch = (enum epoch)(run->phase_key % NUM_EPOCHS);
    random = ept_mix(run->phase_key, (uint64_t) run->ops.rank, 1, 2);
    ept_phase(t, "phase %d, %s", number, names[run->epoch]);
    win_ops_begin(&run->ops, run->phase_key, LOCK == run->epoch || LOCK_ALL == run->epoch);
    part_begin(run);
    win_ops_fill(&run->ops, run->is_device ? run->buffer.data : run->part);
    if (run->is_device) {
        device_copy(t, run->part, run->buffer.data, run->ops.part_bytes);
    }
    part_end(run);
    switch (run->epoch) {
    case FENCE:
        epoch_fence(run, &random);
        break;
    case PSCW:
        epoch_pscw(run, &random);
        break;
    case LOCK:
        access_targets(run, &random);
        break;
    default:
        epoch_lock_all(run, &random);
    }
    ept_phase(t, "barrier after phase %d", number);
    EPT_OK(t, MPI_Barrier(run->comm));
    part_begin(run);
    for (int origin = 0; origin < run->ops.size; ++origin) {
        if (is_edge(run, origin, run->ops.rank)) {
            win_ops_apply(&run->ops, origin);
        }
    }
    if (run->is_device) {
        device_copy(t, run->buffer.data, run->part, run->ops.part_bytes);
    }
    win_ops_check(&run->ops, run->is_device ? run->buffer.data : run->part, number,
                  names[run->epoch]);
    part_end(run);
}

/* ---- windows ---------------------------------------------------------------------------------- */

static void window_create(struct run *run, MPI_Aint bytes)
{
    struct ept *t = run->t;
    const MPI_Comm comm = run->comm;
    const int unit = run->ops.unit[run->ops.rank];
    MPI_Win *win = &run->ops.win;

    if (ALLOCATE == run->flavor) {
        EPT_OK(t, MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &run->part, win));
    } else if (SHARED == run->flavor) {
        EPT_OK(t, MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, comm, &run->part, win));
    } else {
        run->buffer = ept_buffer((size_t) bytes, 0);
        run->is_device = NULL != run->ops.device;
        run->part = run->is_device ? device_memory(t, (size_t) bytes) : run->buffer.data;
        if (CREATE == run->flavor) {
            EPT_OK(t, MPI_Win_create(run->part, bytes, unit, MPI_INFO_NULL, comm, win));
        } else {
            MPI_Aint address;

            EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win));
            EPT_OK(t, MPI_Win_attach(*win, run->part, bytes));
            EPT_OK(t, MPI_Get_address(run->part, &address));
            EPT_OK(t, MPI_Allgather(&address, 1, MPI_AINT, run->ops.base, 1, MPI_AINT, comm));
        }
    }
    MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
}

static void window_free(struct run *run)
{
    if (DYNAMIC == run->flavor) {
        EPT_OK(run->t, MPI_Win_detach(run->ops.win, run->part));
    }
    EPT_OK(run->t, MPI_Win_free(&run->ops.win));
    if (NULL != run->buffer.base) {
        EPT_GUARDS(run->t, &run->buffer);
        ept_buffer_free(&run->buffer);
    }
}

static void run_phases(MPI_Comm comm, struct ept *t, enum flavor flavor, size_t cell, long phases)
{
    static _Thread_local unsigned char *device;
    struct run run = {.t = t, .comm = comm, .flavor = flavor};

    if (NULL == device && 0 != ept_option_long("device", 0)) {
        device = device_memory(t, WIN_DEVICE_BYTES);
    }
    win_run_init(&run.ops, t, comm, cell, DYNAMIC == flavor, device);
    window_create(&run, (MPI_Aint) run.ops.part_bytes);
    for (long i = 0; i < phases; ++i) {
        phase_run(&run, (int) i);
    }
    window_free(&run);
    win_run_end(&run.ops);
}

/** Small cells, and a few phases of large ones, whose operations are many messages. */
static void run_flavor(MPI_Comm comm, struct ept *t, enum flavor flavor)
{
    const long phases = ept_option_long("phases", 60);
    const long bytes = ept_option_long("bytes", 40000);

    run_phases(comm, t, flavor, 512, phases);
    run_phases(comm, t, flavor, (size_t) bytes / 64 * 64, phases / 10 + 1);
}

static void case_allocate(MPI_Comm comm, struct ept *t)
{
    run_flavor(comm, t, ALLOCATE);
}

static void case_create(MPI_Comm comm, struct ept *t)
{
    run_flavor(comm, t, CREATE);
}

static void case_dynamic(MPI_Comm comm, struct ept *t)
{
    run_flavor(comm, t, DYNAMIC);
}

/** Of the members that share a node. */
static void case_shared(MPI_Comm comm, struct ept *t)
{
    MPI_Comm local;

    EPT_OK(t, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, t->rank, MPI_INFO_NULL, &local));
    run_flavor(local, t, SHARED);
    EPT_OK(t, MPI_Comm_free(&local));
}

/* ---- all at once ------------------------------------------------------------------------------ */

enum { TOGETHER_ELEMENTS = 16, TOGETHER_CALLS = 10000 };

/** Adds ones to a target's elements: even ranks to every second one, by a datatype with gaps; of the
 * others every second rank one by one. */
static void together_add(struct ept *t, const struct win_basic *basic, int target, MPI_Win win)
{
    const bool has_gaps = 0 == t->rank % 2;
    const int calls = 3 == t->rank % 4 ? TOGETHER_ELEMENTS : 1;
    const int count = has_gaps ? 1 : TOGETHER_ELEMENTS / calls;
    unsigned char ones[TOGETHER_ELEMENTS * 8];
    MPI_Datatype type = basic->type;

    for (int i = 0; i < TOGETHER_ELEMENTS; ++i) {
        unsigned char *one = ones + i * basic->extent;

        if (MPI_DOUBLE == basic->type) {
            memcpy(one, &(double){1.0}, sizeof(double));
        } else if (MPI_FLOAT == basic->type) {
            memcpy(one, &(float){1.0F}, sizeof(float));
        } else {
            memset(one, 0, (size_t) basic->size);
            one[0] = 1; /* little-endian */
        }
    }
    if (has_gaps) {
        EPT_OK(t, MPI_Type_vector(TOGETHER_ELEMENTS / 2, 1, 2, basic->type, &type));
        EPT_OK(t, MPI_Type_commit(&type));
    }
    for (int i = 0; i < TOGETHER_CALLS; ++i) {
        for (int call = 0; call < calls; ++call) {
            MPI_Accumulate(ones, count, type, target, call * basic->extent, count, type, MPI_SUM,
                           win);
        }
    }
    EPT_OK(t, MPI_Win_flush(target, win));
    if (has_gaps) {
        MPI_Type_free(&type);
    }
}

static double together_value(const struct win_basic *basic, const unsigned char *part, int i)
{
    int64_t whole = 0;
    double real;
    float single;

    part += i * basic->extent;
    if (MPI_DOUBLE == basic->type) {
        memcpy(&real, part, sizeof(real));
        return real;
    }
    if (MPI_FLOAT == basic->type) {
        memcpy(&single, part, sizeof(single));
        return single;
    }
    memcpy(&whole, part, (size_t) basic->size);
    return (double) whole;
}

/** All ranks add to the same elements of 4 and 8 bytes, with and without gaps, together and one by
 * one: none is lost. */
static void case_together(MPI_Comm comm, struct ept *t)
{
    unsigned char *part;
    MPI_Win win;

    EPT_OK(t, MPI_Win_allocate(TOGETHER_ELEMENTS * 8, 1, MPI_INFO_NULL, comm, &part, &win));
    for (int b = 0; b < win_num_basics(); ++b) {
        const struct win_basic *basic = win_basic(b);
        const int target = b % t->size;

        if (0 == (basic->ops & 1u << OP_SUM) || 4 > basic->size || 8 < basic->size) {
            continue;
        }
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, win));
        memset(part, 0, TOGETHER_ELEMENTS * 8);
        EPT_OK(t, MPI_Win_unlock(t->rank, win));
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Win_lock_all(0, win));
        together_add(t, basic, target, win);
        EPT_OK(t, MPI_Win_unlock_all(win));
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, win));
        for (int i = 0; i < TOGETHER_ELEMENTS && target == t->rank; ++i) {
            const int origins = 0 == i % 2 ? t->size : t->size / 2;
            const double value = together_value(basic, part, i);

            EPT_CHECK(t, (double) origins * TOGETHER_CALLS == value, "%s %d: %.0f of %d x %d",
                      basic->name, i, value, origins, TOGETHER_CALLS);
        }
        EPT_OK(t, MPI_Win_unlock(t->rank, win));
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_Win_free(&win));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_CASE(t, case_together);
    (void) comm;
    EPT_CASE(t, case_allocate);
    if (0 != ept_option_long("shared", 1)) {
        EPT_CASE(t, case_shared);
    } else {
        ept_skip(t, "case_shared", "--shared 0");
    }
    if (t->endpoints || 1 == t->size) {
        EPT_CASE(t, case_create);
        EPT_CASE(t, case_dynamic);
    } else {
        ept_skip(t, "case_create", "osc/rdma of Open MPI 5 loses updates and hangs");
        ept_skip(t, "case_dynamic", "osc/rdma of Open MPI 5 loses updates and hangs");
    }
    return 0;
}
