/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A thousand rounds of create, use and free leave memory, file descriptors and the table of
 * communicators flat, measured after a warm-up.
 *
 *   --rounds N   default 1000
 *   --num N      endpoints per process and round (default 2)
 *   --slack N    KiB by which the heap may grow over all rounds (default 64)
 *
 * Guards: btl_epofi_module.c, btl_epofi_share.c, btl_epshm_module.c, btl_epshm_node_module.c,
 * pml_epml_ep.c, pml_epml_ep_destroy.c, pml_epml_transport.c
 */

#define _GNU_SOURCE /* mallinfo2 */

#include "usage.h"

enum { WARM_UP = 100, MAX_NUM = 16 };

static void use_handle(MPI_Comm comm, struct ept *t, int index, void *context)
{
    int first = *(int *) context, total = -1;

    EPT_OK(t, MPI_Comm_size(comm, &total));
    ept_use_comm(t, comm, first + index, total);
}

/* One round; returns the first handle's slot. In one round of ten there is traffic. */
static int one_round(struct ept *t, int num, int round)
{
    MPI_Comm comms[MAX_NUM];
    int first = t->proc * num, slot;

    EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, num, MPI_INFO_NULL, comms));
    slot = (int) MPI_Comm_c2f(comms[0]);
    if (0 == round % 10) {
        ept_on_each(t, comms, num, use_handle, &first);
    }
    for (int i = 0; i < num; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[0 == round % 2 ? i : num - 1 - i]));
    }
    return slot;
}

static void case_flat(MPI_Comm comm, struct ept *t)
{
    int rounds = (int) ept_option_long("rounds", 1000);
    int num = ept_count(t, (int) ept_option_long("num", 2));
    /* What threads' own heaps come to touch while blocks come and go settles after some 1500
     * rounds, at 4 MiB: 4000 rounds take no more. */
    long slack = ept_option_long("slack", 64), resident_slack = slack + 5120;
    struct usage before = {0}, after;
    int slot = 0, highest = 0;

    (void) comm;
    for (int round = 0; 0 == t->local && round < rounds + WARM_UP; ++round) {
        if (WARM_UP == round) {
            before = measure(highest);
        }
        ept_phase(t, "round %d", round);
        slot = one_round(t, num, round);
        highest = slot > highest ? slot : highest;
    }
    if (0 == t->local) {
        after = measure(highest);
        if (0 == t->proc) {
            ept_note("%d rounds of %d: heap %ld -> %ld KiB, resident %ld -> %ld KiB, files %ld -> "
                     "%ld, mappings %ld -> %ld, highest slot %d -> %d",
                     rounds, num, before.heap_kib, after.heap_kib, before.resident_kib,
                     after.resident_kib, before.files, after.files, before.mappings, after.mappings,
                     before.slot, after.slot);
        }
        EPT_CHECK(t, after.heap_kib <= before.heap_kib + slack,
                  "heap grew from %ld to %ld KiB in %d rounds", before.heap_kib, after.heap_kib,
                  rounds);
        EPT_CHECK(t, after.resident_kib <= before.resident_kib + resident_slack,
                  "resident memory grew from %ld to %ld KiB in %d rounds", before.resident_kib,
                  after.resident_kib, rounds);
        EPT_CHECK(t, after.mappings <= before.mappings + 8, "mappings grew from %ld to %ld",
                  before.mappings, after.mappings);
        /* Connections are made and closed in their own time, so a few more may be open. */
        EPT_CHECK(t, after.files <= before.files + 8, "open files grew from %ld to %ld",
                  before.files, after.files);
        EPT_EQ(t, before.slot, after.slot);
    }
    ept_local_barrier(t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_flat);
    return 0;
}
