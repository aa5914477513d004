/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * epbench: options.  The program only measures and writes one line per point (epbench_run.c);
 * bench/run-bench starts it the different ways and compares.
 */

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epbench.h"
#include "epbench_ring.h"

/** Bytes that a window may hold before it shrinks: more would measure the memory, not MPI. */
#define WINDOW_BYTES ((size_t) 16 << 20)

#define WINDOW_DEFAULT 64
#define WINDOW_LEAST 4

static const char usage_text[]
    = "usage: epbench --way WAY --points MEASURE:SIZE[:WINDOW],... [options]\n"
      "  --way WAY         %s\n"
      "  --pairs N         pairs of workers (1)\n"
      "  --points LIST     lat rate birate bw bibw halo barrier allreduce bcast reduce allgather\n"
      "                    alltoall rsblock rscatter gather scatter scan, ibarrier iallreduce\n"
      "                    pbarrier pallreduce, dup split create free posted unexpected,\n"
      "                    make heap resident, peerheap peerresident, job,\n"
      "                    mwrite mread mwriteall mreadall (in the folder $EPBENCH_TMPFS),\n"
      "                    dwrite dread dwriteall dreadall ($EPBENCH_DISK),\n"
      "                    wput wget wacc wfop wcas wlockshared wlockexcl wlockall wfence\n"
      "                    wpscw wfopboth, watomicboth wcopyto wcopyfrom (windows),\n"
      "                    each with a size in bytes (posted, unexpected: messages that wait;\n"
      "                    make, heap, resident: endpoints; files: a worker's\n"
      "                    blocks, 0: one)\n"
      "  --budget MS       timed work per point, milliseconds (50)\n"
      "  --blocks N        timed blocks per point, median reported (11)\n"
      "  --window N        messages in flight (64, fewer where they pass 16 MiB);\n"
      "                    of collectives, buffers in turn (64, fewer where they pass 8 MiB)\n"
      "  --info KEY=VALUE  info for MPIX_Comm_create_endpoints\n"
      "  --created         windows of MPI_Win_create, else MPI_Win_allocate\n"
      "  --scenario LABEL  copied to the output\n"
      "  --limit S         end after this many seconds (120)\n"
      "Each line of output: epbench,WAY,SCENARIO,PAIRS,MEASURE,SIZE,WINDOW,ITERATIONS,MEDIAN,BEST,"
      "UNIT\n";

void epbench_fail(const char *format, ...)
{
    int initialized = 0;
    va_list ap;

    va_start(ap, format);
    fputs("epbench: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    MPI_Initialized(&initialized);
    if (initialized) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    exit(3);
}

static const epbench_measure_t *find_measure(const char *name)
{
    static const epbench_measure_t *const tables[] = {
        epbench_p2p_measures,  epbench_coll_measures,  epbench_later_measures,
        epbench_comm_measures, epbench_queue_measures, epbench_memory_measures,
        epbench_file_measures, epbench_rma_measures,   epbench_halo_measures};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); ++i) {
        for (const epbench_measure_t *measure = tables[i]; NULL != measure->name; ++measure) {
            if (0 == strcmp(measure->name, name)) {
                return measure;
            }
        }
    }
    return NULL;
}

static int default_window(const epbench_options_t *options, const epbench_measure_t *measure,
                          size_t size)
{
    size_t bytes = (0 != measure->fixed) ? measure->fixed : size;
    size_t window = WINDOW_DEFAULT;

    if (NULL != measure->moves) {
        return epbench_ring_slots(measure->moves, size, 2 * options->pairs);
    }
    if (!measure->windowed) {
        return 1;
    }
    while (window > WINDOW_LEAST && window * bytes > WINDOW_BYTES) {
        window /= 2;
    }
    return (int) window;
}

/** Parses "measure:size[:window]". */
static void add_point(epbench_options_t *options, char *text)
{
    char *save = NULL;
    const char *name = strtok_r(text, ":", &save);
    const char *size = strtok_r(NULL, ":", &save);
    const char *window = strtok_r(NULL, ":", &save);
    epbench_point_t *point = &options->point[options->points];

    if (EPBENCH_MAX_POINTS == options->points) {
        epbench_fail("more than %d points", EPBENCH_MAX_POINTS);
    }
    point->measure = (NULL != name) ? find_measure(name) : NULL;
    if (NULL == point->measure) {
        epbench_fail("no measurement is called \"%s\"", (NULL != name) ? name : "");
    }
    point->size = (NULL != size) ? strtoull(size, NULL, 10) : 0;
    point->window = (NULL != window) ? atoi(window) : options->window;
    if (0 >= point->window) {
        point->window = default_window(options, point->measure, point->size);
    }
    ++options->points;
}

static void parse(epbench_options_t *options, int argc, char **argv)
{
    static const struct option known[] = {
        {"way", required_argument, NULL, 'w'},      {"points", required_argument, NULL, 'p'},
        {"pairs", required_argument, NULL, 'n'},    {"budget", required_argument, NULL, 'b'},
        {"blocks", required_argument, NULL, 'k'},   {"window", required_argument, NULL, 'W'},
        {"info", required_argument, NULL, 'i'},     {"created", no_argument, NULL, 'c'},
        {"scenario", required_argument, NULL, 's'}, {"limit", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    char *points = NULL;
    char *save = NULL;
    int c;

    *options = (epbench_options_t){
        .way = NULL, .scenario = "-", .pairs = 1, .blocks = 11, .budget = 0.05, .limit = 120};
    while (-1 != (c = getopt_long(argc, argv, "h", known, NULL))) {
        switch (c) {
        case 'w':
            options->way = optarg;
            break;
        case 'p':
            points = optarg;
            break;
        case 'n':
            options->pairs = atoi(optarg);
            break;
        case 'b':
            options->budget = atof(optarg) / 1e3;
            break;
        case 'k':
            options->blocks = atoi(optarg);
            break;
        case 'W':
            options->window = atoi(optarg);
            break;
        case 'i':
            options->info = optarg;
            break;
        case 'c':
            options->created = true;
            break;
        case 's':
            options->scenario = optarg;
            break;
        case 'l':
            options->limit = atoi(optarg);
            break;
        default:
            fprintf(('h' == c) ? stdout : stderr, usage_text, epbench_ways_names());
            exit(('h' == c) ? 0 : 2);
        }
    }
    if (NULL == options->way || NULL == points || optind != argc) {
        fprintf(stderr, usage_text, epbench_ways_names());
        exit(2);
    }
    if (1 > options->pairs || 2 * options->pairs > EPBENCH_MAX_THREADS) {
        epbench_fail("--pairs takes 1 to %d", EPBENCH_MAX_THREADS / 2);
    }
    if (1 > options->blocks || EPBENCH_MAX_BLOCKS < options->blocks) {
        epbench_fail("--blocks takes 1 to %d", EPBENCH_MAX_BLOCKS);
    }
    for (char *text = strtok_r(points, ",", &save); NULL != text;
         text = strtok_r(NULL, ",", &save)) {
        add_point(options, text);
    }
}

int main(int argc, char **argv)
{
    epbench_options_t *options = calloc(1, sizeof(*options));

    if (NULL == options) {
        return 3;
    }
    parse(options, argc, argv);
    /* Whatever hangs below, this process does not stay behind. */
    alarm((unsigned int) options->limit);
    epbench_cores_init();
    if (0 == strcmp(options->way, "floor")) {
        epbench_floor_run(options);
    } else if (0 != epbench_ways_run(options, &argc, &argv)) {
        epbench_fail("not built with way \"%s\"; this program has: %s", options->way,
                     epbench_ways_names());
    }
    free(options);
    return 0;
}
