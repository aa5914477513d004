/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * epinfo: what is chosen for endpoints in a job like this one, and why.
 *
 * Started as any program: epmpirun -n 4 epinfo.  Each process creates endpoints, which meet in a
 * barrier, so that all ways between them are in use; then process 0 prints what it has chosen, and
 * for those that have chosen anything else, together where it is the same, the lines that differ.  docs/variables.md.
 *
 * Tests: epinfo, install/epinfo, install/ranks
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "ompi/mca/common/ep/common_ep_link.h"

/** What a line is about takes its first ABOUT_BYTES. */
enum { TEXT_BYTES = 8192, ENDPOINTS_MOST = 1024, ABOUT_BYTES = 18 };

/** Seconds after which a job that has printed nothing is taken for one that hangs. */
enum { PATIENCE = 20 };

/** What a process has to say. */
typedef struct answer_t {
    char host[MPI_MAX_PROCESSOR_NAME];
    char text[TEXT_BYTES];
} answer_t;

static const char usage[]
    = "usage: epmpirun [options of mpirun] epinfo [--ep N]\n"
      "\n"
      "Prints what is chosen for MPI endpoints in a job that is started like this, and why.\n"
      "  --ep N   endpoints of each process (1 to 1024; default: what epmpirun --endpoints says, or 1)\n";

/** Where ranks are threads (epmpirun -ranks), what libmpix_ranks says of them; else NULL. */
static void (*describe_ranks)(char *text, size_t size);

/** Open MPI's own messages may not get through, as where all nodes have the same docker0. */
static void say_hangs(int signal)
{
    static const char text[]
        = "epinfo: still waiting for other processes.  Does Open MPI itself get through: mpirun --mca "
          "pml ob1?  If not, keep it from networks that only look the same on all nodes: --mca "
          "btl_tcp_if_exclude lo,docker0,virbr0\n";

    (void) signal;
    (void) !write(STDERR_FILENO, text, sizeof(text) - 1);
}

/** In one process of the job, or one rank.  @return whether it is this one */
static bool epinfo_watch(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *seconds = getenv("EPINFO_PATIENCE");

    if (NULL == rank || 0 != strcmp(rank, "0")) {
        return false;
    }
    (void) signal(SIGALRM, say_hangs);
    (void) alarm(NULL != seconds ? (unsigned int) atoi(seconds) : PATIENCE);
    return true;
}

/** @return the number of endpoints; 0: the usage is to be shown; -1: it is wrong */
static int read_arguments(int argc, char **argv)
{
    char *end = NULL;
    long count;

    if (1 == argc) {
        int told = 0, level;

        (void) MPIX_Query_endpoints_told(&told, &level);
        return 1 > told ? 1 : ENDPOINTS_MOST < told ? ENDPOINTS_MOST : told;
    }
    if (2 == argc && (0 == strcmp(argv[1], "--help") || 0 == strcmp(argv[1], "-h"))) {
        return 0;
    }
    if (3 != argc || 0 != strcmp(argv[1], "--ep")) {
        return -1;
    }
    count = strtol(argv[2], &end, 10);
    return '\0' == *argv[2] || '\0' != *end || 1 > count || ENDPOINTS_MOST < count ? -1
                                                                                   : (int) count;
}

/** Create endpoints, and let all meet.  One thread serves them all, so nothing blocks on one. */
static int epinfo_barrier(int count, MPI_Comm *comms, MPI_Request *requests)
{
    int rc = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, count, MPI_INFO_NULL, comms);

    for (int i = 0; MPI_SUCCESS == rc && i < count; ++i) {
        rc = MPI_Ibarrier(comms[i], &requests[i]);
    }
    return MPI_SUCCESS == rc ? MPI_Waitall(count, requests, MPI_STATUSES_IGNORE) : rc;
}

/** Did rank say the same as first, and nobody between them from the same host? */
static bool is_first_of_host(const answer_t *answers, int first, int rank)
{
    for (int before = first; before < rank; ++before) {
        if (0 == strcmp(answers[first].text, answers[before].text)
            && 0 == strcmp(answers[rank].host, answers[before].host)) {
            return false;
        }
    }
    return 0 == strcmp(answers[first].text, answers[rank].text);
}

/** The ranks that said the same as this one: "0-3, 6", and their hosts. */
static void print_heading(const answer_t *answers, int size, int first)
{
    int from = first;

    printf("%s %d", NULL != describe_ranks ? "rank" : "process", first);
    for (int rank = first + 1; rank <= size; ++rank) {
        const bool same = rank < size && 0 == strcmp(answers[first].text, answers[rank].text);

        if (!same && 0 <= from) {
            if (from < rank - 1) {
                printf("-%d", rank - 1);
            }
            from = -1;
        } else if (same && 0 > from) {
            printf(", %d", rank);
            from = rank;
        }
    }
    for (int rank = first; rank < size; ++rank) {
        if (is_first_of_host(answers, first, rank)) {
            printf("%s%s", first == rank ? " on " : ", ", answers[rank].host);
        }
    }
}

/** The first bytes of a line are those of one of text's: all of it, or what it is about. */
static bool has_line(const char *text, const char *line, size_t length)
{
    for (; NULL != text && '\0' != *text; text = strchr(text, '\n'), text += NULL != text) {
        if (0 == strncmp(text, line, length)) {
            return true;
        }
    }
    return false;
}

/** Lines of text that are not among those of all; of those that it has nothing about, that. */
static void print_differences(const char *all, const char *text)
{
    for (const char *line = text; '\0' != *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n") + 1;

        if (!has_line(all, line, length)) {
            printf("%.*s", (int) length, line);
        }
    }
    for (const char *line = all; '\0' != *line; line += strcspn(line, "\n") + 1) {
        if (!has_line(text, line, ABOUT_BYTES)) {
            printf("%.*s -\n", ABOUT_BYTES - 1, line);
        }
    }
}

/** What process 0 has chosen, and what others have otherwise. */
static void print_all(answer_t *answers, int size, int count)
{
    char all[TEXT_BYTES];

    printf("Open MPI Endpoints %d.%d.%d, Open MPI %d.%d.%d, %d %s with %d endpoint%s each\n",
           MPIX_ENDPOINTS_MAJOR_VERSION, MPIX_ENDPOINTS_MINOR_VERSION,
           MPIX_ENDPOINTS_RELEASE_VERSION, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
           OMPI_RELEASE_VERSION, size,
           NULL != describe_ranks ? "ranks as threads"
           : 1 == size            ? "process"
                                  : "processes",
           count, 1 == count ? "" : "s");
    memcpy(all, answers[0].text, sizeof(all));
    for (int first = 0; first < size; ++first) {
        if ('\0' == answers[first].text[0]) {
            continue; /* said what an earlier one has said */
        }
        print_heading(answers, size, first);
        if (0 == first) {
            printf("\n%s", all);
        } else {
            printf(", otherwise than %s 0\n", NULL != describe_ranks ? "rank" : "process");
            print_differences(all, answers[first].text);
        }
        for (int rank = size - 1; rank >= first; --rank) {
            if (0 == strcmp(answers[first].text, answers[rank].text)) {
                answers[rank].text[0] = '\0';
            }
        }
    }
}

/** Gather what all have to say, and print it.  @return an MPI error */
static int epinfo_report(int count)
{
    answer_t own, *answers = NULL;
    int rank, size, length, rc;

    memset(&own, 0, sizeof(own));
    (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void) MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void) MPI_Get_processor_name(own.host, &length);
    if (OMPI_SUCCESS != mpix_endpoints_report(own.text, sizeof(own.text))) {
        return MPI_ERR_INTERN;
    }
    if (NULL != describe_ranks) {
        const size_t used = strlen(own.text);

        describe_ranks(own.text + used, sizeof(own.text) - used);
    }
    if (0 == rank) {
        answers = calloc((size_t) size, sizeof(*answers));
        if (NULL == answers) {
            return MPI_ERR_NO_MEM;
        }
    }
    rc = MPI_Gather(&own, sizeof(own), MPI_BYTE, answers, sizeof(own), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (MPI_SUCCESS == rc && 0 == rank) {
        print_all(answers, size, count);
    }
    free(answers);
    return rc;
}

/** @return the exit status */
static int epinfo_fail(const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int rank, length;

    (void) MPI_Error_string(rc, text, &length);
    (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "epinfo: process %d: %s: %s\n", rank, what, text);
    return 1;
}

static int epinfo_run(int count)
{
    MPI_Comm comms[ENDPOINTS_MOST];
    MPI_Request requests[ENDPOINTS_MOST];
    char some[16];
    int rank, rc;

    (void) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (OMPI_SUCCESS != mpix_endpoints_report(some, sizeof(some))) {
        if (0 == rank) {
            fprintf(stderr, "epinfo: this job has no endpoints, because pml/epml was not selected: "
                            "start it with epmpirun, or mpirun --mca pml epml\n");
        }
        return 1;
    }
    rc = epinfo_barrier(count, comms, requests);
    if (MPI_SUCCESS != rc) {
        return epinfo_fail("endpoints cannot be created", rc);
    }
    rc = epinfo_report(count);
    for (int i = 0; i < count; ++i) {
        (void) MPI_Comm_free(&comms[i]);
    }
    return MPI_SUCCESS == rc ? 0 : epinfo_fail("the answers could not be gathered", rc);
}

int main(int argc, char **argv)
{
    const int count = read_arguments(argc, argv);
    bool is_watching;
    int level, status;

    if (0 >= count) {
        fputs(usage, 0 == count ? stdout : stderr);
        return 0 == count ? 0 : 2;
    }
    is_watching = epinfo_watch();
    describe_ranks = (void (*)(char *, size_t)) dlsym(RTLD_DEFAULT, "mpix_ranks_describe");
    if (MPI_SUCCESS != MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level)) {
        return 1;
    }
    status = epinfo_run(count);
    if (is_watching) {
        (void) alarm(0); /* where ranks are threads they share it */
    }
    (void) MPI_Finalize();
    return status;
}
