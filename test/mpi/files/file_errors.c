/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * Files, used wrongly: each member gets the error, of the standard's class, nobody hangs, and
 * nothing is removed, though only one member is wrong.  The communicator, and a file that is open,
 * work on.
 *
 * Guards: collective_open.c, blocking.c, fcoll_module.c, missed.c, collective_calls.c,
 * posix_request.c, io_error.c, reduce.c, hook_file.c, split.c, split_request.c, stage.c
 */

#include "file_tools.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int try_open(MPI_Comm comm, const char *name, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    const int rc = MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file);

    if (MPI_SUCCESS == rc) {
        MPI_File_close(&file);
    }
    return rc;
}

static void case_modes(MPI_Comm comm, struct ept *t)
{
    const bool wrong = t->rank == t->size - 1;
    char name[FILE_NAME_MAX], inside[FILE_NAME_MAX + 10];
    MPI_File file;

    file_name(comm, t, "modes", name);
    EPT_CLASS(t, MPI_ERR_AMODE, try_open(comm, name, MPI_MODE_RDONLY | MPI_MODE_CREATE));
    EPT_CLASS(t, MPI_ERR_AMODE, try_open(comm, name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL));
    EPT_CLASS(t, MPI_ERR_AMODE, try_open(comm, name, MPI_MODE_RDWR | MPI_MODE_RDONLY));
    EPT_CLASS(t, MPI_ERR_AMODE, try_open(comm, name, MPI_MODE_CREATE));
    EPT_CLASS(t, MPI_ERR_NO_SUCH_FILE, try_open(comm, name, MPI_MODE_RDWR));
    if (1 < t->size) {
        EPT_CLASS(t, MPI_ERR_NOT_SAME,
                  try_open(comm, name,
                           MPI_MODE_CREATE | (wrong ? MPI_MODE_RDWR : MPI_MODE_WRONLY)));
    }
    EPT_EQ(t, -1, file_size(name));
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_close(&file));
    EPT_CLASS(t, MPI_ERR_FILE_EXISTS,
              try_open(comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL));
    EPT_EQ(t, 0, file_size(name));
    snprintf(inside, sizeof(inside), "%s/inside", name);
    EPT_CHECK(t, MPI_SUCCESS != try_open(comm, inside, MPI_MODE_RDWR | MPI_MODE_CREATE),
              "a file in a file");
    file_remove(comm, name);
}

/* One member means another file: one that is not there, and one that is. */
static void case_names(MPI_Comm comm, struct ept *t)
{
    const bool wrong = t->rank == t->size - 1;
    char name[FILE_NAME_MAX], other[FILE_NAME_MAX];
    FILE *stream;

    if (1 == t->size) {
        return;
    }
    file_name(comm, t, "name", name);
    file_name(comm, t, "other", other);
    EPT_CLASS(t, MPI_ERR_NO_SUCH_FILE,
              try_open(comm, wrong ? other : name, MPI_MODE_RDWR | MPI_MODE_CREATE));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, 0, file_size(name)); /* another job may have it open */
    EPT_EQ(t, -1, file_size(other));
    EPT_OK(t, MPI_Barrier(comm));
    if (wrong && NULL != (stream = fopen(other, "w"))) {
        fclose(stream);
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_CLASS(t, MPI_ERR_NOT_SAME,
              try_open(comm, wrong ? other : name,
                       MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, 0, file_size(name));
    EPT_EQ(t, 0, file_size(other));
    file_remove(comm, name);
    file_remove(comm, other);
}

/* A link to what is not there is the user's, whatever becomes of the opening. */
static void case_link(MPI_Comm comm, struct ept *t)
{
    const bool wrong = t->rank == t->size - 1;
    char name[FILE_NAME_MAX], missing[FILE_NAME_MAX], target[FILE_NAME_MAX];
    struct stat link;

    if (1 == t->size) {
        return;
    }
    file_name(comm, t, "link", name);
    file_name(comm, t, "target", target);
    file_name(comm, t, "missing", missing);
    if (0 == t->rank) {
        EPT_EQ(t, 0, symlink(target, name));
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_CLASS(t, MPI_ERR_NO_SUCH_FILE,
              try_open(comm, wrong ? missing : name, MPI_MODE_RDWR | MPI_MODE_CREATE));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, 0, lstat(name, &link));
    EPT_CHECK(t, S_ISLNK(link.st_mode), "it is no link any more");
    EPT_EQ(t, 0, file_size(target));
    file_remove(comm, name);
    file_remove(comm, target);
}

/* The last process is in a folder that is gone, so it knows no whole name; the others do. */
static void case_folder(MPI_Comm comm, struct ept *t)
{
    const bool lost = t->proc == t->nprocs - 1;
    char before[PATH_MAX], folder[FILE_NAME_MAX], relative[FILE_NAME_MAX];
    const char *name;

    file_name(comm, t, "folder", folder);
    name = strrchr(folder, '/');
    snprintf(relative, sizeof(relative), "%s", NULL == name ? folder : name + 1);
    EPT_CHECK(t, NULL != getcwd(before, sizeof(before)), "where are we?");
    ept_local_barrier(t);
    if (lost && 0 == t->local) {
        EPT_EQ(t, 0, mkdir(folder, 0700));
        EPT_EQ(t, 0, chdir(folder));
        EPT_EQ(t, 0, rmdir(folder));
    }
    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < 3; ++i) {
        EPT_CHECK(t, MPI_SUCCESS != try_open(comm, relative, MPI_MODE_RDWR | MPI_MODE_CREATE),
                  "opened by a member that is nowhere");
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_CHECK(t, 0 <= fcntl(0, F_GETFD), "the program's own file has been closed");
    if (lost && 0 == t->local) {
        EPT_EQ(t, 0, chdir(before));
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, -1, file_size(relative));
    EPT_OK(t, MPI_Barrier(comm));
}

/* Members without permission: all, or one of them alone.  Files are opened for the user of the
 * thread. */
static void case_access(MPI_Comm comm, struct ept *t)
{
    enum { NOBODY = 65534 };
    const bool is_root = 0 == geteuid(), makes = 0 == t->rank;
    char folder[FILE_NAME_MAX], name[FILE_NAME_MAX], inside[FILE_NAME_MAX + 10];
    MPI_File file;

    file_name(comm, t, "access", name);
    file_name(comm, t, "folder", folder);
    snprintf(inside, sizeof(inside), "%s/inside", folder);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, 0,
           makes ? chmod(name, is_root ? 0600 : 0) + mkdir(folder, is_root ? 0700 : 0500) : 0);
    EPT_OK(t, MPI_Barrier(comm));
    for (int one = 0; one <= (is_root && 1 < t->size); ++one) {
        const bool may = is_root && one && t->rank != t->size - 1;

        if (!may && is_root) {
            setfsuid(NOBODY);
        }
        EPT_CLASS(t, MPI_ERR_ACCESS,
                  try_open(comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
        EPT_CLASS(t, MPI_ERR_ACCESS, try_open(comm, inside, MPI_MODE_RDWR | MPI_MODE_CREATE));
        if (is_root) {
            setfsuid(0);
        }
        EPT_OK(t, MPI_Barrier(comm));
        EPT_EQ(t, 0, file_size(name));
        EPT_EQ(t, one ? 0 : -1, file_size(inside)); /* the first member may create it */
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_EQ(t, 0, makes ? (unlink(inside), rmdir(folder)) : 0);
    file_remove(comm, name);
}

static void case_sizes(MPI_Comm comm, struct ept *t)
{
    const bool wrong = t->rank == t->size - 1;
    char name[FILE_NAME_MAX];
    MPI_Offset size;
    MPI_File file;
    int flag;

    file_name(comm, t, "sizes", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_set_size(file, 1000));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_File_set_size(file, wrong ? -1 : 100));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_File_preallocate(file, wrong ? -1 : 5000));
    if (1 < t->size) {
        EPT_CLASS(t, MPI_ERR_NOT_SAME, MPI_File_set_size(file, wrong ? 200 : 100));
        EPT_CLASS(t, MPI_ERR_NOT_SAME, MPI_File_preallocate(file, wrong ? 5000 : 6000));
        EPT_CLASS(t, MPI_ERR_NOT_SAME, MPI_File_set_atomicity(file, wrong));
    }
    EPT_OK(t, MPI_File_get_atomicity(file, &flag));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_File_get_size(file, &size));
    EPT_EQ(t, 1000, size);
    EPT_OK(t, MPI_File_set_atomicity(file, wrong ? 7 : 1)); /* both are true */
    EPT_OK(t, MPI_File_close(&file));

    EPT_OK(t, MPI_File_open(comm, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    EPT_CLASS(t, MPI_ERR_READ_ONLY, MPI_File_set_size(file, 10));
    EPT_CLASS(t, MPI_ERR_READ_ONLY, MPI_File_preallocate(file, 2000));
    EPT_CLASS(t, MPI_ERR_READ_ONLY,
              MPI_File_write_at(file, 0, &flag, 1, MPI_INT, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_READ_ONLY,
              MPI_File_write_at_all(file, 0, &flag, 1, MPI_INT, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, 1000, file_size(name));
    file_remove(comm, name);
}

static void case_views(MPI_Comm comm, struct ept *t)
{
    const bool wrong = t->rank == t->size - 1;
    char name[FILE_NAME_MAX];
    MPI_Datatype three;
    MPI_File file;
    int value = 1;

    EPT_OK(t, MPI_Type_contiguous(3, MPI_BYTE, &three));
    EPT_OK(t, MPI_Type_commit(&three));
    file_name(comm, t, "views", name);
    file = file_create(comm, t, name, 0);
    EPT_CLASS(t, MPI_ERR_UNSUPPORTED_DATAREP,
              MPI_File_set_view(file, 0, MPI_INT, MPI_INT, wrong ? "none such" : "native",
                                MPI_INFO_NULL));
    EPT_CLASS(t, MPI_ERR_UNSUPPORTED_DATAREP,
              MPI_File_set_view(file, 0, MPI_INT, MPI_INT, wrong ? "Native" : "native",
                                MPI_INFO_NULL));
    EPT_CLASS(t, MPI_ERR_DISP,
              MPI_File_set_view(file, wrong ? -5 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    EPT_CLASS(t, MPI_ERR_DISP,
              MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                                MPI_INFO_NULL));
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_File_set_view(file, 0, MPI_INT, wrong ? three : MPI_INT, "native",
                                MPI_INFO_NULL));
    if (1 < t->size) {
        EPT_CLASS(t, MPI_ERR_NOT_SAME,
                  MPI_File_set_view(file, 0, wrong ? MPI_DOUBLE : MPI_INT, MPI_DOUBLE, "native",
                                    MPI_INFO_NULL));
        EPT_CLASS(t, MPI_ERR_NOT_SAME,
                  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, wrong ? "external32" : "native",
                                    MPI_INFO_NULL));
    }
    EPT_OK(t, MPI_File_write_at_all(file, t->rank * (int) sizeof(int), &value, 1, MPI_INT,
                                    MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, (long long) (t->size * sizeof(int)), file_size(name));
    EPT_OK(t, MPI_Type_free(&three));
    file_remove(comm, name);
}

/* Nothing fits there: what one rank has written for others they hear of. */
static void case_full(MPI_Comm comm, struct ept *t)
{
    enum { BYTES = 100000 };
    char *data = calloc(1, BYTES);
    MPI_Request request;
    MPI_File file;

    if (0 != access("/dev/full", W_OK)) {
        free(data);
        return;
    }
    EPT_OK(t, MPI_File_open(comm, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    EPT_CLASS(t, MPI_ERR_NO_SPACE,
              MPI_File_write_at_all(file, (MPI_Offset) t->rank * BYTES, data, BYTES, MPI_BYTE,
                                    MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_NO_SPACE,
              MPI_File_write_at_all_begin(file, (MPI_Offset) t->rank * BYTES, data, BYTES,
                                          MPI_BYTE));
    /* One alone has something for a disk that is full; there is nothing to be ended. */
    EPT_CLASS(t, MPI_ERR_NO_SPACE,
              MPI_File_write_all_begin(file, data, t->rank == t->size - 1 ? BYTES : 0, MPI_BYTE));
    EPT_CLASS(t, MPI_ERR_NO_SPACE, MPI_File_write_ordered_begin(file, data, BYTES, MPI_BYTE));
    for (int round = 0; round < 2; ++round) {
        EPT_CLASS(t, MPI_ERR_NO_SPACE,
                  MPI_File_write_at(file, (MPI_Offset) t->rank * BYTES, data, BYTES, MPI_BYTE,
                                    MPI_STATUS_IGNORE));
        EPT_CLASS(t, MPI_ERR_NO_SPACE,
                  MPI_File_write(file, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        EPT_CLASS(t, MPI_ERR_NO_SPACE,
                  MPI_File_write_shared(file, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, &request));
        EPT_CLASS(t, MPI_ERR_NO_SPACE, MPI_Wait(&request, MPI_STATUS_IGNORE));
        /* And all again with locks, which those that have failed must not keep. */
        EPT_OK(t, MPI_File_set_atomicity(file, 1));
    }
    EPT_OK(t, MPI_File_close(&file));
    free(data);
}

/* A file may not grow beyond a limit of the process: what fits in part is no success, though its
 * pieces come from several places in memory, of which ompio counts what was written. */
static void case_limit(MPI_Comm comm, struct ept *t)
{
    enum { LIMIT = 1 << 20, BYTES = 100 };
    const MPI_Offset before = LIMIT - BYTES / 2;
    struct rlimit limit, smaller;
    char name[FILE_NAME_MAX], data[3 * BYTES] = {0};
    MPI_Datatype pieces;
    MPI_Request request;
    MPI_File file;

    EPT_OK(t, MPI_Type_vector(2, BYTES / 2, BYTES, MPI_BYTE, &pieces));
    EPT_OK(t, MPI_Type_commit(&pieces));
    file_name(comm, t, "limit", name);
    file = file_create(comm, t, name, 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    EPT_OK(t, MPI_Barrier(comm));
    smaller = limit;
    smaller.rlim_cur = LIMIT;
    setrlimit(RLIMIT_FSIZE, &smaller);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_write_at(file, before - BYTES, data, 1, pieces, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_IO,
              MPI_File_write_at(file, before - 7, data, 1, pieces, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_IO, MPI_File_write_at(file, before, data, 1, pieces, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_iwrite_at(file, before - 7, data, 1, pieces, &request));
    EPT_CLASS(t, MPI_ERR_IO, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Barrier(comm));
    setrlimit(RLIMIT_FSIZE, &limit);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_write_at(file, before, data, 1, pieces, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&pieces));
    EPT_EQ(t, LIMIT + BYTES / 2, file_size(name));
    file_remove(comm, name);
}

/* The first piece of a read cannot be stored; when that is said nobody is at the others any
 * more. */
static void case_piece(MPI_Comm comm, struct ept *t)
{
    enum { PAGE = 65536, PIECE = 1 << 20, COUNT = 17, STRIDE = PIECE + PAGE };
    char *data = mmap(NULL, (size_t) COUNT * STRIDE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile char *last = &data[COUNT * STRIDE - PAGE - 1]; /* byte of the last piece */
    char name[FILE_NAME_MAX];
    MPI_Datatype pieces;
    MPI_Request request;
    MPI_File file;

    EPT_OK(t, MPI_Type_vector(COUNT, PIECE, STRIDE, MPI_BYTE, &pieces));
    EPT_OK(t, MPI_Type_commit(&pieces));
    file_name(comm, t, "piece", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_set_size(file, (MPI_Offset) COUNT * PIECE));
    for (int round = 0; round < 2; ++round) {
        memset(data, 1, (size_t) COUNT * STRIDE);
        mprotect(data, PAGE, PROT_NONE);
        EPT_OK(t, MPI_File_iread_at(file, 0, data, 1, pieces, &request));
        EPT_CLASS(t, MPI_ERR_IO, MPI_Wait(&request, MPI_STATUS_IGNORE));
        *last = 2;
        usleep(100000);
        EPT_EQ(t, 2, *last);
        mprotect(data, PAGE, PROT_READ | PROT_WRITE);
        EPT_OK(t, MPI_File_set_atomicity(file, 1));
    }
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&pieces));
    munmap(data, (size_t) COUNT * STRIDE);
    file_remove(comm, name);
}

static _Thread_local int called;

static void handler(MPI_File *file, int *error, ...)
{
    (void) file;
    (void) error;
    ++called;
}

/* Every other rank has a handler of its own; the others', and that of no file, return. */
static void case_handlers(MPI_Comm comm, struct ept *t)
{
    const bool own = 0 == t->rank % 2;
    MPI_Errhandler made, got;
    char name[FILE_NAME_MAX];
    MPI_File file;

    file_name(comm, t, "handlers", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_create_errhandler(handler, &made));
    if (own) {
        EPT_OK(t, MPI_File_set_errhandler(file, made));
    }
    EPT_OK(t, MPI_File_get_errhandler(file, &got));
    EPT_EQ(t, true, (own ? made : MPI_ERRORS_RETURN) == got);
    MPI_Errhandler_free(&got);
    called = 0;
    EPT_CHECK(t, MPI_SUCCESS != MPI_File_set_size(file, -1), "a size of -1");
    EPT_EQ(t, own, called);
    EPT_OK(t, MPI_File_call_errhandler(file, MPI_ERR_IO));
    EPT_EQ(t, 2 * own, called);
    EPT_OK(t, MPI_Errhandler_free(&made));
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (!t->endpoints) {
        ept_skip(t, "all", "Open MPI hangs where members differ");
        return 0;
    }
    EPT_CASE(t, case_modes);
    EPT_CASE(t, case_names);
    EPT_CASE(t, case_link);
    EPT_CASE(t, case_folder);
    EPT_CASE(t, case_access);
    EPT_CASE(t, case_sizes);
    EPT_CASE(t, case_views);
    EPT_CASE(t, case_full);
    EPT_CASE(t, case_limit);
    EPT_CASE(t, case_piece);
    EPT_CASE(t, case_handlers);
    return 0;
}
