/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * win_random: single calls, as the origin issues them and as the model applies them.
 */

#include "device/device.h"
#include "win_random.h"

bool win_cell_is_common(const struct win_run *run, int cell)
{
    return cell == run->size * CELLS;
}

uint64_t win_cell_key(const struct win_run *run, int target, int cell)
{
    return ept_mix(run->key, (uint64_t) target, (uint64_t) cell, 3);
}

const struct win_basic *win_cell_basic(const struct win_run *run, int target, int cell)
{
    uint64_t random = win_cell_key(run, target, cell);
    const int num = win_num_basics()
                    - (win_cell_is_common(run, cell) ? 1 : 0); /* the last one has no ops */

    return win_basic((int) ept_random_below(&random, (uint64_t) num));
}

/* ---- drawing ---------------------------------------------------------------------------------- */

/** Calls of one element address it directly. */
static bool is_single(const struct win_access *access)
{
    return FETCH_AND_OP == access->kind || COMPARE_AND_SWAP == access->kind;
}

/** A place in the cell for the target's layout. */
static void target_draw(const struct win_run *run, int target, struct win_access *access,
                        uint64_t *random)
{
    struct win_layout *layout = &access->layout[TARGET];
    const int unit = run->unit[target];
    const ptrdiff_t step = access->basic->extent > unit ? access->basic->extent : unit;
    ptrdiff_t first, last;

    do {
        win_layout_draw(access->basic, access->n, run->cell, random, layout,
                        &access->layout_kind[TARGET]);
        first = 0 > layout->low ? (-layout->low + step - 1) / step * step : 0;
        last = (ptrdiff_t) run->cell - layout->high;
    } while (first > last || (is_single(access) && 0 != layout->at[0]));
    access->offset = (size_t) (first
                               + step
                                     * (ptrdiff_t) ept_random_below(
                                         random, (uint64_t) ((last - first) / step + 1)));
}

void win_access_draw(const struct win_run *run, int target, int cell, enum win_kind kind,
                     enum win_op op, struct win_access *access, uint64_t *random)
{
    bool one;

    *access = (struct win_access){.kind = kind,
                                  .basic = win_cell_basic(run, target, cell),
                                  .op = op,
                                  .times = 1,
                                  .cell_at = (size_t) cell * run->cell};
    one = is_single(access);
    access->n = one ? 1 : win_elements_draw(access->basic, run->cell, random);
    access->key = ept_random(random);
    access->is_request = run->is_passive && !one && 0 == ept_random_below(random, 3);
    access->is_hit = 0 != ept_random_below(random, 3);
    access->is_bare = OP_NO_OP == op && 0 != ept_random_below(random, 2);
    access->is_common = win_cell_is_common(run, cell);
    target_draw(run, target, access, random);
    for (int side = 0; side < SIDES; side += RESULT - ORIGIN) {
        do {
            win_layout_draw(access->basic, access->n, SIZE_MAX, random, &access->layout[side],
                            &access->layout_kind[side]);
        } while (one && 0 != access->layout[side].at[0]);
    }
}

/* ---- the model -------------------------------------------------------------------------------- */

void win_access_apply(struct win_access *access, unsigned char *cell, unsigned char *result)
{
    const struct win_basic *basic = access->basic;

    for (int i = 0; i < access->n; ++i) {
        unsigned char *target = cell + access->offset + win_layout_at(&access->layout[TARGET], i);
        const size_t size = (size_t) win_size(basic, i);
        unsigned char value[16];

        win_value(basic, access->op, access->key + (uint64_t) i, value);
        if (NULL != result && PUT != access->kind && ACCUMULATE != access->kind) {
            memcpy(result + win_layout_at(&access->layout[RESULT], i), target, size);
        }
        if (PUT == access->kind) {
            memcpy(target, value, size);
        } else if (COMPARE_AND_SWAP == access->kind) {
            memcpy(access->compare, target, size);
            if (access->is_hit) {
                memcpy(target, value, size);
            } else {
                access->compare[0] ^= 1;
            }
        } else if (GET != access->kind) {
            win_apply(basic, access->op, value, target);
        }
    }
}

/* ---- calls ------------------------------------------------------------------------------------ */

/** The address that MPI is given. */
static unsigned char *address(const struct win_access *access, enum win_side side)
{
    return (NULL != access->device[side] ? access->device[side] : access->buffer[side].data)
           - access->layout[side].low;
}

/** Have some buffers in device memory, as long as there is room. */
static void buffers_move(struct win_run *run, struct win_access *access)
{
    for (int side = 0; side < SIDES && NULL != run->device; ++side) {
        const struct ept_buffer *buffer = &access->buffer[side];

        if (TARGET == side || 0 == ept_mix(access->key, (uint64_t) side, 1, 2) % 3
            || WIN_DEVICE_BYTES - run->device_used < buffer->size) {
            continue;
        }
        access->device[side] = run->device + run->device_used;
        run->device_used += (buffer->size + 15) / 16 * 16;
        if (WIN_DEVICE_BYTES < run->device_used) {
            run->device_used = WIN_DEVICE_BYTES;
        }
        device_copy(run->t, access->device[side], buffer->data, buffer->size);
    }
}

static void buffers_make(struct win_run *run, struct win_access *access, unsigned char *cell,
                         uint64_t *random)
{
    for (int side = 0; side < SIDES; ++side) {
        struct win_layout *layout = &access->layout[side];

        win_layout_commit(run->t, access->basic, access->layout_kind[side], layout);
        if (TARGET != side) {
            access->buffer[side] = ept_buffer((size_t) (layout->high - layout->low),
                                              16 * (unsigned) ept_random_below(random, 4));
        }
    }
    for (int i = 0; i < access->n; ++i) {
        unsigned char value[16];

        win_value(access->basic, access->op, access->key + (uint64_t) i, value);
        memcpy(address(access, ORIGIN) + win_layout_at(&access->layout[ORIGIN], i), value,
               (size_t) win_size(access->basic, i));
    }
    access->expected = malloc(access->buffer[RESULT].size);
    memcpy(access->expected, access->buffer[RESULT].data, access->buffer[RESULT].size);
    win_access_apply(access, cell, access->expected - access->layout[RESULT].low);
    buffers_move(run, access);
}

/** Elements may be anything now, also between the significant bytes of one. */
static void expect_elements(struct win_access *access)
{
    const struct win_layout *layout = &access->layout[RESULT];

    for (int i = 0; i < access->n; ++i) {
        const ptrdiff_t at = win_layout_at(layout, i) - layout->low;
        const int size = access->is_common ? 0 : win_size(access->basic, i);

        memcpy(access->expected + at + size, access->buffer[RESULT].data + at + size,
               (size_t) (access->basic->extent - size));
    }
}

static void result_check(struct win_run *run, struct win_access *access)
{
    static const char *const names[] = {"put",          "get",    "accumulate", "get_accumulate",
                                        "fetch_and_op", "compare"};
    const struct ept_buffer *buffer = &access->buffer[RESULT];

    if (NULL != access->device[RESULT]) {
        device_copy(run->t, buffer->data, access->device[RESULT], buffer->size);
    }
    if (access->is_common || access->basic->size < access->basic->extent) {
        expect_elements(access);
    }
    for (size_t i = 0; i < buffer->size; ++i) {
        if (buffer->data[i] != access->expected[i]) {
            EPT_CHECK(run->t, false, "%s of %d %s, operation %d: byte %zu of %zu is %02x, not %02x",
                      names[access->kind], access->n, access->basic->name, (int) access->op, i,
                      buffer->size, buffer->data[i], access->expected[i]);
            return;
        }
    }
    EPT_CHECK(run->t, true, "right");
    EPT_GUARDS(run->t, buffer);
}

MPI_Aint win_displacement(const struct win_run *run, int target, size_t offset)
{
    return NULL != run->base ? MPI_Aint_add(run->base[target], (MPI_Aint) offset)
                             : (MPI_Aint) offset / run->unit[target];
}

#define ORIGIN_ARGUMENTS address(access, ORIGIN), o->count, o->type
#define RESULT_ARGUMENTS address(access, RESULT), r->count, r->type
#define TARGET_ARGUMENTS target, where, at->count, at->type

static void issue_with_request(struct win_run *run, int target, struct win_access *access)
{
    struct ept *t = run->t;
    const struct win_layout *o = &access->layout[ORIGIN], *r = &access->layout[RESULT];
    const struct win_layout *at = &access->layout[TARGET];
    const MPI_Aint where = win_displacement(run, target, access->cell_at + access->offset);
    MPI_Request *request = &access->request;
    const MPI_Op op = win_op(access->op);

    switch (access->kind) {
    case PUT:
        EPT_OK(t, MPI_Rput(ORIGIN_ARGUMENTS, TARGET_ARGUMENTS, run->win, request));
        break;
    case GET:
        EPT_OK(t, MPI_Rget(RESULT_ARGUMENTS, TARGET_ARGUMENTS, run->win, request));
        break;
    case ACCUMULATE:
        EPT_OK(t, MPI_Raccumulate(ORIGIN_ARGUMENTS, TARGET_ARGUMENTS, op, run->win, request));
        break;
    default:
        EPT_OK(t, MPI_Rget_accumulate(ORIGIN_ARGUMENTS, RESULT_ARGUMENTS, TARGET_ARGUMENTS, op,
                                      run->win, request));
    }
}

static void issue(struct win_run *run, int target, struct win_access *access)
{
    struct ept *t = run->t;
    const struct win_layout *o = &access->layout[ORIGIN], *r = &access->layout[RESULT];
    const struct win_layout *at = &access->layout[TARGET];
    const MPI_Aint where = win_displacement(run, target, access->cell_at + access->offset);
    const MPI_Datatype basic = access->basic->type;
    const MPI_Op op = win_op(access->op);

    switch (access->kind) {
    case PUT:
        EPT_OK(t, MPI_Put(ORIGIN_ARGUMENTS, TARGET_ARGUMENTS, run->win));
        break;
    case GET:
        EPT_OK(t, MPI_Get(RESULT_ARGUMENTS, TARGET_ARGUMENTS, run->win));
        break;
    case ACCUMULATE:
        EPT_OK(t, MPI_Accumulate(ORIGIN_ARGUMENTS, TARGET_ARGUMENTS, op, run->win));
        break;
    case GET_ACCUMULATE:
        if (access->is_bare) {
            EPT_OK(t, MPI_Get_accumulate(NULL, 0, basic, RESULT_ARGUMENTS, TARGET_ARGUMENTS, op,
                                         run->win));
        } else {
            EPT_OK(t, MPI_Get_accumulate(ORIGIN_ARGUMENTS, RESULT_ARGUMENTS, TARGET_ARGUMENTS, op,
                                         run->win));
        }
        break;
    case FETCH_AND_OP:
        EPT_OK(t, MPI_Fetch_and_op(address(access, ORIGIN), address(access, RESULT), basic, target,
                                   where, op, run->win));
        break;
    default:
        EPT_OK(t, MPI_Compare_and_swap(address(access, ORIGIN), access->compare,
                                       address(access, RESULT), basic, target, where, run->win));
    }
}

void win_access_issue(struct win_run *run, int target, const struct win_access *drawn,
                      unsigned char *cell, uint64_t *random)
{
    struct win_access *access = malloc(sizeof(*access));

    *access = *drawn;
    memset(access->device, 0, sizeof(access->device));
    access->request = MPI_REQUEST_NULL;
    buffers_make(run, access, cell, random);
    access->next = run->pending;
    run->pending = access;
    if (!access->is_request) {
        for (int i = 0; i < access->times; ++i) {
            issue(run, target, access);
        }
        return;
    }
    issue_with_request(run, target, access);
    if (0 == ept_random_below(random, 2)) {
        EPT_OK(run->t, MPI_Wait(&access->request, MPI_STATUS_IGNORE));
        result_check(run, access); /* what is fetched is there before any flush */
    }
}

void win_access_wait(struct win_run *run)
{
    for (struct win_access *access = run->pending; NULL != access; access = access->next) {
        EPT_OK(run->t, MPI_Wait(&access->request, MPI_STATUS_IGNORE));
    }
}

void win_access_check(struct win_run *run)
{
    while (NULL != run->pending) {
        struct win_access *access = run->pending;

        result_check(run, access);
        run->pending = access->next;
        for (int side = 0; side < SIDES; ++side) {
            win_layout_free(&access->layout[side]);
            if (TARGET != side) {
                ept_buffer_free(&access->buffer[side]);
            }
        }
        free(access->expected);
        free(access);
    }
    run->device_used = 0;
}
