/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What endpoint communicators cannot do: parts of fault tolerance; with --files 1, files where Open
 * MPI's ompio has been excluded; with --windows 1, windows where osc/epwin has been excluded, by all
 * processes or by one.  Each rank gets an error of the class that docs/limits.md names, again and
 * again, and the communicator works on.  What is said, and that it is said once, the table knows
 * (says).
 *
 * Guards: abi.c, coll_epcoll_module.c, hook_faults.c, hook_file.c, hook_help.c, hook_win.c, show_help.c, common_ep_help.c
 */

#include "ept.h"

void test_process_begin(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void check_usable(MPI_Comm comm, struct ept *t)
{
    int one = 1, sum = 0;

    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
}

static void case_windows(MPI_Comm comm, struct ept *t)
{
    MPI_Win win = MPI_WIN_NULL;
    int memory = 0;
    void *base;

    for (int i = 0; i < 2; ++i) {
        EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION,
                  MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, comm, &win));
        EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION,
                  MPI_Win_allocate(sizeof(memory), 1, MPI_INFO_NULL, comm, &base, &win));
        EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION,
                  MPI_Win_allocate_shared(sizeof(memory), 1, MPI_INFO_NULL, comm, &base, &win));
        EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION,
                  MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
        EPT_CHECK(t, MPI_WIN_NULL == win, "a window came of it");
    }
    check_usable(comm, t);
}

static void case_files(MPI_Comm comm, struct ept *t)
{
    MPI_File file = MPI_FILE_NULL;

    for (int i = 0; i < 2; ++i) {
        EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION,
                  MPI_File_open(comm, "/dev/null/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    }
    check_usable(comm, t);
}

#if defined(OMPI_HAVE_MPI_EXT_FTMPI)

static _Thread_local int handled;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    ++handled;
}

/* What endpoints do not have of fault tolerance; what they have finds no failures.  It may be on or
 * not. */
static void case_faults(MPI_Comm comm, struct ept *t)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm shrunk = MPI_COMM_WORLD;
    MPI_Errhandler handler;
    MPI_Group group = MPI_GROUP_NULL;
    int flag = 1, number = 0;

    handled = 0;
    EPT_OK(t, MPI_Comm_create_errhandler(on_error, &handler));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, handler));
    for (int i = 0; i < 2; ++i) {
        if (0 != ept_option_long("faults", 0)) {
            EPT_OK(t, MPIX_Comm_shrink(comm, &shrunk));
            EPT_OK(t, MPI_Comm_free(&shrunk));
            EPT_OK(t, MPIX_Comm_agree(comm, &flag));
            EPT_EQ(t, 0, handled);
        } else {
            EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION, MPIX_Comm_shrink(comm, &shrunk));
            EPT_CHECK(t, MPI_COMM_NULL == shrunk, "a communicator came of it");
            EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION, MPIX_Comm_agree(comm, &flag));
            EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION, MPIX_Comm_iagree(comm, &flag, &request));
            EPT_CHECK(t, MPI_REQUEST_NULL == request, "a request came of it");
            EPT_EQ(t, 3 * (i + 1), handled);
        }
        EPT_OK(t, MPIX_Comm_get_failed(comm, &group));
        EPT_OK(t, MPI_Group_size(group, &number));
        EPT_EQ(t, 0, number);
        EPT_OK(t, MPI_Group_free(&group));
        EPT_OK(t, MPIX_Comm_ack_failed(comm, 1, &number));
        EPT_EQ(t, 0, number);
        EPT_OK(t, MPIX_Comm_failure_ack(comm));
        EPT_OK(t, MPIX_Comm_failure_get_acked(comm, &group));
        EPT_CHECK(t, MPI_GROUP_EMPTY == group, "somebody is acknowledged");
        EPT_OK(t, MPI_Group_free(&group));
        EPT_OK(t, MPIX_Comm_is_revoked(comm, &flag));
        EPT_EQ(t, 0, flag);
        check_usable(comm, t);
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Errhandler_free(&handler));
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    if (!t->endpoints) {
        ept_skip(t, "all", "needs endpoints");
        return 0;
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (0 != ept_option_long("windows", 0)) {
        EPT_CASE(t, case_windows);
    }
    if (0 != ept_option_long("files", 0)) {
        EPT_CASE(t, case_files);
    }
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
    EPT_CASE(t, case_faults);
#endif
    return 0;
}
