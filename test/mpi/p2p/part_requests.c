/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Partitioned requests among others: matching in the order of the inits, whatever the order of the
 * starts; ordinary messages with the same tags; lists that mix kinds, Open MPI's own included;
 * intercommunicators; what is refused.
 *
 * Guards: pml_epml_ipart.c, pml_epml_part.c
 */

#include "part.h"

enum { MANY = 20 };

void test_process_begin(void)
{
    /* libmpi reports errors of partitioned calls there, whatever the communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/** Many requests with one tag, before and after their partners' inits; every rank starts and marks
 * them in an order of its own. */
static void case_order(MPI_Comm comm, struct ept *t)
{
    static const int lengths[] = {1, 50, 5000};

    for (int k = 0; k < 3; ++k) {
        const int length = lengths[k], ints = PARTS * length;
        int *out = malloc(MANY * (size_t) ints * sizeof(int));
        int *in = malloc(MANY * (size_t) ints * sizeof(int));
        MPI_Request sends[MANY], receives[MANY];
        uint64_t random = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) k, 0);
        int order[MANY];

        for (int i = 0; i < MANY; ++i) {
            EPT_OK(t, MPI_Psend_init(out + i * ints, PARTS, length, MPI_INT, above(t), TAG, comm,
                                     MPI_INFO_NULL, &sends[i]));
            if (MANY / 2 == i) {
                EPT_OK(t, MPI_Barrier(comm)); /* some are there before their receives */
            }
        }
        for (int i = 0; i < MANY; ++i) {
            EPT_OK(t, MPI_Precv_init(in + i * ints, 1, ints, MPI_INT, below(t), TAG, comm,
                                     MPI_INFO_NULL, &receives[i]));
        }
        for (int round = 0; round < 5; ++round) {
            int wrong = 0;

            ept_phase(t, "length %d round %d", length, round);
            for (int i = 0; i < MANY * ints; ++i) {
                out[i] = value(t->rank, i / ints, round, i % ints);
                in[i] = -1;
            }
            ept_shuffle(order, MANY, &random);
            for (int i = 0; i < MANY; ++i) {
                EPT_OK(t, MPI_Start(&sends[order[i]]));
                EPT_OK(t, MPI_Pready_range(0, PARTS - 1, sends[order[i]]));
            }
            ept_shuffle(order, MANY, &random);
            for (int i = 0; i < MANY; ++i) {
                EPT_OK(t, MPI_Start(&receives[order[i]]));
            }
            EPT_OK(t, MPI_Waitall(MANY, receives, MPI_STATUSES_IGNORE));
            EPT_OK(t, MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
            for (int i = 0; i < MANY * ints; ++i) {
                wrong += value(below(t), i / ints, round, i % ints) != in[i];
            }
            EPT_EQ(t, 0, wrong);
        }
        for (int i = 0; i < MANY; ++i) {
            EPT_OK(t, MPI_Request_free(&sends[i]));
            EPT_OK(t, MPI_Request_free(&receives[i]));
        }
        free(out);
        free(in);
    }
}

enum { PSEND, PRECV, SEND_INIT, RECV_INIT, ISEND, IRECV, KINDS };

/** See a list of all kinds off, in one of four ways. */
static void mixed_finish(struct ept *t, MPI_Request *requests, int round)
{
    MPI_Status statuses[KINDS];
    int left = KINDS, index, flag;

    switch (round % 4) {
    case 0:
        EPT_OK(t, MPI_Waitall(KINDS, requests, statuses));
        break;
    case 1:
        for (int i = 0; i < KINDS; ++i) {
            EPT_OK(t, MPI_Waitany(KINDS, requests, &index, &statuses[0]));
            EPT_CHECK(t, 0 <= index && KINDS > index, "index %d", index);
            if (PRECV == index) {
                EPT_STATUS(t, &statuses[0], below(t), TAG, PARTS * sizeof(int));
            }
        }
        break;
    case 2:
        while (0 < left) {
            int indices[KINDS], count;

            EPT_OK(t, MPI_Waitsome(KINDS, requests, &count, indices, statuses));
            EPT_CHECK(t, 0 < count && count <= left, "count %d of %d", count, left);
            left -= count;
            if (0 >= count) {
                break;
            }
        }
        break;
    default:
        for (flag = 0; !flag;) {
            EPT_OK(t, MPI_Request_get_status(requests[PRECV], &flag, &statuses[0]));
        }
        EPT_STATUS(t, &statuses[0], below(t), TAG, PARTS * sizeof(int));
        for (flag = 0; !flag;) {
            EPT_OK(t, MPI_Testall(KINDS, requests, &flag, statuses));
        }
        break;
    }
}

/** Ordinary messages with the same tag and from the same rank are another matter, wildcards and
 * probes too; the lists mix partitioned, persistent and nonblocking requests. */
static void case_mixed(MPI_Comm comm, struct ept *t)
{
    int pout[PARTS] = {0}, pin[PARTS], out[2], in[2];
    MPI_Request requests[KINDS];
    int flag = 1;

    EPT_OK(t, MPI_Psend_init(pout, PARTS, 1, MPI_INT, above(t), TAG, comm, MPI_INFO_NULL,
                             &requests[PSEND]));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Recv_init(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &requests[RECV_INIT]));
    EPT_OK(t, MPI_Precv_init(pin, 1, PARTS, MPI_INT, below(t), TAG, comm, MPI_INFO_NULL,
                             &requests[PRECV]));
    EPT_OK(t, MPI_Send_init(&out[0], 1, MPI_INT, above(t), TAG, comm, &requests[SEND_INIT]));
    for (int round = 0; round < 12; ++round) {
        int order[PARTS] = {2, 0, 3, 1};

        ept_phase(t, "round %d", round);
        for (int i = 0; i < PARTS; ++i) {
            pout[i] = value(t->rank, PSEND, round, i);
            pin[i] = -1;
        }
        out[0] = value(t->rank, SEND_INIT, round, 0);
        out[1] = value(t->rank, ISEND, round, 0);
        in[0] = in[1] = -1;
        EPT_OK(t, MPI_Startall(ISEND, requests));
        EPT_OK(t, MPI_Irecv(&in[1], 1, MPI_INT, below(t), TAG + 1, comm, &requests[IRECV]));
        EPT_OK(t, MPI_Isend(&out[1], 1, MPI_INT, above(t), TAG + 1, comm, &requests[ISEND]));
        EPT_OK(t, MPI_Pready_list(PARTS, order, requests[PSEND]));
        mixed_finish(t, requests, round);
        for (int i = 0; i < PARTS; ++i) {
            EPT_EQ(t, value(below(t), PSEND, round, i), pin[i]);
        }
        EPT_EQ(t, value(below(t), SEND_INIT, round, 0), in[0]);
        EPT_EQ(t, value(below(t), ISEND, round, 0), in[1]);
    }
    for (int i = 0; i < ISEND; ++i) {
        EPT_OK(t, MPI_Request_free(&requests[i]));
    }
}

/** A process's own partitioned requests, which are Open MPI's module's, in one list with ours. */
static void case_beside_processes(MPI_Comm comm, struct ept *t)
{
    enum { LENGTH = 3000 };
    const int next = (t->proc + 1) % t->nprocs, last = (t->proc - 1 + t->nprocs) % t->nprocs;
    int *data[4];
    MPI_Request requests[4];

    if (2 > t->nprocs) {
        return;
    }
    if (0 != t->local) {
        /* The first ranks of the processes are on their own.  The others stay out of MPI: Open
         * MPI's module takes a partition for sent that another thread's progress looks at between
         * the start and its MPI_Pready. */
        ept_local_barrier(t);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        data[i] = calloc(PARTS * LENGTH, sizeof(int));
    }
    EPT_OK(t, MPI_Psend_init(data[0], PARTS, LENGTH, MPI_INT, next, TAG, MPI_COMM_WORLD,
                             MPI_INFO_NULL, &requests[0]));
    EPT_OK(t, MPI_Precv_init(data[1], PARTS, LENGTH, MPI_INT, last, TAG, MPI_COMM_WORLD,
                             MPI_INFO_NULL, &requests[1]));
    EPT_OK(t, MPI_Psend_init(data[2], PARTS, LENGTH, MPI_INT, next * t->nlocal, TAG, comm,
                             MPI_INFO_NULL, &requests[2]));
    EPT_OK(t, MPI_Precv_init(data[3], PARTS, LENGTH, MPI_INT, last * t->nlocal, TAG, comm,
                             MPI_INFO_NULL, &requests[3]));
    for (int round = 0; round < 4; ++round) {
        ept_phase(t, "round %d", round);
        for (int i = 0; i < PARTS * LENGTH; ++i) {
            data[0][i] = value(t->proc, 1, round, i);
            data[2][i] = value(t->rank, 2, round, i);
        }
        for (int i = 3; 0 <= i; --i) {
            EPT_OK(t, MPI_Start(&requests[i]));
            if (0 == i % 2) {
                EPT_OK(t, MPI_Pready_range(0, PARTS - 1, requests[i]));
            }
        }
        EPT_OK(t, MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < PARTS * LENGTH; i += LENGTH - 1) {
            EPT_EQ(t, value(last, 1, round, i), data[1][i]);
            EPT_EQ(t, value(last * t->nlocal, 2, round, i), data[3][i]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        EPT_OK(t, MPI_Request_free(&requests[i]));
        free(data[i]);
    }
    ept_local_barrier(t);
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    const int peer = t->rank;
    int data[PARTS], list[3] = {0, 1, PARTS}, twice[2] = {3, 3}, flag = 0;
    MPI_Datatype raw;
    MPI_Request send, receive, none;

    EPT_OK(t, MPI_Type_contiguous(2, MPI_INT, &raw));
    EPT_CLASS(t, MPI_ERR_TYPE,
              MPI_Psend_init(data, 1, 1, raw, peer, TAG, comm, MPI_INFO_NULL, &none));
    EPT_OK(t, MPI_Type_free(&raw));
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_Psend_init(data, -1, 1, MPI_INT, peer, TAG, comm, MPI_INFO_NULL, &none));
    EPT_CLASS(t, MPI_ERR_COUNT,
              MPI_Psend_init(data, 1, -1, MPI_INT, peer, TAG, comm, MPI_INFO_NULL, &none));
    EPT_CLASS(t, MPI_ERR_RANK,
              MPI_Psend_init(data, 1, 1, MPI_INT, t->size, TAG, comm, MPI_INFO_NULL, &none));
    EPT_CLASS(t, MPI_ERR_TAG,
              MPI_Psend_init(data, 1, 1, MPI_INT, peer, -5, comm, MPI_INFO_NULL, &none));
    EPT_CLASS(t, MPI_ERR_RANK,
              MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, MPI_INFO_NULL, &none));
    EPT_CLASS(t, MPI_ERR_TAG,
              MPI_Precv_init(data, 1, 1, MPI_INT, peer, MPI_ANY_TAG, comm, MPI_INFO_NULL, &none));

    EPT_OK(t, MPI_Psend_init(data, PARTS, 1, MPI_INT, peer, TAG, comm, MPI_INFO_NULL, &send));
    EPT_OK(t, MPI_Precv_init(data, PARTS, 1, MPI_INT, peer, TAG, comm, MPI_INFO_NULL, &receive));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Pready(0, send));
    EPT_OK(t, MPI_Start(&send));
    EPT_OK(t, MPI_Start(&receive));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Pready(0, receive));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Parrived(send, 0, &flag));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready(PARTS, send));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready(-1, send));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready_range(1, PARTS, send));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready_range(2, 1, send));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Parrived(receive, PARTS, &flag));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Parrived(receive, -1, &flag));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready_list(3, list, send));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready(1, send)); /* by the list */
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready_range(1, 3, send));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Pready_list(2, twice, send));
    EPT_OK(t, MPI_Pready(2, send));
    EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Wait(&receive, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Pready(0, send));
    EPT_OK(t, MPI_Request_free(&send));
    EPT_OK(t, MPI_Request_free(&receive));
    (void) comm;
}

/** Across an intercommunicator of the first rank and the rest. */
static void case_inter(MPI_Comm comm, struct ept *t)
{
    const bool first = 0 == t->rank;
    MPI_Comm side, inter;
    MPI_Request requests[64];
    int remote, out[PARTS], in[64][PARTS];

    if (2 > t->size || 60 < t->size) {
        return;
    }
    EPT_OK(t, MPI_Comm_split(comm, first, t->rank, &side));
    EPT_OK(t, MPI_Intercomm_create(side, 0, comm, first ? 1 : 0, TAG, &inter));
    EPT_OK(t, MPI_Comm_remote_size(inter, &remote));
    EPT_EQ(t, first ? t->size - 1 : 1, remote);
    for (int i = 0; i < PARTS; ++i) {
        out[i] = value(t->rank, 0, 0, i);
    }
    if (first) {
        for (int r = 0; r < remote; ++r) {
            EPT_OK(t, MPI_Precv_init(in[r], PARTS, 1, MPI_INT, r, TAG, inter, MPI_INFO_NULL,
                                     &requests[r]));
        }
        EPT_OK(t, MPI_Startall(remote, requests));
        EPT_OK(t, MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE));
        for (int r = 0; r < remote; ++r) {
            EPT_EQ(t, value(r + 1, 0, 0, PARTS - 1), in[r][PARTS - 1]);
            EPT_OK(t, MPI_Request_free(&requests[r]));
        }
    } else {
        EPT_OK(t,
               MPI_Psend_init(out, PARTS, 1, MPI_INT, 0, TAG, inter, MPI_INFO_NULL, &requests[0]));
        EPT_OK(t, MPI_Start(&requests[0]));
        EPT_OK(t, MPI_Pready_range(0, PARTS - 1, requests[0]));
        EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Request_free(&requests[0]));
    }
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&side));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_order);
    EPT_CASE(t, case_mixed);
    EPT_CASE(t, case_beside_processes);
    EPT_CASE(t, case_errors);
    EPT_CASE(t, case_inter);
    return 0;
}
