/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A part of tsan_calls.c, which includes it once for each kind of counts: COUNTED(name) is a
 * function's name, COUNT and DISP are the types of counts and displacements.
 */

/* CALL of a name that is to be expanded first. */
#define CALL_COUNTED(name, ...) CALL_EXPANDED(COUNTED(name), __VA_ARGS__)
#define CALL_EXPANDED(name, ...) CALL(name, __VA_ARGS__)

/* ---- messages -------------------------------------------------------------------------------- */

#define SEND(name, before, after)                                                     \
    CALL_COUNTED(name,                                                                \
                 (const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, \
                  MPI_Comm comm),                                                     \
                 (buf, count, type, dest, tag, comm), before, after)
#define ISEND(name, before, after)                                                    \
    CALL_COUNTED(name,                                                                \
                 (const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, \
                  MPI_Comm comm, MPI_Request *request),                               \
                 (buf, count, type, dest, tag, comm, request), before, after)

SEND(Send, mpix_tsan_sends(comm, dest), NOTHING)
SEND(Bsend, mpix_tsan_sends(comm, dest), NOTHING)
SEND(Rsend, mpix_tsan_sends(comm, dest), NOTHING)
SEND(Ssend, mpix_tsan_sends(comm, dest), mpix_tsan_sent_synchronously(comm))
ISEND(Isend, mpix_tsan_sends(comm, dest), NOTHING)
ISEND(Ibsend, mpix_tsan_sends(comm, dest), NOTHING)
ISEND(Irsend, mpix_tsan_sends(comm, dest), NOTHING)
ISEND(Issend, mpix_tsan_sends_synchronously(comm, dest), NOTHING)
ISEND(Ssend_init, mpix_tsan_sends_synchronously(comm, MPI_PROC_NULL), NOTHING)

CALL_COUNTED(Recv,
             (void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status),
             (buf, count, type, source, tag, comm, status), mpix_tsan_posts(comm),
             mpix_tsan_received(comm))
CALL_COUNTED(Irecv,
             (void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request),
             (buf, count, type, source, tag, comm, request), mpix_tsan_posts(comm), NOTHING)

/* What the message is ordered behind, the matched probe has said. */
#define POSTS_MESSAGE(message) \
    mpix_tsan_posts(NULL == message ? MPI_COMM_NULL : mpix_tsan_message_comm(*message))
CALL_COUNTED(Mrecv,
             (void *buf, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
             (buf, count, type, message, status), POSTS_MESSAGE(message), NOTHING)
CALL_COUNTED(Imrecv,
             (void *buf, COUNT count, MPI_Datatype type, MPI_Message *message,
              MPI_Request *request),
             (buf, count, type, message, request), POSTS_MESSAGE(message), NOTHING)

#define EXCHANGES                \
    mpix_tsan_sends(comm, dest); \
    mpix_tsan_posts(comm)
#define SEND_PART const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype
#define RECV_PART void *recvbuf, COUNT recvcount, MPI_Datatype recvtype
CALL_COUNTED(Sendrecv,
             (SEND_PART, int dest, int sendtag, RECV_PART, int source, int recvtag, MPI_Comm comm,
              MPI_Status *status),
             (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
              recvtag, comm, status),
             EXCHANGES, mpix_tsan_received(comm))
CALL_COUNTED(Isendrecv,
             (SEND_PART, int dest, int sendtag, RECV_PART, int source, int recvtag, MPI_Comm comm,
              MPI_Request *request),
             (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
              recvtag, comm, request),
             EXCHANGES, NOTHING)
CALL_COUNTED(Sendrecv_replace,
             (void *buf, COUNT count, MPI_Datatype type, int dest, int sendtag, int source,
              int recvtag, MPI_Comm comm, MPI_Status *status),
             (buf, count, type, dest, sendtag, source, recvtag, comm, status), EXCHANGES,
             mpix_tsan_received(comm))
CALL_COUNTED(Isendrecv_replace,
             (void *buf, COUNT count, MPI_Datatype type, int dest, int sendtag, int source,
              int recvtag, MPI_Comm comm, MPI_Request *request),
             (buf, count, type, dest, sendtag, source, recvtag, comm, request), EXCHANGES, NOTHING)

/* ---- collectives ----------------------------------------------------------------------------- */

/* Both forms of one: parameters and arguments up to the root, or to the communicator. */
#define COLLECTIVE_FORMS(name, iname, shape, root, parameters, arguments)                         \
    CALL_COUNTED(name, (LIST parameters, MPI_Comm comm), (LIST arguments, comm),                  \
                 const unsigned int number = mpix_tsan_collective_begins(comm, shape, root),      \
                 mpix_tsan_collective_ends(comm, shape, root, number))                            \
    CALL_COUNTED(iname, (LIST parameters, MPI_Comm comm, MPI_Request * request),                  \
                 (LIST arguments, comm, request), mpix_tsan_collective_starts(comm, shape, root), \
                 mpix_tsan_collective_started(comm, shape, root, request))
#define SYMMETRIC(name, iname, parameters, arguments) \
    COLLECTIVE_FORMS(name, iname, MPIX_TSAN_ALL, 0, parameters, arguments)
#define ROOTED(name, iname, shape, parameters, arguments) \
    COLLECTIVE_FORMS(name, iname, shape, root, (LIST parameters, int root), (LIST arguments, root))

#define SEND_V const void *sendbuf, const COUNT sendcounts[], const DISP sdispls[]
#define RECV_V void *recvbuf, const COUNT recvcounts[], const DISP rdispls[]
#define SEND_W const void *sendbuf, const COUNT sendcounts[], const MPI_Aint sdispls[]
#define RECV_W void *recvbuf, const COUNT recvcounts[], const MPI_Aint rdispls[]
#define SEND_TYPE MPI_Datatype sendtype
#define RECV_TYPE MPI_Datatype recvtype
#define SEND_TYPES const MPI_Datatype sendtypes[]
#define RECV_TYPES const MPI_Datatype recvtypes[]
#define ONE_TO_ONE (SEND_PART, RECV_PART)
#define ONE_TO_ONE_ARGUMENTS (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
#define ONE_TO_V (SEND_PART, RECV_V, RECV_TYPE)
#define ONE_TO_V_ARGUMENTS (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype)
#define V_TO_V (SEND_V, SEND_TYPE, RECV_V, RECV_TYPE)
#define V_TO_V_ARGUMENTS \
    (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype)
#define W_TO_W_ARGUMENTS \
    (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes)
#define REDUCTION (const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype type, MPI_Op op)
#define REDUCTION_ARGUMENTS (sendbuf, recvbuf, count, type, op)

ROOTED(Bcast, Ibcast, MPIX_TSAN_FROM, (void *buf, COUNT count, MPI_Datatype type),
       (buf, count, type))
ROOTED(Scatter, Iscatter, MPIX_TSAN_FROM, ONE_TO_ONE, ONE_TO_ONE_ARGUMENTS)
ROOTED(Scatterv, Iscatterv, MPIX_TSAN_FROM, (SEND_V, SEND_TYPE, RECV_PART),
       (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcount, recvtype))
ROOTED(Gather, Igather, MPIX_TSAN_TO, ONE_TO_ONE, ONE_TO_ONE_ARGUMENTS)
ROOTED(Gatherv, Igatherv, MPIX_TSAN_TO, ONE_TO_V, ONE_TO_V_ARGUMENTS)
ROOTED(Reduce, Ireduce, MPIX_TSAN_TO, REDUCTION, REDUCTION_ARGUMENTS)

/* The order of the two scans is one way only: that of all is taken for it. */
SYMMETRIC(Scan, Iscan, REDUCTION, REDUCTION_ARGUMENTS)
SYMMETRIC(Exscan, Iexscan, REDUCTION, REDUCTION_ARGUMENTS)
SYMMETRIC(Allreduce, Iallreduce, REDUCTION, REDUCTION_ARGUMENTS)
SYMMETRIC(Reduce_scatter_block, Ireduce_scatter_block, REDUCTION, REDUCTION_ARGUMENTS)
SYMMETRIC(Reduce_scatter, Ireduce_scatter,
          (const void *sendbuf, void *recvbuf, const COUNT counts[], MPI_Datatype type, MPI_Op op),
          (sendbuf, recvbuf, counts, type, op))
SYMMETRIC(Allgather, Iallgather, ONE_TO_ONE, ONE_TO_ONE_ARGUMENTS)
SYMMETRIC(Allgatherv, Iallgatherv, ONE_TO_V, ONE_TO_V_ARGUMENTS)
SYMMETRIC(Alltoall, Ialltoall, ONE_TO_ONE, ONE_TO_ONE_ARGUMENTS)
SYMMETRIC(Alltoallv, Ialltoallv, V_TO_V, V_TO_V_ARGUMENTS)
SYMMETRIC(Alltoallw, Ialltoallw, (SEND_V, SEND_TYPES, RECV_V, RECV_TYPES), W_TO_W_ARGUMENTS)

/* Of neighbours, likewise: all of the communicator are taken for them. */
SYMMETRIC(Neighbor_allgather, Ineighbor_allgather, ONE_TO_ONE, ONE_TO_ONE_ARGUMENTS)
SYMMETRIC(Neighbor_allgatherv, Ineighbor_allgatherv, ONE_TO_V, ONE_TO_V_ARGUMENTS)
SYMMETRIC(Neighbor_alltoall, Ineighbor_alltoall, ONE_TO_ONE, ONE_TO_ONE_ARGUMENTS)
SYMMETRIC(Neighbor_alltoallv, Ineighbor_alltoallv, V_TO_V, V_TO_V_ARGUMENTS)
SYMMETRIC(Neighbor_alltoallw, Ineighbor_alltoallw, (SEND_W, SEND_TYPES, RECV_W, RECV_TYPES),
          W_TO_W_ARGUMENTS)

/* ---- operations on windows -------------------------------------------------------------------- */

/* The results are there after a call of synchronization, or after the end of the request. */
#define OPERATION(name, rname, parameters, arguments)                                          \
    CALL_COUNTED(name, (LIST parameters, MPI_Win win), (LIST arguments, win),                  \
                 (void) mpix_tsan_window_says(win), NOTHING)                                   \
    CALL_COUNTED(rname, (LIST parameters, MPI_Win win, MPI_Request * request),                 \
                 (LIST arguments, win, request), void *const key = mpix_tsan_window_says(win), \
                 mpix_tsan_window_started(key, request))

#define ORIGIN_PART COUNT count, MPI_Datatype type
#define TARGET_PART int target, MPI_Aint disp, COUNT target_count, MPI_Datatype target_type
#define TARGET target, disp, target_count, target_type

OPERATION(Put, Rput, (const void *buf, ORIGIN_PART, TARGET_PART), (buf, count, type, TARGET))
OPERATION(Get, Rget, (void *buf, ORIGIN_PART, TARGET_PART), (buf, count, type, TARGET))
OPERATION(Accumulate, Raccumulate, (const void *buf, ORIGIN_PART, TARGET_PART, MPI_Op op),
          (buf, count, type, TARGET, op))
OPERATION(Get_accumulate, Rget_accumulate,
          (const void *buf, ORIGIN_PART, void *result, COUNT result_count, MPI_Datatype result_type,
           TARGET_PART, MPI_Op op),
          (buf, count, type, result, result_count, result_type, TARGET, op))

#undef OPERATION
#undef ORIGIN_PART
#undef TARGET_PART
#undef TARGET
#undef CALL_COUNTED
#undef CALL_EXPANDED
#undef SEND
#undef ISEND
#undef POSTS_MESSAGE
#undef EXCHANGES
#undef SEND_PART
#undef RECV_PART
#undef COLLECTIVE_FORMS
#undef SYMMETRIC
#undef ROOTED
#undef SEND_V
#undef RECV_V
#undef SEND_W
#undef RECV_W
#undef SEND_TYPE
#undef RECV_TYPE
#undef SEND_TYPES
#undef RECV_TYPES
#undef ONE_TO_ONE
#undef ONE_TO_ONE_ARGUMENTS
#undef ONE_TO_V
#undef ONE_TO_V_ARGUMENTS
#undef V_TO_V
#undef V_TO_V_ARGUMENTS
#undef W_TO_W_ARGUMENTS
#undef REDUCTION
#undef REDUCTION_ARGUMENTS
