/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Checks of messages, and walks over their runs: osc_epwin_am_check.h.
 *
 * Called by osc_epwin_am_queue.c and osc_epwin_am_execute.c.
 *
 * Tests: unit/test_epwin_am, win_net
 */

#include "ompi_config.h"

#include "osc_epwin_am_check.h"

#include "opal/class/opal_pointer_array.h"

ompi_op_t *mca_osc_epwin_am_op(const epwin_am_record_t *record)
{
    return opal_pointer_array_get_item(ompi_op_f_to_c_table, record->access.op);
}

ompi_datatype_t *mca_osc_epwin_am_type(const epwin_am_record_t *record)
{
    return opal_pointer_array_get_item(&ompi_datatype_f_to_c_table, record->access.type);
}

/** Are all blocks of a run in memory of so many bytes?  (Of a dynamic window: do its addresses not
 * overflow?) */
static bool run_is_within(const epwin_am_run_t *run, uint64_t memory)
{
    int64_t last;

    return !__builtin_mul_overflow(run->stride, (int64_t) run->count - 1, &last)
           && !__builtin_add_overflow(last, run->at, &last) && 0 <= run->at && 0 <= last
           && run->size <= memory && (uint64_t) run->at <= memory - run->size
           && (uint64_t) last <= memory - run->size;
}

/** The runs of a record: as many bytes as it says, within the memory. */
static bool runs_are_right(const mca_osc_epwin_module_t *module, const epwin_am_record_t *record)
{
    const epwin_am_run_t *runs = epwin_am_runs(record);
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < record->access.runs; ++i) {
        const epwin_am_run_t *run = &runs[i];

        if (0 == run->size || 0 == run->count
            || !run_is_within(run, module->peers[module->rank].size)) {
            return false;
        }
        bytes += (uint64_t) run->size * run->count; /* of two 32-bit numbers, at most 65535 times */
        if (bytes > record->access.bytes) {
            return false;
        }
    }
    return 0 < bytes && bytes == record->access.bytes;
}

/** Blocks consist of elements; elements of a padded pair have one or two blocks. */
static bool blocks_are_elements(const epwin_am_record_t *record, const mca_osc_epwin_basic_t *basic)
{
    const epwin_am_run_t *runs = epwin_am_runs(record);
    epwin_am_cursor_t cursor = {0};

    if (mca_osc_epwin_is_plain(basic->type)) {
        for (uint32_t i = 0; i < record->access.runs; ++i) {
            if (0 != runs[i].size % basic->size) {
                return false;
            }
        }
        return true;
    }
    while (cursor.done < record->access.bytes) {
        mca_osc_epwin_run_t blocks[2];
        uint32_t count = 2;

        if (basic->size
            != mca_osc_epwin_am_blocks(record, &cursor, blocks, &count, basic->size, basic->size)) {
            return false;
        }
    }
    return true;
}

/** Operation and type are predefined and fit together, and elements are whole. */
static bool elements_are_right(const epwin_am_record_t *record)
{
    const ompi_datatype_t *type = mca_osc_epwin_am_type(record);
    mca_osc_epwin_basic_t basic;

    if (NULL == type || !ompi_datatype_is_predefined(type)
        || MPI_SUCCESS != mca_osc_epwin_basic((ompi_datatype_t *) (uintptr_t) type, &basic)
        || 0 == basic.size || EPWIN_ELEMENT_MAX < basic.size
        || 0 != record->access.bytes % basic.size || !blocks_are_elements(record, &basic)) {
        return false;
    }
    if (EPWIN_AM_SWAP == record->kind) {
        return 0 == record->access.op && 1 == record->access.runs
               && basic.size == record->access.bytes && 1 == epwin_am_runs(record)->count;
    }
    return OMPI_OP_BASE_FORTRAN_NULL < record->access.op
           && OMPI_OP_BASE_FORTRAN_OP_MAX > record->access.op && NULL != mca_osc_epwin_am_op(record)
           && mca_osc_epwin_has_op(&basic, mca_osc_epwin_am_op(record));
}

/** A record that addresses memory. */
static bool access_is_right(const mca_osc_epwin_module_t *module, const epwin_am_record_t *record)
{
    const uint32_t bytes = record->access.bytes;
    uint32_t data;

    switch (record->kind) {
    case EPWIN_AM_PUT:
        data = bytes;
        break;
    case EPWIN_AM_GET:
        data = 0;
        break;
    case EPWIN_AM_SWAP:
        data = 2 * bytes;
        break;
    default:
        data = OMPI_OP_BASE_FORTRAN_NO_OP == record->access.op ? 0 : bytes;
        break;
    }
    if (EPWIN_AM_RESULT_MAX < bytes || 0 == record->access.runs
        || epwin_am_size(record->access.runs, data) != record->size
        || !runs_are_right(module, record)) {
        return false;
    }
    return EPWIN_AM_PUT == record->kind || EPWIN_AM_GET == record->kind
               ? 0 == record->access.op && 0 == record->access.type
               : elements_are_right(record);
}

/** A record without runs. */
static bool head_is_right(const epwin_am_record_t *record)
{
    if (EPWIN_AM_DATA == record->kind) {
        return 0 < record->access.bytes && EPWIN_AM_RESULT_MAX >= record->access.bytes
               && 0 == record->access.runs
               && epwin_am_size(0, record->access.bytes) == record->size;
    }
    if (sizeof(*record) != record->size) {
        return false;
    }
    switch (record->kind) {
    case EPWIN_AM_LOCK:
    case EPWIN_AM_UNLOCK:
        return EPWIN_HOLD_EXCLUSIVE >= record->hold && 1 >= record->with_domain;
    case EPWIN_AM_NO_DATA:
        return 0 < record->access.bytes && EPWIN_AM_RESULT_MAX >= record->access.bytes
               && 0 < record->error;
    case EPWIN_AM_BROKEN:
        return 0 < record->error;
    case EPWIN_AM_FLUSH:
    case EPWIN_AM_DOMAIN_LOCK:
    case EPWIN_AM_DOMAIN_UNLOCK:
    case EPWIN_AM_POST:
    case EPWIN_AM_COMPLETE:
    case EPWIN_AM_ACK:
        return true;
    default:
        return false;
    }
}

bool mca_osc_epwin_am_check(const mca_osc_epwin_module_t *module, const void *data, size_t size,
                            bool *is_answer_p)
{
    const char *at = data;

    if (sizeof(epwin_am_record_t) > size) {
        return false;
    }
    *is_answer_p = EPWIN_AM_DATA <= ((const epwin_am_record_t *) data)->kind;
    while (0 < size) {
        const epwin_am_record_t *record = (const epwin_am_record_t *) at;

        if (sizeof(*record) > size || sizeof(*record) > record->size || record->size > size
            || 0 != record->size % 8 || *is_answer_p != (EPWIN_AM_DATA <= record->kind)
            || 0 == record->kind
            || !(epwin_am_has_runs(record) ? access_is_right(module, record)
                                           : head_is_right(record))) {
            return false;
        }
        at += record->size;
        size -= record->size;
    }
    return true;
}

size_t mca_osc_epwin_am_blocks(const epwin_am_record_t *record, epwin_am_cursor_t *cursor,
                               mca_osc_epwin_run_t *runs, uint32_t *count_p, size_t bytes,
                               uint32_t unit)
{
    const epwin_am_run_t *all = epwin_am_runs(record);
    const uint32_t room = *count_p;
    uint32_t count = 0;
    size_t total = 0;

    bytes -= bytes % unit;
    while (total < bytes && cursor->run < record->access.runs) {
        const epwin_am_run_t *run = &all[cursor->run];
        const uint32_t in_element = total % unit;
        size_t size = run->size - cursor->in_block;

        /* An element of a padded pair has two blocks. */
        if (count + (0 == in_element && 1 < unit ? 2 : 1) > room) {
            break;
        }
        if (0 != in_element && size > unit - in_element) {
            size = unit - in_element;
        }
        size = size < bytes - total ? size : bytes - total;
        runs[count++] = (mca_osc_epwin_run_t){
            .at = run->at + run->stride * cursor->block + cursor->in_block, .size = size};
        total += size;
        cursor->in_block += (uint32_t) size;
        if (cursor->in_block == run->size) {
            cursor->in_block = 0;
            if (++cursor->block == run->count) {
                cursor->block = 0;
                ++cursor->run;
            }
        }
    }
    cursor->done += (uint32_t) total;
    *count_p = count;
    return total;
}
