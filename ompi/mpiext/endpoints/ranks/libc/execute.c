/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Programs that a rank executes: they get its environment.  exec itself, without a fork before it,
 * would end all ranks of the process, so it fails, and a line says why.
 *
 * posix_spawn gets an environment from its caller.
 *
 * Tests: ranks_environment, ranks_told
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_refused(const char *path)
{
    if (NULL == mpix_ranks_self || mpix_ranks_libc_is_child()) {
        return false;
    }
    mpix_ranks_say("rank %d executes %s in its place, which would end all ranks of its process: "
                   "refused; run this program without -ranks",
                   mpix_ranks_self->number, path);
    errno = ENOTSUP;
    return true;
}

MPIX_RANKS_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return is_refused(path) ? -1 : MPIX_RANKS_NEXT(execve)(path, argv, envp);
}

MPIX_RANKS_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return is_refused(file) ? -1 : MPIX_RANKS_NEXT(execvpe)(file, argv, envp);
}

MPIX_RANKS_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    return is_refused(argv[0]) ? -1 : MPIX_RANKS_NEXT(fexecve)(fd, argv, envp);
}

MPIX_RANKS_EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, mpix_ranks_environment());
}

MPIX_RANKS_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, mpix_ranks_environment());
}

/* The arguments that follow, into an array on the stack: after vfork, nothing else may be used. */
#define LISTED(first, call)                \
    va_list list;                          \
    int count = 1;                         \
    va_start(list, first);                 \
    while (NULL != va_arg(list, char *)) { \
        ++count;                           \
    }                                      \
    va_end(list);                          \
    char *argv[count + 1];                 \
    argv[0] = (char *) first;              \
    va_start(list, first);                 \
    for (int i = 1; i <= count; ++i) {     \
        argv[i] = va_arg(list, char *);    \
    }                                      \
    call;                                  \
    va_end(list)

MPIX_RANKS_EXPORT int execl(const char *path, const char *first, ...)
{
    int rc;

    LISTED(first, rc = execv(path, argv));
    return rc;
}

MPIX_RANKS_EXPORT int execlp(const char *file, const char *first, ...)
{
    int rc;

    LISTED(first, rc = execvp(file, argv));
    return rc;
}

MPIX_RANKS_EXPORT int execle(const char *path, const char *first, ...)
{
    int rc;

    LISTED(first, rc = execve(path, argv, va_arg(list, char **)));
    return rc;
}

static int execute_shell(pid_t *pid, const char *command, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes)
{
    char *argv[] = {"sh", "-c", "--", (char *) command, NULL};

    return posix_spawn(pid, "/bin/sh", actions, attributes, argv, mpix_ranks_environment());
}

/** SIGCHLD is blocked meanwhile.  SIGINT and SIGQUIT, which a process would ignore, are left as they
 * are: they are the process's, and the launcher gets those of the terminal. */
static int shell_run(const char *command)
{
    sigset_t chld, before;
    posix_spawnattr_t attributes;
    int status = -1, rc;
    pid_t pid;

    (void) sigemptyset(&chld);
    (void) sigaddset(&chld, SIGCHLD);
    (void) pthread_sigmask(SIG_BLOCK, &chld, &before);
    (void) posix_spawnattr_init(&attributes);
    (void) posix_spawnattr_setsigmask(&attributes, &before);
    (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    rc = execute_shell(&pid, command, NULL, &attributes);
    (void) posix_spawnattr_destroy(&attributes);
    if (0 != rc) {
        status = 127 << 8; /* as if the shell could not run */
    } else {
        while (waitpid(pid, &status, 0) < 0) {
            if (EINTR != errno) {
                status = -1;
                break;
            }
        }
    }
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

MPIX_RANKS_EXPORT int system(const char *command)
{
    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(system)(command);
    }
    if (NULL == command) {
        return 0 == shell_run("exit 0");
    }
    return shell_run(command);
}

/** Streams of popen, with their processes. */
typedef struct piped_t {
    struct piped_t *next;
    FILE *file;
    pid_t pid;
} piped_t;

static pthread_mutex_t piped_lock = PTHREAD_MUTEX_INITIALIZER;
static piped_t *piped_all;

static int piped_spawn(piped_t *piped, const char *command, bool is_read)
{
    const int of_child = is_read ? STDOUT_FILENO : STDIN_FILENO;
    posix_spawn_file_actions_t actions;
    int ends[2], child, parent, rc;

    if (0 != pipe2(ends, O_CLOEXEC)) {
        return errno;
    }
    parent = ends[is_read ? 0 : 1];
    child = ends[is_read ? 1 : 0];
    piped->file = fdopen(parent, is_read ? "r" : "w");
    if (NULL == piped->file) {
        rc = errno;
        (void) close(parent);
        (void) close(child);
        return rc;
    }
    /* Other streams of popen are closed in the child: all have O_CLOEXEC. */
    (void) posix_spawn_file_actions_init(&actions);
    (void) posix_spawn_file_actions_adddup2(&actions, child, of_child);
    rc = execute_shell(&piped->pid, command, &actions, NULL);
    (void) posix_spawn_file_actions_destroy(&actions);
    (void) close(child);
    if (0 != rc) {
        (void) fclose(piped->file);
    }
    return rc;
}

/** The mode's "e" is of no use: the stream has O_CLOEXEC, as another rank may execute a program,
 * which would keep the pipe open. */
MPIX_RANKS_EXPORT FILE *popen(const char *command, const char *mode)
{
    piped_t *piped;
    int rc;

    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(popen)(command, mode);
    }
    if ('r' != mode[0] && 'w' != mode[0]) {
        errno = EINVAL;
        return NULL;
    }
    piped = malloc(sizeof(*piped));
    rc = NULL == piped ? ENOMEM : piped_spawn(piped, command, 'r' == mode[0]);
    if (0 != rc) {
        free(piped);
        errno = rc;
        return NULL;
    }
    (void) pthread_mutex_lock(&piped_lock);
    piped->next = piped_all;
    piped_all = piped;
    (void) pthread_mutex_unlock(&piped_lock);
    return piped->file;
}

MPIX_RANKS_EXPORT int pclose(FILE *file)
{
    piped_t *piped;
    int status = -1;

    (void) pthread_mutex_lock(&piped_lock);
    for (piped_t **at = &piped_all; NULL != (piped = *at); at = &piped->next) {
        if (piped->file == file) {
            *at = piped->next;
            break;
        }
    }
    (void) pthread_mutex_unlock(&piped_lock);
    if (NULL == piped) {
        return MPIX_RANKS_NEXT(pclose)(file);
    }
    (void) fclose(file);
    while (waitpid(piped->pid, &status, 0) < 0 && EINTR == errno) {
    }
    free(piped);
    return status;
}
