/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Processes that are spawned with endpoints: what children are told by the info keys num_endpoints
 * and asp, that they begin with so many, meet their parents, and end; that what is wrong with a key
 * is an error for all parents, and nothing is started.
 *
 *   --child LETTER  this is a child: s it begins by MPIX_Init_endpoint, with as many as it is told;
 *   i by
 *                   MPI_Init; d as s, and the first one dies
 *   --die 1         a child dies: its sibling's threads, which wait for it, do not hang, nor do
 *   parents --env 1         what is said in the key env instead of PMIX_ENVAR
 *   --inherit N     what a child without a key is told (the launcher's environment has another
 *   number) --unselected 1  a run without pml/epml
 *
 * Guards: hook_spawn.c, errors.c
 */

#define _GNU_SOURCE

#include "static.h"

#if defined(HAVE_EP)

#    include <sched.h>
#    include <unistd.h>

#    define ENDPOINTS_MOST "pml_epml_max_endpoints"

/* What a child says of itself. */
enum { TOLD, ASP, IN_PROCESS, IN_JOB, SUM, APPNUM, PARENTS, MARK, CORES, FACTS };

#    define CHILDREN_MAX 8

/* ---- a child --------------------------------------------------------------------------------- */

struct worker {
    pthread_t thread;
    int index;
    int sum;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    int rank = -1;

    if (MPI_SUCCESS != MPIX_Thread_detach()
        || MPI_SUCCESS != MPIX_Thread_attach(static_endpoints[worker->index])) {
        abort();
    }
    MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &rank);
    ++rank;
    MPI_Allreduce(&rank, &worker->sum, 1, MPI_INT, MPI_SUM, MPIX_COMM_ENDPOINTS);
    return NULL;
}

/* Each of the process's endpoints in a thread. @return the sum of ranks + 1, 0 if they differ */
static int work_all(int count)
{
    struct worker workers[STATIC_MAX];
    int sum;

    for (int i = 0; i < count; ++i) {
        workers[i] = (struct worker){.index = i};
        if (0 != pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
            abort();
        }
    }
    for (int i = 0; i < count; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
    sum = workers[0].sum;
    for (int i = 1; i < count; ++i) {
        sum = sum == workers[i].sum ? sum : 0;
    }
    return sum;
}

static int read_asp(void)
{
    char asp[16] = "";
    int flag = 0;

    MPI_Info_get(MPI_INFO_ENV, "asp", sizeof(asp) - 1, asp, &flag);
    return flag ? atoi(asp) : -1;
}

static void child_facts(int facts[FACTS], MPI_Comm parent)
{
    const char *mark = getenv("EPT_MARK");
    int *appnum = NULL, flag = 0;
    cpu_set_t cores;

    facts[ASP] = read_asp();
    MPI_Comm_size(MPIX_COMM_PROCESS, &facts[IN_PROCESS]);
    MPI_Comm_size(MPIX_COMM_ENDPOINTS, &facts[IN_JOB]);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
    facts[APPNUM] = flag ? *appnum : -1;
    MPI_Comm_remote_size(parent, &facts[PARENTS]);
    facts[MARK] = NULL != mark ? atoi(mark) : 0;
    facts[CORES] = 0 == sched_getaffinity(0, sizeof(cores), &cores) ? CPU_COUNT(&cores) : -1;
}

static void child(char letter)
{
    int facts[FACTS] = {0}, level, count = 1, rank;
    MPI_Comm parent = MPI_COMM_NULL;

    MPIX_Query_endpoints_told(&facts[TOLD], &level);
    if ('i' == letter) {
        MPI_Init(NULL, NULL);
    } else {
        count = 0 < facts[TOLD] ? facts[TOLD] : 1;
        MPIX_Init_endpoint(NULL, NULL, count, MPI_THREAD_SERIALIZED, static_endpoints);
    }
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    child_facts(facts, parent);
    if ('d' == letter && 0 == rank) {
        MPI_Send(facts, FACTS, MPI_INT, 0, 0, parent);
        _exit(5); /* the others are in a collective, or come to one */
    }
    facts[SUM] = 'i' == letter ? 0 : work_all(count);
    MPI_Send(facts, FACTS, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    exit(0);
}

int test_process_init(int *argc, char ***argv)
{
    const char *letter = ept_option("child", NULL);
    int provided;

    if (NULL != letter) {
        child(*letter);
    }
    static_code = MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return provided;
}

/* ---- parents --------------------------------------------------------------------------------- */

static char *own_path(void)
{
    static char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[0 < size ? size : 0] = '\0';
    return path;
}

/* key=value;... */
static MPI_Info make_info(const char *keys)
{
    char text[256], *rest = NULL;
    MPI_Info info;

    MPI_Info_create(&info);
    (void) snprintf(text, sizeof(text), "%s", keys);
    for (char *key = strtok_r(text, ";", &rest); NULL != key; key = strtok_r(NULL, ";", &rest)) {
        char *value = strchr(key, '=');

        *value++ = '\0';
        MPI_Info_set(info, key, value);
    }
    return info;
}

/* The facts of all children, at rank 0; then goodbye. */
static int meet(struct ept *t, MPI_Comm *children, int facts[][FACTS])
{
    int size = -1;

    EPT_OK(t, MPI_Comm_remote_size(*children, &size));
    for (int i = 0; 0 == t->rank && i < size && i < CHILDREN_MAX; ++i) {
        EPT_OK(t, MPI_Recv(facts[i], FACTS, MPI_INT, i, 0, *children, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Comm_disconnect(children));
    return size;
}

struct wish {
    const char *keys;
    int maxprocs;
    const char *letter;
    int processes, told, endpoints, mark; /* what is to come of it */
    bool is_bound;                        /* to one core */
};

static void check_children(struct ept *t, const struct wish *wish, int app, int facts[][FACTS],
                           int in_job)
{
    for (int i = 0; i < wish->processes; ++i) {
        EPT_EQ(t, wish->told, facts[i][TOLD]);
        EPT_EQ(t, wish->endpoints, facts[i][ASP]);
        EPT_EQ(t, wish->endpoints, facts[i][IN_PROCESS]);
        EPT_EQ(t, in_job, facts[i][IN_JOB]);
        EPT_EQ(t, app, facts[i][APPNUM]);
        EPT_EQ(t, t->nprocs, facts[i][PARENTS]);
        EPT_EQ(t, wish->mark, facts[i][MARK]);
        EPT_EQ(t, 'i' == *wish->letter ? 0 : in_job * (in_job + 1) / 2, facts[i][SUM]);
        EPT_CHECK(t, 1 == wish->endpoints || wish->is_bound == (1 == facts[i][CORES]),
                  "a child with %d endpoints has %d cores", wish->endpoints, facts[i][CORES]);
    }
}

static void spawn_one(MPI_Comm comm, struct ept *t, const struct wish *wish)
{
    char *argv[] = {"--child", (char *) (uintptr_t) wish->letter, NULL};
    int facts[CHILDREN_MAX][FACTS] = {{0}}, codes[CHILDREN_MAX];
    MPI_Info info = make_info(wish->keys);
    MPI_Comm children = MPI_COMM_NULL;

    memset(codes, -1, sizeof(codes));
    EPT_OK(t, MPI_Comm_spawn(own_path(), argv, wish->maxprocs, info, t->nprocs - 1, comm, &children,
                             codes));
    MPI_Info_free(&info);
    for (int i = 0; i < wish->maxprocs; ++i) {
        EPT_EQ(t, MPI_SUCCESS, codes[i]);
    }
    if (MPI_COMM_NULL == children) {
        return;
    }
    EPT_EQ(t, wish->processes, meet(t, &children, facts));
    if (0 == t->rank) {
        check_children(t, wish, 0, facts, wish->processes * wish->endpoints);
    }
}

static void case_numbers(MPI_Comm comm, struct ept *t)
{
    const int inherit = (int) ept_option_long("inherit", 0);
    const struct wish wishes[] = {
        {"num_endpoints=3;PMIX_ENVAR=MPIX_ENDPOINTS=9\nEPT_MARK=7\nMPIX_ENDPOINTS=9", 2, "s", 2, 3,
         3, 7, false},
        {"asp=2;num_endpoints=2", 2, "s", 1, 2, 2, 0, false},
        {"PMIX_ENVAR=EPT_MARK=3", 1, "s", 1, inherit, 1, 3, false},
        {"PMIX_ENVAR=MPIX_ENDPOINTS=2", 1, "s", 1, 2, 2, 0, false},
        {"num_endpoints=2", 1, "i", 1, 2, 1, 0, false},
        {"num_endpoints=2;bind_to=core", 1, "s", 1, 2, 2, 0, 1 < sysconf(_SC_NPROCESSORS_ONLN)},
    };

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); ++i) {
        ept_phase(t, "spawn with %s", wishes[i].keys);
        spawn_one(comm, t, &wishes[i]);
    }
}

/* The older key for a child's environment, of which libmpi says that it is older. */
static void case_env(MPI_Comm comm, struct ept *t)
{
    const struct wish wishes[] = {
        {"env=MPIX_ENDPOINTS=2", 1, "s", 1, 2, 2, 0, false},
        {"num_endpoints=3;env=EPT_MARK=5\nMPIX_ENDPOINTS=9;PMIX_ENVAR=MPIX_ENDPOINTS=8", 1, "s", 1,
         3, 3, 5, false},
        {"num_endpoints=2;env=MPIX_ENDPOINTS=9", 1, "s", 1, 2, 2, 0, false},
    };

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); ++i) {
        ept_phase(t, "spawn with %s", wishes[i].keys);
        spawn_one(comm, t, &wishes[i]);
    }
}

/* Two commands with different numbers, one of them without a word. */
static void case_multiple(MPI_Comm comm, struct ept *t)
{
    const struct wish wishes[] = {{"num_endpoints=3", 1, "s", 1, 3, 3, 0, false},
                                  {"asp=1", 2, "s", 2, 1, 1, 0, false}};
    char *one[] = {"--child", "s", NULL}, **argvs[] = {one, one};
    char *commands[] = {own_path(), own_path()};
    int maxprocs[] = {1, 2}, codes[3] = {-1, -1, -1}, facts[CHILDREN_MAX][FACTS] = {{0}};
    MPI_Info infos[] = {make_info(wishes[0].keys), make_info(wishes[1].keys)};
    MPI_Comm children = MPI_COMM_NULL;

    EPT_OK(t,
           MPI_Comm_spawn_multiple(2, commands, argvs, maxprocs, infos, 0, comm, &children, codes));
    MPI_Info_free(&infos[0]);
    MPI_Info_free(&infos[1]);
    for (int i = 0; i < 3; ++i) {
        EPT_EQ(t, MPI_SUCCESS, codes[i]);
    }
    if (MPI_COMM_NULL == children) {
        return;
    }
    EPT_EQ(t, 3, meet(t, &children, facts));
    if (0 == t->rank) {
        check_children(t, &wishes[0], 0, facts, 5);
        check_children(t, &wishes[1], 1, facts + 1, 5);
    }
}

/* There is no such command, which the launcher would say. */
static void check_wrong(MPI_Comm comm, struct ept *t, const char *keys, const char *says)
{
    MPI_Comm children = MPI_COMM_WORLD;
    char string[MPI_MAX_ERROR_STRING] = "";
    MPI_Info info = make_info(keys);
    int codes[2] = {-1, -1}, length, code;

    ept_phase(t, "spawn with %s", keys);
    code = MPI_Comm_spawn("/no/such/command", MPI_ARGV_NULL, 2, info, 0, comm, &children, codes);
    MPI_Info_free(&info);
    EPT_CLASS(t, MPI_ERR_SPAWN, code);
    EPT_CLASS(t, MPI_ERR_SPAWN, codes[0]);
    EPT_CLASS(t, MPI_ERR_SPAWN, codes[1]);
    EPT_CHECK(t, MPI_COMM_NULL == children, "a communicator came of it");
    EPT_OK(t, MPI_Error_string(code, string, &length));
    EPT_CHECK(t, NULL != strstr(string, says), "%s: %s", keys, string);
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    static const char *const wrong[] = {"num_endpoints=0",
                                        "num_endpoints=-1",
                                        "num_endpoints=x",
                                        "num_endpoints=4x",
                                        "num_endpoints= ",
                                        "asp=0",
                                        "num_endpoints=99999999999999999999",
                                        "num_endpoints=2;asp=1"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        check_wrong(comm, t, wrong[i], "no number");
    }
    check_wrong(comm, t, "asp=3", "does not divide");
    check_wrong(comm, t, "num_endpoints=9", ENDPOINTS_MOST " allows in one process (here 8)");
    check_wrong(comm, t, "asp=2;num_endpoints=1000", "differ");
}

/* Of the second command, which the first one must not hide. */
static void case_second(MPI_Comm comm, struct ept *t)
{
    char command[] = "/no/such/command", *commands[] = {command, command};
    MPI_Info infos[] = {MPI_INFO_NULL, make_info("num_endpoints=0")};
    MPI_Comm children = MPI_COMM_WORLD;
    int maxprocs[] = {1, 1};

    EPT_CLASS(t, MPI_ERR_SPAWN,
              MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, maxprocs, infos, 0, comm,
                                      &children, MPI_ERRCODES_IGNORE));
    MPI_Info_free(&infos[1]);
    EPT_CHECK(t, MPI_COMM_NULL == children, "a communicator came of it");
}

static void case_unselected(MPI_Comm comm, struct ept *t)
{
    check_wrong(comm, t, "num_endpoints=2", "epmpirun");
    check_wrong(comm, t, "num_endpoints=0", "no number");
}

/* The launcher ends a job of which a process has died.  Its parents go on, or Open MPI's btl/tcp
 * has seen the end of a connection, and aborts. */
static void case_death(MPI_Comm comm, struct ept *t)
{
    char *argv[] = {"--child", "d", NULL};
    MPI_Info info = make_info("num_endpoints=2");
    MPI_Comm children = MPI_COMM_NULL;
    int facts[FACTS], one = 1, sum = 0;

    EPT_OK(t, MPI_Comm_spawn(own_path(), argv, 2, info, 0, comm, &children, MPI_ERRCODES_IGNORE));
    MPI_Info_free(&info);
    if (0 == t->rank) {
        EPT_OK(t, MPI_Recv(facts, FACTS, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE));
        EPT_EQ(t, 2, facts[IN_PROCESS]);
    }
    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 != ept_option_long("die", 0)) {
        EPT_CASE(t, case_death);
        return 0;
    }
    if (0 != ept_option_long("unselected", 0)) {
        EPT_CASE(t, case_unselected);
        return 0;
    }
    if (0 != ept_option_long("env", 0)) {
        EPT_CASE(t, case_env);
        return 0;
    }
    EPT_CASE(t, case_errors);
    EPT_CASE(t, case_second);
    EPT_CASE(t, case_numbers);
    EPT_CASE(t, case_multiple);
    return 0;
}

#else

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    ept_skip(t, "spawn", "no endpoints");
    return 0;
}

#endif
