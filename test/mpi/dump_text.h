/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tests of what pml/epml writes to stderr about queues: getting the text.  The includer defines
 * _GNU_SOURCE, for dl_iterate_phdr.
 */

#ifndef EP_TEST_DUMP_TEXT_H
#define EP_TEST_DUMP_TEXT_H

#include "ept.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <unistd.h>

enum { DUMP_TEXT_MAX = 1 << 20 };

enum what { COMM, ENDPOINT, ALL };

static inline int find_component(struct dl_phdr_info *info, size_t size, void *path)
{
    (void) size;
    if (NULL != info->dlpi_name && NULL != strstr(info->dlpi_name, "mca_pml_epml")) {
        *(const char **) path = info->dlpi_name;
        return 1;
    }
    return 0;
}

/* A function of the component, as a debugger finds it: in a library of its own, or in libmpi. */
static inline void *component_function(struct ept *t, const char *name)
{
    const char *path = NULL;
    void *handle, *function = NULL;

    (void) dl_iterate_phdr(find_component, &path);
    handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD); /* NULL: all that the program is linked with */
    if (NULL != handle) {
        function = dlsym(handle, name);
        dlclose(handle);
    }
    EPT_CHECK(t, NULL != function, "%s cannot be found", name);
    return function;
}

/* Stderr, while it goes to a file; no other thread of the process may write anything else there. */
struct capture {
    FILE *file;
    int saved;
};

static inline struct capture capture_begin(void)
{
    struct capture capture = {.file = tmpfile(), .saved = dup(STDERR_FILENO)};

    fflush(stderr);
    dup2(fileno(capture.file), STDERR_FILENO);
    return capture;
}

/* What has been written so far.  To be freed. */
static inline char *capture_text(const struct capture *capture)
{
    char *text = calloc(1, DUMP_TEXT_MAX);
    const ssize_t length = pread(fileno(capture->file), text, DUMP_TEXT_MAX - 1, 0);

    text[0 > length ? 0 : length] = '\0';
    return text;
}

/* Forget what has been written so far. */
static inline void capture_clear(const struct capture *capture)
{
    if (0 == ftruncate(fileno(capture->file), 0)) {
        (void) lseek(fileno(capture->file), 0, SEEK_SET);
    }
}

static inline void capture_end(struct capture *capture)
{
    fflush(stderr);
    dup2(capture->saved, STDERR_FILENO);
    close(capture->saved);
    fclose(capture->file);
}

/* What a dump writes.  To be freed. */
static inline char *dump(struct ept *t, MPI_Comm comm, enum what what)
{
    struct capture capture = capture_begin();
    union {
        void *pointer;
        void (*dump_all)(void);
        void (*dump_comm)(MPI_Comm comm, int verbose); /* calls mca_pml.pml_dump */
    } function;
    char *text;

    function.pointer = component_function(t, ALL == what ? "mca_pml_epml_dump_all"
                                                         : "mca_pml_epml_dump_comm");
    if (NULL == function.pointer) {
        /* said above */
    } else if (ALL == what) {
        function.dump_all();
    } else {
        function.dump_comm(comm, ENDPOINT == what);
    }
    text = capture_text(&capture);
    capture_end(&capture);
    return text;
}

/* How many lines of text contain all of format's expansion. */
static inline int lines_with(const char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline int lines_with(const char *text, const char *format, ...)
{
    char wanted[256];
    va_list arguments;
    int count = 0;

    va_start(arguments, format);
    vsnprintf(wanted, sizeof(wanted), format, arguments);
    va_end(arguments);
    while (NULL != (text = strstr(text, wanted))) {
        ++count;
        text += strcspn(text, "\n");
    }
    return count;
}

/* expected lines must be in the text. */
#define LINES(t, expected, text, ...)                                                          \
    EPT_CHECK((t), (expected) == lines_with((text), __VA_ARGS__), "%d lines, not %d, in:\n%s", \
              lines_with((text), __VA_ARGS__), (expected), (text))

#endif /* EP_TEST_DUMP_TEXT_H */
