/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the survivors of death try afterwards, and those that have nothing to do with the dead.
 */

#define _GNU_SOURCE /* RTLD_NEXT */

#include "death.h"
#include "next_progress.h"

/* ---- waiting, counted ------------------------------------------------------------------------ */

enum { FEW = 64 /**< looks of calls that do not wait */ };

/** Looks of this thread at its process.  A thread that waits soon has hundreds of them. */
static _Thread_local long looks;

int opal_progress(void)
{
    ++looks;
    return next_progress();
}

const char *class_name(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return MPI_SUCCESS == class           ? "MPI_SUCCESS"
           : MPI_ERR_PROC_FAILED == class ? "MPI_ERR_PROC_FAILED"
           : MPI_ERR_OTHER == class       ? "MPI_ERR_OTHER"
           : MPI_ERR_IN_STATUS == class   ? "MPI_ERR_IN_STATUS"
                                          : "another class";
}

/** Until this endpoint knows of the death itself: what takes all members may have failed by what
 * another one has said. */
static int learn(survivor_t *s)
{
    return MPI_Recv(s->buffer, 8, MPI_CHAR, s->partner, TAG + 5, s->comm, MPI_STATUS_IGNORE);
}

/** Everything towards the dead fails at once. */
void try_again(survivor_t *s)
{
    int recv = learn(s);
    const long before = looks;
    int flag;
    int send = MPI_Send(s->buffer, 8, MPI_CHAR, s->partner, TAG, s->comm);
    int large = MPI_Send(s->buffer, LARGE, MPI_CHAR, s->partner, TAG, s->comm);
    int any = MPI_Recv(s->buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, TAG + 5, s->comm, MPI_STATUS_IGNORE);
    int probe = MPI_Iprobe(s->partner, TAG + 5, s->comm, &flag, MPI_STATUS_IGNORE);

    printf("rank %d: later send %s, large %s, recv %s, any %s, probe %s, %s\n", s->rank,
           class_name(send), class_name(large), class_name(recv), class_name(any),
           class_name(probe), FEW >= looks - before ? "at once" : "late");
}

/** A collective that has failed leaves its buffer alone: the user may have freed it. */
void mark_buffer(survivor_t *s)
{
    memset(s->buffer, MARK, LARGE);
}

void check_buffer(const survivor_t *s)
{
    int written = 0, flag;

    for (double start = MPI_Wtime(); 0.7 > MPI_Wtime() - start;) {
        MPI_Iprobe(s->rank, TAG, s->comm, &flag, MPI_STATUS_IGNORE); /* what is under way goes on */
    }
    for (int i = 0; i < LARGE; ++i) {
        written += MARK != s->buffer[i];
    }
    if (0 < written) {
        printf("rank %d: %d bytes written after the collective had failed\n", s->rank, written);
    }
}

/** @return of a constructor, whose communicator is not kept */
static int made(int rc, MPI_Comm *comm)
{
    if (MPI_SUCCESS == rc) {
        MPI_Comm_free(comm);
    }
    return rc;
}

/** What takes all members of the communicator fails.  How soon is a matter of
 * which member hears of it from which; one that waited for the dead itself would never end. */
void create_again(survivor_t *s)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int dup, split, more = MPI_ERR_PROC_FAILED;

    dup = made(MPI_Comm_dup(s->comm, &comm), &comm);
    split = made(MPI_Comm_split(s->comm, 0, s->rank, &comm), &comm);
#if defined(HAVE_EP)
    more = made(MPIX_Comm_create_endpoints(s->comm, 1, MPI_INFO_NULL, &comm), &comm);
#endif
    printf("rank %d: creations dup %s, split %s, endpoints %s\n", s->rank, class_name(dup),
           class_name(split), class_name(more));
}

/** The survivors make a communicator of their own and use it. */
void go_on(survivor_t *s)
{
    MPI_Group all, group;
    MPI_Comm comm = MPI_COMM_NULL;
    int range[1][3] = {{0, s->size - endpoints - 1, 1}};
    int one = 1, sum = 0, rc;

    MPI_Comm_group(s->comm, &all);
    MPI_Group_range_incl(all, 1, range, &group);
    rc = MPI_Comm_create_group(s->comm, group, 99, &comm);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    printf("rank %d: survivors %s, sum %s\n", s->rank, class_name(rc),
           s->size - endpoints == sum ? "right" : "wrong");
    if (MPI_COMM_NULL != comm) {
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

/** Two ranks that have nothing to do with the dead one: every byte is checked, until well after the
 * death. */
void stand_by(survivor_t *s)
{
    const double stop = MPI_Wtime() + 1e-3 * after_ms + 1.5;
    int wrong = 0, rc = MPI_SUCCESS;
    unsigned int round = 0;
    char more = 1;

    while (more && MPI_SUCCESS == rc) {
        const int size = 0 == round % 16 ? LARGE : 100;
        const char byte = (char) (round * 37 + 11);

        more = MPI_Wtime() < stop;
        if (s->rank < s->bystander) {
            memset(s->buffer, byte, (size_t) size);
            s->buffer[0] = more;
            rc = MPI_Send(s->buffer, size, MPI_CHAR, s->bystander, TAG, s->comm);
        } else {
            rc = MPI_Recv(s->buffer, size, MPI_CHAR, s->bystander, TAG, s->comm, MPI_STATUS_IGNORE);
            more = s->buffer[0];
            for (int i = 1; i < size; ++i) {
                wrong += byte != s->buffer[i];
            }
        }
        ++round;
    }
    printf("rank %d: bystander %s, %d wrong\n", s->rank, class_name(rc), wrong);
    (void) learn(s);
}
