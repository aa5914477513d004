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
 * Elements without gaps in mapped memory are operated on as they are.  Others are cut in pieces:
 * operands are packed, the target's runs are operated on, results are unpacked.  A piece is under
 * the target's accumulate lock as a whole, if it needs it; MPI asks for atomicity of elements only.
 *
 * Called by libmpi.
 *
 * Tests: win_random, win_errors, win_counts, win_device
 */

#include "ompi_config.h"

#include "osc_epwin_calls.h"
#include "osc_epwin_place.h"

#include <string.h>

/** Bytes and runs of a piece, on the stack. */
#define EPWIN_PIECE 4096
#define EPWIN_PIECE_RUNS 64

/** Before atomic operations on mapped memory. */
static inline void atomics_note(bool is_atomic)
{
    if (!EPWIN_ATOMIC_IS_FENCE || !is_atomic) {
        mca_osc_epwin_is_dirty = true;
    }
}

/* ---- mapped memory ---------------------------------------------------------------------------- */

/** Operate on one piece. */
static int piece_apply(mca_osc_epwin_module_t *module, int target, bool on_device,
                       const mca_osc_epwin_basic_t *basic, ompi_op_t *op,
                       const mca_osc_epwin_run_t *runs, uint32_t count, const void *operand,
                       void *result)
{
    char *memory = mca_osc_epwin_memory(module, target);
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, target);
    const bool need_lock = on_device || mca_osc_epwin_runs_need_lock(basic, memory, runs, count);
    int rc;

    atomics_note(!need_lock);
    if (need_lock) {
        rc = mca_osc_epwin_accumulate_acquire(module, control);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
    }
    (on_device ? mca_osc_epwin_device_apply_runs
               : mca_osc_epwin_apply_runs)(basic, op, memory, runs, count, operand, result);
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
        rc = piece_apply(module, place->target, place->on_device, basic, op, runs, count,
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
        rc = mca_osc_epwin_pack_begin(&pack, origin->address, origin->count, origin->type,
                                      origin->on_device);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
    }
    if (NULL != result) {
        rc = mca_osc_epwin_unpack_begin(&unpack, result->address, result->count, result->type,
                                        result->on_device);
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
static int elements_apply(mca_osc_epwin_module_t *module, int target,
                          const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *at,
                          const void *operand, void *result, size_t elements)
{
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, target);
    const bool is_atomic = mca_osc_epwin_is_atomic(basic, at);
    int rc = MPI_SUCCESS;

    atomics_note(is_atomic);
    if (!is_atomic) {
        rc = mca_osc_epwin_accumulate_acquire(module, control);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        mca_osc_epwin_apply(basic, op, at, operand, result, elements);
        if (!is_atomic) {
            mca_osc_epwin_accumulate_release(control);
        }
    }
    return rc;
}

/* ---- all ways --------------------------------------------------------------------------------- */

/** Is there no buffer, or does it have the same elements, in host memory? */
static bool buffer_is_like(const mca_osc_epwin_buffer_t *buffer, const ompi_datatype_t *type,
                           size_t count)
{
    return NULL == buffer || (type == buffer->type && count == buffer->count && !buffer->on_device);
}

int mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module_t *module,
                                    const mca_osc_epwin_buffer_t *origin,
                                    const mca_osc_epwin_buffer_t *result, int target,
                                    ptrdiff_t disp, size_t count, ompi_datatype_t *type,
                                    ompi_op_t *op, ompi_request_t **request_p)
{
    const mca_osc_epwin_basic_t *basic, *other;
    mca_osc_epwin_place_t place;
    int rc = mca_osc_epwin_place_check(module, target, disp, count, type, &place);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (0 == type->super.size * count) {
        return MPI_SUCCESS;
    }
    basic = mca_osc_epwin_basic(type);
    if (NULL == basic) {
        return MPI_ERR_TYPE;
    }
    if (NULL == mca_osc_epwin_one(basic, op)) {
        return MPI_ERR_OP;
    }
    if (NULL != origin) {
        other = mca_osc_epwin_basic(origin->type);
        if (NULL == other || other->size != basic->size) {
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
    if (EPWIN_WAY_MESSAGE <= module->peers[target].way) {
        return mca_osc_epwin_am_accumulate(module, origin, result, &place, basic->type, op,
                                           request_p);
    }
    if (mca_osc_epwin_is_plain(type) && !place.on_device && buffer_is_like(origin, type, count)
        && buffer_is_like(result, type, count)) {
        return elements_apply(module, target, basic, op,
                              mca_osc_epwin_memory(module, target) + place.at,
                              NULL == origin ? NULL : origin->address,
                              NULL == result ? NULL : result->address, count);
    }
    return accumulate_mapped(module, origin, result, &place, basic, op);
}

/** element_locked, while another member holds the lock. */
static __attribute__((noinline)) int element_waits(const void *operand, void *result,
                                                   ompi_datatype_t *type, int target, char *at,
                                                   ompi_op_t *op, mca_osc_epwin_module_t *module)
{
    return elements_apply(module, target, &mca_osc_epwin_basics[type->id], op, at, operand, result,
                          1);
}

/** An element of a type that no atomic instruction serves. */
static __attribute__((noinline)) int element_locked(const void *operand, void *result,
                                                    ompi_datatype_t *type, int target, char *at,
                                                    ompi_op_t *op, mca_osc_epwin_module_t *module)
{
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, target);

    if (OPAL_UNLIKELY(!mca_osc_epwin_accumulate_try(control, module->rank))) {
        return element_waits(operand, result, type, target, at, op, module);
    }
    atomics_note(false);
    (void) mca_osc_epwin_basics[type->id].one[op->o_f_to_c_index](operand, result, type, at, op);
    mca_osc_epwin_accumulate_release(control);
    return MPI_SUCCESS;
}

/** MPI_Fetch_and_op, or, result being NULL, MPI_Accumulate of one element: all cases. */
static __attribute__((noinline)) int element_any(const void *origin, void *result,
                                                 ompi_datatype_t *type, int target, ptrdiff_t disp,
                                                 ompi_op_t *op, ompi_win_t *win)
{
    const mca_osc_epwin_buffer_t from = {.address = (void *) (uintptr_t) origin,
                                         .count = 1,
                                         .type = type},
                                 to = {.address = result, .count = 1, .type = type};

    if (NULL != result && !ompi_datatype_is_predefined(type)) {
        return MPI_ERR_TYPE;
    }
    return mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module(win),
                                           &ompi_mpi_op_no_op.op == op ? NULL : &from,
                                           NULL == result ? NULL : &to, target, disp, 1, type, op,
                                           NULL);
}

/** The same.  The fast path is for predefined types without gaps in mapped memory.  It ends with a
 * call, so it saves few registers. */
static inline int element_apply(const void *origin, void *result, ompi_datatype_t *type, int target,
                                ptrdiff_t disp, ompi_op_t *op, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const mca_osc_epwin_basic_t *basic;
    mca_osc_epwin_one_t one;
    char *at;

    if (OPAL_UNLIKELY(
            !mca_osc_epwin_is_plain(type)
            || NULL == (at = mca_osc_epwin_fast_address(module, target, disp, type->super.size)))) {
        return element_any(origin, result, type, target, disp, op, win);
    }
    basic = &mca_osc_epwin_basics[type->id];
    one = mca_osc_epwin_one(basic, op);
    if (OPAL_LIKELY(NULL != one && mca_osc_epwin_is_atomic(basic, at))) {
        atomics_note(true);
        return one(origin, result, type, at, op);
    }
    return NULL != one && !basic->is_word
               ? element_locked(origin, result, type, target, at, op, module)
               : element_any(origin, result, type, target, disp, op, win);
}

int mca_osc_epwin_fetch_and_op(const void *origin, void *result, ompi_datatype_t *type, int target,
                               ptrdiff_t disp, ompi_op_t *op, ompi_win_t *win)
{
    return element_apply(origin, result, type, target, disp, op, win);
}

/** MPI_Accumulate, all cases. */
static __attribute__((noinline)) int elements_any(const void *origin,
                                                  mca_osc_epwin_count_t origin_count,
                                                  ompi_datatype_t *origin_type, int target,
                                                  ptrdiff_t disp, mca_osc_epwin_count_t count,
                                                  ompi_datatype_t *type, ompi_op_t *op,
                                                  ompi_win_t *win)
{
    return mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module(win),
                                           &(mca_osc_epwin_buffer_t){
                                               .address = (void *) (uintptr_t) origin,
                                               .count = (size_t) origin_count,
                                               .type = origin_type},
                                           NULL, target, disp, (size_t) count, type, op, NULL);
}

/** MPI_Accumulate of one element, the most frequent case under the lock: a sum of doubles in mapped
 * memory.  @return false: it has not been done */
static inline bool sum_double(const void *origin, int target, ptrdiff_t disp, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    char *at = mca_osc_epwin_fast_address(module, target, disp, sizeof(double));
    mca_osc_epwin_control_t *control;
    double left, right;

    if (OPAL_UNLIKELY(NULL == at)) {
        return false;
    }
    control = mca_osc_epwin_control(module, target);
    if (OPAL_UNLIKELY(!mca_osc_epwin_accumulate_try(control, module->rank))) {
        return false;
    }
    atomics_note(false);
    memcpy(&left, origin, sizeof(left));
    memcpy(&right, at, sizeof(right));
    right += left;
    memcpy(at, &right, sizeof(right));
    mca_osc_epwin_accumulate_release(control);
    return true;
}

int mca_osc_epwin_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                             ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                             mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                             ompi_win_t *win)
{
    if (OPAL_UNLIKELY(1 != count || 1 != origin_count || origin_type != type)) {
        return elements_any(origin, origin_count, origin_type, target, disp, count, type, op, win);
    }
    if (&ompi_mpi_double.dt == type && &ompi_mpi_op_sum.op == op
        && OPAL_LIKELY(sum_double(origin, target, disp, win))) {
        return MPI_SUCCESS;
    }
    return element_apply(origin, NULL, type, target, disp, op, win);
}

/** Of mapped memory, or of a device's. */
static int swap_apply(mca_osc_epwin_module_t *module, const void *origin, const void *compare,
                      const mca_osc_epwin_buffer_t *result, const mca_osc_epwin_place_t *place)
{
    const mca_osc_epwin_basic_t *basic = mca_osc_epwin_basic(place->type);
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, place->target);
    char *at = mca_osc_epwin_memory(module, place->target) + place->at;
    const bool is_atomic = !place->on_device && mca_osc_epwin_is_atomic(basic, at);
    char before[EPWIN_ELEMENT_MAX];
    int rc = MPI_SUCCESS;

    atomics_note(is_atomic);
    if (!is_atomic) {
        rc = mca_osc_epwin_accumulate_acquire(module, control);
    }
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    (void) (place->on_device ? mca_osc_epwin_device_swap
                             : mca_osc_epwin_apply_swap)(origin, compare, before, basic, at);
    if (!is_atomic) {
        mca_osc_epwin_accumulate_release(control);
    }
    if (result->on_device) {
        mca_osc_epwin_device_copy(result->address, before, basic->size);
    } else {
        memcpy(result->address, before, basic->size);
    }
    return MPI_SUCCESS;
}

int mca_osc_epwin_swap_buffer(mca_osc_epwin_module_t *module, const void *origin,
                              const void *compare, const mca_osc_epwin_buffer_t *result, int target,
                              ptrdiff_t disp)
{
    ompi_datatype_t *type = result->type;
    const mca_osc_epwin_basic_t *basic = mca_osc_epwin_basic(type);
    mca_osc_epwin_place_t place;
    int rc;

    if (NULL == basic || !basic->is_word || !ompi_datatype_is_predefined(type)) {
        return MPI_ERR_TYPE; /* MPI-4.1, 12.3.4: integers, logicals, bytes, multi-language types */
    }
    rc = mca_osc_epwin_place_check(module, target, disp, 1, type, &place);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    return EPWIN_WAY_MESSAGE <= module->peers[target].way
               ? mca_osc_epwin_am_swap(module, origin, compare, result, &place)
               : swap_apply(module, origin, compare, result, &place);
}

/** MPI_Compare_and_swap, all cases. */
static __attribute__((noinline)) int swap_any(const void *origin, const void *compare, void *result,
                                              ompi_datatype_t *type, int target, ptrdiff_t disp,
                                              ompi_win_t *win)
{
    const mca_osc_epwin_buffer_t buffer = {.address = result, .count = 1, .type = type};

    return mca_osc_epwin_swap_buffer(mca_osc_epwin_module(win), origin, compare, &buffer, target,
                                     disp);
}

int mca_osc_epwin_compare_and_swap(const void *origin, const void *compare, void *result,
                                   ompi_datatype_t *type, int target, ptrdiff_t disp,
                                   ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const mca_osc_epwin_basic_t *basic;
    char *at;

    if (OPAL_LIKELY(
            mca_osc_epwin_is_plain(type)
            && NULL != (at = mca_osc_epwin_fast_address(module, target, disp, type->super.size)))) {
        basic = &mca_osc_epwin_basics[type->id];
        if (OPAL_LIKELY(mca_osc_epwin_is_atomic(basic, at))) {
            atomics_note(true);
            return mca_osc_epwin_apply_swap(origin, compare, result, basic, at);
        }
    }
    return swap_any(origin, compare, result, type, target, disp, win);
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

    return mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module(win),
                                           &ompi_mpi_op_no_op.op == op ? NULL : &from, &to, target,
                                           disp, (size_t) count, type, op, request_p);
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
