/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI sessions one after another, each with endpoints, where a parameter file says which PMLs there
 * are.  It is the program's own, named before MPI is initialized:
 *
 *   --pml VALUE   of pml in it (default ^ucx: Open MPI 5.0.7 crashes where it opens ucx twice)
 *
 * With a value that leaves no PML over the job ends, and says what has been tried.  Without
 * endpoints nothing is to be seen.  In each session a file is written and read by a request.  It has
 * a main() of its own, because the harness has one MPI_Init for all.
 *
 * Guards: pml_epml_component.c, pml_epml_base.c, pml_epml_framework.c, pml_epml_configured.c, io.c,
 * register.c
 */

#include <mpi.h>
#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 3

enum { NAME_SIZE = 4096 };

static int fail(const char *what, int rc)
{
    fprintf(stderr, "# %s: error %d\n", what, rc);
    return 1;
}

#define TRY(call)                    \
    do {                             \
        int rc_ = (call);            \
        if (MPI_SUCCESS != rc_) {    \
            return fail(#call, rc_); \
        }                            \
    } while (0)

/* A file in the job's folder, which goes with the job: where no PML is left nobody removes it.
 * @return its descriptor, or -1 */
static int file_make(char name[NAME_SIZE], const char *what)
{
    const char *folder = getenv("TMPDIR");

    (void) snprintf(name, NAME_SIZE, "%s/%s.XXXXXX", NULL == folder ? "/tmp" : folder, what);
    return mkstemp(name);
}

/* In external32.  Open MPI's memory for conversions is gone behind the first session.
 * @return 0 if all went well */
static int one_view(MPI_File file, int is_first)
{
    const int value = 0x01020304;
    char converted[4] = "";
    int class;

    MPI_Error_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL),
                    &class);
    if (!is_first) {
        return MPI_ERR_UNSUPPORTED_DATAREP != class;
    }
    TRY(class);
    TRY(MPI_File_write_at_all(file, 1, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    TRY(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    TRY(MPI_File_read_at_all(file, 4, converted, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    return 0 != memcmp("\1\2\3\4", converted, 4);
}

/* Requests end, which libmpi's progress sees to.  @return 0 if all went well */
static int one_file(MPI_Comm comm, int is_first)
{
    char name[NAME_SIZE];
    unsigned char in[4] = {1, 2, 3, 4}, out[4] = {0};
    const int fd = file_make(name, "data");
    MPI_Request request;
    MPI_File file;

    if (0 > fd) {
        return fail(name, 0);
    }
    close(fd);
    TRY(MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    TRY(MPI_File_iwrite_at(file, 0, in, 4, MPI_BYTE, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY(MPI_File_iread_at(file, 0, out, 4, MPI_BYTE, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY(one_view(file, is_first));
    TRY(MPI_File_close(&file));
    return 0 != memcmp(in, out, 4);
}

/* @return 0 if all went well */
static int one_session(int is_first)
{
    MPI_Comm world, comm = MPI_COMM_NULL;
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    int one = 1, sum = 0, size = 0;

    TRY(MPI_Info_create(&info));
    TRY(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    TRY(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    TRY(MPI_Info_free(&info));
    TRY(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    TRY(MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_RETURN, &world));
    TRY(MPI_Group_free(&group));
#if defined(HAVE_EP)
    TRY(MPIX_Comm_create_endpoints(world, 1, MPI_INFO_NULL, &comm));
#else
    TRY(MPI_Comm_dup(world, &comm));
#endif
    TRY(MPI_Comm_size(comm, &size));
    TRY(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    if (0 != one_file(comm, is_first)) {
        return fail("a file", 0);
    }
    TRY(MPI_Comm_free(&comm));
    TRY(MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, world)); /* the base PML */
    TRY(MPI_Comm_free(&world));
    TRY(MPI_Session_finalize(&session));
    return size != sum || size != one;
}

int main(int argc, char **argv)
{
    char file[NAME_SIZE];
    const char *value = "^ucx";
    int failed = 0, written;
    FILE *out;

    for (int i = 1; i < argc - 1; ++i) {
        if (0 == strcmp(argv[i], "--pml")) {
            value = argv[i + 1];
        }
    }
    written = file_make(file, "parameters");
    out = 0 <= written ? fdopen(written, "w") : NULL;
    if (NULL == out) {
        return fail(file, 0);
    }
    fprintf(out,
            "btl_base_warn_component_unused = 0\nmtl = ^ofi\nbtl = ^uct,openib,ofi\npml = %s\n"
            "osc = ^ucx,pt2pt\n",
            value);
    fclose(out);
    setenv("OMPI_MCA_mca_base_param_files", file, 1);
    for (int round = 0; round < ROUNDS && !failed; ++round) {
        failed = one_session(0 == round);
    }
    unlink(file);
    printf("%sok 1 - %d sessions one after another\n1..1\n", failed ? "not " : "", ROUNDS);
    return failed;
}
