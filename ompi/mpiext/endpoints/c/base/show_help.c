/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is said to the user, by one thread at a time.
 *
 * opal_show_help reads its file with a scanner that has its state in global variables: two threads
 * in it at a time end in a crash, and ranks of one process mostly have the same message at the same
 * time, if only libmpi's "your MPI job will now abort".  So this file replaces the two function
 * pointers by which all components call it.
 *
 * Tests: comm_refused, comm_errors, create_errors (files, memory)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_end.h"
#include "mpiext_endpoints_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "opal/constants.h"
#include "opal/util/show_help.h"

/** Recursive: mpix_endpoints_show_help needs it whether or not we stand in. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* All under the lock. */
static bool added;     /**< Open MPI knows our directory */
static int spare = -1; /**< a file descriptor kept for the help file: that there are none left is
                        * one of the things to tell; -1: none */
static opal_show_help_fn_t original;
static opal_show_vhelp_fn_t original_v; /**< NULL: we do not stand in */

static void spare_take(void)
{
    if (0 > spare) {
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

static void spare_give(void)
{
    if (0 <= spare) {
        (void) close(spare);
        spare = -1;
    }
}

/** The scanner ends the process if it has no memory, 16 KiB, and a stream's 4.
 * @return whether there is some; if not, a line has been printed in place of the text */
static bool has_memory(const char *file, const char *topic)
{
    void *volatile room = malloc(64
                                 * 1024); /* volatile: a compiler may leave out malloc and free */
    const bool has_room = NULL != room;
    char line[256];

    free(room);
    if (!has_room) {
        const int length = snprintf(line, sizeof(line),
                                    "No memory is left, not even for the text [%s] of %s.\n", topic,
                                    file);
        const size_t size = (size_t) length < sizeof(line) ? (size_t) length : sizeof(line) - 1;

        (void) !write(STDERR_FILENO, line, size);
    }
    return has_room;
}

static int show_vhelp(const char *file, const char *topic, int want_error_header, va_list arguments)
{
    const bool is_last = mpix_endpoints_is_last_word(file, topic);
    char *text;
    int rc = OPAL_ERR_OUT_OF_RESOURCE;

    if (is_last) {
        mpix_endpoints_end_alone(); /* one explanation, of the error that ends the job */
    }
    pthread_mutex_lock(&lock);
    spare_give();
    if (has_memory(file, topic)) {
        text = is_last ? mpix_endpoints_last_word(file, topic, arguments) : NULL;
        rc = NULL != text ? mpix_endpoints_show_text(text, want_error_header)
                          : original_v(file, topic, want_error_header, arguments);
        free(text);
    }
    spare_take();
    pthread_mutex_unlock(&lock);
    return rc;
}

static int show_help(const char *file, const char *topic, int want_error_header, ...)
{
    va_list arguments;
    int rc;

    va_start(arguments, want_error_header);
    rc = show_vhelp(file, topic, want_error_header, arguments);
    va_end(arguments);
    return rc;
}

static void stand_in(void)
{
    if (NULL == original_v) {
        original = opal_show_help;
        original_v = opal_show_vhelp;
        opal_show_help = show_help;
        opal_show_vhelp = show_vhelp;
    }
    spare_take();
}

static void stand_back(void)
{
    if (NULL != original_v && show_help == opal_show_help && show_vhelp == opal_show_vhelp) {
        opal_show_help = original;
        opal_show_vhelp = original_v;
        original_v = NULL;
    }
    spare_give();
}

/** Let opal_show_help find our help files. */
static void add_directory(void)
{
    if (!added) {
#if defined(MPIX_ENDPOINTS_HELPDIR)
        /* Open MPI looks into its own installation only; ours may be another one. */
        opal_show_help_add_dir(MPIX_ENDPOINTS_HELPDIR);
#endif
        added = true;
    }
}

void mpix_endpoints_help_init(bool in_use)
{
    pthread_mutex_lock(&lock);
    /* MPI may have been initialized anew since the last message; Open MPI forgets our directory
     * when it is finalized. */
    added = false;
    if (in_use) {
        add_directory();
        stand_in();
    } else {
        stand_back();
    }
    pthread_mutex_unlock(&lock);
}

void mpix_endpoints_show_help(const char *topic, const char *argument)
{
    pthread_mutex_lock(&lock);
    add_directory();
    opal_show_help("help-mpiext-endpoints.txt", topic, true, argument);
    pthread_mutex_unlock(&lock);
}

int mpix_endpoints_show_text(const char *text, bool want_error_header)
{
    int rc;

    pthread_mutex_lock(&lock);
    add_directory();
    rc = opal_show_help("help-mpiext-endpoints.txt", "as it is", want_error_header, text);
    pthread_mutex_unlock(&lock);
    return rc;
}

void mpix_endpoints_show_help_once(const char *topic, bool *said)
{
    pthread_mutex_lock(&lock);
    if (!*said) {
        *said = true;
        mpix_endpoints_show_help(topic, NULL);
    }
    pthread_mutex_unlock(&lock);
}
