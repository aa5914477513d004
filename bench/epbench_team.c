/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the workers use to agree on iteration counts and to start together: a barrier of the
 * threads of a process and, between processes, an ordinary communicator used by thread 0 only.
 * The same in every way, and never inside a timed part.  Also: the core of each worker.
 */

#define _GNU_SOURCE 1

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "epbench.h"

/** Polls before a waiting thread offers its core to another one. */
#define SPINS_BEFORE_YIELD 2000

static int cores[CPU_SETSIZE];
static int num_cores;

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The release of turn by the last one orders what all of them wrote before (acquired
 * through arrived) with what each reads after. */
static inline void meet(epbench_team_t *team, int most)
{
    int turn = atomic_load_explicit(&team->turn, memory_order_relaxed);
    int spins = 0;

    if (team->threads - 1 == atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel)) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&team->turn, turn + 1, memory_order_release);
        return;
    }
    while (turn == atomic_load_explicit(&team->turn, memory_order_acquire)) {
        if (++spins > most) {
            sched_yield();
        } else {
            pause_briefly();
        }
    }
}

void epbench_team_local_sync(epbench_team_t *team)
{
    meet(team, SPINS_BEFORE_YIELD);
}

void epbench_team_meet(epbench_team_t *team)
{
    meet(team, 0);
}

void epbench_team_sync(epbench_worker_t *worker)
{
    epbench_team_t *team = worker->team;

    if (1 < team->procs) {
        epbench_team_local_sync(team);
        if (0 == worker->thread) {
            MPI_Barrier(team->control);
        }
    }
    epbench_team_local_sync(team);
}

static double reduce(epbench_worker_t *worker, double value, bool sum)
{
    epbench_team_t *team = worker->team;

    team->slot[worker->thread].value = value;
    epbench_team_local_sync(team);
    if (0 == worker->thread) {
        double result = value;

        for (int i = 1; i < team->threads; ++i) {
            double other = team->slot[i].value;

            if (sum) {
                result += other;
            } else if (other > result) {
                result = other;
            }
        }
        if (1 < team->procs) {
            MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_DOUBLE, sum ? MPI_SUM : MPI_MAX,
                          team->control);
        }
        team->result = result;
    }
    epbench_team_local_sync(team);
    return team->result;
}

double epbench_team_max(epbench_worker_t *worker, double value)
{
    return reduce(worker, value, false);
}

double epbench_team_sum(epbench_worker_t *worker, double value)
{
    return reduce(worker, value, true);
}

/** @return whether core is the first hardware thread of its physical core */
static bool first_sibling(int core)
{
    char path[96];
    int first = core;
    FILE *file;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             core);
    file = fopen(path, "r");
    if (NULL == file) {
        return true;
    }
    if (1 != fscanf(file, "%d", &first)) {
        first = core;
    }
    fclose(file);
    return first == core;
}

void epbench_cores_init(void)
{
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    if (0 != sched_getaffinity(0, sizeof(allowed), &allowed)) {
        return;
    }
    /* One hardware thread of each core first, the others after them. */
    for (int pass = 0; pass < 2; ++pass) {
        for (int core = 0; core < CPU_SETSIZE; ++core) {
            if (CPU_ISSET(core, &allowed) && first_sibling(core) == (0 == pass)) {
                cores[num_cores++] = core;
            }
        }
    }
}

void epbench_cores_unpin(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < num_cores; ++i) {
        CPU_SET(cores[i], &set);
    }
    if (0 < num_cores) {
        pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
    }
}

void epbench_cores_pin(int rank, int size)
{
    int pairs = size / 2;
    int place = (rank < pairs) ? 2 * rank : 2 * (rank - pairs) + 1;
    cpu_set_t set;

    if (0 == num_cores) {
        return;
    }
    /* The two of a pair sit on adjacent cores.  With more workers than cores every second lap
     * goes backwards, so that each core gets as many senders as receivers. */
    if (0 == (place / num_cores) % 2) {
        place = place % num_cores;
    } else {
        place = num_cores - 1 - place % num_cores;
    }
    CPU_ZERO(&set);
    CPU_SET(cores[place], &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}
