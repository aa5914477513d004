/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * epbench: options, and the loop that times one point after another.  The program only measures
 * and writes one line per point; bench/run-bench starts it the different ways and compares.
 */

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epbench.h"

/** Bytes that a window may hold before it shrinks: more would measure the memory, not MPI. */
#define WINDOW_BYTES ((size_t) 16 << 20)

#define WINDOW_DEFAULT 64
#define WINDOW_LEAST 4

static const char usage_text[]
    = "usage: epbench --way WAY --points MEASURE:SIZE[:WINDOW],... [options]\n"
      "  --way WAY         %s\n"
      "  --pairs N         pairs of workers (1)\n"
      "  --points LIST     lat rate birate bw bibw barrier allreduce bcast dup split create free\n"
      "                    posted unexpected, make heap resident, peerheap peerresident, job,\n"
      "                    each with a size in bytes (posted, unexpected: messages that wait;\n"
      "                    make, heap, resident: endpoints)\n"
      "  --budget MS       timed work per point, milliseconds (50)\n"
      "  --blocks N        timed blocks per point, median reported (11)\n"
      "  --window N        messages in flight (64, fewer where they pass 16 MiB)\n"
      "  --info KEY=VALUE  info for MPIX_Comm_create_endpoints\n"
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
    static const epbench_measure_t *const tables[] = {epbench_p2p_measures, epbench_coll_measures,
                                                      epbench_comm_measures, epbench_queue_measures,
                                                      epbench_memory_measures};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); ++i) {
        for (const epbench_measure_t *measure = tables[i]; NULL != measure->name; ++measure) {
            if (0 == strcmp(measure->name, name)) {
                return measure;
            }
        }
    }
    return NULL;
}

static int default_window(const epbench_measure_t *measure, size_t size)
{
    size_t bytes = (0 != measure->fixed) ? measure->fixed : size;
    size_t window = WINDOW_DEFAULT;

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
        point->window = default_window(point->measure, point->size);
    }
    ++options->points;
}

static void parse(epbench_options_t *options, int argc, char **argv)
{
    static const struct option known[] = {{"way", required_argument, NULL, 'w'},
                                          {"points", required_argument, NULL, 'p'},
                                          {"pairs", required_argument, NULL, 'n'},
                                          {"budget", required_argument, NULL, 'b'},
                                          {"blocks", required_argument, NULL, 'k'},
                                          {"window", required_argument, NULL, 'W'},
                                          {"info", required_argument, NULL, 'i'},
                                          {"scenario", required_argument, NULL, 's'},
                                          {"limit", required_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
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

/** Times one block of n iterations.  The clock is read outside of the iterations only, but by
 * measurements that say what of a block does not count. */
static epbench_elapsed_t time_block(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    epbench_elapsed_t elapsed;
    double start;
    double mine;

    worker->uncounted = 0.0;
    epbench_team_sync(worker);
    start = epbench_now();
    point->measure->block(worker, point, n);
    mine = epbench_now() - start;
    elapsed.wall = epbench_team_max(worker, mine);
    mine -= worker->uncounted;
    elapsed.longest = epbench_team_max(worker, mine);
    elapsed.mean = epbench_team_sum(worker, worker->first ? mine : 0.0) / (worker->size / 2);
    return elapsed;
}

/**
 * Times blocks of about equal length until there are enough of them, and returns their number.
 *
 * The count of iterations grows from 1, which warms caches, connections and allocators on the way.
 * A block that turns out short shows that the ones before were disturbed: they are dropped.  All
 * workers see the same times, so all come to the same count.
 */
static int time_blocks(epbench_worker_t *worker, const epbench_point_t *point, double *values,
                       long *n_p)
{
    const epbench_options_t *options = worker->team->options;
    const double wanted = options->budget / options->blocks;
    double spent = 0.0;
    int blocks = 0;
    long n = 1;

    time_block(worker, point, n);
    /* Where single iterations pass the budget, do not insist on all the blocks. */
    while (blocks < options->blocks && spent < 4.0 * options->budget) {
        epbench_elapsed_t elapsed = time_block(worker, point, n);

        if (elapsed.wall < wanted / 2.0) {
            double factor = (0.0 < elapsed.wall) ? wanted / elapsed.wall : 8.0;

            n = (long) ((double) n * ((8.0 < factor) ? 8.0 : factor)) + 1;
            blocks = 0;
            spent = 0.0;
            continue;
        }
        spent += elapsed.wall;
        values[blocks++] = point->measure->value(worker, point, n, elapsed);
    }
    *n_p = n;
    return blocks;
}

static void run_point(epbench_worker_t *worker, const epbench_point_t *point)
{
    const epbench_options_t *options = worker->team->options;
    const epbench_measure_t *measure = point->measure;
    double values[EPBENCH_MAX_BLOCKS];
    size_t wrong;
    int blocks = 1;
    long n = 1;

    if (NULL != measure->prepare) {
        measure->prepare(worker, point);
    }
    epbench_team_sync(worker);
    if (measure->once) {
        measure->block(worker, point, 1);
        values[0] = measure->value(worker, point, 1, (epbench_elapsed_t){.longest = 0.0});
    } else {
        blocks = time_blocks(worker, point, values, &n);
    }
    wrong = NULL != measure->check ? measure->check(worker, point) : 0;
    if (0 < wrong) {
        epbench_fail("%s, %s %zu: worker %d received %zu wrong bytes", options->way, measure->name,
                     point->size, worker->rank, wrong);
    }
    epbench_team_sync(worker); /* no row before all have checked */
    if (0 == worker->rank) {
        epbench_report(options, point, n, blocks, values);
    }
}

static void *allocate(size_t bytes)
{
    /* Whole huge pages where it matters, so that all ways get the same kind of memory. */
    size_t alignment = (bytes < ((size_t) 2 << 20)) ? 4096 : (size_t) 2 << 20;
    void *memory = NULL;

    if (0 != posix_memalign(&memory, alignment, (0 < bytes) ? bytes : 1)) {
        epbench_fail("no memory for a buffer of %zu bytes", bytes);
    }
    memset(memory, 0, bytes); /* the worker itself touches its pages first */
    return memory;
}

void epbench_worker_run(epbench_worker_t *worker)
{
    const epbench_options_t *options = worker->team->options;
    size_t largest = 0;
    size_t footprint = 0;
    size_t queued = 0;
    int window = 1;

    for (int i = 0; i < options->points; ++i) {
        const epbench_point_t *point = &options->point[i];
        size_t bytes = (0 != point->measure->fixed) ? point->measure->fixed : point->size;
        size_t total = epbench_stride(bytes) * (size_t) point->window;

        largest = (bytes > largest) ? bytes : largest;
        footprint = (total > footprint) ? total : footprint;
        window = (point->window > window) ? point->window : window;
        if (0 != point->measure->fixed && point->size > queued) {
            queued = point->size;
        }
    }
    worker->send_bytes = epbench_stride(largest);
    worker->recv_bytes = footprint;
    worker->send_buffer = allocate(worker->send_bytes);
    worker->recv_buffer = allocate(worker->recv_bytes);
    worker->request = allocate(2 * (size_t) window * sizeof(MPI_Request));
    worker->queued = allocate(queued * sizeof(MPI_Request));
    worker->queued_buffer = allocate(queued * EPBENCH_LINE);

    for (int i = 0; i < options->points; ++i) {
        const unsigned needs = options->point[i].measure->needs;

        if (needs == (needs & worker->can)) {
            run_point(worker, &options->point[i]);
        }
    }
    epbench_team_sync(worker);
    free(worker->queued_buffer);
    free(worker->queued);
    free(worker->request);
    free(worker->recv_buffer);
    free(worker->send_buffer);
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
