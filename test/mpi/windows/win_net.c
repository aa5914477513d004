/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows whose memory is not mapped by the origin: operations by messages.  All members use created
 * and dynamic windows at the same time; each has a part of the others' memory, which it writes, adds
 * to and reads back, with types with gaps, in sizes from a byte to several MiB.  Gets with requests
 * are waited for in mixed lists, with messages; a flush reports errors of dynamic windows; elements
 * on which all members operate at once lose nothing; exclusive locks exclude; epochs of all kinds
 * end with the data there.
 *
 * Guards: osc/epwin/am, osc_epwin_put_get.c, osc_epwin_walk.c
 */

#include "ept.h"

#define MIB ((size_t) 1 << 20)

/** A window, in which each member has a part of the others' memory. */
struct area {
    MPI_Win win;
    unsigned char *memory;
    size_t part;     /**< bytes */
    MPI_Aint *bases; /**< by rank: what displacements are relative to */
    bool is_dynamic;
};

static struct area area_new(MPI_Comm comm, struct ept *t, size_t part, bool is_dynamic)
{
    const size_t bytes = part * (size_t) t->size;
    struct area area = {.part = part, .memory = calloc(1, bytes), .is_dynamic = is_dynamic};
    MPI_Aint base = 0;

    area.bases = calloc((size_t) t->size, sizeof(*area.bases));
    if (is_dynamic) {
        EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &area.win));
        EPT_OK(t, MPI_Win_attach(area.win, area.memory, (MPI_Aint) bytes));
        (void) MPI_Get_address(area.memory, &base);
    } else {
        EPT_OK(t, MPI_Win_create(area.memory, (MPI_Aint) bytes, 1, MPI_INFO_NULL, comm, &area.win));
    }
    EPT_OK(t, MPI_Win_set_errhandler(area.win, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Allgather(&base, 1, MPI_AINT, area.bases, 1, MPI_AINT, comm));
    return area;
}

static void area_end(MPI_Comm comm, struct ept *t, struct area *area)
{
    EPT_OK(t, MPI_Barrier(comm));
    if (area->is_dynamic) {
        EPT_OK(t, MPI_Win_detach(area->win, area->memory));
    }
    EPT_OK(t, MPI_Win_free(&area->win));
    free(area->memory);
    free(area->bases);
}

/** The displacement of a byte of a member's part at a target. */
static MPI_Aint area_at(const struct area *area, int owner, int target, size_t byte)
{
    return MPI_Aint_add(area->bases[target], (MPI_Aint) ((size_t) owner * area->part + byte));
}

/** In round i members address one at another distance. */
static int target_of(const struct ept *t, int i)
{
    return 1 == t->size ? 0 : (t->rank + 1 + i % (t->size - 1)) % t->size;
}

static int source_of(const struct ept *t, int i)
{
    return 1 == t->size ? 0 : (t->rank + t->size - 1 - i % (t->size - 1)) % t->size;
}

/** Sizes about those of messages and of what may be under way. */
static const size_t sizes[] = {1,    7,    8,     100,   255,    256,     1000,
                               8100, 8192, 65535, 65536, 262145, 1048576, 3 * MIB};
#define NUM_SIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))

static void sizes_of(MPI_Comm comm, struct ept *t, bool is_dynamic)
{
    struct area area = area_new(comm, t, 3 * MIB + 8, is_dynamic);
    unsigned char *data = malloc(3 * MIB);
    struct ept_buffer back = ept_buffer(3 * MIB, 5);

    EPT_OK(t, MPI_Win_lock_all(0, area.win));
    for (int i = 0; i < NUM_SIZES; ++i) {
        const int target = target_of(t, i), source = source_of(t, i), count = (int) sizes[i];
        const size_t at = (size_t) i % 8;

        ept_phase(t, "%zu bytes to %d", sizes[i], target);
        ept_fill(data, 0, sizes[i], ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) i, 0));
        ept_buffer_clear(&back);
        EPT_OK(t, MPI_Put(data, count, MPI_BYTE, target, area_at(&area, t->rank, target, at), count,
                          MPI_BYTE, area.win));
        EPT_OK(t, MPI_Win_flush(target, area.win));
        EPT_OK(t, MPI_Get(back.data, count, MPI_BYTE, target, area_at(&area, t->rank, target, at),
                          count, MPI_BYTE, area.win));
        if (0 == i % 2) {
            EPT_OK(t, MPI_Win_flush_local(target, area.win));
        } else {
            EPT_OK(t, MPI_Win_flush_all(area.win));
        }
        EPT_FILL(t, back.data, sizes[i], ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) i, 0));
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Win_sync(area.win));
        EPT_FILL(t, area.memory + (size_t) source * area.part + at, sizes[i],
                 ept_mix(t->seed, (uint64_t) source, (uint64_t) i, 0));
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_Win_unlock_all(area.win));
    EPT_GUARDS(t, &back);
    ept_buffer_free(&back);
    free(data);
    area_end(comm, t, &area);
}

static void case_sizes(MPI_Comm comm, struct ept *t)
{
    sizes_of(comm, t, false);
}

static void case_sizes_dynamic(MPI_Comm comm, struct ept *t)
{
    sizes_of(comm, t, true);
}

/** More long puts and gets than may be under way: a buffer may be written to again after a local
 * flush, and operations on the same memory are executed in their order. */
static void case_long(MPI_Comm comm, struct ept *t)
{
    enum { LONG = 200000, COUNT = 20 };
    struct area area = area_new(comm, t, COUNT * LONG, false);
    unsigned char *data = malloc((size_t) COUNT * LONG), *back = malloc((size_t) COUNT * LONG);

    EPT_OK(t, MPI_Win_lock_all(0, area.win));
    for (int round = 0; round < 3; ++round) {
        const int target = target_of(t, round), source = source_of(t, round);

        ept_fill(data, 0, (size_t) COUNT * LONG, ept_mix(t->seed, 7, (uint64_t) t->rank, 0));
        for (int i = 0; i < COUNT; ++i) {
            const MPI_Aint at = area_at(&area, t->rank, target, (size_t) i * LONG);

            EPT_OK(t,
                   MPI_Put(data + i * LONG, LONG, MPI_BYTE, target, at, LONG, MPI_BYTE, area.win));
            EPT_OK(t,
                   MPI_Get(back + i * LONG, LONG, MPI_BYTE, target, at, LONG, MPI_BYTE, area.win));
        }
        EPT_OK(t, 0 == round ? MPI_Win_flush_local(target, area.win)
                             : MPI_Win_flush_local_all(area.win));
        EPT_FILL(t, back, (size_t) COUNT * LONG, ept_mix(t->seed, 7, (uint64_t) t->rank, 0));
        memset(data, 0, (size_t) COUNT * LONG);
        EPT_OK(t, MPI_Win_flush_all(area.win));
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Win_sync(area.win));
        EPT_FILL(t, area.memory + (size_t) source * area.part, (size_t) COUNT * LONG,
                 ept_mix(t->seed, 7, (uint64_t) source, 0));
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_Win_unlock_all(area.win));
    free(data);
    free(back);
    area_end(comm, t, &area);
}

/* ---- types ------------------------------------------------------------------------------------ */

enum { ROWS = 700, PER_ROW = 5, STRIDE = 11 };

/** Matrices: some columns of each row, as blocks at a constant distance, or as a list of them; rows
 * differ in their lengths. */
static MPI_Datatype columns(struct ept *t, int form, MPI_Datatype basic)
{
    static _Thread_local int lengths[ROWS], places[ROWS];
    MPI_Datatype type;

    for (int i = 0; i < ROWS; ++i) {
        lengths[i] = 1 + i % PER_ROW;
        places[i] = i * STRIDE + i % 3;
    }
    if (0 == form) {
        EPT_OK(t, MPI_Type_vector(ROWS, PER_ROW, STRIDE, basic, &type));
    } else {
        EPT_OK(t, MPI_Type_indexed(ROWS, lengths, places, basic, &type));
    }
    EPT_OK(t, MPI_Type_commit(&type));
    return type;
}

/** Is an element of the matrix in the type? */
static bool has_column(int form, int element)
{
    const int row = element / STRIDE, column = element % STRIDE;

    if (row >= ROWS) {
        return false;
    }
    return 0 == form ? column < PER_ROW : column >= row % 3 && column < row % 3 + 1 + row % PER_ROW;
}

/** Accumulate columns twice, fetching what was there; then get them. */
static void types_of(MPI_Comm comm, struct ept *t, int form)
{
    const size_t elements = ROWS * STRIDE;
    struct area area = area_new(comm, t, elements * sizeof(double), 1 == form);
    MPI_Datatype type = columns(t, form, MPI_DOUBLE);
    double *data = calloc(elements, sizeof(*data)), *before = calloc(elements, sizeof(*before));
    double *after = calloc(elements, sizeof(*after));
    const int target = target_of(t, form), source = source_of(t, form);
    const double *mine = (const double *) area.memory + (size_t) source * elements;
    int wrong = 0;

    for (size_t i = 0; i < elements; ++i) {
        data[i] = (double) (i + 1000 * (size_t) t->rank);
        before[i] = after[i] = -1;
    }
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, target, 0, area.win));
    EPT_OK(t, MPI_Accumulate(data, 1, type, target, area_at(&area, t->rank, target, 0), 1, type,
                             MPI_SUM, area.win));
    EPT_OK(t, MPI_Get_accumulate(data, 1, type, before, 1, type, target,
                                 area_at(&area, t->rank, target, 0), 1, type, MPI_SUM, area.win));
    EPT_OK(t, MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, after, 1, type, target,
                                 area_at(&area, t->rank, target, 0), 1, type, MPI_NO_OP, area.win));
    EPT_OK(t, MPI_Win_unlock(target, area.win));
    for (int i = 0; i < (int) elements; ++i) {
        const bool has = has_column(form, i);

        wrong += (has ? data[i] : -1) != before[i] || (has ? 2 * data[i] : -1) != after[i];
    }
    EPT_EQ(t, 0, wrong);
    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < (int) elements; ++i) {
        wrong += (has_column(form, i) ? 2.0 * (i + 1000 * source) : 0.0) != mine[i];
    }
    EPT_EQ(t, 0, wrong);
    EPT_OK(t, MPI_Type_free(&type));
    free(data);
    free(before);
    free(after);
    area_end(comm, t, &area);
}

static void case_types(MPI_Comm comm, struct ept *t)
{
    types_of(comm, t, 0);
    types_of(comm, t, 1);
}

/* ---- requests --------------------------------------------------------------------------------- */

enum { REQUESTS = 12 };

/** Gets, puts and accumulates with requests, and messages, in one list.  A datatype is freed before
 * its data are there. */
static void case_requests(MPI_Comm comm, struct ept *t)
{
    struct area area = area_new(comm, t, REQUESTS * 4096, false);
    int64_t *back = calloc(REQUESTS * 512, sizeof(*back)), word = t->rank, got = -1;
    int64_t data[512];

    EPT_OK(t, MPI_Win_lock_all(0, area.win));
    for (int round = 0; round < 8; ++round) {
        const int target = target_of(t, round), source = source_of(t, round);
        MPI_Request requests[REQUESTS + 3];
        int count = 0;

        for (int i = 0; i < 512; ++i) {
            data[i] = round * 1000 + i + 100000 * t->rank;
        }
        for (int i = 0; i < REQUESTS; ++i) {
            const MPI_Aint at = area_at(&area, t->rank, target, 4096 * (size_t) i);

            if (0 == i % 3) {
                EPT_OK(t, MPI_Rput(data, 512, MPI_INT64_T, target, at, 512, MPI_INT64_T, area.win,
                                   &requests[0]));
            } else {
                EPT_OK(t, MPI_Raccumulate(data, 512, MPI_INT64_T, target, at, 512, MPI_INT64_T,
                                          MPI_REPLACE, area.win, &requests[0]));
            }
            EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        }
        EPT_OK(t, MPI_Win_flush(target, area.win));
        for (int i = 0; i < REQUESTS; ++i) {
            const MPI_Aint at = area_at(&area, t->rank, target, 4096 * (size_t) i);
            MPI_Datatype type;

            EPT_OK(t, MPI_Type_contiguous(512, MPI_INT64_T, &type));
            EPT_OK(t, MPI_Type_commit(&type));
            if (0 == i % 2) {
                EPT_OK(t, MPI_Rget(back + 512 * i, 1, type, target, at, 1, type, area.win,
                                   &requests[count++]));
            } else {
                EPT_OK(t, MPI_Rget_accumulate(data, 1, type, back + 512 * i, 1, type, target, at, 1,
                                              type, MPI_SUM, area.win, &requests[count++]));
            }
            EPT_OK(t, MPI_Type_free(&type));
            if (0 == i) {
                EPT_OK(t, MPI_Irecv(&got, 1, MPI_INT64_T, source, 3, comm, &requests[count++]));
            }
        }
        EPT_OK(t, MPI_Isend(&word, 1, MPI_INT64_T, target, 3, comm, &requests[count++]));
        EPT_OK(t, MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        EPT_EQ(t, source, got);
        for (int i = 0; i < REQUESTS; ++i) {
            EPT_CHECK(t, 0 == memcmp(data, back + 512 * i, sizeof(data)),
                      "round %d: result %d differs", round, i);
        }
    }
    EPT_OK(t, MPI_Win_unlock_all(area.win));
    free(back);
    area_end(comm, t, &area);
}

/* ---- errors ----------------------------------------------------------------------------------- */

/** Memory of a dynamic window that is not attached: the next flush tells of it, once. */
static void case_range(MPI_Comm comm, struct ept *t)
{
    struct area area = area_new(comm, t, 64, true);
    const int target = target_of(t, 0);
    const size_t end = 64 * (size_t) t->size;
    const MPI_Aint past = MPI_Aint_add(area.bases[target], (MPI_Aint) end - 4);
    int64_t data = 7, back = 8;
    int rc;

    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, target, 0, area.win));
    rc = MPI_Put(&data, 1, MPI_INT64_T, target, past, 1, MPI_INT64_T, area.win);
    if (MPI_SUCCESS == rc) { /* memory of another process */
        rc = MPI_Win_flush(target, area.win);
    }
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, rc);
    EPT_OK(t, MPI_Win_flush(target, area.win));
    rc = MPI_Get(&back, 1, MPI_INT64_T, target, past, 1, MPI_INT64_T, area.win);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Win_flush(target, area.win);
    }
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, rc);
    EPT_EQ(t, 8, back);
    EPT_OK(t, MPI_Put(&data, 1, MPI_INT64_T, target, area_at(&area, t->rank, target, 0), 1,
                      MPI_INT64_T, area.win));
    EPT_OK(t, MPI_Win_flush(target, area.win));
    EPT_OK(t, MPI_Get(&back, 1, MPI_INT64_T, target, area_at(&area, t->rank, target, 0), 1,
                      MPI_INT64_T, area.win));
    EPT_OK(t, MPI_Win_unlock(target, area.win));
    EPT_EQ(t, 7, back);
    area_end(comm, t, &area);
}

/* ---- all members on the same elements --------------------------------------------------------- */

enum { TURNS = 300 };

/** An integer, a double, a misaligned integer, and a counter under an exclusive lock. */
static void case_contended(MPI_Comm comm, struct ept *t)
{
    struct area area = area_new(comm, t, 64, false);
    const int64_t one = 1;
    const double unit = 1;
    int64_t last = -1, before = 0, value, found;
    double total;
    int out_of_order = 0;

    EPT_OK(t, MPI_Win_lock_all(0, area.win));
    for (int i = 0; i < TURNS; ++i) {
        EPT_OK(t, MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, area.win));
        EPT_OK(t, MPI_Accumulate(&unit, 1, MPI_DOUBLE, 0, 8, 1, MPI_DOUBLE, MPI_SUM, area.win));
        EPT_OK(t, MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 17, 1, MPI_INT64_T, MPI_SUM, area.win));
        EPT_OK(t, MPI_Win_flush(0, area.win));
        out_of_order += before <= last;
        last = before;
    }
    do { /* add one by compare and swap */
        EPT_OK(t, MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &value, 1, MPI_INT64_T, 0, 32, 1,
                                     MPI_INT64_T, MPI_NO_OP, area.win));
        EPT_OK(t, MPI_Win_flush(0, area.win));
        before = value + 1;
        EPT_OK(t, MPI_Compare_and_swap(&before, &value, &found, MPI_INT64_T, 0, 32, area.win));
        EPT_OK(t, MPI_Win_flush(0, area.win));
    } while (found != value);
    EPT_OK(t, MPI_Win_unlock_all(area.win));
    EPT_EQ(t, 0, out_of_order);
    for (int i = 0; i < TURNS / 4; ++i) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, area.win));
        EPT_OK(t, MPI_Get(&value, 1, MPI_INT64_T, 0, 40, 1, MPI_INT64_T, area.win));
        EPT_OK(t, MPI_Win_flush(0, area.win));
        ++value;
        EPT_OK(t, MPI_Put(&value, 1, MPI_INT64_T, 0, 40, 1, MPI_INT64_T, area.win));
        EPT_OK(t, MPI_Win_unlock(0, area.win));
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->rank) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, area.win));
        memcpy(&value, area.memory, 8);
        EPT_EQ(t, TURNS * t->size, value);
        memcpy(&total, area.memory + 8, 8);
        EPT_EQ(t, TURNS * t->size, (int) total);
        memcpy(&value, area.memory + 17, 8);
        EPT_EQ(t, TURNS * t->size, value);
        memcpy(&value, area.memory + 32, 8);
        EPT_EQ(t, t->size, value);
        memcpy(&value, area.memory + 40, 8);
        EPT_EQ(t, TURNS / 4 * t->size, value);
        EPT_OK(t, MPI_Win_unlock(0, area.win));
    }
    area_end(comm, t, &area);
}

/* ---- epochs ----------------------------------------------------------------------------------- */

/** Fence, and post, start, complete and wait, in a ring: data are there when the epoch ends, and
 * exclusive locks of all members, in two windows. */
static void case_epochs(MPI_Comm comm, struct ept *t)
{
    struct area area = area_new(comm, t, 8, false), other = area_new(comm, t, 8, true);
    const int target = target_of(t, 0), source = source_of(t, 0);
    MPI_Group all, to, from;
    int64_t data, back = 0, found;

    EPT_OK(t, MPI_Win_get_group(area.win, &all));
    EPT_OK(t, MPI_Group_incl(all, 1, &target, &to));
    EPT_OK(t, MPI_Group_incl(all, 1, &source, &from));
    for (int i = 0; i < 20; ++i) {
        data = 100 * i + t->rank;
        EPT_OK(t, MPI_Win_fence(0 == i ? MPI_MODE_NOPRECEDE : 0, area.win));
        EPT_OK(t, MPI_Put(&data, 1, MPI_INT64_T, target, area_at(&area, t->rank, target, 0), 1,
                          MPI_INT64_T, area.win));
        EPT_OK(t, MPI_Win_fence(19 == i ? MPI_MODE_NOSUCCEED : 0, area.win));
        memcpy(&found, area.memory + 8 * source, 8);
        EPT_EQ(t, 100 * i + source, found);
    }
    EPT_OK(t, MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, area.win));
    for (int i = 0; i < 20; ++i) {
        data = 7000 + 100 * i + t->rank;
        EPT_OK(t, MPI_Win_post(from, 0, area.win));
        EPT_OK(t, MPI_Win_start(to, 0, area.win));
        EPT_OK(t, MPI_Put(&data, 1, MPI_INT64_T, target, area_at(&area, t->rank, target, 0), 1,
                          MPI_INT64_T, area.win));
        EPT_OK(t, MPI_Win_complete(area.win));
        EPT_OK(t, MPI_Win_wait(area.win));
        memcpy(&found, area.memory + 8 * source, 8);
        EPT_EQ(t, 7000 + 100 * i + source, found);
    }
    for (int i = 0; i < 20; ++i) {
        const int peer = target_of(t, i);

        data = i;
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, other.win));
        EPT_OK(t, MPI_Put(&data, 1, MPI_INT64_T, peer, area_at(&other, t->rank, peer, 0), 1,
                          MPI_INT64_T, other.win));
        EPT_OK(t, MPI_Win_unlock(peer, other.win));
        EPT_OK(t, MPI_Win_lock_all(0, other.win));
        EPT_OK(t, MPI_Get(&back, 1, MPI_INT64_T, peer, area_at(&other, t->rank, peer, 0), 1,
                          MPI_INT64_T, other.win));
        EPT_OK(t, MPI_Win_unlock_all(other.win));
        EPT_EQ(t, i, back);
    }
    EPT_OK(t, MPI_Group_free(&all));
    EPT_OK(t, MPI_Group_free(&to));
    EPT_OK(t, MPI_Group_free(&from));
    area_end(comm, t, &other);
    area_end(comm, t, &area);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_sizes);
    EPT_CASE(t, case_sizes_dynamic);
    EPT_CASE(t, case_long);
    EPT_CASE(t, case_types);
    EPT_CASE(t, case_requests);
    EPT_CASE(t, case_range);
    EPT_CASE(t, case_contended);
    EPT_CASE(t, case_epochs);
    return 0;
}
