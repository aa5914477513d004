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
 * Tests: unit/test_epwin_am, unit/test_epwin_am_random, win_net, fuzz/epwin
 */

#include "ompi_config.h"

#include "osc_epwin_am_check.h"

#include "opal/class/opal_pointer_array.h"

ompi_op_t *mca_osc_epwin_am_op(const epwin_am_record_t *record)
{
    return opal_pointer_array_get_item(ompi_op_f_to_c_table, record->op);
}

ompi_datatype_t *mca_osc_epwin_am_type(const epwin_am_record_t *record)
{
    ompi_datatype_t *type = opal_pointer_array_get_item(&ompi_datatype_f_to_c_table, record->type);

    /* The table has types that are no basic ones, and of them mca_osc_epwin_basics has nothing. */
    return NULL != type && 0 <= type->id && OMPI_DATATYPE_MAX_PREDEFINED > type->id ? type : NULL;
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

    if (epwin_am_is_block(record)) {
        const epwin_am_run_t block = {.at = record->at, .size = record->block, .count = 1};

        return 0 < block.size && run_is_within(&block, module->peers[module->rank].size);
    }
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
    return 0 < bytes && bytes == record->access.bytes && 0 == record->block
           && 0 == record->access.unused;
}

/** Blocks consist of elements; elements of a padded pair have one or two blocks. */
static bool blocks_are_elements(const epwin_am_record_t *record, const mca_osc_epwin_basic_t *basic)
{
    const epwin_am_run_t *runs = epwin_am_runs(record);
    epwin_am_cursor_t cursor = {0};

    if (mca_osc_epwin_is_plain(basic->type)) {
        for (uint32_t i = 0; i < epwin_am_run_count(record); ++i) {
            if (0 != runs[i].size % basic->size) {
                return false;
            }
        }
        return true;
    }
    while (cursor.done < epwin_am_bytes(record)) {
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
    ompi_datatype_t *type = mca_osc_epwin_am_type(record);
    const mca_osc_epwin_basic_t *basic;

    if (NULL == type || !ompi_datatype_is_predefined(type)
        || NULL == (basic = mca_osc_epwin_basic(type)) || 0 == basic->size
        || EPWIN_ELEMENT_MAX < basic->size || 0 != epwin_am_bytes(record) % basic->size
        || !blocks_are_elements(record, basic)) {
        return false;
    }
    if (EPWIN_AM_SWAP == record->kind) {
        return 0 == record->op && epwin_am_is_block(record) && basic->size == record->block;
    }
    return OMPI_OP_BASE_FORTRAN_NULL < record->op && OMPI_OP_BASE_FORTRAN_OP_MAX > record->op
           && NULL != mca_osc_epwin_am_op(record)
           && NULL != mca_osc_epwin_one(basic, mca_osc_epwin_am_op(record));
}

/** A record that addresses memory. */
static bool access_is_right(const mca_osc_epwin_module_t *module, const epwin_am_record_t *record)
{
    const uint32_t bytes = epwin_am_bytes(record);
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
        data = OMPI_OP_BASE_FORTRAN_NO_OP == record->op ? 0 : bytes;
        break;
    }
    if (EPWIN_AM_RESULT_MAX < bytes
        || epwin_am_size(epwin_am_run_count(record), data) != epwin_am_length(record)
        || !runs_are_right(module, record)) {
        return false;
    }
    return EPWIN_AM_PUT == record->kind || EPWIN_AM_GET == record->kind
               ? 0 == record->op && 0 == record->type
               : elements_are_right(record);
}

/** A record of long data. */
static bool long_is_right(const mca_osc_epwin_module_t *module, const epwin_am_record_t *record)
{
    const epwin_am_long_t *data = (const epwin_am_long_t *) (record + 1);
    const uint64_t memory = module->peers[module->rank].size;

    return epwin_am_size(0, sizeof(*data)) == epwin_am_length(record) && !epwin_am_is_block(record)
           && 0 == record->op && 0 == record->type && 0 == record->block
           && MPI_WIN_FLAVOR_DYNAMIC != module->flavor && 0 < data->bytes && data->bytes <= memory
           && 0 <= record->at && (uint64_t) record->at <= memory - data->bytes
           && EPWIN_AM_TAG_RESULT > data->tag && 0 == data->unused;
}

/** A record for the target without runs. */
static bool head_is_right(const epwin_am_record_t *record)
{
    if (sizeof(*record) != epwin_am_length(record) || epwin_am_is_block(record)
        || 0 != record->block || 0 != record->at) {
        return false;
    }
    switch (record->kind) {
    case EPWIN_AM_LOCK:
    case EPWIN_AM_UNLOCK:
        return EPWIN_HOLD_EXCLUSIVE >= record->hold && 1 >= record->with_domain;
    case EPWIN_AM_DOMAIN_LOCK:
        return 0 == record->hold && 1 >= record->with_domain;
    case EPWIN_AM_FLUSH:
    case EPWIN_AM_DOMAIN_UNLOCK:
    case EPWIN_AM_POST:
    case EPWIN_AM_COMPLETE:
        return 0 == record->hold && 0 == record->with_domain;
    default:
        return false;
    }
}

/** A record for the origin. */
static bool answer_is_right(const epwin_am_record_t *record)
{
    const uint32_t bytes = record->access.bytes;
    const bool has_bytes = 0 < bytes && EPWIN_AM_RESULT_MAX >= bytes && 0 == record->access.runs;

    if (epwin_am_is_block(record) || 0 != record->type || 0 != record->block) {
        return false;
    }
    if (EPWIN_AM_DATA == record->kind) { /* error: of its flag */
        return has_bytes && epwin_am_size(0, bytes) == epwin_am_length(record);
    }
    if (sizeof(*record) != epwin_am_length(record)) {
        return false;
    }
    switch (record->kind) {
    case EPWIN_AM_NO_DATA:
        return has_bytes && 0 < record->error && 0 == (record->flags & EPWIN_AM_FLAG_ACK);
    case EPWIN_AM_BROKEN:
        return 0 < record->error;
    default:
        return EPWIN_AM_ACK == record->kind && 0 != (record->flags & EPWIN_AM_FLAG_ACK);
    }
}

static bool record_is_right(const mca_osc_epwin_module_t *module, const epwin_am_record_t *record)
{
    if (0 == record->kind || (EPWIN_AM_FLAG_ACK | EPWIN_AM_FLAG_BLOCK) < record->flags) {
        return false;
    }
    if (EPWIN_AM_DATA <= record->kind) {
        return answer_is_right(record);
    }
    if (EPWIN_AM_LONG_PUT == record->kind || EPWIN_AM_LONG_GET == record->kind) {
        return long_is_right(module, record);
    }
    return epwin_am_has_runs(record) ? access_is_right(module, record) : head_is_right(record);
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

        if (sizeof(*record) > size || sizeof(*record) > epwin_am_length(record)
            || epwin_am_length(record) > size || *is_answer_p != (EPWIN_AM_DATA <= record->kind)
            || !record_is_right(module, record)) {
            return false;
        }
        at += epwin_am_length(record);
        size -= epwin_am_length(record);
    }
    return true;
}

/** The next bytes of the block of a record. */
static size_t block_next(const epwin_am_record_t *record, epwin_am_cursor_t *cursor,
                         mca_osc_epwin_run_t *run, uint32_t *count_p, size_t bytes)
{
    const size_t left = record->block - cursor->done, size = left < bytes ? left : bytes;

    *run = (mca_osc_epwin_run_t){.at = record->at + cursor->done, .size = size};
    *count_p = 0 < size;
    cursor->done += (uint32_t) size;
    return size;
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
    if (OPAL_LIKELY(epwin_am_is_block(record))) {
        return block_next(record, cursor, runs, count_p, bytes);
    }
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
