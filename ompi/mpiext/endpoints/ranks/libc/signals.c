/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Handlers of signals: a rank's are its own.
 *
 * The kernel knows one handler of a signal for a process.  If a rank sets one, that is `dispatch`, which
 * calls the handler that the rank of the thread has set:
 *
 *  - A fault, and a signal that is sent to a thread (raise, pthread_kill), is of the thread's rank.  So a
 *    handler may leave by siglongjmp: the copy of the program that it belongs to, and its buffer, are
 *    those of the thread.
 *  - A signal that is sent to the process is given to each rank, as a launcher sends it to each process:
 *    `dispatch` sends it on to the first threads of the other ranks that have set a handler.
 *  - kill(getpid(), ...) is what a process sends to itself, so it is raise.
 *
 * What is left when no rank has set a handler: of a signal that ends the process with a core, a line
 * first that names the rank, then what had been set before, Open MPI's handler for example.
 *
 * A handler's mask is applied here, before the handler; the kernel takes it back when dispatch returns.
 *
 * Tests: ranks_signals, ranks_exit, ranks_throw
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIGNALS = 65, ALTERNATIVE_STACK = 64 << 10 };

typedef struct mpix_ranks_action_t {
    struct sigaction action;
    _Atomic bool is_set;
} action_t;

/** Guards the following, and changes of ranks' actions.  Not taken in dispatch: `action` is written
 * before is_set or, as in a process, while the signal may come. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction process_actions[SIGNALS]; /**< before dispatch */
static bool is_dispatched[SIGNALS];

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static bool is_fatal(int number)
{
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); ++i) {
        if (number == fatal[i]) {
            return true;
        }
    }
    return false;
}

static bool is_function(const struct sigaction *action)
{
    return SIG_DFL != action->sa_handler && SIG_IGN != action->sa_handler;
}

static action_t *action_of(const mpix_rank_t *rank, int number)
{
    action_t *action = &rank->libc->actions[number];

    /* Acquire: pairs with the release in action_set. */
    return atomic_load_explicit(&action->is_set, memory_order_acquire) ? action : NULL;
}

/** Caused by what the thread has just executed, or sent to it alone? */
static bool is_of_thread(int number, const siginfo_t *info)
{
    switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
        return info->si_code > 0 || SI_TKILL == info->si_code;
    default:
        return SI_TKILL == info->si_code;
    }
}

/** Each rank that has set a handler gets it. */
static void send_on(int number)
{
    for (int i = 0; i < mpix_ranks_count; ++i) {
        mpix_rank_t *rank = &mpix_ranks_all[i];

        if (rank != mpix_ranks_self && NULL != rank->libc
            && atomic_load_explicit(&rank->libc->is_running, memory_order_acquire)
            && NULL != action_of(rank, number)) {
            (void) pthread_kill(rank->thread, number);
        }
    }
}

static void signals_call(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
    sigset_t mask = action->sa_mask;

    if (SA_NODEFER & action->sa_flags) {
        sigset_t own;

        (void) sigemptyset(&own);
        (void) sigaddset(&own, number);
        (void) pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    }
    (void) pthread_sigmask(SIG_BLOCK, &mask, NULL);
    if (SA_SIGINFO & action->sa_flags) {
        action->sa_sigaction(number, info, context);
    } else {
        action->sa_handler(number);
    }
}

/** The line that names the rank; in a signal's handler, so by write alone. */
static void signals_report(int number)
{
    const mpix_rank_t *rank = mpix_ranks_self;

    if (NULL != rank) {
        mpix_ranks_say("rank %d of %d: %s (signal %d)", rank->number, rank->size,
                       sigdescr_np(number), number);
    }
}

/** What the kernel would do without dispatch.  A fault comes again, and abort sends its signal
 * again, so these find the default by themselves, in their own context. */
static void by_default(int number, bool is_again)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t own;

    switch (number) {
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH:
    case SIGCONT:
        return;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        (void) raise(SIGSTOP);
        return;
    default:
        break;
    }
    (void) MPIX_RANKS_NEXT(sigaction)(number, &action, NULL);
    if (!is_again) {
        (void) raise(number);
        (void) sigemptyset(&own);
        (void) sigaddset(&own, number);
        (void) pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    }
}

static void signals_dispatch(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    mpix_rank_t *rank = mpix_ranks_self;
    action_t *own = NULL == rank ? NULL : action_of(rank, number);
    struct sigaction action = NULL == own ? process_actions[number] : own->action;

    const bool is_thread = is_of_thread(number, info);
    const bool is_fault = is_thread && info->si_code > 0;

    if (!is_thread && !mpix_ranks_libc_is_child()) {
        send_on(number);
        if (NULL == rank && SIG_DFL == action.sa_handler) {
            return; /* the ranks do what they have set */
        }
    }
    if (is_fatal(number) && (NULL == own || !is_function(&action))) {
        signals_report(number);
    }
    if (SA_RESETHAND & action.sa_flags) {
        if (NULL != own) {
            own->action.sa_handler = SIG_DFL;
            own->action.sa_flags &= ~SA_SIGINFO;
        } else {
            const struct sigaction reset = {.sa_handler = SIG_DFL};

            (void) MPIX_RANKS_NEXT(sigaction)(number, &reset, NULL);
        }
    }
    if (is_function(&action)) {
        signals_call(&action, number, info, context);
    } else if (SIG_DFL == action.sa_handler || is_fault) {
        by_default(number, is_fault);
    }
    errno = error;
}

/** With the lock held. */
static int dispatch_set(int number, const struct sigaction *like)
{
    struct sigaction ours = {.sa_sigaction = signals_dispatch};

    ours.sa_flags = SA_SIGINFO | (like->sa_flags & ~(SA_RESETHAND | SA_NODEFER));
    ours.sa_mask = like->sa_mask;
    if (0
        != MPIX_RANKS_NEXT(sigaction)(number, &ours,
                                      is_dispatched[number] ? NULL : &process_actions[number])) {
        return -1;
    }
    is_dispatched[number] = true;
    return 0;
}

void mpix_ranks_signals_begin(mpix_rank_t *rank)
{
    const struct sigaction like = {.sa_flags = SA_ONSTACK};

    rank->libc->actions = calloc(SIGNALS, sizeof(*rank->libc->actions));
    if (NULL == rank->libc->actions) {
        mpix_ranks_refuse("no memory for signals");
    }
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); ++i) {
        if (!is_dispatched[fatal[i]]) {
            (void) dispatch_set(fatal[i], &like);
        }
    }
}

/** A stack for handlers, so that the line comes when the rank's own is full. */
void mpix_ranks_signals_enter(mpix_rank_t *rank)
{
    stack_t stack = {.ss_size = ALTERNATIVE_STACK}, before;

    if (0 == sigaltstack(NULL, &before) && (SS_DISABLE & before.ss_flags)) {
        stack.ss_sp = mmap(NULL, ALTERNATIVE_STACK, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (MAP_FAILED != stack.ss_sp) {
            (void) sigaltstack(&stack, NULL);
        }
    }
    atomic_store_explicit(&rank->libc->is_running, true, memory_order_release);
}

/** With the lock held: does a rank have a function for it? */
static bool is_needed(int number)
{
    for (int i = 0; i < mpix_ranks_count; ++i) {
        const action_t *action = action_of(&mpix_ranks_all[i], number);

        if (NULL != action && is_function(&action->action)) {
            return true;
        }
    }
    return is_fatal(number);
}

static int action_set(int number, const struct sigaction *action, struct sigaction *before)
{
    action_t *own = &mpix_ranks_self->libc->actions[number];
    struct sigaction process;
    int rc = 0;

    (void) pthread_mutex_lock(&lock);
    (void) MPIX_RANKS_NEXT(sigaction)(number, NULL, &process);
    if (NULL != before) {
        *before = NULL != action_of(mpix_ranks_self, number) ? own->action
                  : is_dispatched[number]                    ? process_actions[number]
                                                             : process;
    }
    if (NULL != action) {
        own->action = *action;
        /* Release: dispatch finds the action that goes with it. */
        atomic_store_explicit(&own->is_set, true, memory_order_release);
        if (is_needed(number)) {
            rc = dispatch_set(number, action);
        } else {
            rc = MPIX_RANKS_NEXT(sigaction)(number, action,
                                            is_dispatched[number] ? NULL
                                                                  : &process_actions[number]);
            is_dispatched[number] = is_dispatched[number] || 0 == rc;
        }
    }
    (void) pthread_mutex_unlock(&lock);
    return rc;
}

MPIX_RANKS_EXPORT int sigaction(int number, const struct sigaction *action,
                                struct sigaction *before)
{
    if (NULL == mpix_ranks_self || number <= 0 || number >= SIGNALS || SIGKILL == number
        || SIGSTOP == number || mpix_ranks_libc_is_child()) {
        return MPIX_RANKS_NEXT(sigaction)(number, action, before);
    }
    return action_set(number, action, before);
}

static sighandler_t signals_set(int number, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;

    if (SIG_ERR == handler) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return 0 == sigaction(number, &action, &before) ? before.sa_handler : SIG_ERR;
}

MPIX_RANKS_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return NULL == mpix_ranks_self ? MPIX_RANKS_NEXT(signal)(number, handler)
                                   : signals_set(number, handler, SA_RESTART);
}

MPIX_RANKS_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler);

sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return NULL == mpix_ranks_self ? MPIX_RANKS_NEXT(__sysv_signal)(number, handler)
                                   : signals_set(number, handler, SA_RESETHAND | SA_NODEFER);
}

MPIX_RANKS_EXPORT int kill(pid_t pid, int number)
{
    if (NULL != mpix_ranks_self && getpid() == pid && 0 != number) {
        return raise(number);
    }
    return MPIX_RANKS_NEXT(kill)(pid, number);
}
