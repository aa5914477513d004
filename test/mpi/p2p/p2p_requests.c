/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests: wait and test in all their forms, MPI_Request_get_status, MPI_Request_free of active
 * sends, cancel, persistent requests, many requests at once.
 *
 * Guards: epml/calls, pml_epml_request.c, pml_epml_request_inline.h, request_get_status.c
 */

#include "ept.h"

enum { TAG_GO = 900, TAG_ACK = 901, TAG_NEVER = 999 };

#define NUM 24

/* NUM receives from the neighbour below, matched by tag = index; the neighbour above gets ours, in
 * an order of its own, so that completions come in another order than the receives were posted. */
struct exchange {
    int to, from;
    int in[NUM], out[NUM];
    MPI_Request receives[NUM], sends[NUM];
};

static void post_receives(MPI_Comm comm, struct ept *t, struct exchange *x)
{
    x->to = (t->rank + 1) % t->size;
    x->from = (t->rank - 1 + t->size) % t->size;
    for (int i = 0; i < NUM; ++i) {
        x->in[i] = -1;
        x->out[i] = 100 * t->rank + i;
        EPT_OK(t, MPI_Irecv(&x->in[i], 1, MPI_INT, x->from, i, comm, &x->receives[i]));
    }
}

/* The neighbour has posted its receives and may be sent to: nothing arrives before this. */
static void handshake(MPI_Comm comm, struct ept *t, struct exchange *x)
{
    EPT_OK(t, MPI_Sendrecv(NULL, 0, MPI_INT, x->from, TAG_GO, NULL, 0, MPI_INT, x->to, TAG_GO, comm,
                           MPI_STATUS_IGNORE));
}

static void post_sends(MPI_Comm comm, struct ept *t, struct exchange *x)
{
    for (int k = 0; k < NUM; ++k) {
        int i = (k * 7 + 3) % NUM;

        EPT_OK(t, MPI_Isend(&x->out[i], 1, MPI_INT, x->to, i, comm, &x->sends[i]));
    }
}

static void check_received(struct ept *t, struct exchange *x, int i, const MPI_Status *status)
{
    EPT_EQ(t, 100 * x->from + i, x->in[i]);
    EPT_STATUS(t, status, x->from, i, sizeof(int));
}

static void finish_sends(struct ept *t, struct exchange *x)
{
    EPT_OK(t, MPI_Waitall(NUM, x->sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < NUM; ++i) {
        EPT_CHECK(t, MPI_REQUEST_NULL == x->sends[i], "send request %d not null", i);
        EPT_CHECK(t, MPI_REQUEST_NULL == x->receives[i], "receive request %d not null", i);
    }
}

static void case_waitall_testall(MPI_Comm comm, struct ept *t)
{
    for (int form = 0; form < 2; ++form) {
        MPI_Status statuses[NUM];
        struct exchange x;
        int flag = 1;

        ept_phase(t, "form %d", form);
        post_receives(comm, t, &x);
        /* None can be complete: the sender waits for our handshake. */
        EPT_OK(t, MPI_Testall(NUM, x.receives, &flag, statuses));
        EPT_EQ(t, 0, flag);
        handshake(comm, t, &x);
        post_sends(comm, t, &x);
        if (0 == form) {
            EPT_OK(t, MPI_Waitall(NUM, x.receives, statuses));
        } else {
            for (flag = 0; 0 == flag;) {
                EPT_OK(t, MPI_Testall(NUM, x.receives, &flag, statuses));
            }
        }
        for (int i = 0; i < NUM; ++i) {
            check_received(t, &x, i, &statuses[i]);
        }
        finish_sends(t, &x);
    }
}

static void case_waitany_testany(MPI_Comm comm, struct ept *t)
{
    for (int form = 0; form < 2; ++form) {
        bool seen[NUM] = {false};
        struct exchange x;
        int index = -1, flag = 1;
        MPI_Status status;

        ept_phase(t, "form %d", form);
        post_receives(comm, t, &x);
        EPT_OK(t, MPI_Testany(NUM, x.receives, &index, &flag, &status));
        EPT_EQ(t, 0, flag);
        EPT_EQ(t, MPI_UNDEFINED, index);
        handshake(comm, t, &x);
        post_sends(comm, t, &x);
        for (int n = 0; n < NUM; ++n) {
            if (0 == form) {
                EPT_OK(t, MPI_Waitany(NUM, x.receives, &index, &status));
            } else {
                for (flag = 0; 0 == flag;) {
                    EPT_OK(t, MPI_Testany(NUM, x.receives, &index, &flag, &status));
                }
            }
            EPT_CHECK(t, 0 <= index && NUM > index, "index %d", index);
            if (0 <= index && NUM > index) {
                EPT_CHECK(t, !seen[index], "request %d completed twice", index);
                seen[index] = true;
                check_received(t, &x, index, &status);
            }
        }
        /* All null now. */
        EPT_OK(t, MPI_Waitany(NUM, x.receives, &index, &status));
        EPT_EQ(t, MPI_UNDEFINED, index);
        EPT_OK(t, MPI_Testany(NUM, x.receives, &index, &flag, &status));
        EPT_EQ(t, MPI_UNDEFINED, index);
        EPT_EQ(t, 1, flag);
        finish_sends(t, &x);
    }
}

static void case_waitsome_testsome(MPI_Comm comm, struct ept *t)
{
    for (int form = 0; form < 2; ++form) {
        bool seen[NUM] = {false};
        struct exchange x;
        int indices[NUM], done = 0, n = -1;
        MPI_Status statuses[NUM];

        ept_phase(t, "form %d", form);
        post_receives(comm, t, &x);
        EPT_OK(t, MPI_Testsome(NUM, x.receives, &n, indices, statuses));
        EPT_EQ(t, 0, n);
        handshake(comm, t, &x);
        post_sends(comm, t, &x);
        while (done < NUM) {
            if (0 == form) {
                EPT_OK(t, MPI_Waitsome(NUM, x.receives, &n, indices, statuses));
                EPT_CHECK(t, 1 <= n && NUM >= n, "Waitsome gave %d", n);
            } else {
                EPT_OK(t, MPI_Testsome(NUM, x.receives, &n, indices, statuses));
            }
            if (0 > n || NUM < n) {
                break;
            }
            for (int k = 0; k < n; ++k) {
                EPT_CHECK(t, !seen[indices[k]], "request %d completed twice", indices[k]);
                seen[indices[k]] = true;
                check_received(t, &x, indices[k], &statuses[k]);
            }
            done += n;
        }
        EPT_EQ(t, NUM, done);
        EPT_OK(t, MPI_Waitsome(NUM, x.receives, &n, indices, statuses));
        EPT_EQ(t, MPI_UNDEFINED, n);
        finish_sends(t, &x);
    }
}

/* Wait, Test, and MPI_Request_get_status, which leaves the request alone. */
static void case_wait_test_get_status(MPI_Comm comm, struct ept *t)
{
    struct exchange x;
    MPI_Status status;
    int flag = 1;

    post_receives(comm, t, &x);
    EPT_OK(t, MPI_Test(&x.receives[0], &flag, &status));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_Request_get_status(x.receives[0], &flag, &status));
    EPT_EQ(t, 0, flag);
    handshake(comm, t, &x);
    post_sends(comm, t, &x);
    for (int i = 0; i < NUM; ++i) {
        if (0 == i % 3) {
            EPT_OK(t, MPI_Wait(&x.receives[i], &status));
        } else {
            if (1 == i % 3) {
                for (flag = 0; 0 == flag;) {
                    EPT_OK(t, MPI_Request_get_status(x.receives[i], &flag, &status));
                }
                check_received(t, &x, i, &status);
                EPT_CHECK(t, MPI_REQUEST_NULL != x.receives[i], "get_status freed the request");
            }
            for (flag = 0; 0 == flag;) {
                EPT_OK(t, MPI_Test(&x.receives[i], &flag, &status));
            }
        }
        check_received(t, &x, i, &status);
    }
    finish_sends(t, &x);
    /* Null requests complete at once, with an empty status. */
    EPT_OK(t, MPI_Wait(&x.receives[0], &status));
    EPT_STATUS(t, &status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    EPT_OK(t, MPI_Test(&x.receives[0], &flag, &status));
    EPT_EQ(t, 1, flag);
}

/* A send whose request is freed while it is active still arrives. */
static void case_free_active(MPI_Comm comm, struct ept *t)
{
    static const int bytes[] = {1, 1000, 20000, 300000};
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int synchronous = 0; synchronous < 2; ++synchronous) {
        for (int i = 0; i < 4; ++i) {
            unsigned char *out = malloc((size_t) bytes[i]);
            struct ept_buffer in = ept_buffer((size_t) bytes[i], 1);
            uint64_t key = ept_mix(5, (uint64_t) t->rank, (uint64_t) i, 0);
            MPI_Request request;
            MPI_Status status;

            ept_phase(t, "%d bytes, synchronous %d", bytes[i], synchronous);
            ept_fill(out, 0, (size_t) bytes[i], key);
            if (0 == synchronous) {
                EPT_OK(t, MPI_Isend(out, bytes[i], MPI_BYTE, to, i, comm, &request));
            } else {
                EPT_OK(t, MPI_Issend(out, bytes[i], MPI_BYTE, to, i, comm, &request));
            }
            EPT_OK(t, MPI_Request_free(&request));
            EPT_CHECK(t, MPI_REQUEST_NULL == request, "freed request not null");
            EPT_OK(t, MPI_Recv(in.data, bytes[i], MPI_BYTE, from, i, comm, &status));
            EPT_STATUS(t, &status, from, i, bytes[i]);
            EPT_FILL(t, in.data, (size_t) bytes[i], ept_mix(5, (uint64_t) from, (uint64_t) i, 0));
            EPT_GUARDS(t, &in);
            /* The buffer is ours again only when the receiver says that it has the message. */
            EPT_OK(t, MPI_Sendrecv(NULL, 0, MPI_INT, from, TAG_ACK, NULL, 0, MPI_INT, to, TAG_ACK,
                                   comm, MPI_STATUS_IGNORE));
            free(out);
            ept_buffer_free(&in);
        }
    }
}

static void case_cancel(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int in[3] = {-1, -1, -1}, out = 100 + t->rank, flag = 0;
    MPI_Request requests[3], send;
    MPI_Status status;

    /* Nobody sends with this tag: the cancel must succeed. */
    EPT_OK(t, MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, TAG_NEVER, comm, &requests[0]));
    EPT_OK(t, MPI_Cancel(&requests[0]));
    EPT_OK(t, MPI_Wait(&requests[0], &status));
    EPT_OK(t, MPI_Test_cancelled(&status, &flag));
    EPT_EQ(t, 1, flag);

    /* Of three receives for one message the first is cancelled: the second gets the message. */
    for (int i = 0; i < 3; ++i) {
        EPT_OK(t, MPI_Irecv(&in[i], 1, MPI_INT, from, 1, comm, &requests[i]));
    }
    EPT_OK(t, MPI_Cancel(&requests[0]));
    EPT_OK(t, MPI_Wait(&requests[0], &status));
    EPT_OK(t, MPI_Test_cancelled(&status, &flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_Sendrecv(NULL, 0, MPI_INT, from, TAG_GO, NULL, 0, MPI_INT, to, TAG_GO, comm,
                           MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Isend(&out, 1, MPI_INT, to, 1, comm, &send));
    EPT_OK(t, MPI_Wait(&requests[1], &status));
    EPT_OK(t, MPI_Test_cancelled(&status, &flag));
    EPT_EQ(t, 0, flag);
    EPT_EQ(t, -1, in[0]);
    EPT_EQ(t, 100 + from, in[1]);

    /* Cancelling what is complete changes nothing. */
    EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Isend(&out, 1, MPI_INT, to, 1, comm, &send));
    for (flag = 0; 0 == flag;) {
        EPT_OK(t, MPI_Request_get_status(requests[2], &flag, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Cancel(&requests[2]));
    EPT_OK(t, MPI_Wait(&requests[2], &status));
    EPT_OK(t, MPI_Test_cancelled(&status, &flag));
    EPT_EQ(t, 0, flag);
    EPT_EQ(t, 100 + from, in[2]);
    EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));

    /* Cancelled and freed. */
    EPT_OK(t, MPI_Irecv(&in[0], 1, MPI_INT, from, TAG_NEVER, comm, &requests[0]));
    EPT_OK(t, MPI_Cancel(&requests[0]));
    EPT_OK(t, MPI_Request_free(&requests[0]));
}

enum { P_SEND, P_SSEND, P_RSEND, P_BSEND };

static void persistent_init(MPI_Comm comm, struct ept *t, int kind, int *out, int count, int to,
                            MPI_Request *request)
{
    switch (kind) {
    case P_BSEND:
        EPT_OK(t, MPI_Bsend_init(out, count, MPI_INT, to, kind, comm, request));
        break;
    case P_SSEND:
        EPT_OK(t, MPI_Ssend_init(out, count, MPI_INT, to, kind, comm, request));
        break;
    case P_RSEND:
        EPT_OK(t, MPI_Rsend_init(out, count, MPI_INT, to, kind, comm, request));
        break;
    default:
        EPT_OK(t, MPI_Send_init(out, count, MPI_INT, to, kind, comm, request));
        break;
    }
}

static void check_inactive(struct ept *t, MPI_Request *request)
{
    MPI_Status status;
    int flag = 0, index = 0;

    EPT_OK(t, MPI_Wait(request, &status));
    EPT_STATUS(t, &status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    EPT_OK(t, MPI_Test(request, &flag, &status));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_Waitany(1, request, &index, &status));
    EPT_EQ(t, MPI_UNDEFINED, index);
    EPT_CHECK(t, MPI_REQUEST_NULL != *request, "persistent request was freed");
}

#define MAX_KINDS 3

/* num kinds of sends at once, starting with first. */
static void persistent_with(MPI_Comm comm, struct ept *t, int first, int num, int shift, int count)
{
    int to = (t->rank + shift) % t->size, from = (t->rank - shift + t->size) % t->size;
    size_t bytes = (size_t) count * sizeof(int);
    MPI_Request sends[MAX_KINDS], receives[MAX_KINDS];
    struct ept_buffer in[MAX_KINDS];
    int *out = malloc(bytes + 1);

    for (int i = 0; i < num; ++i) {
        in[i] = ept_buffer(bytes, 0);
        EPT_OK(t, MPI_Recv_init(in[i].data, count, MPI_INT, from, first + i, comm, &receives[i]));
        persistent_init(comm, t, first + i, out, count, to, &sends[i]);
        check_inactive(t, &receives[i]);
        check_inactive(t, &sends[i]);
    }
    for (uint64_t round = 0; round < 8; ++round) {
        MPI_Status statuses[MAX_KINDS];

        ept_phase(t, "kinds %d, shift %d, count %d, round %d", first, shift, count, (int) round);
        ept_fill(out, 0, bytes, ept_mix((uint64_t) t->rank, round, 0, 0));
        EPT_OK(t, MPI_Startall(num, receives));
        /* Lets the ready sends be ready. */
        EPT_OK(t, MPI_Sendrecv(NULL, 0, MPI_INT, from, TAG_GO, NULL, 0, MPI_INT, to, TAG_GO, comm,
                               MPI_STATUS_IGNORE));
        for (int i = 0; i < num; ++i) {
            EPT_OK(t, MPI_Start(&sends[i]));
        }
        EPT_OK(t, MPI_Waitall(num, receives, statuses));
        EPT_OK(t, MPI_Waitall(num, sends, MPI_STATUSES_IGNORE));
        for (int i = 0; i < num; ++i) {
            EPT_STATUS(t, &statuses[i], from, first + i, bytes);
            EPT_FILL(t, in[i].data, bytes, ept_mix((uint64_t) from, round, 0, 0));
            EPT_GUARDS(t, &in[i]);
            ept_buffer_clear(&in[i]);
            check_inactive(t, &receives[i]);
        }
    }
    for (int i = 0; i < num; ++i) {
        EPT_OK(t, MPI_Request_free(&receives[i]));
        EPT_OK(t, MPI_Request_free(&sends[i]));
        ept_buffer_free(&in[i]);
    }
    free(out);
}

static void persistent_all(MPI_Comm comm, struct ept *t, int first, int num)
{
    static const int counts[] = {0, 3, 2000, 50000};
    int shifts[4], n = ept_shifts(t, shifts);

    for (int i = 0; i < 4; ++i) {
        persistent_with(comm, t, first, num, 0, counts[i]);
        for (int s = 0; s < n; ++s) {
            persistent_with(comm, t, first, num, shifts[s], counts[i]);
        }
    }
}

static void case_persistent(MPI_Comm comm, struct ept *t)
{
    persistent_all(comm, t, P_SEND, 3);
}

static void case_persistent_bsend(MPI_Comm comm, struct ept *t)
{
    size_t room = (size_t) t->nlocal * 2 * (50000 * sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = malloc(room);

    if (0 == t->local) {
        EPT_OK(t, MPI_Buffer_attach(buffer, (int) room));
    }
    ept_local_barrier(t);
    persistent_all(comm, t, P_BSEND, 1);
    ept_local_barrier(t);
    if (0 == t->local) {
        void *address;
        int size;

        ept_phase(t, "detach");
        EPT_OK(t, MPI_Buffer_detach(&address, &size));
    }
    ept_local_barrier(t);
    free(buffer);
}

/* Many receives posted, the messages come in the opposite order; then the other way round, with
 * all messages unexpected. */
static void case_many(MPI_Comm comm, struct ept *t)
{
    int many = 8 < t->size ? 200 : 2000;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int *in = malloc((size_t) many * sizeof(int)), *out = malloc((size_t) many * sizeof(int));
    MPI_Request *requests = malloc(2 * (size_t) many * sizeof(*requests));

    for (int expected = 0; expected < 2; ++expected) {
        ept_phase(t, "%d messages, expected %d", many, expected);
        for (int i = 0; i < many; ++i) {
            in[i] = -1;
            out[i] = 10 * i + expected;
        }
        for (int half = 0; half < 2; ++half) {
            if (expected == half) {
                for (int i = 0; i < many; ++i) {
                    EPT_OK(t, MPI_Isend(&out[i], 1, MPI_INT, to, i, comm, &requests[i]));
                }
            } else {
                for (int i = many - 1; i >= 0; --i) {
                    EPT_OK(t, MPI_Irecv(&in[i], 1, MPI_INT, from, i, comm, &requests[many + i]));
                }
            }
            if (0 == half) {
                EPT_OK(t, MPI_Sendrecv(NULL, 0, MPI_INT, from, many, NULL, 0, MPI_INT, to, many,
                                       comm, MPI_STATUS_IGNORE));
            }
        }
        EPT_OK(t, MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < many; ++i) {
            EPT_EQ(t, 10 * i + expected, in[i]);
        }
    }
    free(requests);
    free(in);
    free(out);
}

/* Many keys, and many synchronous messages under way: with :tsan no growth may take a large
 * allocation under an endpoint's lock. */
static void case_many_keys(MPI_Comm comm, struct ept *t)
{
    enum { MANY = 9000 };
    int *in = malloc(MANY * sizeof(int));
    MPI_Request *requests = malloc(MANY * sizeof(*requests));

    if (0 == t->rank && 1 < t->size) {
        for (int i = 0; i < MANY; ++i) {
            in[i] = 7 * i;
            EPT_OK(t, MPI_Issend(&in[i], 1, MPI_INT, 1, i, comm, &requests[i]));
        }
        EPT_OK(t, MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    } else if (1 == t->rank) {
        EPT_OK(t, MPI_Probe(0, MANY - 1, comm, MPI_STATUS_IGNORE)); /* all are there */
        for (int i = 0; i < MANY; ++i) {
            in[i] = -1;
            EPT_OK(t, MPI_Irecv(&in[i], 1, MPI_INT, 0, i, comm, &requests[i]));
        }
        EPT_OK(t, MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < MANY; ++i) {
            EPT_EQ(t, 7 * i, in[i]);
        }
    }
    free(requests);
    free(in);
}

/* MPI_Waitall over a list of everything: what is seen off request by request, and what Open MPI's
 * function must be asked for, in any order; with a receive that is too short in it, or none. */
static void waitall_mixed(MPI_Comm comm, struct ept *t, int round, bool truncate, bool ignore)
{
    enum { KINDS = 6, LENGTH = 24 };
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    uint64_t stream = ept_mix(t->seed, (uint64_t) round, 31, (uint64_t) (truncate + 2 * ignore));
    int kind[LENGTH], in[LENGTH][2], out[LENGTH][2], rc, bad = truncate ? round % LENGTH : -1;
    MPI_Request requests[LENGTH], persistent[LENGTH];
    MPI_Status statuses[LENGTH];

    for (int i = 0; i < LENGTH; ++i) {
        kind[i] = bad == i ? 0 : (int) ept_random_below(&stream, KINDS);
        out[i][0] = out[i][1] = 1000 * round + i;
        in[i][0] = in[i][1] = -1;
        memset(&statuses[i], 0x5a, sizeof(statuses[i]));
        requests[i] = persistent[i] = MPI_REQUEST_NULL;
        switch (kind[i]) {
        case 0: /* the peer's send, in a list of its own, is of two integers */
        case 1:
            EPT_OK(t, MPI_Irecv(in[i], bad == i ? 1 : 2, MPI_INT, from, i, comm, &requests[i]));
            break;
        case 2:
            EPT_OK(t, MPI_Recv_init(in[i], 2, MPI_INT, from, i, comm, &persistent[i]));
            requests[i] = persistent[i];
            EPT_OK(t, MPI_Start(&requests[i]));
            break;
        case 3: /* inactive */
            EPT_OK(t, MPI_Recv_init(in[i], 2, MPI_INT, from, i, comm, &persistent[i]));
            requests[i] = persistent[i];
            break;
        case 4:
            EPT_OK(t, MPI_Isend(out[i], 2, MPI_INT, to, LENGTH + i, comm, &requests[i]));
            break;
        default: /* MPI_REQUEST_NULL */
            break;
        }
    }
    for (int i = 0; i < LENGTH; ++i) {
        if (2 >= kind[i]) {
            EPT_OK(t, MPI_Send(out[i], 2, MPI_INT, to, i, comm));
        }
    }
    rc = MPI_Waitall(LENGTH, requests, ignore ? MPI_STATUSES_IGNORE : statuses);
    if (!truncate) {
        EPT_EQ(t, MPI_SUCCESS, rc);
    } else if (!ignore) {
        EPT_CLASS(t, MPI_ERR_IN_STATUS, rc);
    } else {
        EPT_CHECK(t, MPI_SUCCESS != rc, "no error of a receive that is too short");
    }
    for (int i = 0; i < LENGTH; ++i) {
        ept_phase(t, "round %d: request %d of kind %d, too short: %d", round, i, kind[i], bad);
        if (2 >= kind[i]) {
            EPT_EQ(t, out[i][0], in[i][0]);
            EPT_EQ(t, bad == i ? -1 : out[i][1], in[i][1]);
        }
        if (2 >= kind[i] && !ignore) {
            EPT_EQ(t, from, statuses[i].MPI_SOURCE);
            EPT_EQ(t, i, statuses[i].MPI_TAG);
            EPT_EQ(t, bad == i ? MPI_ERR_TRUNCATE : MPI_SUCCESS, statuses[i].MPI_ERROR);
        }
        EPT_CHECK(t, persistent[i] == requests[i], "request %d of kind %d is not what it should be",
                  i, kind[i]);
        if (4 == kind[i]) {
            EPT_OK(t, MPI_Recv(in[i], 2, MPI_INT, from, LENGTH + i, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, out[i][1], in[i][1]);
        }
        if (MPI_REQUEST_NULL != persistent[i]) {
            EPT_OK(t, MPI_Request_free(&persistent[i]));
        }
    }
}

static void case_waitall_mixed(MPI_Comm comm, struct ept *t)
{
    MPI_Comm mine;

    EPT_OK(t, MPI_Comm_dup(comm, &mine));
    EPT_OK(t, MPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN));
    for (int round = 0; round < 40; ++round) {
        /* Stock Open MPI frees requests that are pending or inactive when an earlier user of their
         * memory has left an error in them. */
        waitall_mixed(mine, t, round, t->endpoints && 0 != round % 4, 0 == round % 3);
    }
    EPT_OK(t, MPI_Comm_free(&mine));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_waitall_testall);
    EPT_CASE(t, case_waitall_mixed);
    EPT_CASE(t, case_waitany_testany);
    EPT_CASE(t, case_waitsome_testsome);
    EPT_CASE(t, case_wait_test_get_status);
    EPT_CASE(t, case_free_active);
    EPT_CASE(t, case_cancel);
    EPT_CASE(t, case_persistent);
    EPT_CASE_STOCK_DEFECT(t, case_persistent_bsend,
                          "ob1 sends wrong data from the second start of a buffered request");
    EPT_CASE(t, case_many);
    if (t->endpoints) {
        EPT_CASE(t, case_many_keys);
    } else {
        ept_skip(t, "case_many_keys", "of 9000 synchronous sends at a time some never end in ob1");
    }
    return 0;
}
