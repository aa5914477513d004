/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Segments of operations (coll_epcoll_op_segment.c): each is released by its last member, none
 * earlier, and a member that is far ahead of the others checks few in each call.
 *
 * Guards: coll_epcoll_op_segment.c
 */

#include <stdatomic.h>
#include <stdlib.h>

/** What the tested code has read of atomic objects. */
static long loads;

#include "ompi/mca/coll/epcoll/base/base.h"
#include "tap.h"

#undef atomic_load_explicit
#define atomic_load_explicit(object, order) (++loads, *(object))
#include "ompi/mca/coll/epcoll/pending/coll_epcoll_op_segment.c"
#undef atomic_load_explicit

/** Members of the process, and blocks. */
enum { MEMBERS = 2, BLOCKS = 1000 };

mca_coll_epcoll_component_t mca_coll_epcoll_component;

int mca_coll_epcoll_progress(epcoll_member_t *member)
{
    (void) member;
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static mpix_endpoints_memory_t *memory[BLOCKS + 1]; /* by key */
static int users[BLOCKS + 1];

static int memory_get(const struct ompi_communicator_t *comm, mpix_endpoints_scope_t reach,
                      int number, uint32_t key, size_t size, mpix_endpoints_memory_t **memory_p)
{
    (void) comm;
    (void) reach;
    (void) number;
    if (0 == users[key]++) {
        memory[key] = malloc(sizeof(*memory[key]));
        memory[key]->base = memset(aligned_alloc(64, size), 0, size);
        memory[key]->size = size;
    }
    *memory_p = memory[key];
    return 0;
}

static void memory_put(mpix_endpoints_memory_t *put)
{
    for (int key = 0; key <= BLOCKS; ++key) {
        if (put == memory[key] && 0 == --users[key]) {
            free(put->base);
            free(put);
            memory[key] = NULL;
        }
    }
}

/** Holds of blocks that nobody has put back. */
static int held(void)
{
    int sum = 0;

    for (int key = 1; key <= BLOCKS; ++key) {
        sum += users[key];
    }
    return sum;
}

static const mpix_endpoints_engine_t engine = {.memory_get = memory_get, .memory_put = memory_put};

/* ---- handles --------------------------------------------------------------------------------- */

typedef struct view_t {
    mca_coll_epcoll_handle_t handle;
    mca_coll_epcoll_deferred_t deferred;
} view_t;

static void begin(view_t *view, uint32_t index)
{
    mpix_endpoints_memory_t *first;

    memset(view, 0, sizeof(*view));
    TAP_EQ(0, memory_get(NULL, MPIX_ENDPOINTS_SCOPE_PROCESS, 0, 0,
                         epcoll_segment_size(MEMBERS, EPCOLL_FANOUT), &first));
    epcoll_member_init(&view->handle.view.member, first->base, MEMBERS, index, EPCOLL_FANOUT);
    mca_coll_epcoll_deferred_begin(&view->handle.view.member);
}

static void end(view_t *view)
{
    mca_coll_epcoll_deferred_end(&view->handle.view.member, &view->deferred);
    memory_put(memory[0]);
}

/** Get a block, and put it back. */
static void use(view_t *view, uint32_t key)
{
    epcoll_member_t member;
    mca_coll_epcoll_op_segment_t *segment;

    mca_coll_epcoll_deferred_put(&view->deferred, &view->handle.view.member);
    TAP_EQ(0, mca_coll_epcoll_op_segment_get(&view->handle, key, &member, &segment));
    mca_coll_epcoll_op_segment_put(&view->deferred, &member, segment);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void case_ahead(void)
{
    view_t view[MEMBERS];
    long most = 0;

    tap_case("one is far ahead: what it keeps goes as the other comes");
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        begin(&view[i], i);
    }
    for (uint32_t key = 1; key <= BLOCKS; ++key) {
        const long before = loads;

        use(&view[0], key);
        most = loads - before > most ? loads - before : most;
    }
    TAP_CHECK(most <= 8, "%ld atomic loads in a call", most);
    TAP_EQ(BLOCKS, held());
    for (uint32_t key = 1; key <= BLOCKS; ++key) {
        use(&view[1], key);
        mca_coll_epcoll_deferred_put(&view[0].deferred, &view[0].handle.view.member);
        TAP_EQ((int) (BLOCKS - key), held());
    }
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        end(&view[i]);
    }
    TAP_EQ(0, held());
    tap_case_done();
}

static void case_gone(void)
{
    view_t view[MEMBERS];

    tap_case("one is ahead and gone: the last handle puts back what it left");
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        begin(&view[i], i);
    }
    for (uint32_t key = 1; key <= BLOCKS; ++key) {
        use(&view[0], key);
        if (BLOCKS / 2 == key) { /* some are in either list */
            mca_coll_epcoll_deferred_put(&view[0].deferred, &view[0].handle.view.member);
        }
    }
    end(&view[0]);
    TAP_EQ(BLOCKS, held());
    for (uint32_t key = 1; key <= BLOCKS; ++key) {
        use(&view[1], key);
    }
    end(&view[1]);
    TAP_EQ(0, held());
    TAP_EQ(0, users[0]);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epcoll_op_segment", 60);
    mca_coll_epcoll_component.engine = &engine;
    case_ahead();
    case_gone();
    return tap_end();
}
