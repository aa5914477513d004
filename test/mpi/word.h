/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Words between the processes of a job on one node, past MPI, for tests in which a process must not
 * be in MPI until another one has got somewhere: files in the job's own folder (TMPDIR).
 */

#ifndef EPT_WORD_H
#define EPT_WORD_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORD_NAME = 4096 };

static inline void word_name(char name[WORD_NAME], const char *word)
{
    const char *folder = getenv("TMPDIR");

    (void) snprintf(name, WORD_NAME, "%s/%s", NULL == folder ? "/tmp" : folder, word);
}

static inline void word_say(const char *word)
{
    char name[WORD_NAME];

    word_name(name, word);
    (void) close(open(name, O_CREAT | O_WRONLY, 0600));
}

static inline bool word_is_said(const char *word)
{
    char name[WORD_NAME];

    word_name(name, word);
    return 0 == access(name, F_OK);
}

/** Until somebody has said it; the job's time-out ends this. */
static inline void word_await(const char *word)
{
    while (!word_is_said(word)) {
        (void) usleep(1000);
    }
}

#endif /* EPT_WORD_H */
