/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the processes of ulfm do on ordinary communicators.
 */

#include "ulfm.h"

/** Requests of ordinary communicators that wait for the dead: each form of test, and MPI_Waitany and
 * MPI_Waitsome with one of endpoints that nothing answers in the list. */
void test_ordinary(MPI_Comm idle)
{
    int bytes[2], flag, index, rc;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Comm_set_errhandler(idle, MPI_ERRORS_RETURN);
    for (int way = 0; way < 6; ++way) {
        MPI_Irecv(&bytes[0], 1, MPI_INT, 0, NEVER, idle, &requests[0]);
        MPI_Irecv(&bytes[1], 1, MPI_INT, victim, NEVER, MPI_COMM_WORLD, &requests[1]);
        do {
            switch (way) {
            case 0:
                rc = MPI_Test(&requests[1], &flag, statuses);
                break;
            case 1:
                rc = MPI_Testany(2, requests, &index, &flag, statuses);
                break;
            case 2:
                rc = MPI_Testsome(2, requests, &flag, &index, statuses);
                break;
            case 3:
                rc = MPI_Testall(1, &requests[1], &flag, statuses);
                break;
            case 4:
                rc = MPI_Waitany(2, requests, &index, statuses);
                break;
            default:
                rc = MPI_Waitsome(2, requests, &flag, &index, statuses);
            }
        } while (MPI_SUCCESS == rc);
        if (2 == way || 3 == way || 5 == way) {
            CHECK(ORDINARY, MPI_ERR_IN_STATUS == class_of(rc));
            rc = statuses[0].MPI_ERROR;
        }
        CHECK(ORDINARY, MPI_ERR_PROC_FAILED == class_of(rc));
        CHECK(ORDINARY, MPI_REQUEST_NULL == requests[1]);
        MPI_Cancel(&requests[0]);
        CHECK(ORDINARY, MPI_SUCCESS == MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
}

/** The survivors find the death, process 0 tells all by revoking, and all acknowledge it. */
void recover(MPI_Comm ordinary)
{
    int byte = 0, flag = 0, acked = 0, failed, rank = -1, zero = 0;
    MPI_Group group, world;
    MPI_Status status;

    if (0 == process) {
        CHECK(ORDINARY, MPI_ERR_PROC_FAILED
                            == class_of(MPI_Recv(&byte, 1, MPI_INT, victim, NEVER, ordinary,
                                                 MPI_STATUS_IGNORE)));
        CHECK(ORDINARY, MPI_SUCCESS == MPIX_Comm_revoke(ordinary));
    } else {
        CHECK(ORDINARY,
              MPIX_ERR_REVOKED
                  == class_of(MPI_Recv(&byte, 1, MPI_INT, 0, NEVER, ordinary, MPI_STATUS_IGNORE)));
    }
    CHECK(ORDINARY, MPI_SUCCESS == MPIX_Comm_is_revoked(ordinary, &flag) && 0 != flag);
    /* A member that has heard of the revocation only may not know of the death yet. */
    CHECK(ORDINARY, MPI_ERR_PROC_FAILED
                        == class_of(MPI_Recv(&byte, 1, MPI_INT, victim, NEVER, MPI_COMM_WORLD,
                                             MPI_STATUS_IGNORE)));
    /* Another thread may be about to enter it into libmpi's tables. */
    for (failed = 0; 0 == failed;) {
        CHECK(ORDINARY, MPI_SUCCESS == MPIX_Comm_get_failed(MPI_COMM_WORLD, &group));
        MPI_Group_size(group, &failed);
        if (0 == failed) {
            MPI_Group_free(&group);
        }
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &zero, world, &rank);
    CHECK(ORDINARY, 1 == failed && victim == rank);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    CHECK(ORDINARY, MPI_SUCCESS == MPIX_Comm_ack_failed(MPI_COMM_WORLD, processes, &acked));
    CHECK(ORDINARY, 1 == acked);
    flag = 0 == process ? 6 : 7;
    CHECK(ORDINARY, MPI_SUCCESS == MPIX_Comm_agree(MPI_COMM_WORLD, &flag) && 6 == flag);
    /* Acknowledged: from anybody again. */
    if (0 == process) {
        for (int i = 2; i < processes; ++i) {
            CHECK(ORDINARY, MPI_SUCCESS
                                == MPI_Recv(&byte, 1, MPI_INT, MPI_ANY_SOURCE, LATE, MPI_COMM_WORLD,
                                            &status));
        }
    } else {
        CHECK(ORDINARY, MPI_SUCCESS == MPI_Send(&byte, 1, MPI_INT, 0, LATE, MPI_COMM_WORLD));
    }
}

/** Process 0 revokes a communicator made out of a group alone.  Open MPI names it by its slot there,
 * which a handle of endpoints has in process 1. */
void revoke_elsewhere(void)
{
    MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL}, made = MPI_COMM_NULL;
    int byte = 0, got = -1;
    MPI_Request request;
    MPI_Group group;

    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 0 == process ? 0 : 2, MPI_INFO_NULL, comms);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(ELSEWHERE, MPI_SUCCESS
                         == MPI_Comm_create_from_group(group, "elsewhere", MPI_INFO_NULL,
                                                       MPI_ERRORS_RETURN, &made));
    MPI_Group_free(&group);
    if (0 == process) {
        CHECK(ELSEWHERE, MPI_SUCCESS == MPIX_Comm_revoke(made));
        for (int i = 1; i < processes; ++i) { /* behind it */
            MPI_Send(&byte, 1, MPI_INT, i, READY, MPI_COMM_WORLD);
        }
    } else {
        MPI_Recv(&byte, 1, MPI_INT, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2; ++i) {
            int rank;

            MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
            MPI_Comm_rank(comms[i], &rank);
            MPI_Isend(&rank, 1, MPI_INT, rank, RING, comms[i], &request);
            CHECK(ELSEWHERE, MPI_SUCCESS
                                 == MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, RING, comms[i],
                                             MPI_STATUS_IGNORE));
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(ELSEWHERE, rank == got);
            MPI_Comm_free(&comms[i]);
        }
    }
    MPI_Comm_free(&made);
}
