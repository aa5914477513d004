/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Execution of records at the target.  A record is executed in chunks of some blocks each: the
 * budget of a step, the room in an answer, and locks bound what is done at a time.  The cursor says
 * what has been done.
 *
 * Called by osc_epwin_am_queue.c, in the step or in the handler.
 *
 * Tests: win_net, win_device, unit/test_epwin_am, unit/test_epwin_am_random, fuzz/epwin
 */

#include "ompi_config.h"

#include "osc_epwin_am_long.h"
#include "osc_epwin_am_queue.h"

#include <string.h>

#define ENGINE mca_osc_epwin_component.engine

/** Blocks at a time. */
#define EXECUTE_BLOCKS 32

/** Polls of the accumulate lock between checks for the loss of its holder. */
#define EXECUTE_LIVENESS 64

/** A record that is being executed. */
typedef struct execution_t {
    epwin_am_queue_t *queue;
    epwin_am_peer_t *peer;
    const epwin_am_record_t *record;
    epwin_am_cursor_t *cursor;
    size_t *budget;
    char *memory;   /**< that blocks are relative to */
    bool on_device; /**< some of it may be in device memory */
} execution_t;

/* ---- copies ----------------------------------------------------------------------------------- */

/** To a window.  A word is one store: other threads may be reading it. */
static inline void execute_store(void *to, const void *from, size_t size)
{
    if (8 == size && 0 == (uintptr_t) to % 8) {
        uint64_t word;

        memcpy(&word, from, 8);
        __atomic_store_n((uint64_t *) to, word, __ATOMIC_RELAXED); /* the answer's is a release */
    } else if (4 == size && 0 == (uintptr_t) to % 4) {
        uint32_t word;

        memcpy(&word, from, 4);
        __atomic_store_n((uint32_t *) to, word, __ATOMIC_RELAXED);
    } else {
        memcpy(to, from, size);
    }
}

/** From a window. */
static inline void execute_load(void *to, const void *from, size_t size)
{
    if (8 == size && 0 == (uintptr_t) from % 8) {
        const uint64_t word = __atomic_load_n((const uint64_t *) from, __ATOMIC_RELAXED);

        memcpy(to, &word, 8);
    } else if (4 == size && 0 == (uintptr_t) from % 4) {
        const uint32_t word = __atomic_load_n((const uint32_t *) from, __ATOMIC_RELAXED);

        memcpy(to, &word, 4);
    } else {
        memcpy(to, from, size);
    }
}

static epwin_am_outcome_t execute_put(const execution_t *execution)
{
    const epwin_am_record_t *record = execution->record;
    const char *data = epwin_am_data(record);

    while (execution->cursor->done < epwin_am_bytes(record)) {
        mca_osc_epwin_run_t blocks[EXECUTE_BLOCKS];
        uint32_t count = EXECUTE_BLOCKS;
        const char *from = data + execution->cursor->done;
        const size_t bytes = mca_osc_epwin_am_blocks(record, execution->cursor, blocks, &count,
                                                     epwin_am_bytes(record), 1);

        for (uint32_t i = 0; i < count; ++i) {
            (OPAL_UNLIKELY(execution->on_device)
                 ? mca_osc_epwin_device_copy
                 : execute_store)(execution->memory + blocks[i].at, from, blocks[i].size);
            from += blocks[i].size;
        }
        *execution->budget -= bytes < *execution->budget ? bytes : *execution->budget;
    }
    return EPWIN_AM_EXECUTED;
}

/** Room for a part of the result. @param[out] bytes_p  there are: at least unit */
static epwin_am_record_t *execute_reply(const execution_t *execution, uint32_t unit,
                                        size_t *bytes_p)
{
    epwin_am_record_t *data;
    size_t room;

    data = mca_osc_epwin_am_reply(execution->queue, execution->peer->rank, epwin_am_size(0, unit),
                                  &room);
    if (OPAL_LIKELY(NULL != data)) {
        *bytes_p = room - sizeof(*data);
        data->kind = EPWIN_AM_DATA;
    }
    return data;
}

static void execute_reply_append(const execution_t *execution, epwin_am_record_t *data,
                                 size_t bytes)
{
    memset((char *) (data + 1) + bytes, 0, (8 - bytes % 8) % 8);
    data->access.bytes = (uint32_t) bytes;
    data->eights = (uint16_t) (epwin_am_size(0, (uint32_t) bytes) / 8);
    mca_osc_epwin_am_reply_append(execution->queue, data);
    *execution->budget -= bytes < *execution->budget ? bytes : *execution->budget;
}

static epwin_am_outcome_t execute_get(const execution_t *execution)
{
    const epwin_am_record_t *record = execution->record;

    while (execution->cursor->done < epwin_am_bytes(record)) {
        size_t room, bytes = 0;
        epwin_am_record_t *data;
        char *to;

        if (0 == *execution->budget) {
            return EPWIN_AM_MORE;
        }
        data = execute_reply(execution, 8, &room);
        if (OPAL_UNLIKELY(NULL == data)) {
            return EPWIN_AM_NO_ROOM;
        }
        to = (char *) (data + 1);
        while (bytes < room && execution->cursor->done < epwin_am_bytes(record)) {
            mca_osc_epwin_run_t blocks[EXECUTE_BLOCKS];
            uint32_t count = EXECUTE_BLOCKS;

            bytes += mca_osc_epwin_am_blocks(record, execution->cursor, blocks, &count,
                                             room - bytes, 1);
            for (uint32_t i = 0; i < count; ++i) {
                (OPAL_UNLIKELY(execution->on_device)
                     ? mca_osc_epwin_device_copy
                     : execute_load)(to, execution->memory + blocks[i].at, blocks[i].size);
                to += blocks[i].size;
            }
        }
        execute_reply_append(execution, data, bytes);
    }
    return EPWIN_AM_EXECUTED;
}

/* ---- accumulates ------------------------------------------------------------------------------ */

static void execute_note_error(epwin_am_peer_t *peer, int error)
{
    if (MPI_SUCCESS == peer->error) {
        peer->error = (uint8_t) error;
    }
}

/** The rest of a record cannot be executed: the next ACK tells it, and so does the end of its
 * result. */
static epwin_am_outcome_t execute_fail(const execution_t *execution, int error)
{
    const uint32_t left = epwin_am_bytes(execution->record) - execution->cursor->done;

    if (epwin_am_has_result(execution->record)) {
        epwin_am_record_t *none = mca_osc_epwin_am_reply(execution->queue, execution->peer->rank,
                                                         sizeof(*none), NULL);

        if (OPAL_UNLIKELY(NULL == none)) {
            return EPWIN_AM_NO_ROOM;
        }
        none->kind = EPWIN_AM_NO_DATA;
        none->error = (uint8_t) error;
        none->eights = sizeof(*none) / 8;
        none->access.bytes = left;
        mca_osc_epwin_am_reply_append(execution->queue, none);
    }
    execution->cursor->done += left;
    execute_note_error(execution->peer, error);
    return EPWIN_AM_EXECUTED;
}

/** Take the member's accumulate lock.  @return EXECUTED: it is taken; WAITS; MORE: its holder is
 * lost */
static epwin_am_outcome_t execute_lock(const execution_t *execution,
                                       mca_osc_epwin_control_t *control)
{
    const mca_osc_epwin_module_t *module = execution->queue->module;
    uint32_t holder;

    if (OPAL_LIKELY(mca_osc_epwin_accumulate_try(control, module->rank))) {
        execution->peer->polls = 0;
        return EPWIN_AM_EXECUTED;
    }
    if (execution->queue->is_in_handler || 0 != ++execution->peer->polls % EXECUTE_LIVENESS) {
        return EPWIN_AM_WAITS;
    }
    /* Relaxed: a hint at which one holds it. */
    holder = atomic_load_explicit(&control->accumulate, memory_order_relaxed);
    return 0 < holder && holder <= (uint32_t) module->size
                   && ENGINE->is_lost(module->comm, (int) holder - 1)
               ? EPWIN_AM_MORE
               : EPWIN_AM_WAITS;
}

/** Some blocks of an accumulate.  @param[out] result  NULL, or for them */
static epwin_am_outcome_t execute_elements(const execution_t *execution,
                                           const mca_osc_epwin_basic_t *basic, size_t most,
                                           char *result, size_t *bytes_p)
{
    const epwin_am_record_t *record = execution->record;
    const mca_osc_epwin_module_t *module = execution->queue->module;
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, module->rank);
    ompi_op_t *op = mca_osc_epwin_am_op(record);
    const char *operand = OMPI_OP_BASE_FORTRAN_NO_OP == record->op
                              ? NULL
                              : epwin_am_data(record) + execution->cursor->done;
    mca_osc_epwin_run_t blocks[EXECUTE_BLOCKS];
    epwin_am_cursor_t cursor = *execution->cursor;
    uint32_t count = EXECUTE_BLOCKS;
    epwin_am_outcome_t outcome = EPWIN_AM_EXECUTED;
    bool with_lock;

    if (OPAL_UNLIKELY(execution->on_device) && EPWIN_DEVICE_PIECE < most) {
        most = EPWIN_DEVICE_PIECE;
    }
    *bytes_p = mca_osc_epwin_am_blocks(record, &cursor, blocks, &count, most, basic->size);
    with_lock = execution->on_device
                || mca_osc_epwin_runs_need_lock(basic, execution->memory, blocks, count);
    if (with_lock) {
        outcome = execute_lock(execution, control);
        if (OPAL_UNLIKELY(EPWIN_AM_EXECUTED != outcome)) {
            return outcome;
        }
    }
    (OPAL_UNLIKELY(execution->on_device)
         ? mca_osc_epwin_device_apply_runs
         : mca_osc_epwin_apply_runs)(basic, op, execution->memory, blocks, count, operand, result);
    if (with_lock) {
        mca_osc_epwin_accumulate_release(control);
    }
    *execution->cursor = cursor;
    return outcome;
}

static epwin_am_outcome_t execute_accumulate(const execution_t *execution,
                                             const mca_osc_epwin_basic_t *basic)
{
    while (execution->cursor->done < epwin_am_bytes(execution->record)) {
        epwin_am_outcome_t outcome;
        size_t bytes;

        if (0 == *execution->budget) {
            return EPWIN_AM_MORE;
        }
        outcome = execute_elements(execution, basic, epwin_am_bytes(execution->record), NULL,
                                   &bytes);
        if (OPAL_UNLIKELY(EPWIN_AM_EXECUTED != outcome)) {
            return EPWIN_AM_MORE == outcome ? execute_fail(execution, MPI_ERR_PROC_FAILED)
                                            : outcome;
        }
        *execution->budget -= bytes < *execution->budget ? bytes : *execution->budget;
    }
    return EPWIN_AM_EXECUTED;
}

static epwin_am_outcome_t execute_fetch(const execution_t *execution,
                                        const mca_osc_epwin_basic_t *basic)
{
    while (execution->cursor->done < epwin_am_bytes(execution->record)) {
        epwin_am_outcome_t outcome;
        epwin_am_record_t *data;
        size_t room, bytes;

        if (0 == *execution->budget) {
            return EPWIN_AM_MORE;
        }
        data = execute_reply(execution, basic->size, &room);
        if (OPAL_UNLIKELY(NULL == data)) {
            return EPWIN_AM_NO_ROOM;
        }
        outcome = execute_elements(execution, basic, room, (char *) (data + 1), &bytes);
        if (OPAL_UNLIKELY(EPWIN_AM_EXECUTED != outcome)) {
            return EPWIN_AM_MORE == outcome ? execute_fail(execution, MPI_ERR_PROC_FAILED)
                                            : outcome;
        }
        execute_reply_append(execution, data, bytes);
    }
    return EPWIN_AM_EXECUTED;
}

static epwin_am_outcome_t execute_swap(const execution_t *execution,
                                       const mca_osc_epwin_basic_t *basic)
{
    const mca_osc_epwin_module_t *module = execution->queue->module;
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, module->rank);
    char *at = execution->memory + execution->record->at;
    const char *compare = epwin_am_data(execution->record);
    const bool with_lock = execution->on_device || !mca_osc_epwin_is_atomic(basic, at);
    size_t room;
    epwin_am_record_t *data = execute_reply(execution, basic->size, &room);

    if (OPAL_UNLIKELY(NULL == data)) {
        return EPWIN_AM_NO_ROOM;
    }
    if (with_lock) {
        const epwin_am_outcome_t outcome = execute_lock(execution, control);

        if (OPAL_UNLIKELY(EPWIN_AM_EXECUTED != outcome)) {
            return EPWIN_AM_MORE == outcome ? execute_fail(execution, MPI_ERR_PROC_FAILED)
                                            : outcome;
        }
    }
    (void) (OPAL_UNLIKELY(execution->on_device)
                ? mca_osc_epwin_device_swap
                : mca_osc_epwin_apply_swap)(compare + basic->size, compare, data + 1, basic, at);
    if (with_lock) {
        mca_osc_epwin_accumulate_release(control);
    }
    execute_reply_append(execution, data, basic->size);
    return EPWIN_AM_EXECUTED;
}

/* ---- dynamic windows -------------------------------------------------------------------------- */

/** Is all that a record addresses attached? */
static bool execute_is_attached(const execution_t *execution)
{
    const mca_osc_epwin_module_t *module = execution->queue->module;
    epwin_am_cursor_t cursor = {0};

    while (cursor.done < epwin_am_bytes(execution->record)) {
        mca_osc_epwin_run_t blocks[EXECUTE_BLOCKS];
        uint32_t count = EXECUTE_BLOCKS;

        (void) mca_osc_epwin_am_blocks(execution->record, &cursor, blocks, &count, UINT32_MAX, 1);
        for (uint32_t i = 0; i < count; ++i) {
            if (!mca_osc_epwin_regions_have(module->window, module->rank, (uintptr_t) blocks[i].at,
                                            blocks[i].size)) {
                return false;
            }
        }
    }
    return true;
}

/** Is some of what a record addresses in device memory?  Attached memory need not be. */
static bool execute_is_on_device(const execution_t *execution)
{
    const mca_osc_epwin_module_t *module = execution->queue->module;
    epwin_am_cursor_t cursor = {0};

    while (cursor.done < epwin_am_bytes(execution->record)) {
        mca_osc_epwin_run_t blocks[EXECUTE_BLOCKS];
        uint32_t count = EXECUTE_BLOCKS;

        (void) mca_osc_epwin_am_blocks(execution->record, &cursor, blocks, &count, UINT32_MAX, 1);
        for (uint32_t i = 0; i < count; ++i) {
            if (ENGINE->is_device(module->comm, (const void *) (uintptr_t) blocks[i].at,
                                  blocks[i].size, &ompi_mpi_byte.dt)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- all -------------------------------------------------------------------------------------- */

static epwin_am_outcome_t execute_access(execution_t *execution)
{
    const bool is_dynamic = MPI_WIN_FLAVOR_DYNAMIC == execution->queue->module->flavor;
    const mca_osc_epwin_basic_t *basic;

    if (is_dynamic && 0 == execution->cursor->done && !execute_is_attached(execution)) {
        return execute_fail(execution, MPI_ERR_RMA_RANGE);
    }
    if (is_dynamic && mca_osc_epwin_component.has_accelerator) {
        execution->on_device = execute_is_on_device(execution);
    }
    switch (execution->record->kind) {
    case EPWIN_AM_PUT:
        return execute_put(execution);
    case EPWIN_AM_GET:
        return execute_get(execution);
    default:
        break;
    }
    basic = mca_osc_epwin_basic(mca_osc_epwin_am_type(execution->record));
    switch (execution->record->kind) {
    case EPWIN_AM_ACCUMULATE:
        return execute_accumulate(execution, basic);
    case EPWIN_AM_FETCH:
        return execute_fetch(execution, basic);
    default:
        return execute_swap(execution, basic);
    }
}

/** MPI_Win_post of a target for this member. */
static void execute_post(const mca_osc_epwin_module_t *module, int rank)
{
    _Atomic uint64_t *row = mca_osc_epwin_row(module, module->rank);

    /* Release: orders what the target has done before its post; partner: MPI_Win_start, which reads
     * the row with acquire. */
    (void) atomic_fetch_or_explicit(&row[rank / 64], UINT64_C(1) << rank % 64,
                                    memory_order_release);
}

epwin_am_outcome_t mca_osc_epwin_am_execute(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                            const epwin_am_record_t *record,
                                            epwin_am_cursor_t *cursor, size_t *budget)
{
    const mca_osc_epwin_module_t *module = queue->module;

    if (epwin_am_has_runs(record)) {
        const mca_osc_epwin_peer_t *self = &module->peers[module->rank];
        execution_t execution = {.queue = queue,
                                 .peer = peer,
                                 .record = record,
                                 .cursor = cursor,
                                 .budget = budget,
                                 .memory = self->base,
                                 .on_device = EPWIN_WAY_DEVICE == self->way};

        return execute_access(&execution);
    }
    switch (record->kind) {
    case EPWIN_AM_FLUSH:
        return EPWIN_AM_EXECUTED;
    case EPWIN_AM_POST:
        execute_post(module, peer->rank);
        return EPWIN_AM_EXECUTED;
    case EPWIN_AM_COMPLETE:
        /* Release: orders the operations before their end; partner: MPI_Win_wait. */
        (void) atomic_fetch_add_explicit(&mca_osc_epwin_control(module, module->rank)->completed, 1,
                                         memory_order_release);
        return EPWIN_AM_EXECUTED;
    case EPWIN_AM_LONG_PUT:
    case EPWIN_AM_LONG_GET:
        return queue->is_in_handler ? EPWIN_AM_WAITS
                                    : mca_osc_epwin_am_long_execute(module, peer, record);
    default:
        return mca_osc_epwin_am_hold(queue, peer, record);
    }
}
