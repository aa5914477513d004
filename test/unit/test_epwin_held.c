/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Several exclusive locks of a window handle (osc/epwin, sync), in a world of one thread
 * (test_epwin_am.h): the domain's lock is taken once, and released with the last of them, whichever
 * has been taken and released first.
 *
 * Guards: osc_epwin_lock.c
 */

#include "test_epwin_am.h"

#include "ompi/mca/osc/epwin/base/osc_epwin_open.c"
#include "ompi/mca/osc/epwin/sync/osc_epwin_epoch.c"
#include "ompi/mca/osc/epwin/sync/osc_epwin_lock.c"

/** Holders of the lock of the domain of members 1 and 2. */
static uint64_t holders(void)
{
    return (world.domain[1]->lock.word & EPWIN_LOCK_SECOND) / epwin_lock_unit(EPWIN_GROUP_SECOND);
}

/** Locks of two targets of one domain.  @param[in] origin  a member of it, or of another one */
static void check_order(int origin, const int *locks, const int *unlocks)
{
    mca_osc_epwin_module_t *module = &world.module[origin];
    ompi_win_t win = {.w_osc_module = &module->super};

    world_begin(MPI_WIN_FLAVOR_CREATE, 1, 1 << 20);
    world.is_short = false;
    module->held = &module->first_held;
    module->held_room = 1;
    for (int i = 0; i < 2; ++i) {
        TAP_EQ(MPI_SUCCESS, mca_osc_epwin_lock(MPI_LOCK_EXCLUSIVE, locks[i], 0, &win));
    }
    TAP_EQ(1, holders());
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_unlock(unlocks[0], &win));
    TAP_EQ(1, holders());
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_unlock(unlocks[1], &win));
    TAP_EQ(MPI_ERR_RMA_SYNC, mca_osc_epwin_unlock(unlocks[1], &win));
    world_settle(300);
    TAP_EQ(0, holders());
    mca_osc_epwin_sync_free(module);
    world_end(true);
}

static void check_orders(int origin, const char *text)
{
    static const int orders[2][2] = {{1, 2}, {2, 1}};

    tap_case("exclusive locks of two members %s", text);
    for (int i = 0; i < 4; ++i) {
        check_order(origin, orders[i / 2], orders[i % 2]);
    }
    tap_case_done();
}

int main(int argc, char **argv)
{
    world_init(argc, argv, "test_epwin_held");
    check_orders(1, "of the own domain");
    check_orders(0, "of another domain");
    return world_exit();
}
