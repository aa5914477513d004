/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Handles of every kind, made, kept and freed by all ranks at once: the tables
 * of the process that give them their numbers grow under many threads.  Each
 * number must lead back to its own handle.
 *
 *   --handles N  that a rank keeps of each kind (default 300)
 *   --rounds N   of making some of them anew (default 4)
 *
 * Guards: abi.c, common_ep_array.h, hook_array.c
 */

#include "ept.h"

typedef union handle {
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler errhandler;
    MPI_Op op;
    MPI_Datatype type;
    MPI_Request request;
} handle_t;

/** What can be done with a kind of handles. */
typedef struct kind {
    int (*make)(MPI_Comm comm, int i, handle_t *handle);
    int (*release)(handle_t *handle);
    MPI_Fint (*number)(const handle_t *handle);
    bool (*is)(const handle_t *handle, MPI_Fint number);
} kind_t;

/* Functions of a kind whose MPI calls are named in the same way. */
#define KIND(member, Name)                                                                 \
    static int member##_release(handle_t *handle)                                          \
    {                                                                                      \
        return MPI_##Name##_free(&handle->member);                                         \
    }                                                                                      \
    static MPI_Fint member##_number(const handle_t *handle)                                \
    {                                                                                      \
        return MPI_##Name##_c2f(handle->member);                                           \
    }                                                                                      \
    static bool member##_is(const handle_t *handle, MPI_Fint number)                       \
    {                                                                                      \
        return handle->member == MPI_##Name##_f2c(number);                                 \
    }                                                                                      \
    static const kind_t member##_kind = {member##_make, member##_release, member##_number, \
                                         member##_is}

static int group_make(MPI_Comm comm, int i, handle_t *handle)
{
    MPI_Group all;
    int rc = MPI_Comm_group(comm, &all), rank;

    (void) i;
    MPI_Comm_rank(comm, &rank);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Group_incl(all, 1, &rank, &handle->group);
        MPI_Group_free(&all);
    }
    return rc;
}
KIND(group, Group);

static int info_make(MPI_Comm comm, int i, handle_t *handle)
{
    (void) comm, (void) i;
    return MPI_Info_create(&handle->info);
}
KIND(info, Info);

static void no_error(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
}

static int errhandler_make(MPI_Comm comm, int i, handle_t *handle)
{
    (void) comm, (void) i;
    return MPI_Comm_create_errhandler(no_error, &handle->errhandler);
}
KIND(errhandler, Errhandler);

static void no_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) in, (void) inout, (void) count, (void) type;
}

static int op_make(MPI_Comm comm, int i, handle_t *handle)
{
    (void) comm, (void) i;
    return MPI_Op_create(no_op, 1, &handle->op);
}
KIND(op, Op);

static int type_make(MPI_Comm comm, int i, handle_t *handle)
{
    (void) comm;
    return MPI_Type_contiguous(i + 1, MPI_INT, &handle->type);
}
KIND(type, Type);

static int request_make(MPI_Comm comm, int i, handle_t *handle)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    return MPI_Send_init(NULL, 0, MPI_INT, rank, i, comm, &handle->request);
}
KIND(request, Request);

/** Some are freed and made anew, so that there are gaps in the tables. */
static bool is_renewed(const struct ept *t, int round, int i)
{
    return 0 == round
           || 0 == ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) round, (uint64_t) i) % 3;
}

static void storm(struct ept *t, MPI_Comm comm, const kind_t *kind)
{
    const int count = (int) ept_option_long("handles", 300);
    const int rounds = (int) ept_option_long("rounds", 4);
    handle_t *handles = malloc((size_t) count * sizeof(*handles));
    MPI_Fint *numbers = malloc((size_t) count * sizeof(*numbers));

    for (int round = 0; round < rounds; ++round) {
        ept_phase(t, "round %d of %d", round, rounds);
        ept_local_barrier(t);
        for (int i = 0; i < count; ++i) {
            if (is_renewed(t, round, i)) {
                if (0 != round) {
                    EPT_OK(t, kind->release(&handles[i]));
                }
                EPT_OK(t, kind->make(comm, i, &handles[i]));
                numbers[i] = kind->number(&handles[i]);
            }
        }
        for (int i = 0; i < count; ++i) {
            EPT_CHECK(t, kind->is(&handles[i], numbers[i]),
                      "round %d: number %d is not handle %d of rank %d any more", round,
                      (int) numbers[i], i, t->rank);
        }
    }
    for (int i = 0; i < count; ++i) {
        EPT_OK(t, kind->release(&handles[i]));
    }
    free(numbers);
    free(handles);
}

#define CASE(member)                                        \
    static void case_##member(MPI_Comm comm, struct ept *t) \
    {                                                       \
        storm(t, comm, &member##_kind);                     \
    }

CASE(group)
CASE(info)
CASE(errhandler)
CASE(op)
CASE(type)
CASE(request)

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_group);
    EPT_CASE(t, case_info);
    EPT_CASE(t, case_errhandler);
    EPT_CASE(t, case_op);
    EPT_CASE(t, case_type);
    EPT_CASE(t, case_request);
    return 0;
}
