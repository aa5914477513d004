/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations by messages, at the origin (osc_epwin_am.h).  An operation becomes one or several
 * records, each with blocks of the target's layout and the packed bytes of the origin's.
 *
 * Called by the layer calls.
 *
 * Tests: win_net, win_device, unit/test_epwin_am, unit/test_epwin_am_random
 */

#include "ompi_config.h"

#include "osc_epwin_am_link.h"
#include "osc_epwin_am_long.h"

#include <string.h>

/** Results of gets without a request are asked for with the next synchronization, or from so many
 * bytes on at once. */
#define ORIGIN_RESULTS_EAGER 4096

/** Bytes of a block in a record's head, at most. */
#define EPWIN_AM_BLOCK_MAX (UINT16_MAX & ~7)

/** The target's layout of an operation, run by run. */
typedef struct layout_t {
    mca_osc_epwin_walk_t walk;
    mca_osc_epwin_run_t runs[EPWIN_WALK_RUNS];
    uint32_t next, count; /**< of runs */
    uint32_t unit;        /**< bytes of an element that no record splits */
    bool is_padded;       /**< an element has gaps: its runs are not multiples of unit */
} layout_t;

static int layout_begin(layout_t *layout, const mca_osc_epwin_place_t *place,
                        const ompi_datatype_t *basic)
{
    layout->next = layout->count = 0;
    layout->unit = NULL == basic ? 1 : (uint32_t) basic->super.size;
    layout->is_padded = NULL != basic && !mca_osc_epwin_is_plain(basic);
    return mca_osc_epwin_walk_begin(&layout->walk, place->at, place->count, place->type,
                                    layout->unit);
}

/** The rest of the current run, or NULL at the end. */
static mca_osc_epwin_run_t *layout_run(layout_t *layout)
{
    if (layout->next == layout->count) {
        layout->next = 0;
        layout->count = EPWIN_WALK_RUNS;
        if (0 == mca_osc_epwin_walk_next(&layout->walk, layout->runs, &layout->count, SIZE_MAX)) {
            layout->count = 0;
            return NULL;
        }
    }
    return &layout->runs[layout->next];
}

static void layout_advance(layout_t *layout, size_t bytes)
{
    mca_osc_epwin_run_t *run = &layout->runs[layout->next];

    run->at += (int64_t) bytes;
    run->size -= bytes;
    layout->next += 0 == run->size;
}

/** Join a block with the last blocks of a record, if it is equal and follows at their distance. */
static bool blocks_extend(epwin_am_run_t *last, int64_t at, size_t size)
{
    int64_t stride;

    if (size != last->size || UINT32_MAX == last->count
        || __builtin_sub_overflow(at, last->at, &stride)) {
        return false;
    }
    if (1 == last->count) {
        last->stride = stride;
    } else {
        int64_t next;

        if (__builtin_mul_overflow(last->stride, (int64_t) last->count, &next) || next != stride) {
            return false;
        }
    }
    ++last->count;
    return true;
}

/** Bytes of the run that a record takes; 0: it is full.  @param[in] left  bytes for data */
static size_t layout_take(const layout_t *layout, const mca_osc_epwin_run_t *run, size_t total,
                          size_t left)
{
    const size_t in_element = total % layout->unit;
    size_t size = run->size;

    if (layout->is_padded) { /* one element after the other; there is room for all of one */
        if (0 == in_element && left < layout->unit) {
            return 0;
        }
        return size < layout->unit - in_element ? size : layout->unit - in_element;
    }
    if (size > left) {
        size = left - left % layout->unit;
    }
    return size;
}

/**
 * The next blocks of a layout, as many as fit.
 *
 * @param[in] room       bytes for runs and data
 * @param[in] with_data  data take room; otherwise they are bounded by EPWIN_AM_RESULT_MAX alone
 * @return bytes of the blocks; 0: the layout has ended
 */
static size_t layout_cut(layout_t *layout, epwin_am_record_t *record, size_t room, bool with_data)
{
    epwin_am_run_t *blocks = (epwin_am_run_t *) (record + 1);
    uint32_t count = 0;
    size_t total = 0;
    mca_osc_epwin_run_t *run;

    while (NULL != (run = layout_run(layout))) {
        /* A padded element may need two runs. */
        const size_t runs = sizeof(*blocks)
                            * (count + 1 + (layout->is_padded && 0 == total % layout->unit));
        size_t left = EPWIN_AM_RESULT_MAX - total, size;

        if (with_data) {
            const size_t taken = runs + total;

            left = taken > room ? 0 : room - taken < left ? room - taken : left;
        } else if (runs > room) {
            left = 0;
        }
        size = UINT16_MAX == count + 1 ? 0 : layout_take(layout, run, total, left);
        /* A joined block needs no room for a run: of a full message this wastes 24 bytes. */
        if (0 == size) {
            break;
        }
        if (0 == count || !blocks_extend(&blocks[count - 1], run->at, size)) {
            blocks[count++] = (epwin_am_run_t){.at = run->at, .size = (uint32_t) size, .count = 1};
        }
        total += size;
        layout_advance(layout, size);
    }
    record->access.runs = (uint16_t) count;
    record->access.bytes = (uint32_t) total;
    return total;
}

/** A record of one block has it in its head. */
static void record_compact(epwin_am_record_t *record)
{
    const epwin_am_run_t *run = epwin_am_runs(record);

    if (1 == record->access.runs && 1 == run->count && UINT16_MAX >= run->size) {
        record->flags = EPWIN_AM_FLAG_BLOCK;
        record->block = (uint16_t) run->size;
        record->at = run->at;
    }
}

/** An operation. */
typedef struct operation_t {
    uint8_t kind, op, type;
    const mca_osc_epwin_buffer_t *origin; /**< data of it; NULL: none */
    const char *plain;                    /**< the rest of them, if they are contiguous; or NULL */
    mca_osc_epwin_pack_t pack;            /**< otherwise */
    layout_t layout;
    epwin_am_result_t *result; /**< NULL: none */
    size_t awaited;            /**< bytes of it that have not been asked for */
} operation_t;

static int operation_pack_begin(operation_t *operation)
{
    const mca_osc_epwin_buffer_t *origin = operation->origin;

    operation->plain = NULL;
    if (NULL == origin) {
        return MPI_SUCCESS;
    }
    if (OPAL_LIKELY(mca_osc_epwin_is_plain(origin->type) && !origin->on_device)) {
        operation->plain = origin->address;
        if (OPAL_LIKELY(NULL != operation->plain)) { /* MPI_BOTTOM needs the convertor */
            return MPI_SUCCESS;
        }
    }
    return mca_osc_epwin_pack_begin(&operation->pack, origin->address, origin->count, origin->type,
                                    origin->on_device);
}

static void operation_pack(operation_t *operation, char *to, size_t bytes)
{
    if (OPAL_LIKELY(NULL != operation->plain)) {
        memcpy(to, operation->plain, bytes);
        operation->plain += bytes;
    } else {
        mca_osc_epwin_pack_next(&operation->pack, to, bytes);
    }
    memset(to + bytes, 0, (8 - bytes % 8) % 8);
}

static void operation_pack_end(operation_t *operation)
{
    if (NULL != operation->origin && NULL == operation->plain) {
        mca_osc_epwin_pack_end(&operation->pack);
    }
}

/** Append a record whose layout and data are there, and bound what is under way.
 * @param[in] size  bytes that it addresses */
static int operation_append_record(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                   operation_t *operation, epwin_am_record_t *record, size_t size)
{
    record->kind = operation->kind;
    record->op = operation->op;
    record->type = operation->type;
    record->eights = (uint16_t) (epwin_am_size(epwin_am_run_count(record),
                                               NULL == operation->origin ? 0 : (uint32_t) size)
                                 / 8);
    if (NULL != operation->result) {
        const int rc = mca_osc_epwin_am_await(module, link, operation->result, size,
                                              size == operation->awaited);

        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
        operation->awaited -= size;
    }
    mca_osc_epwin_am_append_operation(link, record);
    return mca_osc_epwin_am_bound(module, link);
}

/** All records of an operation on one block of the target, whose data are contiguous: without a
 * walk.
 * @param[in] unit  bytes of an element */
static int operation_append_blocks(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                   operation_t *operation, const mca_osc_epwin_place_t *place,
                                   size_t unit)
{
    const bool with_data = NULL != operation->origin;
    const size_t bytes = place->count * place->type->super.size;
    int rc = MPI_SUCCESS;

    for (size_t done = 0, size; done < bytes && MPI_SUCCESS == rc; done += size) {
        const size_t left = bytes - done < EPWIN_AM_BLOCK_MAX ? bytes - done : EPWIN_AM_BLOCK_MAX;
        epwin_am_record_t *record;
        size_t room;

        rc = mca_osc_epwin_am_room(module, link, epwin_am_size(0, EPWIN_ELEMENT_MAX),
                                   epwin_am_size(0, with_data ? (uint32_t) left : 0), &room,
                                   &record);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            break;
        }
        room -= sizeof(*record);
        size = with_data && room < left ? room : left;
        size -= size % unit;
        record->flags = EPWIN_AM_FLAG_BLOCK;
        record->block = (uint16_t) size;
        record->at = place->at + (ptrdiff_t) done;
        if (with_data) {
            operation_pack(operation, (char *) (record + 1), size);
        }
        rc = operation_append_record(module, link, operation, record, size);
    }
    return rc;
}

/** All records of an operation. */
static int operation_append(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                            operation_t *operation, size_t bytes)
{
    const bool with_data = NULL != operation->origin;
    const size_t least = epwin_am_size(2, EPWIN_ELEMENT_MAX);

    while (0 < bytes) {
        epwin_am_record_t *record;
        size_t room, size;
        int rc = mca_osc_epwin_am_room(module, link, least,
                                       epwin_am_size(1, 0) + (with_data ? bytes : 0), &room,
                                       &record);

        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
        size = layout_cut(&operation->layout, record, room - sizeof(*record), with_data);
        if (OPAL_UNLIKELY(0 == size || size > bytes)) {
            return MPI_ERR_TYPE; /* the layout has another size than the type says */
        }
        record_compact(record);
        if (with_data) {
            operation_pack(operation, (char *) (uintptr_t) epwin_am_data(record), size);
        }
        bytes -= size;
        rc = operation_append_record(module, link, operation, record, size);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
    }
    return MPI_SUCCESS;
}

/** Cut, pack and append an operation whose kind is set. */
static int operation_run(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                         operation_t *operation, const mca_osc_epwin_place_t *place,
                         const ompi_datatype_t *basic)
{
    int rc = operation_pack_begin(operation);

    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_LIKELY(mca_osc_epwin_is_plain(place->type)
                    && (NULL == operation->origin || NULL != operation->plain))) {
        return operation_append_blocks(module, link, operation, place,
                                       NULL == basic ? 1 : basic->super.size);
    }
    rc = layout_begin(&operation->layout, place, basic);
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = operation_append(module, link, operation, place->count * place->type->super.size);
        mca_osc_epwin_walk_end(&operation->layout.walk);
    }
    operation_pack_end(operation);
    return rc;
}

/** An operation that has a result. */
static int operation_fetch(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                           operation_t *operation, const mca_osc_epwin_buffer_t *result,
                           const mca_osc_epwin_place_t *place, const ompi_datatype_t *basic,
                           ompi_request_t **request_p)
{
    const size_t bytes = place->count * place->type->super.size;
    int rc = mca_osc_epwin_am_result(module, link, result, request_p, &operation->result);

    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    operation->awaited = bytes;
    rc = operation_run(module, link, operation, place, basic);
    if (OPAL_LIKELY(MPI_SUCCESS == rc) && (NULL != request_p || ORIGIN_RESULTS_EAGER <= bytes)) {
        rc = mca_osc_epwin_am_send(module, link);
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        /* The result may have come in part. */
        mca_osc_epwin_am_link_fail(link, rc);
        if (0 < operation->awaited) {
            (void) mca_osc_epwin_am_await(module, link, operation->result, operation->awaited,
                                          true);
        }
        if (NULL != request_p) { /* the request tells of it */
            rc = MPI_SUCCESS;
        }
    }
    return rc;
}

/** @return whether there is nothing to do */
static bool operation_is_empty(const mca_osc_epwin_place_t *place, ompi_request_t **request_p)
{
    if (0 != place->count && 0 != place->type->super.size) {
        return false;
    }
    if (NULL != request_p) {
        *request_p = &ompi_request_empty;
    }
    return true;
}

/** An operation whose kind, op, type and origin are set.
 * @param[in] result  NULL: none */
static int operation_execute(mca_osc_epwin_module_t *module, operation_t *operation,
                             const mca_osc_epwin_buffer_t *result,
                             const mca_osc_epwin_place_t *place, const ompi_datatype_t *basic,
                             ompi_request_t **request_p)
{
    epwin_am_link_t *link;
    int rc;

    if (operation_is_empty(place, request_p)) {
        return MPI_SUCCESS;
    }
    operation->result = NULL;
    mca_osc_epwin_enter(module);
    rc = mca_osc_epwin_am_link(module, place->target, &link);
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = NULL == result
                 ? operation_run(module, link, operation, place, basic)
                 : operation_fetch(module, link, operation, result, place, basic, request_p);
    }
    mca_osc_epwin_leave(module);
    return rc;
}

int mca_osc_epwin_am_put(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *origin,
                         const mca_osc_epwin_place_t *place, bool may_defer)
{
    operation_t operation;

    if (may_defer && mca_osc_epwin_am_long_is(module, origin, place)) {
        return mca_osc_epwin_am_long(module, origin, place, true);
    }

    operation.kind = EPWIN_AM_PUT;
    operation.op = operation.type = 0;
    operation.origin = origin;
    return operation_execute(module, &operation, NULL, place, NULL, NULL);
}

int mca_osc_epwin_am_get(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *result,
                         const mca_osc_epwin_place_t *place, ompi_request_t **request_p)
{
    operation_t operation;

    if (NULL == request_p && mca_osc_epwin_am_long_is(module, result, place)) {
        return mca_osc_epwin_am_long(module, result, place, false);
    }
    operation.kind = EPWIN_AM_GET;
    operation.op = operation.type = 0;
    operation.origin = NULL;
    return operation_execute(module, &operation, result, place, NULL, request_p);
}

int mca_osc_epwin_am_accumulate(mca_osc_epwin_module_t *module,
                                const mca_osc_epwin_buffer_t *origin,
                                const mca_osc_epwin_buffer_t *result,
                                const mca_osc_epwin_place_t *place, ompi_datatype_t *basic,
                                ompi_op_t *op, ompi_request_t **request_p)
{
    operation_t operation;

    operation.kind = NULL == result ? EPWIN_AM_ACCUMULATE : EPWIN_AM_FETCH;
    operation.op = (uint8_t) op->o_f_to_c_index;
    operation.type = (uint8_t) basic->d_f_to_c_index;
    operation.origin = OMPI_OP_BASE_FORTRAN_NO_OP == op->o_f_to_c_index ? NULL : origin;
    return operation_execute(module, &operation, result, place, basic, request_p);
}

/** MPI_Compare_and_swap: one record. */
static int swap_append(mca_osc_epwin_module_t *module, epwin_am_link_t *link, const void *origin,
                       const void *compare, const mca_osc_epwin_buffer_t *result,
                       const mca_osc_epwin_place_t *place)
{
    const uint32_t size = (uint32_t) place->type->super.size;
    epwin_am_result_t *awaited;
    epwin_am_record_t *record;
    size_t room;
    char *data;
    int rc = mca_osc_epwin_am_room(module, link, epwin_am_size(0, 2 * size), 0, &room, &record);

    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_am_result(module, link, result, NULL, &awaited);
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    record->kind = EPWIN_AM_SWAP;
    record->flags = EPWIN_AM_FLAG_BLOCK;
    record->eights = (uint16_t) (epwin_am_size(0, 2 * size) / 8);
    record->type = (uint8_t) place->type->d_f_to_c_index;
    record->block = (uint16_t) size;
    record->at = place->at;
    data = (char *) (record + 1);
    memcpy(data, compare, size);
    memcpy(data + size, origin, size);
    memset(data + 2 * size, 0, (8 - 2 * size % 8) % 8);
    (void) mca_osc_epwin_am_await(module, link, awaited, size, true);
    mca_osc_epwin_am_append_operation(link, record);
    return mca_osc_epwin_am_bound(module, link);
}

int mca_osc_epwin_am_swap(mca_osc_epwin_module_t *module, const void *origin, const void *compare,
                          const mca_osc_epwin_buffer_t *result, const mca_osc_epwin_place_t *place)
{
    epwin_am_link_t *link;
    int rc;

    mca_osc_epwin_enter(module);
    rc = mca_osc_epwin_am_link(module, place->target, &link);
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = swap_append(module, link, origin, compare, result, place);
    }
    mca_osc_epwin_leave(module);
    return rc;
}
