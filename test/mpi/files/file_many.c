/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * A read costs the same number of instructions however many files the process has open: the
 * processor is set to stop at each one (the trap flag), and they are counted.
 *
 * Guards: local_group.c, module_copy.c
 */

#include "file_tools.h"

#include <signal.h>

/* Files that are opened besides, and what a read may cost more with them: the allocator's state
 * makes a difference of some 600, a list of all files one of 4 for each. */
#define FILES 500
#define SLACK 1000

static _Thread_local volatile sig_atomic_t steps;

static void on_step(int signum)
{
    (void) signum;
    ++steps;
}

#if defined(__x86_64__)
#    define CAN_STEP true
#    define STEP_BY_STEP(call)                                                       \
        do {                                                                         \
            __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\t" \
                             "popfq\n\tlea 128(%%rsp), %%rsp" ::: "memory", "cc");   \
            call;                                                                    \
            __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $-0x101, (%%rsp)\n\t" \
                             "popfq\n\tlea 128(%%rsp), %%rsp" ::: "memory", "cc");   \
        } while (0)
#else
#    define CAN_STEP false
#    define STEP_BY_STEP(call) call
#endif

/** @return the least of some reads: the first one finds its functions, another one a lock that is
 * taken */
static long count_read(struct ept *t, MPI_File file)
{
    long least = -1;

    for (int i = 0; i < 4; ++i) {
        char byte = 0;
        int rc;

        steps = 0;
        STEP_BY_STEP(rc = MPI_File_read_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        EPT_OK(t, rc);
        EPT_EQ(t, 'x', byte);
        least = 0 > least || steps < least ? (long) steps : least;
    }
    return least;
}

static void case_read(MPI_Comm comm, struct ept *t)
{
    struct sigaction act = {.sa_handler = on_step}, before;
    char name[FILE_NAME_MAX];
    MPI_File file, files[FILES];
    MPI_Comm own;
    long alone, among;

    sigemptyset(&act.sa_mask);
    file_name(comm, t, "many", name);
    EPT_OK(t, MPI_File_close((file = file_create(comm, t, name, 0), &file)));
    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &own));
    EPT_OK(t, MPI_File_open(own, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    EPT_OK(t, MPI_File_write_at(file, 0, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
    if (0 == t->local) {
        sigaction(SIGTRAP, &act, &before);
    }
    EPT_OK(t, MPI_Barrier(comm));
    (void) count_read(t, file);
    alone = count_read(t, file);
    for (int i = 0; i < FILES; ++i) {
        EPT_OK(t, MPI_File_open(own, name, MPI_MODE_RDWR, MPI_INFO_NULL, &files[i]));
    }
    EPT_OK(t, MPI_Barrier(comm));
    among = count_read(t, file);
    if (0 == t->rank) {
        ept_note("%ld instructions, %ld with %d more files", alone, among, FILES);
    }
    EPT_CHECK(t, !CAN_STEP || 100 < alone, "%ld instructions: they are not counted", alone);
    EPT_CHECK(t, among <= alone + SLACK, "%ld instructions, %ld with %d more files of each member",
              alone, among, FILES);
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        sigaction(SIGTRAP, &before, NULL);
    }
    for (int i = 0; i < FILES; ++i) {
        EPT_OK(t, MPI_File_close(&files[i]));
    }
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Comm_free(&own));
    file_remove(comm, name);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_read);
    return 0;
}
