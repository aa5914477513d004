/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * One member has no memory for what it needs to open a file, or to read or write collectively: each
 * allocation of the library's in turn fails once (test/lib/fail_alloc.c), at the first and at the
 * last rank (with --ompio 1 a certain one of ompio's).  A call succeeds at all or fails at all,
 * nobody hangs, and no file of the program's is closed; what has been read is right, and the next
 * call as well.
 *
 * EPT-LIBS: -ldl
 *
 * Guards: collective_open.c, module_copy.c, local_group.c, two_phase.c, fcoll_module.c, handle.c,
 * missed.c, collective_calls.c, ompio_module.c, reduce.c, stage.c, shuffle.c
 */

#define _GNU_SOURCE

#include "file_tools.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST = 100, BLOCK = 1000, BLOCKS = 300, BYTES = BLOCK * BLOCKS };

static void (*fail_alloc)(long n);
static int (*fail_alloc_done)(void);
static void (*fail_alloc_of)(const char *name);
static void (*fail_alloc_sized)(size_t size);
static const char *library; /**< whose allocations fail; NULL: not found */

/** The library that has ompio's functions: libmpi, or libopen_mpi from Open MPI 6 on.  NULL: not
 * found */
static const char *ompio_library(void)
{
    void *function = dlsym(RTLD_DEFAULT, "mca_common_ompio_file_open");
    Dl_info info;

    return NULL != function && 0 != dladdr(function, &info) ? info.dli_fname : NULL;
}

void test_process_begin(void)
{
    *(void **) &fail_alloc = dlsym(RTLD_DEFAULT, "ept_fail_alloc");
    *(void **) &fail_alloc_done = dlsym(RTLD_DEFAULT, "ept_fail_alloc_done");
    *(void **) &fail_alloc_of = dlsym(RTLD_DEFAULT, "ept_fail_alloc_of");
    *(void **) &fail_alloc_sized = dlsym(RTLD_DEFAULT, "ept_fail_alloc_sized");
    library = ept_option_long("ompio", 0) ? ompio_library() : "libmpix_endpoints";
    if (NULL != fail_alloc_of) {
        fail_alloc_of(library);
    }
}

/** Have all failed, or none?  @return whether none has */
static bool none_failed(MPI_Comm comm, struct ept *t, int rc, const char *what, int n)
{
    int says[2] = {MPI_SUCCESS != rc, MPI_SUCCESS == rc}, all[2];

    MPI_Allreduce(says, all, 2, MPI_INT, MPI_SUM, comm);
    EPT_CHECK(t, 0 == all[0] || 0 == all[1], "%s: allocation %d: fails at %d of %d", what, n,
              all[0], t->size);
    return 0 == all[0];
}

/** A call of all, in which an allocation of one fails. @return rc */
#define SHORT_OF_MEMORY(victim, n, call, rc, done) \
    do {                                           \
        if (victim) {                              \
            fail_alloc(n);                         \
        }                                          \
        rc = call;                                 \
        done = victim ? fail_alloc_done() : 0;     \
        if (victim) {                              \
            fail_alloc(0);                         \
        }                                          \
    } while (0)

static void set_view(struct ept *t, MPI_File file)
{
    MPI_Datatype block, mine;

    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint) t->size * BLOCK, &mine);
    MPI_Type_commit(&mine);
    EPT_OK(t, MPI_File_set_view(file, (MPI_Offset) t->rank * BLOCK, MPI_BYTE, mine, "native",
                                MPI_INFO_NULL));
    MPI_Type_free(&mine);
    MPI_Type_free(&block);
}

/** @return whether an allocation has failed, at anybody */
static int anybody(MPI_Comm comm, int done)
{
    MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_MAX, comm);
    return done;
}

/* With MPI_MODE_DELETE_ON_CLOSE the file was there before: it goes if it has been open, and not
 * else. */
static void opens(MPI_Comm comm, struct ept *t, int victim, int amode)
{
    const bool deletes = 0 != (amode & MPI_MODE_DELETE_ON_CLOSE);
    char name[FILE_NAME_MAX];
    int done = 1;

    file_name(comm, t, "nomem", name);
    for (int n = 1; n < MOST && done; ++n) {
        MPI_File file = MPI_FILE_NULL;
        bool opened;
        int rc;

        if (deletes && 0 == t->rank) {
            (void) close(open(name, O_CREAT | O_RDWR, 0600));
        }
        MPI_Barrier(comm);
        SHORT_OF_MEMORY(t->rank == victim, n,
                        MPI_File_open(comm, name, MPI_MODE_RDWR | amode, MPI_INFO_NULL, &file), rc,
                        done);
        opened = none_failed(comm, t, rc, "open", n);
        if (opened) {
            EPT_OK(t, MPI_File_close(&file));
        }
        MPI_Barrier(comm);
        EPT_CHECK(t, !deletes || opened == (0 != access(name, F_OK)),
                  "allocation %d: the file is %s", n, opened ? "there" : "gone");
        MPI_Barrier(comm);
        EPT_CHECK(t, 0 <= fcntl(0, F_GETFD), "the program's own file has been closed");
        done = anybody(comm, done);
    }
    EPT_EQ(t, 0, done);
    file_remove(comm, name);
}

static void moves(MPI_Comm comm, struct ept *t, int victim)
{
    unsigned char *data = malloc(BYTES);
    MPI_File file;
    char name[FILE_NAME_MAX];
    int done = 1;

    file_name(comm, t, "nomem", name);
    file = file_create(comm, t, name, 0);
    set_view(t, file);
    for (int n = 1; n < MOST && done; ++n) {
        int rc, again;

        ept_fill(data, 0, BYTES, (uint64_t) (n * 100 + t->rank));
        SHORT_OF_MEMORY(t->rank == victim, n,
                        MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE),
                        rc, done);
        if (!none_failed(comm, t, rc, "write", n)) {
            EPT_OK(t, MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        memset(data, 0, BYTES);
        SHORT_OF_MEMORY(t->rank == victim, n,
                        MPI_File_read_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), rc,
                        again);
        if (!none_failed(comm, t, rc, "read", n)) {
            EPT_OK(t, MPI_File_read_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        EPT_FILL(t, data, BYTES, (uint64_t) (n * 100 + t->rank));
        done = anybody(comm, done || again);
    }
    EPT_EQ(t, 0, done);
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    free(data);
}

/* What ompio puts ranks together in, by their number: an element of it has 24 bytes.  (Other
 * numbers of members make it as long as other things that libmpi does not look whether it has
 * got.) */
static void case_groups(MPI_Comm comm, struct ept *t)
{
    const bool victim = t->rank == t->size - 1;
    char name[FILE_NAME_MAX];
    unsigned char sent[8], got[8];
    MPI_File file = MPI_FILE_NULL;
    int rc, done;

    file_name(comm, t, "groups", name);
    fail_alloc_sized((size_t) t->size * 24);
    for (int round = 0; round < 2; ++round) {
        SHORT_OF_MEMORY(victim, 1,
                        MPI_File_open(comm, name,
                                      MPI_MODE_RDWR | MPI_MODE_CREATE
                                          | (round ? MPI_MODE_APPEND : 0),
                                      MPI_INFO_NULL, &file),
                        rc, done);
        EPT_EQ(t, true, none_failed(comm, t, rc, "open", 1) == !anybody(comm, done));
        EPT_EQ(t, 1, anybody(comm, done));
    }
    file = file_create(comm, t, name, 0);
    SHORT_OF_MEMORY(victim, 1,
                    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), rc,
                    done);
    EPT_EQ(t, 1, anybody(comm, done));
    EPT_EQ(t, false, none_failed(comm, t, rc, "view", 1));
    fail_alloc_sized(0);
    ept_fill(sent, 0, sizeof(sent), (uint64_t) t->rank);
    EPT_OK(t, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    EPT_OK(t, MPI_File_write_at_all(file, t->rank * 8, sent, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_read_at_all(file, t->rank * 8, got, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_FILL(t, got, sizeof(got), (uint64_t) t->rank);
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

static void case_first(MPI_Comm comm, struct ept *t)
{
    opens(comm, t, 0, MPI_MODE_CREATE);
    opens(comm, t, 0, MPI_MODE_DELETE_ON_CLOSE);
    moves(comm, t, 0);
}

static void case_last(MPI_Comm comm, struct ept *t)
{
    opens(comm, t, t->size - 1, MPI_MODE_CREATE);
    opens(comm, t, t->size - 1, MPI_MODE_DELETE_ON_CLOSE);
    moves(comm, t, t->size - 1);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CHECK(t, NULL != fail_alloc, "fail_alloc is not there");
    EPT_CHECK(t, NULL != library, "no library has ompio's functions");
    if (NULL == fail_alloc || NULL == library) {
        return 0;
    }
    if (ept_option_long("ompio", 0)) {
        EPT_CASE(t, case_groups);
    } else {
        EPT_CASE(t, case_first);
        EPT_CASE(t, case_last);
    }
    return 0;
}
