/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A rank's handlers are its own: of faults, which they may leave by siglongjmp, of raise, and of what is
 * sent to the process.
 *
 * Guards: signals.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 50 };

static sigjmp_buf back;
static volatile sig_atomic_t caught, other, address_is_null;
static volatile int zero;

static void leave(int number)
{
    caught = number;
    siglongjmp(back, 1);
}

static void leave_with(int number, siginfo_t *info, void *context)
{
    (void) context;
    address_is_null = NULL == info->si_addr;
    leave(number);
}

static void count(int number)
{
    caught += number;
}

static void count_other(int number)
{
    other += number;
}

static void case_faults(void)
{
    struct sigaction action = {.sa_sigaction = leave_with, .sa_flags = SA_SIGINFO}, before;

    signal(SIGFPE, leave);
    CHECK(0 == sigaction(SIGSEGV, &action, NULL));
    CHECK(0 == sigaction(SIGSEGV, NULL, &before) && leave_with == before.sa_sigaction);
    for (int i = 0; i < ROUNDS; ++i) {
        caught = 0;
        if (0 == sigsetjmp(back, 1)) {
            zero = 100 / zero;
        }
        CHECK(SIGFPE == caught);
        sched_yield();
        caught = 0;
        if (0 == sigsetjmp(back, 1)) {
            *(volatile int *) NULL = 1;
        }
        CHECK(SIGSEGV == caught && address_is_null);
    }
    ranks_case("faults, left by siglongjmp");
}

static void case_own(int rank)
{
    struct sigaction once = {.sa_handler = count, .sa_flags = SA_RESETHAND}, before;
    sigset_t mask;

    CHECK(SIG_ERR != signal(SIGUSR2, 0 == rank % 2 ? count : count_other));
    MPI_Barrier(MPI_COMM_WORLD);
    caught = other = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        raise(SIGUSR2);
        kill(getpid(), SIGUSR2);
        pthread_kill(pthread_self(), SIGUSR2);
    }
    CHECK(3 * ROUNDS * SIGUSR2 == (0 == rank % 2 ? caught : other));
    CHECK(0 == (0 == rank % 2 ? other : caught));
    CHECK((0 == rank % 2 ? count : count_other) == signal(SIGUSR2, SIG_IGN));
    raise(SIGUSR2);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(3 * ROUNDS * SIGUSR2 == (0 == rank % 2 ? caught : other));
    /* Once, and with others blocked meanwhile. */
    sigemptyset(&once.sa_mask);
    sigaddset(&once.sa_mask, SIGHUP);
    caught = 0;
    CHECK(0 == sigaction(SIGURG, &once, NULL));
    raise(SIGURG);
    raise(SIGURG); /* is ignored by default */
    CHECK(SIGURG == caught && 0 == sigaction(SIGURG, NULL, &before)
          && SIG_DFL == before.sa_handler);
    CHECK(0 == pthread_sigmask(SIG_BLOCK, NULL, &mask) && 0 == sigismember(&mask, SIGHUP));
    ranks_case("handlers of one signal, another in each rank");
}

/* Sent from outside, all ranks of a process get it, as a launcher sends it to each process. */
static void case_process(int rank)
{
    int pids[64], is_sent = 0;

    pids[rank] = getpid();
    MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks_size(); i += 2) { /* what even ranks send */
        is_sent = is_sent || pids[i] == getpid();
    }
    caught = 0;
    CHECK(SIG_ERR != signal(SIGUSR1, count));
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank % 2) {
        CHECK(0 == system("kill -USR1 $PPID"));
    }
    while (is_sent && 0 == caught) {
        usleep(1000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ranks_case("sent to the process");
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    case_faults();
    case_own(rank);
    case_process(rank);
    return ranks_end();
}
