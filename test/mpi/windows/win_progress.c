/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The progress thread of osc/epwin: operations on memory of a process whose threads are not in MPI
 * until those operations have completed.  The processes take turns at being the target.
 *
 *   --interval N  what osc_epwin_progress_interval is (default 0: there is no thread, and only its
 *                 absence is checked)
 *   --direct 1    all members map all memory: there is no thread either
 *
 * Guards: osc_epwin_progress.c, osc_epwin_free.c, pml_epml_registry.c
 */

#include "win_tools.h"
#include "word.h"

#include <dirent.h>

/** Threads of this process with the name of the progress thread. */
static int threads_named(struct ept *t)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    EPT_CHECK(t, NULL != folder, "/proc/self/task cannot be read");
    while (NULL != folder && NULL != (entry = readdir(folder))) {
        char name[300], text[32] = "";
        FILE *file;

        (void) snprintf(name, sizeof(name), "/proc/self/task/%s/comm", entry->d_name);
        file = fopen(name, "r");
        if (NULL != file) {
            if (NULL != fgets(text, sizeof(text), file) && 0 == strcmp(text, "osc_epwin\n")) {
                ++count;
            }
            (void) fclose(file);
        }
    }
    if (NULL != folder) {
        (void) closedir(folder);
    }
    return count;
}

/** Operations of all kinds on one target, each completed while its process is not in MPI. */
static void operations(struct ept *t, MPI_Win win, int target)
{
    const int64_t value = 100 + t->rank, one = 1, two = 2;
    int64_t got = -1;

    EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    EPT_OK(t, win_put(win, &value, 1, target, 2));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_OK(t, win_get(win, &got, 1, target, 2));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_EQ(t, value, got);
    EPT_OK(t, MPI_Compare_and_swap(&one, &value, &got, MPI_INT64_T, target, 2, win));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_EQ(t, value, got);
    EPT_OK(t, MPI_Fetch_and_op(&two, &got, MPI_INT64_T, target, 2, MPI_SUM, win));
    EPT_OK(t, MPI_Win_unlock(target, win));
    EPT_EQ(t, 1, got);
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    EPT_OK(t, win_add(win, &one, target, 1));
    EPT_OK(t, MPI_Win_unlock(target, win));
}

static void case_target_computes(MPI_Comm comm, struct ept *t)
{
    char word[40];

    for (int kind = 0; kind < WIN_KINDS && 0 < ept_option_long("interval", 0); ++kind) {
        int64_t *words;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int process = 0; process < t->nprocs; ++process) {
            int64_t got;

            ept_phase(t, "%s, process %d computes", win_kind_name(kind), process);
            EPT_OK(t, MPI_Barrier(comm));
            if (t->proc == process) {
                for (int i = 0; i < t->size; ++i) {
                    (void) snprintf(word, sizeof(word), "done-%d-%d-%d", kind, process, i);
                    if (i / t->nlocal != process) {
                        word_await(word);
                    }
                }
            } else {
                for (int i = 0; i < t->nlocal; ++i) {
                    operations(t, win, process * t->nlocal + i);
                }
                (void) snprintf(word, sizeof(word), "done-%d-%d-%d", kind, process, t->rank);
                word_say(word);
            }
            EPT_OK(t, MPI_Barrier(comm));
            if (t->proc == process) {
                EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, win));
                got = words[1];
                EPT_OK(t, MPI_Win_unlock(t->rank, win));
                EPT_EQ(t, t->size - t->nlocal, got);
            }
        }
        win_end(t, &win, kind, words);
    }
}

/** The thread is there while a window is whose memory not all members map. */
static void case_life(MPI_Comm comm, struct ept *t)
{
    const bool is_wanted = 0 < ept_option_long("interval", 0)
                           && 0 == ept_option_long("direct", 0);

    for (int round = 0; round < 2; ++round) {
        int64_t *words[2];
        MPI_Win win[2];

        for (int i = 0; i < 2; ++i) {
            win[i] = win_new(comm, t, WIN_CREATED, &words[i]);
            EPT_EQ(t, is_wanted ? 1 : 0, threads_named(t));
        }
        EPT_OK(t, MPI_Barrier(comm));
        for (int i = 0; i < 2; ++i) {
            EPT_EQ(t, is_wanted ? 1 : 0, threads_named(t));
            EPT_OK(t, MPI_Barrier(comm));
            win_end(t, &win[i], WIN_CREATED, words[i]);
        }
        /* The kernel lists a thread for a moment after it has been joined. */
        ept_local_barrier(t);
        while (0 < threads_named(t)) {
            (void) usleep(1000);
        }
        ept_local_barrier(t);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_life);
    EPT_CASE(t, case_target_computes);
    return 0;
}
