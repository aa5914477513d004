/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives that hand data over: a part of the program tsan_right.c.
 */

#include "tsan_right.h"

#include <stdio.h>
#include <stdlib.h>

static MPI_Op user_op;

/* Instrumented, and run on buffers of whichever member, by whichever member's thread. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; ++i) {
        ((int *) inout)[i] += ((int *) in)[i];
    }
}

void collectives_begin(void)
{
    done(MPI_Op_create(add, 1, &user_op));
}

void collectives_end(void)
{
    done(MPI_Op_free(&user_op));
}

enum { ALL, FROM, TO, UP, BESIDE };

#define IN rank->data, n, MPI_INT
#define OUT rank->data + LONG / 2, n, MPI_INT
#define IN_V rank->data, counts, displs, MPI_INT
#define OUT_V rank->data + LONG / 2, counts, displs, MPI_INT
#define IN_W rank->data, counts, bytes, types
#define OUT_W rank->data + LONG / 2, counts, bytes, types
#define NEIGHBOR_IN_W rank->data, counts, far_bytes, types
#define NEIGHBOR_OUT_W rank->data + LONG / 2, counts, far_bytes, types
#define FOLD(op) rank->data, rank->data + LONG / 2, n, MPI_INT, op

#define COLLECTIVES(each)                                                                         \
    each(Barrier, barrier, ALL, ) each(Bcast, bcast, FROM,                                        \
                                       IN COMMA 0 COMMA) each(Scatter, scatter, FROM,             \
                                                              IN COMMA OUT COMMA 0 COMMA)         \
        each(Scatterv, scatterv, FROM,                                                            \
             IN_V COMMA OUT COMMA 0 COMMA) each(Gather, gather, TO, IN COMMA OUT COMMA 0 COMMA)   \
            each(Gatherv, gatherv, TO, IN COMMA OUT_V COMMA 0 COMMA)                              \
                each(Reduce, reduce, TO, FOLD(MPI_SUM) COMMA 0 COMMA) each(Scan, scan, UP,        \
                                                                           FOLD(MPI_SUM) COMMA)   \
                    each(Exscan, exscan, UP, FOLD(MPI_SUM) COMMA) each(Allreduce, allreduce, ALL, \
                                                                       FOLD(MPI_SUM) COMMA)       \
                        each(Allreduce, allreduce, ALL, FOLD(user_op) COMMA)                      \
                            each(Reduce_scatter, reduce_scatter, ALL,                             \
                                 rank->data COMMA rank->data                                      \
                                     + LONG / 2 COMMA counts COMMA MPI_INT COMMA MPI_SUM COMMA)   \
                                each(Reduce_scatter_block, reduce_scatter_block, ALL,             \
                                     FOLD(MPI_SUM) COMMA) each(Allgather, allgather, ALL,         \
                                                               IN COMMA OUT COMMA)                \
                                    each(Allgatherv, allgatherv, ALL, IN COMMA OUT_V COMMA)       \
                                        each(Alltoall, alltoall, ALL, IN COMMA OUT COMMA)         \
                                            each(Alltoallv, alltoallv, ALL,                       \
                                                 IN_V COMMA OUT_V COMMA)                          \
                                                each(Alltoallw, alltoallw, ALL,                   \
                                                     IN_W COMMA OUT_W COMMA)                      \
                                                    each(Neighbor_allgather, neighbor_allgather,  \
                                                         BESIDE, IN COMMA OUT COMMA)              \
                                                        each(Neighbor_allgatherv,                 \
                                                             neighbor_allgatherv, BESIDE,         \
                                                             IN COMMA OUT_V COMMA)                \
                                                            each(Neighbor_alltoall,               \
                                                                 neighbor_alltoall, BESIDE,       \
                                                                 IN COMMA OUT COMMA)              \
                                                                each(Neighbor_alltoallv,          \
                                                                     neighbor_alltoallv, BESIDE,  \
                                                                     IN_V COMMA OUT_V COMMA)      \
                                                                    each(Neighbor_alltoallw,      \
                                                                         neighbor_alltoallw,      \
                                                                         BESIDE,                  \
                                                                         NEIGHBOR_IN_W COMMA      \
                                                                             NEIGHBOR_OUT_W COMMA)
#define COMMA ,

/* Which member reads whose table behind a collective. */
static bool is_behind(const rank_t *rank, int shape, int other)
{
    switch (shape) {
    case FROM:
        return 0 == other;
    case TO:
        return 0 == rank->me;
    case UP:
        return other < rank->me;
    case BESIDE:
        return other == (rank->me + 1) % rank->size
               || other == (rank->me + rank->size - 1) % rank->size;
    default:
        return true;
    }
}

static void read_behind(const rank_t *rank, int shape, const char *name)
{
    for (int i = 0; i < rank->size; ++i) {
        if (is_behind(rank, shape, i)) {
            read_table(rank, i, name);
        }
    }
}

#define CASE(begin, end, name, shape)                 \
    ++rank->step;                                     \
    comm = BESIDE == shape ? rank->ring : rank->comm; \
    write_table(rank, rank->me);                      \
    done(begin);                                      \
    end;                                              \
    read_behind(rank, shape, name);                   \
    done(MPI_Barrier(rank->comm));
#define WAITED done(MPI_Wait(&request, MPI_STATUS_IGNORE))
#define STARTED                \
    done(MPI_Start(&request)); \
    WAITED;                    \
    done(MPI_Request_free(&request))
#define EACH(name, lower, shape, arguments)                                 \
    CASE(MPI_##name(arguments comm), , #name, shape)                        \
    CASE(MPI_I##lower(arguments comm, &request), WAITED, "I" #lower, shape) \
    CASE(MPI_##name##_init(arguments comm, MPI_INFO_NULL, &request), STARTED, #name "_init", shape)

void collectives(rank_t *rank, int n)
{
    int *counts = malloc((size_t) rank->size * sizeof(*counts));
    int *displs = malloc((size_t) rank->size * sizeof(*displs));
    int *bytes = malloc((size_t) rank->size * sizeof(*bytes));
    MPI_Aint *far_bytes = malloc((size_t) rank->size * sizeof(*far_bytes));
    MPI_Datatype *types = malloc((size_t) rank->size * sizeof(*types));
    MPI_Request request;
    MPI_Comm comm;

    for (int i = 0; i < rank->size; ++i) {
        counts[i] = n;
        displs[i] = i * n;
        bytes[i] = displs[i] * (int) sizeof(int);
        far_bytes[i] = bytes[i];
        types[i] = MPI_INT;
    }
    COLLECTIVES(EACH)
    free(counts);
    free(displs);
    free(bytes);
    free(far_bytes);
    free(types);
}
