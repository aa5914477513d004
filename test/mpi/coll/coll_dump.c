/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A collective in which not all have come, as a dump of queues shows it: called, by a signal, or
 * after some time.  The first rank of each process stays out until the text says that the others
 * wait for it.
 *
 *   --way W   call (the default); signal (pml_epml_dump_signal is SIGUSR1); after
 *             (pml_epml_dump_after)
 *
 * Guards: coll_epcoll_mismatch.c, pml_epml_dump.c, pml_epml_waiting.c
 */

#define _GNU_SOURCE

#include "dump_text.h"

#include <signal.h>

/* Is that a dump of all endpoints of the process, with its end? */
static bool is_whole(const struct ept *t, const char *text)
{
    static const char last[] = "  unexpected messages:\n";
    const size_t length = strlen(text);

    return t->nlocal == lines_with(text, "endpoint 0x") && sizeof(last) - 1 <= length
           && 0 == strcmp(text + length - (sizeof(last) - 1), last);
}

/* A whole dump, in one of the ways, or "".  There is no other one under way then. */
static char *ask(struct ept *t, MPI_Comm comm, const struct capture *capture, bool *asked)
{
    const char *way = ept_option("way", "call");
    char *text;

    if (0 == strcmp(way, "call")) {
        return dump(t, comm, ALL);
    }
    if (!*asked && 0 == strcmp(way, "signal")) {
        kill(getpid(), SIGUSR1);
    }
    *asked = true;
    text = capture_text(capture);
    if (is_whole(t, text)) {
        capture_clear(capture);
        *asked = false;
    } else {
        text[0] = '\0';
    }
    return text;
}

static void call(MPI_Comm comm, struct ept *t, int which)
{
    int in = 1, out = 0;

    if (0 == which) {
        EPT_OK(t, MPI_Barrier(comm));
    } else {
        EPT_OK(t, MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm));
        EPT_EQ(t, t->size, out);
    }
}

/* All others of the process are in the collective, and wait for this rank at least. */
static void look(MPI_Comm comm, struct ept *t, const char *name)
{
    /* After some time it is written once, when not all may have come. */
    const int wanted = 0 == strcmp(ept_option("way", "call"), "after") ? 1 : t->nlocal - 1;
    const bool all = 1 == t->nprocs && t->nlocal - 1 == wanted;
    struct capture capture = capture_begin();
    char line[128];
    bool asked = false;
    int seen = 0;

    snprintf(line, sizeof(line), "in %s, operation", name);
    while (seen < wanted) {
        char *text = ask(t, comm, &capture, &asked);

        seen = lines_with(text, "%s", line);
        if (all) {
            seen = lines_with(text, "waits for rank %d, which has not come", t->rank);
        }
        free(text);
    }
    capture_end(&capture);
}

static void case_missing(MPI_Comm comm, struct ept *t)
{
    static const char *const names[] = {"MPI_Barrier", "MPI_Allreduce, 4 bytes"};
    const int last = 0 == strcmp(ept_option("way", "call"), "after") ? 1 : 2; /* it is once */

    for (int which = 0; which < last; ++which) {
        MPI_Comm dup;

        ept_phase(t, "%s", names[which]);
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        ept_local_barrier(t);
        if (0 == t->local) {
            look(dup, t, names[which]);
        }
        call(dup, t, which);
        EPT_OK(t, MPI_Comm_free(&dup));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_missing);
    return 0;
}
