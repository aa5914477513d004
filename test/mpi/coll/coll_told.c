/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Members of a communicator of one process call different collectives: each that can see it gets an
 * error, and it is reported, once for each communicator, which member has called what; the table
 * has the words (says).  Likewise members of one of two processes, in what goes by parts within
 * each: they say the whole, with a root that may be elsewhere.
 *
 * Guards: coll_epcoll_mismatch.c, coll_epcoll_immediate.c, coll_epcoll_schedule.c
 */

#include "ept.h"

enum { LONG = 1 << 16 };

/* A communicator for one mistake. */
static MPI_Comm begin(MPI_Comm comm, struct ept *t, const char *name)
{
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_name(dup, name));
    return dup;
}

/* It is broken for good; all others are as they were. */
static void end(MPI_Comm comm, struct ept *t, MPI_Comm *dup, int class)
{
    int one = 1, sum = 0;

    ept_local_barrier(t);
    EPT_CLASS(t, class, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *dup));
    EPT_OK(t, MPI_Comm_free(dup));
    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
}

static void case_kinds(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup = begin(comm, t, "of kinds");
    int in = 1, out;

    if (0 == t->rank) {
        EPT_CLASS(t, MPI_ERR_OTHER, MPI_Barrier(dup));
    } else {
        EPT_CLASS(t, MPI_ERR_OTHER, MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, dup));
    }
    end(comm, t, &dup, MPI_ERR_OTHER);
}

static void case_roots(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup = begin(comm, t, "of roots");
    char *out = calloc(1, LONG), *in = malloc((size_t) t->size * LONG);

    EPT_CLASS(t, MPI_ERR_OTHER,
              MPI_Gather(out, LONG, MPI_BYTE, in, LONG, MPI_BYTE, 0 == t->rank ? 1 : 0, dup));
    end(comm, t, &dup, MPI_ERR_OTHER);
    free(out);
    free(in);
}

static void case_lengths(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup = begin(comm, t, "of lengths");
    int in[2] = {0}, out[2];

    EPT_CLASS(t, MPI_ERR_TRUNCATE,
              MPI_Allreduce(in, out, 0 == t->rank ? 2 : 1, MPI_INT, MPI_SUM, dup));
    end(comm, t, &dup, MPI_ERR_TRUNCATE);
}

/* The root does not wait, and does not see it. */
static void case_receivers(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup = begin(comm, t, "of receivers");
    int data[3] = {0};

    if (0 == t->rank) {
        EPT_OK(t, MPI_Bcast(data, 3, MPI_INT, 0, dup));
    } else {
        EPT_CLASS(t, MPI_ERR_TRUNCATE, MPI_Bcast(data, 2, MPI_INT, 0, dup));
    }
    end(comm, t, &dup, MPI_ERR_TRUNCATE);
}

/* The last member names another root, both in the first process: neither is in this one. */
static void case_away(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup = begin(comm, t, "of roots away");
    const int root = t->size - 1 == t->rank ? 1 : 0;
    char *data = calloc(1, LONG);
    int rc = MPI_Bcast(data, LONG, MPI_BYTE, root, dup), class;

    EPT_OK(t, MPI_Error_class(rc, &class));
    EPT_CHECK(t, MPI_ERR_OTHER == class || (0 == t->proc && MPI_SUCCESS == class), "class %d",
              class);
    end(comm, t, &dup, MPI_ERR_OTHER);
    free(data);
}

/* What the first begins to do is the same: members say something, and hear something. */
static void case_later(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup = begin(comm, t, "of later kinds");
    MPI_Request request;
    int in = 1, out, class;

    if (t->size - 1 == t->rank) {
        EPT_OK(t, MPI_Ibarrier(dup, &request));
    } else {
        EPT_OK(t, MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, dup, &request));
    }
    EPT_OK(t, MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &class));
    EPT_CHECK(t, MPI_SUCCESS != class, "calls of different kinds have ended well");
    end(comm, t, &dup, MPI_ERR_OTHER);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (1 < t->nprocs) {
        EPT_CASE(t, case_away);
        EPT_CASE(t, case_later);
        return 0;
    }
    EPT_CASE(t, case_kinds);
    EPT_CASE(t, case_roots);
    EPT_CASE(t, case_lengths);
    EPT_CASE(t, case_receivers);
    return 0;
}
