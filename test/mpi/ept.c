/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Endpoint test harness: main(), one thread per rank, cases, checks, time-out, TAP.
 *
 * Cases end in two steps: a barrier of the ranks (over the communicator under test), then a
 * reduction of the counts of failures over MPI_COMM_WORLD by the main threads.
 */

#define _GNU_SOURCE /* program_invocation_short_name */

#include "ept.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_S 60

/** What main() and the ranks' threads of one process share. */
static struct {
    struct ept *ranks;
    int nlocal;
    int proc, nprocs;
    const char *case_filter;
    pthread_barrier_t local;  /* the ranks of this process */
    pthread_barrier_t report; /* those and main() */
    /* Set by local rank 0 before the report barrier. */
    const char *reported_name;
    const char *skip_reason;
    const char *defect;
    int tap_number;
    long failures_total;
} run;

static int run_argc;
static char **run_argv;

/* ---- command line ------------------------------------------------------------------------- */

const char *ept_option(const char *name, const char *fallback)
{
    size_t length = strlen(name);

    /* From the end: the last one wins. */
    for (int i = run_argc - 1; 0 < i; --i) {
        const char *arg = run_argv[i];

        if (0 != strncmp(arg, "--", 2) || 0 != strncmp(arg + 2, name, length)) {
            continue;
        }
        if ('=' == arg[2 + length]) {
            return arg + 3 + length;
        }
        if ('\0' == arg[2 + length] && i + 1 < run_argc) {
            return run_argv[i + 1];
        }
    }
    return fallback;
}

long ept_option_long(const char *name, long fallback)
{
    const char *text = ept_option(name, NULL);

    return NULL == text ? fallback : strtol(text, NULL, 0);
}

/* ---- words -------------------------------------------------------------------------------- */

double ept_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* One write() per line, so that lines of many threads and processes stay whole. */
static void write_line(int fd, const char *prefix, const char *format, va_list args)
{
    char line[1024];
    int used = snprintf(line, sizeof(line), "%s", prefix);
    int left = (int) sizeof(line) - used - 1;
    int more = vsnprintf(line + used, (size_t) left, format, args);

    used += more < left ? more : left - 1;
    line[used++] = '\n';
    for (int done = 0; done < used;) {
        ssize_t n = write(fd, line + done, (size_t) (used - done));

        if (n <= 0) {
            return;
        }
        done += (int) n;
    }
}

void ept_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(STDERR_FILENO, "# ", format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) static void tap(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(STDOUT_FILENO, "", format, args);
    va_end(args);
}

void ept_phase(struct ept *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pthread_mutex_lock(&t->lock); /* a rank may use several threads */
    vsnprintf(t->phase, sizeof(t->phase), format, args);
    t->phase_since = ept_time();
    pthread_mutex_unlock(&t->lock);
    va_end(args);
}

/* The time-out, of the runner, which counts CPU time, or by hand of alarm().  Every process says where
 * its ranks are, waits until the others have done so too (the runner takes the stacks meanwhile, and
 * ends all then), and leaves without cleaning up: whatever hangs would hang MPI_Finalize as well. */
static void on_alarm(int signum)
{
    const char *linger = getenv("EPT_LINGER");

    (void) signum;
    for (int i = 0; i < run.nlocal && NULL != run.ranks; ++i) {
        const struct ept *t = &run.ranks[i];

        ept_note("TIMEOUT: rank %d of %d (process %d), case %s, for %.1f s in: %s",
                 t->rank, t->size, run.proc,
                 NULL == t->case_name ? "none" : t->case_name, ept_time() - t->phase_since,
                 t->phase);
    }
    if (NULL == run.ranks) {
        ept_note("TIMEOUT: process %d, outside of the cases", run.proc);
    }
    sleep(NULL == linger ? 2 : (unsigned) atoi(linger));
    _exit(124);
}

/* ---- checks ------------------------------------------------------------------------------- */

void ept_fail(struct ept *t, const char *file, int line, const char *format, ...)
{
    const char *base = strrchr(file, '/');
    bool seen = false;

    base = NULL == base ? file : base + 1;
    pthread_mutex_lock(&t->lock);
    ++t->failures;
    for (int i = 0; i < t->num_sites; ++i) {
        seen = seen || (line == t->sites[i].line && file == t->sites[i].file);
    }
    if (!seen && EPT_SITES_MAX > t->num_sites && NULL == t->defect) {
        char text[600];
        va_list args;

        t->sites[t->num_sites].file = file;
        t->sites[t->num_sites].line = line;
        ++t->num_sites;
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        ept_note("%s:%d: rank %d of %d, seed %llu, %s: %s [%s]", base, line, t->rank, t->size,
                 (unsigned long long) t->seed, NULL == t->case_name ? "no case" : t->case_name,
                 text, t->phase);
    }
    pthread_mutex_unlock(&t->lock);
}

bool ept_check_int(struct ept *t, const char *file, int line, const char *what, intmax_t expected,
                   intmax_t got)
{
    atomic_fetch_add(&t->checks, 1);
    if (expected != got) {
        ept_fail(t, file, line, "%s: expected %jd, got %jd", what, expected, got);
    }
    return expected == got;
}

bool ept_check_string(struct ept *t, const char *file, int line, const char *what,
                      const char *expected, const char *got)
{
    bool same = 0 == strcmp(expected, got);

    atomic_fetch_add(&t->checks, 1);
    if (!same) {
        ept_fail(t, file, line, "%s: expected \"%s\", got \"%s\"", what, expected, got);
    }
    return same;
}

/** What an error code means.  One that MPI does not know would end the run before it is
 * reported. */
static void error_text(int code, char text[MPI_MAX_ERROR_STRING])
{
    int length;

    if (0 > code) {
        snprintf(text, MPI_MAX_ERROR_STRING, "no MPI error code");
        return;
    }
    MPI_Error_string(code, text, &length);
}

bool ept_check_mpi(struct ept *t, const char *file, int line, const char *what, int rc)
{
    atomic_fetch_add(&t->checks, 1);
    if (MPI_SUCCESS != rc) {
        char text[MPI_MAX_ERROR_STRING];

        error_text(rc, text);
        ept_fail(t, file, line, "%s: expected MPI_SUCCESS, got %d (%s)", what, rc, text);
    }
    return MPI_SUCCESS == rc;
}

bool ept_check_class(struct ept *t, const char *file, int line, const char *what, int expected,
                     int rc)
{
    int class = rc;

    atomic_fetch_add(&t->checks, 1);
    if (MPI_SUCCESS != rc) {
        MPI_Error_class(rc, &class);
    }
    if (expected != class) {
        char text[MPI_MAX_ERROR_STRING], wanted[MPI_MAX_ERROR_STRING];

        error_text(rc, text);
        error_text(expected, wanted);
        ept_fail(t, file, line, "%s: expected class %d (%s), got class %d, code %d (%s)", what,
                 expected, wanted, class, rc, text);
    }
    return expected == class;
}

bool ept_check_status(struct ept *t, const char *file, int line, const MPI_Status *status,
                      int source, int tag, intmax_t bytes)
{
    MPI_Count count = -1;

    atomic_fetch_add(&t->checks, 1);
    MPI_Get_elements_x(status, MPI_BYTE, &count);
    if (source == status->MPI_SOURCE && tag == status->MPI_TAG && bytes == (intmax_t) count) {
        return true;
    }
    ept_fail(t, file, line,
             "status: expected source %d, tag %d, %jd bytes, got source %d, tag %d, %jd bytes",
             source, tag, bytes, status->MPI_SOURCE, status->MPI_TAG, (intmax_t) count);
    return false;
}

/* ---- cases -------------------------------------------------------------------------------- */

void ept_local_barrier(struct ept *t)
{
    (void) t;
    pthread_barrier_wait(&run.local);
}

/* Hand the case's counts to main(), which prints the TAP line, and wait until it has done so.
 * The end of the test is reported as a case without a name. */
static void report(struct ept *t, const char *name, const char *skip_reason)
{
    if (0 == t->local) {
        run.reported_name = name;
        run.skip_reason = skip_reason;
        run.defect = t->defect;
    }
    pthread_barrier_wait(&run.report);
    pthread_barrier_wait(&run.report);
    if (NULL != name) {
        t->failures = 0;
        atomic_store(&t->checks, 0);
        t->num_sites = 0;
        t->case_name = NULL;
    }
}

void ept_case(struct ept *t, const char *name, ept_case_fn_t fn)
{
    if (0 == strncmp(name, "case_", 5)) {
        name += 5;
    }
    if (NULL != run.case_filter && NULL == strstr(name, run.case_filter)) {
        return;
    }
    t->case_name = name;
    ept_phase(t, "start");
    fn(t->comm, t);
    ept_phase(t, "barrier at the end of the case");
    EPT_OK(t, MPI_Barrier(t->comm));
    ept_phase(t, "after the case");
    report(t, name, NULL);
}

void ept_case_stock_defect(struct ept *t, const char *name, ept_case_fn_t fn, const char *defect)
{
    t->defect = t->endpoints ? NULL : defect;
    ept_case(t, name, fn);
    t->defect = NULL;
}

void ept_skip(struct ept *t, const char *name, const char *reason)
{
    if (0 == strncmp(name, "case_", 5)) {
        name += 5;
    }
    report(t, name, reason);
}

/* main()'s side of report(): returns false after the last case. */
static bool serve_report(void)
{
    long counts[2] = {0, 0};

    pthread_barrier_wait(&run.report);
    if (NULL == run.reported_name) {
        pthread_barrier_wait(&run.report);
        return false;
    }
    for (int i = 0; i < run.nlocal; ++i) {
        counts[0] += run.ranks[i].failures;
        counts[1] += atomic_load(&run.ranks[i].checks);
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (NULL == run.defect) {
        run.failures_total += counts[0];
    }
    if (0 == run.proc) {
        ++run.tap_number;
        if (NULL != run.skip_reason) {
            tap("ok %d - %s %s # SKIP %s", run.tap_number, program_invocation_short_name,
                run.reported_name, run.skip_reason);
        } else if (0 != counts[0]) {
            tap("not ok %d - %s %s: %ld failures in %ld checks%s%s", run.tap_number,
                program_invocation_short_name, run.reported_name, counts[0], counts[1],
                NULL == run.defect ? "" : " # TODO ", NULL == run.defect ? "" : run.defect);
        } else {
            tap("ok %d - %s %s (%ld checks)", run.tap_number, program_invocation_short_name,
                run.reported_name, counts[1]);
        }
    }
    pthread_barrier_wait(&run.report);
    return true;
}

/* ---- ranks -------------------------------------------------------------------------------- */

__attribute__((weak)) void test_process_begin(void)
{
}

#if defined(HAVE_EP)

static MPIX_Endpoint *endpoints; /**< of this process, with --static 1 */

/** Threads of ours have one each, from MPI_Init on. */
static int begin_static(int *argc, char ***argv, int count)
{
    endpoints = calloc((size_t) count, sizeof(endpoints[0]));
    if (NULL == endpoints
        || MPI_SUCCESS != MPIX_Init_endpoint(argc, argv, count, MPI_THREAD_MULTIPLE, endpoints)) {
        abort();
    }
    return MPI_THREAD_MULTIPLE;
}

/** The calling thread's, after it has gone there. */
static MPI_Comm comm_of(int index)
{
    if (MPI_SUCCESS != MPIX_Thread_detach()
        || MPI_SUCCESS != MPIX_Thread_attach(endpoints[index])) {
        abort();
    }
    return MPIX_COMM_ENDPOINTS;
}

#endif

static bool is_static(void)
{
    return 0 != ept_option_long("static", 0);
}

__attribute__((weak)) int test_process_init(int *argc, char ***argv)
{
    int provided;

#if defined(HAVE_EP)
    if (is_static()) {
        return begin_static(argc, argv, (int) ept_option_long("ep", 1));
    }
#endif
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    return provided;
}

static void *rank_main(void *arg)
{
    struct ept *t = arg;

#if defined(HAVE_EP)
    if (is_static() && comm_of(t->local) != t->comm) {
        abort();
    }
#endif
    t->result = test_rank(t->comm, t);
    t->case_name = "end";
    if (0 != t->result) {
        ept_fail(t, __FILE__, __LINE__, "test_rank returned %d", t->result);
    }
    report(t, NULL, NULL);
    if (t->endpoints && 0 == ept_option_long("keep", 0) && !is_static()) {
        ept_phase(t, "MPI_Comm_free of the endpoint");
        MPI_Comm_free(&t->comm);
    }
    ept_phase(t, "ended");
    return NULL;
}

static void start_ranks(bool endpoints, MPI_Comm comms[], uint64_t seed)
{
    pthread_barrier_init(&run.local, NULL, (unsigned) run.nlocal);
    pthread_barrier_init(&run.report, NULL, (unsigned) run.nlocal + 1);
    for (int i = 0; i < run.nlocal; ++i) {
        struct ept *t = &run.ranks[i];

        t->comm = comms[i];
        MPI_Comm_rank(t->comm, &t->rank);
        MPI_Comm_size(t->comm, &t->size);
        t->local = i;
        t->nlocal = run.nlocal;
        t->proc = run.proc;
        t->nprocs = run.nprocs;
        t->endpoints = endpoints;
        t->seed = seed;
        pthread_mutex_init(&t->lock, NULL);
        ept_phase(t, "not started");
    }
    for (int i = 0; i < run.nlocal; ++i) {
        if (0 != pthread_create(&run.ranks[i].thread, NULL, rank_main, &run.ranks[i])) {
            ept_note("pthread_create failed");
            _exit(99);
        }
    }
}

/* Ranks of a process are consecutive, in the order of the processes: what every test relies on. */
static long check_ranks(void)
{
    long wrong = 0;

    for (int i = 0; i < run.nlocal; ++i) {
        const struct ept *t = &run.ranks[i];

        if (run.proc * run.nlocal + i != t->rank || run.nprocs * run.nlocal != t->size) {
            ept_note("process %d, handle %d: expected rank %d of %d, got %d of %d", run.proc, i,
                     run.proc * run.nlocal + i, run.nprocs * run.nlocal, t->rank, t->size);
            ++wrong;
        }
    }
    return wrong;
}

static MPI_Comm *make_comms(int num_ep)
{
    MPI_Comm *comms = calloc((size_t) run.nlocal, sizeof(*comms));
    const char *level = ept_option("level", NULL);
    MPI_Info info = MPI_INFO_NULL;

    if (NULL == comms) {
        abort();
    }
    if (0 == num_ep) {
        comms[0] = MPI_COMM_WORLD;
        return comms;
    }
#if defined(HAVE_EP)
    for (int i = 0; is_static() && i < num_ep; ++i) {
        comms[i] = comm_of(i);
    }
    if (is_static()) {
        return comms;
    }
#endif
    if (NULL != level) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpix_thread_level", level);
    }
    ept_create_endpoints(MPI_COMM_WORLD, num_ep, info, comms);
    if (NULL != level) {
        MPI_Info_free(&info);
    }
    return comms;
}

static void init(int *argc, char ***argv)
{
    struct sigaction action = {.sa_handler = on_alarm};
    int provided;

    run_argc = *argc;
    run_argv = *argv;
    run.case_filter = ept_option("case", NULL);
    sigaction(SIGALRM, &action, NULL);
    if (NULL == getenv("EPT_LINGER")) {
        alarm((unsigned) ept_option_long("timeout", DEFAULT_TIMEOUT_S));
    }
    provided = test_process_init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.proc);
    MPI_Comm_size(MPI_COMM_WORLD, &run.nprocs);
    if (MPI_THREAD_MULTIPLE != provided) {
        ept_note("no MPI_THREAD_MULTIPLE: level %d provided", provided);
        MPI_Abort(MPI_COMM_WORLD, 98);
    }
}

int main(int argc, char **argv)
{
    long num_ep = 0, wrong;
    MPI_Comm *comms;
    struct ept *ranks;

    init(&argc, &argv);
    num_ep = ept_option_long("ep", 0);
#if !defined(HAVE_EP)
    if (0 != num_ep) {
        ept_note("--ep %ld: built without endpoints (use epmpicc and -DHAVE_EP)", num_ep);
        MPI_Abort(MPI_COMM_WORLD, 97);
    }
#endif
    test_process_begin();
    run.nlocal = 0 < num_ep ? (int) num_ep : 1;
    comms = make_comms((int) num_ep);
    ranks = calloc((size_t) run.nlocal, sizeof(*ranks));
    if (NULL == ranks) {
        abort();
    }
    run.ranks = ranks;
    if (0 == run.proc) {
        tap("# %s: %d processes, %ld endpoints each, seed %ld", program_invocation_short_name,
            run.nprocs, num_ep, ept_option_long("seed", 1));
    }
    start_ranks(0 < num_ep, comms, (uint64_t) ept_option_long("seed", 1));
    wrong = check_ranks();
    while (serve_report()) {
    }
    for (int i = 0; i < run.nlocal; ++i) {
        pthread_join(ranks[i].thread, NULL);
        wrong += ranks[i].failures;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (0 == run.proc) {
        ++run.tap_number;
        tap("%s %d - %s ranks, threads and MPI_Comm_free", 0 == wrong ? "ok" : "not ok",
            run.tap_number, program_invocation_short_name);
        tap("1..%d", run.tap_number);
    }
    run.ranks = NULL;
    MPI_Finalize();
    alarm(0);
    free(ranks);
    free(comms);
    /* One process speaks for all: mpirun has much to say about each that fails. */
    return 0 == run.proc && 0 != wrong + run.failures_total ? 1 : 0;
}
