/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op, MPI_Compare_and_swap and the request forms
 * (MPI-4.1, 12.3.3 to 12.3.5).
 *
 * One element in mapped memory is operated on without a datatype engine.  Others are cut in pieces:
 * operands are packed, the target's runs are operated on, results are unpacked.  A piece is under
 * the target's accumulate lock as a whole, if it needs it; MPI asks for atomicity of elements only.
 *
 * Called by libmpi.
 *
 * Tests: win_random, win_errors
 */

#include "ompi_config.h"

#include "osc_epwin_calls.h"
#include "osc_epwin_place.h"

#include <string.h>

/** Bytes and runs of a piece, on the stack. */
#define EPWIN_PIECE 4096
#define EPWIN_PIECE_RUNS 64

/** Before atomic operations on mapped memory. */
static inline void atomics_note(mca_osc_epwin_module_t *module, bool is_atomic)
{
    if (!EPWIN_ATOMIC_IS_FENCE || !is_atomic) {
        module->is_dirty = true;
    }
}

/* ---- mapped memory ---------------------------------------------------------------------------- */

/** Operate on one piece. */
static int piece_apply(mca_osc_epwin_module_t *module, int target,
                       const mca_osc_epwin_basic_t *basic, ompi_op_t *op,
                       const mca_osc_epwin_run_t *runs, uint32_t count, const void *operand,
                       void *result)
{
    char *memory = mca_osc_epwin_memory(module, target);
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, target);
    const bool need_lock = mca_osc_epwin_runs_need_lock(basic, memory, runs, count);
    int rc;

    atomics_note(module, !need_lock);
    if (need_lock) {
        rc = mca_osc_epwin_accumulate_acquire(module, control);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
    }
    mca_osc_epwin_apply_runs(basic, op, memory, runs, count, operand, result);
    if (need_lock) {
        mca_osc_epwin_accumulate_release(control);
    }
    return MPI_SUCCESS;
}

/** All pieces.  @param[in] pack, unpack  NULL: no operand, no result */
static int pieces_apply(mca_osc_epwin_module_t *module, const mca_osc_epwin_place_t *place,
                        const mca_osc_epwin_basic_t *basic, ompi_op_t *op, size_t bytes,
                        mca_osc_epwin_pack_t *pack, mca_osc_epwin_pack_t *unpack)
{
    mca_osc_epwin_run_t runs[EPWIN_PIECE_RUNS];
    char operand[EPWIN_PIECE], result[EPWIN_PIECE];
    mca_osc_epwin_walk_t walk;
    uint32_t count = EPWIN_PIECE_RUNS;
    size_t size;
    int rc = mca_osc_epwin_walk_begin(&walk, place->at, place->count, place->type, basic->size);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    while (MPI_SUCCESS == rc && 0 < bytes
           && 0 < (size = mca_osc_epwin_walk_next(&walk, runs, &count,
                                                  bytes < EPWIN_PIECE ? bytes : EPWIN_PIECE))) {
        if (NULL != pack) {
            mca_osc_epwin_pack_next(pack, operand, size);
        }
        rc = piece_apply(module, place->target, basic, op, runs, count,
                         NULL == pack ? NULL : operand, NULL == unpack ? NULL : result);
        if (MPI_SUCCESS == rc && NULL != unpack) {
            mca_osc_epwin_unpack_next(unpack, result, size);
        }
        bytes -= size;
        count = EPWIN_PIECE_RUNS;
    }
    mca_osc_epwin_walk_end(&walk);
    return rc;
}

static int accumulate_mapped(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *origin,
                             const mca_osc_epwin_buffer_t *result,
                             const mca_osc_epwin_place_t *place,
                             const mca_osc_epwin_basic_t *basic, ompi_op_t *op)
{
    mca_osc_epwin_pack_t pack, unpack;
    size_t bytes = place->type->super.size * place->count;
    int rc;

    if (NULL != origin) {
        bytes = origin->type->super.size * origin->count;
        rc = mca_osc_epwin_pack_begin(&pack, origin->address, origin->count, origin->type);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
    }
    if (NULL != result) {
        rc = mca_osc_epwin_unpack_begin(&unpack, result->address, result->count, result->type);
        if (MPI_SUCCESS != rc) {
            goto end_pack;
        }
    }
    rc = pieces_apply(module, place, basic, op, bytes, NULL == origin ? NULL : &pack,
                      NULL == result ? NULL : &unpack);
    if (NULL != result) {
        mca_osc_epwin_pack_end(&unpack);
    }

end_pack:
    if (NULL != origin) {
        mca_osc_epwin_pack_end(&pack);
    }
    return rc;
}

/** Elements without gaps at an address in mapped memory. */
static inline int elements_apply(mca_osc_epwin_module_t *module, int target,
                                 const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *at,
                                 const void *operand, void *result, size_t elements)
{
    mca_osc_epwin_control_t *control;
    int rc;

    if (mca_osc_epwin_is_atomic(basic, at)) {
        atomics_note(module, true);
        if (OPAL_LIKELY(1 == elements)) {
            mca_osc_epwin_apply_word(basic, op, at, operand, result);
        } else {
            mca_osc_epwin_apply(basic, op, at, operand, result, elements);
        }
        return MPI_SUCCESS;
    }
    atomics_note(module, false);
    control = mca_osc_epwin_control(module, target);
    rc = mca_osc_epwin_accumulate_acquire(module, control);
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        mca_osc_epwin_apply(basic, op, at, operand, result, elements);
        mca_osc_epwin_accumulate_release(control);
    }
    return rc;
}

/* ---- all ways --------------------------------------------------------------------------------- */

/** @param[in] origin  NULL with MPI_NO_OP
 * @param[in] result  NULL: MPI_Accumulate
 * @param[out] request_p  NULL, or set if the result is not there yet */
static __attribute__((noinline)) int accumulate_slow(mca_osc_epwin_module_t *module,
                                                     const mca_osc_epwin_buffer_t *origin,
                                                     const mca_osc_epwin_buffer_t *result,
                                                     int target, ptrdiff_t disp, size_t count,
                                                     ompi_datatype_t *type, ompi_op_t *op,
                                                     ompi_request_t **request_p)
{
    mca_osc_epwin_basic_t basic, other;
    mca_osc_epwin_place_t place;
    int rc = mca_osc_epwin_place_check(module, target, disp, count, type, &place);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (0 == type->super.size * count) {
        return MPI_SUCCESS;
    }
    rc = mca_osc_epwin_basic(type, &basic);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (!mca_osc_epwin_has_op(&basic, op)) {
        return MPI_ERR_OP;
    }
    if (NULL != origin) {
        if (MPI_SUCCESS != mca_osc_epwin_basic(origin->type, &other) || other.size != basic.size) {
            return MPI_ERR_TYPE;
        }
        if (origin->type->super.size * origin->count > type->super.size * count) {
            return MPI_ERR_TRUNCATE;
        }
    }
    if (NULL != result
        && type->super.size * count > result->type->super.size * result->count) {
        return MPI_ERR_TRUNCATE;
    }
    if (EPWIN_WAY_DIRECT != module->peers[target].way) {
        return mca_osc_epwin_am_accumulate(module, origin, result, &place, basic.type, op,
                                           request_p);
    }
    return accumulate_mapped(module, origin, result, &place, &basic, op);
}

int mca_osc_epwin_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                             ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                             mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                             ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const size_t bytes = type->super.size * (size_t) count;
    char *at;

    if (OPAL_LIKELY(origin_type == type && origin_count == count && mca_osc_epwin_is_plain(type)
                    && NULL != (at = mca_osc_epwin_fast_address(module, target, disp, bytes)))) {
        mca_osc_epwin_basic_t basic;

        (void) mca_osc_epwin_basic(type, &basic);
        return OPAL_LIKELY(mca_osc_epwin_has_op(&basic, op))
                   ? elements_apply(module, target, &basic, op, at, origin, NULL, (size_t) count)
                   : MPI_ERR_OP;
    }
    return accumulate_slow(module,
                           &(mca_osc_epwin_buffer_t){.address = (void *) (uintptr_t) origin,
                                                     .count = (size_t) origin_count,
                                                     .type = origin_type},
                           NULL, target, disp, (size_t) count, type, op, NULL);
}

int mca_osc_epwin_fetch_and_op(const void *origin, void *result, ompi_datatype_t *type, int target,
                               ptrdiff_t disp, ompi_op_t *op, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const bool is_read = &ompi_mpi_op_no_op.op == op;
    mca_osc_epwin_buffer_t from = {.address = (void *) (uintptr_t) origin,
                                   .count = 1,
                                   .type = type},
                           to = {.address = result, .count = 1, .type = type};
    char *at;

    if (OPAL_LIKELY(mca_osc_epwin_is_plain(type)
                    && NULL
                           != (at = mca_osc_epwin_fast_address(module, target, disp,
                                                               type->super.size)))) {
        mca_osc_epwin_basic_t basic;

        (void) mca_osc_epwin_basic(type, &basic);
        return OPAL_LIKELY(mca_osc_epwin_has_op(&basic, op))
                   ? elements_apply(module, target, &basic, op, at, is_read ? NULL : origin,
                                    result, 1)
                   : MPI_ERR_OP;
    }
    if (!ompi_datatype_is_predefined(type)) {
        return MPI_ERR_TYPE;
    }
    return accumulate_slow(module, is_read ? NULL : &from, &to, target, disp, 1, type, op, NULL);
}

int mca_osc_epwin_compare_and_swap(const void *origin, const void *compare, void *result,
                                   ompi_datatype_t *type, int target, ptrdiff_t disp,
                                   ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    mca_osc_epwin_place_t place;
    mca_osc_epwin_basic_t basic;
    mca_osc_epwin_control_t *control;
    char *at = mca_osc_epwin_fast_address(module, target, disp, type->super.size);
    int rc = mca_osc_epwin_basic(type, &basic);

    if (OPAL_UNLIKELY(MPI_SUCCESS != rc || !basic.is_word || !ompi_datatype_is_predefined(type))) {
        return MPI_ERR_TYPE; /* MPI-4.1, 12.3.4: integers, logicals, bytes, multi-language types */
    }
    if (OPAL_UNLIKELY(NULL == at)) {
        rc = mca_osc_epwin_place_check(module, target, disp, 1, type, &place);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
        if (EPWIN_WAY_DIRECT != module->peers[target].way) {
            return mca_osc_epwin_am_swap(module, origin, compare, result, &place);
        }
        at = mca_osc_epwin_memory(module, target) + place.at;
    }
    if (OPAL_LIKELY(mca_osc_epwin_is_atomic(&basic, at))) {
        atomics_note(module, true);
        mca_osc_epwin_apply_swap(&basic, at, compare, origin, result);
        return MPI_SUCCESS;
    }
    atomics_note(module, false);
    control = mca_osc_epwin_control(module, target);
    rc = mca_osc_epwin_accumulate_acquire(module, control);
    if (MPI_SUCCESS == rc) {
        mca_osc_epwin_apply_swap(&basic, at, compare, origin, result);
        mca_osc_epwin_accumulate_release(control);
    }
    return rc;
}

/** Of both forms. */
static int get_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                          ompi_datatype_t *origin_type, void *result,
                          mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                          int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                          ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win,
                          ompi_request_t **request_p)
{
    const mca_osc_epwin_buffer_t from = {.address = (void *) (uintptr_t) origin,
                                         .count = (size_t) origin_count,
                                         .type = origin_type},
                                 to = {.address = result,
                                       .count = (size_t) result_count,
                                       .type = result_type};

    return accumulate_slow(mca_osc_epwin_module(win), &ompi_mpi_op_no_op.op == op ? NULL : &from,
                           &to, target, disp, (size_t) count, type, op, request_p);
}

int mca_osc_epwin_get_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                 ompi_datatype_t *origin_type, void *result,
                                 mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                                 int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                                 ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win)
{
    return get_accumulate(origin, origin_count, origin_type, result, result_count, result_type,
                          target, disp, count, type, op, win, NULL);
}

int mca_osc_epwin_raccumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                              ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                              mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                              ompi_win_t *win, ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return mca_osc_epwin_accumulate(origin, origin_count, origin_type, target, disp, count, type,
                                    op, win);
}

int mca_osc_epwin_rget_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                  ompi_datatype_t *origin_type, void *result,
                                  mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                                  int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                                  ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win,
                                  ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return get_accumulate(origin, origin_count, origin_type, result, result_count, result_type,
                          target, disp, count, type, op, win, request_p);
}
