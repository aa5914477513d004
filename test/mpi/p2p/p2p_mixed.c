/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of all kinds in one list: of the run's communicator, of endpoints of another creation,
 * of an ordinary communicator, generalized, persistent, nonblocking collectives of both kinds, a
 * file's, null. All waits and tests, with statuses and with an error among them.  And requests that
 * are completed by threads that have not started them.
 *
 * Guards: pml_epml_wait.c, request_get_status.c
 */

#include "ept.h"

#include <unistd.h>

enum { TAG = 40, LARGE = 90000, MAX_LOCAL = 64 };

/* Places in the list. */
enum {
    SMALL_RECV,
    LARGE_RECV,
    LARGE_SEND,
    SMALL_SEND,
    OTHER_RECV,
    OTHER_SEND,
    WORLD_RECV,
    WORLD_SEND,
    PERSISTENT,
    GENERAL,
    EP_COLL,
    WORLD_COLL,
    FILE_WRITE,
    FILE_READ,
    NOTHING,
    SHORT_RECV,
    NUM
};

static MPI_Comm world, self, other[MAX_LOCAL];
static MPI_File file;
static char file_name[64];

/* Open MPI's ompio walks through the requests of files without a lock, in any thread that is in
 * MPI (mca_common_ompio_progress): not with others about. */
static bool with_files(const struct ept *t)
{
    return 1 == t->nlocal;
}

/* What the process has once; by its first rank. */
static void begin_process(struct ept *t)
{
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &world));
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_SELF, &self));
        if (t->endpoints) {
            EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, t->nlocal, MPI_INFO_NULL, other));
        } else {
            EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &other[0]));
        }
        snprintf(file_name, sizeof(file_name), "/tmp/ept-mixed-%d", (int) getpid());
        EPT_OK(t, MPI_File_open(self, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                                &file));
        unlink(file_name); /* now, so that a run that crashes leaves nothing */
    }
    ept_local_barrier(t);
}

static void end_process(struct ept *t)
{
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, MPI_File_close(&file));
        for (int i = 0; i < t->nlocal; ++i) {
            EPT_OK(t, MPI_Comm_free(&other[i]));
        }
        EPT_OK(t, MPI_Comm_free(&self));
        EPT_OK(t, MPI_Comm_free(&world));
    }
    ept_local_barrier(t);
}

/* ---- the generalized request ----------------------------------------------------------------- */

static int general_query(void *extra, MPI_Status *status)
{
    (void) extra;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 12;
    status->MPI_TAG = 34;
    return MPI_SUCCESS;
}

static int general_free(void *extra)
{
    (void) extra;
    return MPI_SUCCESS;
}

static int general_cancel(void *extra, int complete)
{
    (void) extra;
    (void) complete;
    return MPI_SUCCESS;
}

/* Completes it while its owner is blocked. */
static void *complete_later(void *request)
{
    usleep(1500);
    MPI_Grequest_complete(*(MPI_Request *) request);
    return NULL;
}

/* ---- one round ------------------------------------------------------------------------------- */

struct round {
    MPI_Request r[NUM], persistent, general;
    MPI_Status s[NUM];
    pthread_t thread;
    int small_out, small_in, other_in, world_in, self_out, self_in, sum, wrote, read, ends;
    char *large_out, *large_in, tiny[4];
    bool with_error;
};

static void start(MPI_Comm comm, struct ept *t, struct round *x, int number)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int to_proc = (t->proc + 1) % t->nprocs, from_proc = (t->proc - 1 + t->nprocs) % t->nprocs;
    MPI_Comm mine = other[t->local];

    for (int i = 0; i < NUM; ++i) {
        x->r[i] = MPI_REQUEST_NULL;
    }
    x->small_out = 1000 * t->rank + number;
    ept_fill(x->large_out, 0, LARGE, ept_mix((uint64_t) t->rank, (uint64_t) number, 6, 0));
    EPT_OK(t, MPI_Irecv(&x->small_in, 1, MPI_INT, from, TAG, comm, &x->r[SMALL_RECV]));
    EPT_OK(t, MPI_Irecv(x->large_in, LARGE, MPI_BYTE, from, TAG + 1, comm, &x->r[LARGE_RECV]));
    EPT_OK(t, MPI_Isend(x->large_out, LARGE, MPI_BYTE, to, TAG + 1, comm, &x->r[LARGE_SEND]));
    EPT_OK(t, MPI_Isend(&x->small_out, 1, MPI_INT, to, TAG, comm, &x->r[SMALL_SEND]));
    EPT_OK(t, MPI_Irecv(&x->other_in, 1, MPI_INT, from, TAG, mine, &x->r[OTHER_RECV]));
    EPT_OK(t, MPI_Issend(&x->small_out, 1, MPI_INT, to, TAG, mine, &x->r[OTHER_SEND]));
    EPT_OK(t, MPI_Irecv(&x->world_in, 1, MPI_INT, from_proc, t->local, world, &x->r[WORLD_RECV]));
    EPT_OK(t, MPI_Isend(&x->small_out, 1, MPI_INT, to_proc, t->local, world, &x->r[WORLD_SEND]));
    EPT_OK(t, MPI_Recv_init(&x->self_in, 1, MPI_INT, t->rank, TAG + 2, comm, &x->persistent));
    EPT_OK(t, MPI_Start(&x->persistent));
    x->r[PERSISTENT] = x->persistent;
    x->self_out = number;
    EPT_OK(t, MPI_Send(&x->self_out, 1, MPI_INT, t->rank, TAG + 2, comm));
    if (x->with_error) {
        /* After an error libmpi frees what looks as if it had one too, complete or not, and leaves
         * the errors of files' and collectives' requests unset: only messages here. */
        EPT_OK(t, MPI_Irecv(x->tiny, 2, MPI_BYTE, t->rank, TAG + 3, comm, &x->r[SHORT_RECV]));
        EPT_OK(t, MPI_Send("abc", 3, MPI_BYTE, t->rank, TAG + 3, comm));
        return;
    }
    EPT_OK(t, MPI_Grequest_start(general_query, general_free, general_cancel, NULL, &x->general));
    x->r[GENERAL] = x->general;
    EPT_OK(t, MPI_Iallreduce(&t->rank, &x->sum, 1, MPI_INT, MPI_SUM, comm, &x->r[EP_COLL]));
    if (0 == t->local) {
        EPT_OK(t, MPI_Ibarrier(world, &x->r[WORLD_COLL]));
    }
    if (with_files(t)) {
        x->wrote = number;
        EPT_OK(t, MPI_File_write_at(file, 8, &x->wrote, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_File_iwrite_at(file, 0, &x->wrote, 4, MPI_BYTE, &x->r[FILE_WRITE]));
        EPT_OK(t, MPI_File_iread_at(file, 8, &x->read, 4, MPI_BYTE, &x->r[FILE_READ]));
    }
    pthread_create(&x->thread, NULL, complete_later, &x->general);
}

/* Statuses one by one: index says whose. */
static void take(struct ept *t, struct round *x, int index, const MPI_Status *status, int error)
{
    EPT_CHECK(t, 0 <= index && NUM > index, "index %d", index);
    if (0 <= index && NUM > index) {
        ++x->ends;
        x->s[index] = *status;
        x->s[index].MPI_ERROR = error;
    }
}

static bool done(const struct round *x)
{
    for (int i = 0; i < NUM; ++i) {
        if (MPI_REQUEST_NULL != x->r[i] && PERSISTENT != i) {
            return false;
        }
    }
    return true;
}

static void finish(struct ept *t, struct round *x, int form)
{
    int flag = 0, n = 0, index = 0, indices[NUM], rc = MPI_SUCCESS;
    MPI_Status statuses[NUM];

    switch (form) {
    case 0:
        rc = MPI_Waitall(NUM, x->r, x->s);
        break;
    case 1:
        while (MPI_SUCCESS == rc && 0 == flag) {
            rc = MPI_Testall(NUM, x->r, &flag, x->s);
        }
        break;
    case 2:
    case 3:
        for (index = 0; MPI_UNDEFINED != index;) {
            flag = 1;
            rc = 2 == form ? MPI_Waitany(NUM, x->r, &index, statuses)
                           : MPI_Testany(NUM, x->r, &index, &flag, statuses);
            if (0 != flag && MPI_UNDEFINED != index) {
                take(t, x, index, statuses, rc);
            } else if (0 == flag) {
                index = 0;
            }
        }
        return;
    default:
        while (MPI_UNDEFINED != n) {
            rc = 4 == form ? MPI_Waitsome(NUM, x->r, &n, indices, statuses)
                           : MPI_Testsome(NUM, x->r, &n, indices, statuses);
            EPT_CHECK(t, MPI_SUCCESS == rc || (x->with_error && MPI_ERR_IN_STATUS == rc), "code %d",
                      rc);
            for (int i = 0; MPI_UNDEFINED != n && i < n; ++i) {
                take(t, x, indices[i], &statuses[i],
                     MPI_ERR_IN_STATUS == rc ? statuses[i].MPI_ERROR : MPI_SUCCESS);
            }
        }
        return;
    }
    x->ends = -1;
    EPT_EQ(t, x->with_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS, rc);
    if (MPI_ERR_IN_STATUS == rc) {
        /* What had not ended says so. */
        for (int i = 0; i < NUM; ++i) {
            if (MPI_ERR_PENDING == x->s[i].MPI_ERROR) {
                EPT_OK(t, MPI_Wait(&x->r[i], &x->s[i]));
                x->s[i].MPI_ERROR = MPI_SUCCESS;
            }
        }
    } else {
        x->s[SHORT_RECV].MPI_ERROR = MPI_SUCCESS;
    }
}

static void check(struct ept *t, struct round *x, int number)
{
    int from = (t->rank - 1 + t->size) % t->size, count = -1;
    int more = (0 == t->local ? 1 : 0) + (with_files(t) ? 2 : 0);
    int from_proc = (t->proc - 1 + t->nprocs) % t->nprocs;

    EPT_CHECK(t, done(x), "a request is left");
    EPT_CHECK(t, -1 == x->ends || (x->with_error ? 10 : 11 + more) == x->ends,
              "%d requests have ended", x->ends);
    EPT_EQ(t, 1000 * from + number, x->small_in);
    EPT_EQ(t, 1000 * from + number, x->other_in);
    EPT_EQ(t, 1000 * (from_proc * t->nlocal + t->local) + number, x->world_in);
    EPT_EQ(t, number, x->self_in);
    EPT_FILL(t, x->large_in, LARGE, ept_mix((uint64_t) from, (uint64_t) number, 6, 0));
    EPT_STATUS(t, &x->s[SMALL_RECV], from, TAG, sizeof(int));
    EPT_STATUS(t, &x->s[LARGE_RECV], from, TAG + 1, LARGE);
    EPT_STATUS(t, &x->s[OTHER_RECV], from, TAG, sizeof(int));
    EPT_STATUS(t, &x->s[WORLD_RECV], from_proc, t->local, sizeof(int));
    EPT_STATUS(t, &x->s[PERSISTENT], t->rank, TAG + 2, sizeof(int));
    if (x->with_error) {
        EPT_EQ(t, MPI_ERR_TRUNCATE, x->s[SHORT_RECV].MPI_ERROR);
        EPT_EQ(t, MPI_SUCCESS, x->s[LARGE_RECV].MPI_ERROR);
        return;
    }
    EPT_EQ(t, t->size * (t->size - 1) / 2, x->sum);
    EPT_EQ(t, 12, x->s[GENERAL].MPI_SOURCE);
    EPT_EQ(t, 34, x->s[GENERAL].MPI_TAG);
    EPT_OK(t, MPI_Get_elements(&x->s[GENERAL], MPI_INT, &count));
    EPT_EQ(t, 3, count);
    if (with_files(t)) {
        EPT_EQ(t, number, x->read);
        EPT_OK(t, MPI_Get_count(&x->s[FILE_WRITE], MPI_BYTE, &count));
        EPT_EQ(t, 4, count);
        EPT_OK(t, MPI_Get_count(&x->s[FILE_READ], MPI_BYTE, &count));
        EPT_EQ(t, 4, count);
    }
}

static void rounds(MPI_Comm comm, struct ept *t, bool with_error)
{
    for (int number = 0; number < 18; ++number) {
        struct round x = {.large_out = malloc(LARGE),
                          .large_in = calloc(1, LARGE),
                          .with_error = with_error};

        ept_phase(t, "round %d, form %d", number, number % 6);
        start(comm, t, &x, number);
        finish(t, &x, number % 6);
        check(t, &x, number);
        if (!with_error) {
            pthread_join(x.thread, NULL);
        }
        EPT_OK(t, MPI_Request_free(&x.persistent));
        free(x.large_out);
        free(x.large_in);
    }
}

static void case_lists(MPI_Comm comm, struct ept *t)
{
    begin_process(t);
    rounds(comm, t, false);
    end_process(t);
}

static void case_lists_with_error(MPI_Comm comm, struct ept *t)
{
    begin_process(t);
    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    rounds(comm, t, true);
    EPT_OK(t, MPI_Comm_free(&comm));
    end_process(t);
}

/* ---- other threads --------------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 12 };

struct waiter {
    pthread_t thread;
    struct ept *t;
    MPI_Request *requests;
    int number;
};

/* Requests that another thread has started, in one of the ways. */
static void *wait_for(void *arg)
{
    struct waiter *w = arg;
    int flag, index;

    switch (w->number % 4) {
    case 0:
        EPT_OK(w->t, MPI_Waitall(EACH, w->requests, MPI_STATUSES_IGNORE));
        break;
    case 1:
        for (int i = 0; i < EACH; ++i) {
            EPT_OK(w->t, MPI_Wait(&w->requests[i], MPI_STATUS_IGNORE));
        }
        break;
    case 2:
        for (int i = 0; i < EACH; ++i) {
            EPT_OK(w->t, MPI_Waitany(EACH, w->requests, &index, MPI_STATUS_IGNORE));
        }
        break;
    default:
        for (int i = 0; i < EACH; ++i) {
            for (flag = 0; 0 == flag;) {
                EPT_OK(w->t, MPI_Test(&w->requests[i], &flag, MPI_STATUS_IGNORE));
            }
        }
        break;
    }
    return NULL;
}

static void case_other_threads(MPI_Comm comm, struct ept *t)
{
    enum { MANY = THREADS * EACH, BYTES = 20000 };
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    static const int sizes[] = {8, 500, BYTES};
    unsigned char *in = malloc((size_t) MANY * BYTES), *out = malloc((size_t) MANY * BYTES);

    for (int round = 0; round < 10; ++round) {
        MPI_Request receives[MANY], sends[MANY];
        struct waiter w[THREADS];

        ept_phase(t, "round %d", round);
        for (int i = 0; i < MANY; ++i) {
            EPT_OK(t,
                   MPI_Irecv(in + i * BYTES, sizes[i % 3], MPI_BYTE, from, i, comm, &receives[i]));
        }
        for (int i = 0; i < THREADS; ++i) {
            w[i] = (struct waiter){.t = t, .requests = receives + i * EACH, .number = i + round};
            pthread_create(&w[i].thread, NULL, wait_for, &w[i]);
        }
        for (int i = MANY; 0 < i--;) {
            ept_fill(out + i * BYTES, 0, (size_t) sizes[i % 3],
                     ept_mix((uint64_t) t->rank, (uint64_t) i, (uint64_t) round, 2));
            EPT_OK(t, MPI_Isend(out + i * BYTES, sizes[i % 3], MPI_BYTE, to, i, comm, &sends[i]));
        }
        for (int i = 0; i < THREADS; ++i) {
            pthread_join(w[i].thread, NULL);
        }
        for (int i = 0; i < MANY; ++i) {
            EPT_FILL(t, in + i * BYTES, (size_t) sizes[i % 3],
                     ept_mix((uint64_t) from, (uint64_t) i, (uint64_t) round, 2));
        }
        EPT_OK(t, MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
    }
    free(in);
    free(out);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_lists);
    EPT_CASE_STOCK_DEFECT(t, case_lists_with_error,
                          "MPI_Waitall does not report a truncation that came before");
    EPT_CASE(t, case_other_threads);
    return 0;
}
