/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Processes die, one after the other, at random moments of MPI_Comm_accept and MPI_Comm_connect on
 * communicators of endpoints, until one is left on each side.  Every call ends, with success or the class
 * of a failure; the survivors shrink and go on with another port.  The last two connect, and nobody dies.
 *
 * The plan follows from the seed, which is printed: the process that dies, of either side; both roots, which
 * are in other processes; which side accepts; the moment; whether it calls the function at all.
 *
 *   --ep N     endpoints per process
 *   --seed N   of the plan
 *
 * Guards: hook_connect.c, comm_spawn.c, port.c, pml_epml_intercomm.c, pml_epml_bootstrap.c, pml_epml_phases.h
 */

#include "ulfm_kit.h"

enum { MOST_PROCESSES = 16 };

enum { ENDS, ROOTS, USES, SURVIVORS, TOPICS };

static const char *const names[TOPICS] = {
    "accept and connect end with success or the class of a failure",
    "if they fail at one root, they fail at the other one",
    "an intercommunicator that has been made works, or fails as after a death",
    "the survivors have a communicator",
};

/** What all members of a round draw alike. */
typedef struct round_t {
    int alive[MOST_PROCESSES], living; /**< processes, in order: the sides take turns */
    int victim;                        /**< process */
    int roots[2];                      /**< of each side, ranks in its communicator */
    int acceptor;                      /**< side */
    bool stays_away;                   /**< the victim's endpoints do not call */
    useconds_t moment;                 /**< of the death, after the barrier */
} round_t;

static int draw(unsigned int *plan, int below)
{
    return (int) ((unsigned int) rand_r(plan) % (unsigned int) below);
}

static int side_of(const round_t *round, int process)
{
    int i = 0;

    while (round->alive[i] != process) {
        ++i;
    }
    return i % 2;
}

static int processes_of(const round_t *round, int side)
{
    return (round->living + 1 - side) / 2;
}

/** Each side keeps a process, that of its root. */
static void draw_round(round_t *round, unsigned int *plan)
{
    static const int ranges[] = {500, 5000, 30000};
    int victim;

    do {
        victim = draw(plan, round->living);
    } while (1 == processes_of(round, victim % 2));
    round->victim = round->alive[victim];
    for (int side = 0; side < 2; ++side) {
        int process;

        do {
            process = draw(plan, processes_of(round, side));
        } while (2 * process + side == victim);
        round->roots[side] = process * kit_endpoints + draw(plan, kit_endpoints);
    }
    round->acceptor = draw(plan, 2);
    round->stays_away = 0 == draw(plan, 4);
    round->moment = (useconds_t) draw(plan, ranges[draw(plan, 3)]);
}

static void remove_victim(round_t *round)
{
    int kept = 0;

    for (int i = 0; i < round->living; ++i) {
        round->alive[kept] = round->alive[i];
        kept += round->victim != round->alive[i];
    }
    round->living = kept;
}

static void *die_soon(void *argument)
{
    (void) usleep(*(const useconds_t *) argument);
    kit_die();
    return NULL;
}

static int class_of(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return class;
}

/** @param[in] dies  a process does so meanwhile
 * @return the class of the call that connects the sides */
static int meet(const round_t *round, int side, MPI_Comm half, const char *port, bool dies)
{
    MPI_Comm inter = MPI_COMM_WORLD;
    const int rc = round->acceptor == side
                       ? MPI_Comm_accept(port, MPI_INFO_NULL, round->roots[side], half, &inter)
                       : MPI_Comm_connect(port, MPI_INFO_NULL, round->roots[side], half, &inter);
    const int class = class_of(rc);

    if (MPI_SUCCESS == class) {
        int used;

        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        used = class_of(MPI_Barrier(inter));
        CHECK(USES, MPI_SUCCESS == used || (dies && MPIX_ERR_PROC_FAILED == used));
        MPI_Comm_free(&inter);
    } else {
        CHECK(ENDS, dies);
        CLASS(ENDS, MPIX_ERR_PROC_FAILED, rc);
        CHECK(ENDS, MPI_COMM_NULL == inter);
    }
    return class;
}

/** The sides connect, and the victim dies, unless there is none. */
static void connect_sides(const member_t *m, const round_t *round, MPI_Comm comm, int classes[2])
{
    const bool dies = 0 <= round->victim, is_victim = dies && round->victim == kit_process;
    const int side = side_of(round, kit_process);
    char port[MPI_MAX_PORT_NAME] = "";
    static useconds_t moment;
    MPI_Comm half = MPI_COMM_NULL;
    int rank = -1, class = MPI_SUCCESS;
    pthread_t thread;

    MPI_Comm_rank(comm, &rank);
    OK(SURVIVORS, MPI_Comm_split(comm, side, rank, &half));
    if (0 == rank) {
        OK(SURVIVORS, MPI_Open_port(MPI_INFO_NULL, port));
    }
    OK(SURVIVORS, MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, comm));
    (void) MPI_Barrier(comm);
    if (is_victim && 0 == m->index) {
        moment = round->moment;
        pthread_create(&thread, NULL, die_soon, &moment);
    }
    if (!is_victim || !round->stays_away) {
        class = meet(round, side, half, port, dies);
    }
    while (is_victim) {
        (void) pause();
    }
    MPI_Comm_rank(half, &rank);
    if (round->roots[side] == rank) {
        classes[side] = class;
        printf("# side %d: root has ended with class %d\n", side, class);
        (void) fflush(stdout);
    }
    MPI_Comm_free(&half);
}

/** @param[in,out] comm  of all that are alive, then of the survivors */
static void run_round(const member_t *m, const round_t *round, MPI_Comm *comm)
{
    int size = -1, all[2], classes[2] = {MPI_SUCCESS, MPI_SUCCESS};
    MPI_Comm survivors = MPI_COMM_NULL;

    connect_sides(m, round, *comm, classes);
    OK(SURVIVORS, MPIX_Comm_shrink(*comm, &survivors));
    MPI_Comm_free(comm);
    *comm = survivors;
    MPI_Comm_set_errhandler(survivors, MPI_ERRORS_RETURN);
    MPI_Comm_size(survivors, &size);
    CHECK(SURVIVORS, kit_endpoints * (round->living - 1) == size);
    OK(ROOTS, MPI_Allreduce(classes, all, 2, MPI_INT, MPI_MAX, survivors));
    CHECK(ROOTS, all[0] == all[1]);
}

static void member_run(member_t *m)
{
    round_t round = {.living = kit_processes};
    unsigned int plan = kit_seed;
    MPI_Comm comm = MPI_COMM_NULL;
    int classes[2];

    for (int i = 0; i < kit_processes; ++i) {
        round.alive[i] = i;
    }
    OK(SURVIVORS, MPI_Comm_dup(m->comm, &comm));
    while (2 < round.living) {
        draw_round(&round, &plan);
        if (0 == m->rank) {
            printf("# seed %u: process %d dies after %u us%s\n", kit_seed, round.victim,
                   (unsigned int) round.moment, round.stays_away ? " without a call" : "");
            (void) fflush(stdout);
        }
        run_round(m, &round, &comm);
        remove_victim(&round);
    }
    round.victim = -1;
    round.roots[0] = round.roots[1] = 0;
    connect_sides(m, &round, comm, classes);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    return kit_main(argc, argv, names, TOPICS, NULL);
}
