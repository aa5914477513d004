/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators that are freed while operations on them are pending: all of these complete, with
 * the right data.
 *
 * A round makes a communicator of a kind drawn at random, begins a few operations on it, frees it
 * at once, and the datatypes and operators with it.  Up to WINDOW rounds stay open; the oldest is
 * then completed by a waiting or testing function that each rank draws for itself.  Ranks of a
 * process are at different places, and any of them may progress the schedules of another.
 *
 * Not plain: stock Open MPI crashes, as coll/libnbc and MPI_Comm_idup use a communicator that is
 * gone.
 *
 * Where requests of coll/libnbc held no reference, 12 rounds crashed with 11 of 12 seeds, and 25
 * with all, on two cores with other work.
 *
 *   --rounds N  of random communicators (default 60)
 *
 * Guards: pml_epml_hold.c, pml_epml_libnbc.c, pml_epml_comm.c, hook_idup.c
 */

/* EPT-PARTS: comm_pending_collectives.c comm_pending_messages.c ../files/file_tools.c */

#include "comm_pending.h"
#include "files/file_tools.h"

enum { WINDOW = 3, OPERATIONS = 4 };

/** A round's operations; the communicator that they were begun on is gone. */
struct round {
    bool open;
    struct operation operation[OPERATIONS];
};

/* ---- communicators --------------------------------------------------------------------------- */

static MPI_Comm make_inter(struct ept *t, MPI_Comm comm, uint64_t *shared)
{
    /* An uneven cut: the sides have different sizes. */
    const int first = 1 + (int) ept_random_below(shared, (uint64_t) t->size - 1);
    const bool low = t->rank < first;
    MPI_Comm side, inter;

    EPT_OK(t, MPI_Comm_split(comm, low, t->rank, &side));
    EPT_OK(t, MPI_Intercomm_create(side, 0, comm, low ? first : 0, 5, &inter));
    EPT_OK(t, MPI_Comm_free(&side));
    return inter;
}

/** A ring whose members have two different neighbours. */
static MPI_Comm make_ring(struct ept *t, MPI_Comm comm)
{
    int neighbors[2] = {(t->rank + t->size - 1) % t->size, (t->rank + 1) % t->size};
    int weights[2] = {1, 1};
    MPI_Comm ring;

    EPT_OK(t, MPI_Dist_graph_create_adjacent(comm, 2, neighbors, weights, 2, neighbors, weights,
                                             MPI_INFO_NULL, 0, &ring));
    return ring;
}

/** A communicator of a kind that all ranks draw alike. */
static MPI_Comm make(struct ept *t, MPI_Comm comm, uint64_t *shared)
{
    MPI_Comm made;

    switch (ept_random_below(shared, 6)) {
    case 0:
        EPT_OK(t, MPI_Comm_dup(comm, &made));
        return made;
    case 1: /* one member of each process */
        EPT_OK(t, MPI_Comm_split(comm, t->local, t->rank, &made));
        return made;
    case 2: /* processes do not follow each other: noncommutative ones are libnbc's */
        EPT_OK(t, MPI_Comm_split(comm, 0, t->local * t->nprocs + t->proc, &made));
        return made;
    case 3:
        EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, -t->rank, &made));
        return made;
    case 4:
        if (1 < t->size) {
            return make_inter(t, comm, shared);
        }
        /* fall through */
    default:
        if (2 < t->size) {
            return make_ring(t, comm);
        }
        EPT_OK(t, MPI_Comm_dup(comm, &made));
        return made;
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void begin_round(struct ept *t, MPI_Comm comm, struct round *round, uint64_t *shared)
{
    struct members members;
    MPI_Comm made = make(t, comm, shared);

    members_of(t, made, &members);
    for (int i = 0; i < OPERATIONS; ++i) {
        operation_begin(t, &round->operation[i], made, &members, shared);
    }
    EPT_OK(t, MPI_Comm_free(&made));
    round->open = true;
}

/** Complete requests of a list by a function chosen by chance. */
static void complete(struct ept *t, MPI_Request *requests, int count, uint64_t *own)
{
    const uint64_t way = ept_random_below(own, 5);
    int indices[REQUESTS * OPERATIONS], seen = 0, index, flag = 0;

    switch (way) {
    case 0:
        EPT_OK(t, MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        return;
    case 1:
        while (!flag && MPI_SUCCESS == MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE)) {
        }
        return;
    case 2: /* persistent requests are inactive afterwards, and no longer counted */
        while (MPI_SUCCESS == MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE)
               && MPI_UNDEFINED != index) {
        }
        return;
    case 3:
        while (MPI_SUCCESS == MPI_Testsome(count, requests, &seen, indices, MPI_STATUSES_IGNORE)
               && MPI_UNDEFINED != seen) {
        }
        return;
    default:
        for (int i = count; 0 < i--;) {
            EPT_OK(t, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        }
    }
}

static void complete_round(struct ept *t, struct round *round, uint64_t *own)
{
    MPI_Request all[REQUESTS * OPERATIONS];
    int count;

    /* Twice: persistent ones are started again, though their communicator is long gone. */
    for (int again = 0; again < 2; ++again) {
        count = 0;
        for (int i = 0; i < OPERATIONS; ++i) {
            struct operation *operation = &round->operation[i];

            if (0 < again) {
                operation_restart(t, operation);
            }
            for (int k = 0; k < operation->requests; ++k) {
                all[count++] = operation->request[k];
            }
        }
        complete(t, all, count, own);
        count = 0;
        for (int i = 0; i < OPERATIONS; ++i) {
            struct operation *operation = &round->operation[i];

            for (int k = 0; k < operation->requests; ++k) {
                operation->request[k] = all[count++];
            }
            if (0 == again || operation->is_persistent) {
                operation->check(t, operation);
            }
        }
    }
    for (int i = 0; i < OPERATIONS; ++i) {
        operation_end(t, &round->operation[i]);
    }
    round->open = false;
}

static void case_random(MPI_Comm comm, struct ept *t)
{
    const int rounds = (int) ept_option_long("rounds", 60);
    uint64_t shared = ept_mix(t->seed, 1, 0, 0), own = ept_mix(t->seed, 2, (uint64_t) t->rank, 0);
    struct round *window = calloc(WINDOW, sizeof(*window));

    for (int round = 0; round < rounds + WINDOW; ++round) {
        struct round *chosen = &window[round % WINDOW];

        if (chosen->open) {
            ept_phase(t, "completing round %d of %d", round - WINDOW, rounds);
            complete_round(t, chosen, &own);
        }
        if (round < rounds) {
            ept_phase(t, "beginning round %d of %d", round, rounds);
            begin_round(t, comm, chosen, &shared);
        }
    }
    free(window);
}

/* ---- files ----------------------------------------------------------------------------------- */

/** Two blocks of each rank, by a collective write and by one of its own. */
static void write_pending(struct ept *t, MPI_Comm made, const char *name)
{
    const size_t block = LENGTH * sizeof(int);
    int rank, size, *data = malloc(2 * block), *read = malloc(2 * block);
    MPI_Request requests[2];
    MPI_File file;

    MPI_Comm_rank(made, &rank);
    MPI_Comm_size(made, &size);
    for (int i = 0; i < 2 * LENGTH; ++i) {
        data[i] = 10000 * rank + i;
    }
    file = file_create(made, t, name, 0);
    EPT_OK(t, MPI_File_iwrite_at_all(file, (MPI_Offset) rank * (MPI_Offset) block, data, LENGTH,
                                     MPI_INT, &requests[0]));
    EPT_OK(t, MPI_File_iwrite_at(file, (MPI_Offset) (size + rank) * (MPI_Offset) block,
                                 &data[LENGTH], LENGTH, MPI_INT, &requests[1]));
    EPT_OK(t, MPI_Comm_free(&made));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_File_iread_at_all(file, (MPI_Offset) rank * (MPI_Offset) block, read, LENGTH,
                                    MPI_INT, &requests[0]));
    EPT_OK(t, MPI_File_iread_at(file, (MPI_Offset) (size + rank) * (MPI_Offset) block,
                                &read[LENGTH], LENGTH, MPI_INT, &requests[1]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_EQ(t, 0, memcmp(data, read, 2 * block));
    EPT_OK(t, MPI_File_close(&file));
    free(data);
    free(read);
}

/* A file outlives the communicator that it was opened on. */
static void case_file(MPI_Comm comm, struct ept *t)
{
    for (int round = 0; round < 6; ++round) {
        char name[FILE_NAME_MAX];
        MPI_Comm kept, made;

        ept_phase(t, "file %d", round);
        EPT_OK(t, MPI_Comm_split(comm, 0 == round % 2 ? t->local : 0, t->rank, &kept));
        EPT_OK(t, MPI_Comm_dup(kept, &made));
        file_name(kept, t, "pending", name);
        write_pending(t, made, name);
        file_remove(kept, name);
        EPT_OK(t, MPI_Comm_free(&kept));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_file);
    EPT_CASE(t, case_random);
    return 0;
}
