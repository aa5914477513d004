/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * getopt, getopt_long and getopt_long_only with a state for each rank.  They do what glibc's do, by
 * its documentation and by comparison with it (test/ranks/getopt.c); the variables are the rank's.
 *
 * Arguments that are no options are moved behind the options (GETOPT_PERMUTE): those that were passed
 * over lie at [skipped_from, skipped_to) of argv, and change places with the options behind them.
 *
 * Tests: ranks_getopt, ranks_basic, ranks_farm
 */

#define _GNU_SOURCE

#include "state.h"

#include <getopt.h>
#include <string.h>

/** A call: its arguments, and what it has found out. */
typedef struct call_t {
    mpix_ranks_getopt_t *state;
    int argc;
    char **argv;
    const char *letters; /**< the short options, without + and - */
    const struct option *names;
    int *index;
    bool is_only; /**< a name may have one dash */
    bool is_silent;
    int missing; /**< what is returned for an argument that is missing */
} call_t;

/* The stream is the rank's.  Texts are glibc's. */
#define COMPLAIN(call, ...)                             \
    do {                                                \
        if (!(call)->is_silent) {                       \
            (void) fprintf(stderr, "%s: " __VA_ARGS__); \
        }                                               \
    } while (0)

static bool is_option(const char *argument)
{
    return '-' == argument[0] && '\0' != argument[1];
}

static void getopt_reverse(char **argv, int from, int to)
{
    for (--to; from < to; ++from, --to) {
        char *other = argv[from];

        argv[from] = argv[to];
        argv[to] = other;
    }
}

/** The options behind the arguments that were passed over come before them. */
static void getopt_exchange(const call_t *call)
{
    mpix_ranks_getopt_t *state = call->state;
    const int options = *state->optind - state->skipped_to;

    getopt_reverse(call->argv, state->skipped_from, state->skipped_to);
    getopt_reverse(call->argv, state->skipped_to, *state->optind);
    getopt_reverse(call->argv, state->skipped_from, *state->optind);
    state->skipped_from += options;
    state->skipped_to += options;
}

static void skipped_update(const call_t *call)
{
    mpix_ranks_getopt_t *state = call->state;

    if (state->skipped_from == state->skipped_to) {
        state->skipped_from = *state->optind;
    } else if (state->skipped_to != *state->optind) {
        getopt_exchange(call);
    }
}

static int long_found(call_t *call, const char *prefix, int found, char *end)
{
    mpix_ranks_getopt_t *state = call->state;
    const struct option *name = &call->names[found];

    ++*state->optind;
    state->next = NULL;
    if ('\0' != *end) {
        if (no_argument == name->has_arg) {
            COMPLAIN(call, "option '%s%s' doesn't allow an argument\n", call->argv[0], prefix,
                     name->name);
            *state->optopt = name->val;
            return '?';
        }
        *state->optarg = end + 1;
    } else if (required_argument == name->has_arg) {
        if (*state->optind >= call->argc) {
            COMPLAIN(call, "option '%s%s' requires an argument\n", call->argv[0], prefix,
                     name->name);
            *state->optopt = name->val;
            return call->missing;
        }
        *state->optarg = call->argv[(*state->optind)++];
    }
    if (NULL != call->index) {
        *call->index = found;
    }
    if (NULL != name->flag) {
        *name->flag = name->val;
        return 0;
    }
    return name->val;
}

static bool getopt_differ(const struct option *one, const struct option *other)
{
    return one->has_arg != other->has_arg || one->flag != other->flag || one->val != other->val;
}

/** Of two names that begin so, neither is meant: list them, in one piece. */
static int getopt_ambiguous(call_t *call, const char *prefix, int first, size_t length)
{
    mpix_ranks_getopt_t *state = call->state;
    const struct option *names = call->names;

    if (!call->is_silent) {
        flockfile(stderr);
        (void) fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:", call->argv[0],
                       prefix, state->next);
        for (int i = first; NULL != names[i].name; ++i) {
            if (0 == strncmp(names[i].name, state->next, length)
                && (i == first || call->is_only || getopt_differ(&names[first], &names[i]))) {
                (void) fprintf(stderr, " '%s%s'", prefix, names[i].name);
            }
        }
        (void) fprintf(stderr, "\n");
        funlockfile(stderr);
    }
    state->next += strlen(state->next);
    ++*state->optind;
    *state->optopt = 0;
    return '?';
}

/** state->next is a name, perhaps with "=" and a value, perhaps only the beginning of one.
 * @return -1: it is none, but may be short options */
static int long_option(call_t *call, const char *prefix)
{
    mpix_ranks_getopt_t *state = call->state;
    char *end = strchrnul(state->next, '=');
    const size_t length = (size_t) (end - state->next);
    int found = -1;
    bool is_ambiguous = false;

    for (int i = 0; NULL != call->names[i].name; ++i) {
        if (0 != strncmp(call->names[i].name, state->next, length)) {
            continue;
        }
        if (strlen(call->names[i].name) == length) {
            return long_found(call, prefix, i, end);
        }
        if (found < 0) {
            found = i;
        } else if (call->is_only || getopt_differ(&call->names[found], &call->names[i])) {
            is_ambiguous = true;
        }
    }
    if (is_ambiguous) {
        return getopt_ambiguous(call, prefix, found, length);
    }
    if (found >= 0) {
        return long_found(call, prefix, found, end);
    }
    if (call->is_only && '-' != call->argv[*state->optind][1]
        && NULL != strchr(call->letters, *state->next)) {
        return -1;
    }
    COMPLAIN(call, "unrecognized option '%s%s'\n", call->argv[0], prefix, state->next);
    state->next = NULL;
    ++*state->optind;
    *state->optopt = 0;
    return '?';
}

/** A short option's argument: the rest of its own, or, if it must have one, the next. */
static bool argument_take(call_t *call, bool is_optional)
{
    mpix_ranks_getopt_t *state = call->state;

    if ('\0' != *state->next) {
        *state->optarg = state->next;
        ++*state->optind;
    } else if (is_optional) {
        *state->optarg = NULL;
    } else if (*state->optind == call->argc) {
        return false;
    } else {
        *state->optarg = call->argv[(*state->optind)++];
    }
    state->next = NULL;
    return true;
}

static int getopt_missing(call_t *call, char letter)
{
    COMPLAIN(call, "option requires an argument -- '%c'\n", call->argv[0], letter);
    *call->state->optopt = letter;
    call->state->next = NULL;
    return call->missing;
}

/** "W;" among the letters: -W name is --name. */
static int by_w(call_t *call)
{
    mpix_ranks_getopt_t *state = call->state;

    if ('\0' == *state->next) {
        if (*state->optind == call->argc) {
            return getopt_missing(call, 'W');
        }
        state->next = call->argv[*state->optind];
    }
    *state->optarg = NULL;
    call->is_only = false;
    return long_option(call, "-W ");
}

static int short_option(call_t *call)
{
    mpix_ranks_getopt_t *state = call->state;
    const char letter = *state->next++;
    const char *at = ':' == letter || ';' == letter ? NULL : strchr(call->letters, letter);

    if ('\0' == *state->next) {
        ++*state->optind;
    }
    if (NULL == at) {
        COMPLAIN(call, "invalid option -- '%c'\n", call->argv[0], letter);
        *state->optopt = letter;
        return '?';
    }
    if ('W' == at[0] && ';' == at[1] && NULL != call->names) {
        return by_w(call);
    }
    if (':' == at[1] && !argument_take(call, ':' == at[2])) {
        return getopt_missing(call, letter);
    }
    return letter;
}

/** Go on to the next argument that is an option.
 * @return whether there is one; otherwise *result is what the call returns */
static bool next_argument(const call_t *call, int *result)
{
    mpix_ranks_getopt_t *state = call->state;
    int *optind = state->optind;

    /* The program may have set optind back. */
    state->skipped_to = state->skipped_to > *optind ? *optind : state->skipped_to;
    state->skipped_from = state->skipped_from > *optind ? *optind : state->skipped_from;
    if (GETOPT_PERMUTE == state->order) {
        skipped_update(call);
        while (*optind < call->argc && !is_option(call->argv[*optind])) {
            ++*optind;
        }
        state->skipped_to = *optind;
    }
    if (*optind < call->argc && 0 == strcmp(call->argv[*optind], "--")) {
        ++*optind;
        skipped_update(call);
        state->skipped_to = call->argc;
        *optind = call->argc;
    }
    if (*optind >= call->argc) {
        if (state->skipped_from != state->skipped_to) {
            *optind = state->skipped_from;
        }
        *result = -1;
        return false;
    }
    if (is_option(call->argv[*optind])) {
        return true;
    }
    *result = GETOPT_STOP == state->order ? -1 : 1;
    if (GETOPT_IN_ORDER == state->order) {
        *state->optarg = call->argv[(*optind)++];
    }
    return false;
}

static void state_begin(mpix_ranks_getopt_t *state, const char *letters, bool is_posix)
{
    if (0 == *state->optind) {
        *state->optind = 1;
    }
    state->skipped_from = state->skipped_to = *state->optind;
    state->next = NULL;
    state->order = '-' == letters[0] ? GETOPT_IN_ORDER
                   : '+' == letters[0] || is_posix || NULL != getenv("POSIXLY_CORRECT")
                       ? GETOPT_STOP
                       : GETOPT_PERMUTE;
    state->has_begun = true;
}

static int next_option(call_t call, bool is_posix)
{
    mpix_ranks_getopt_t *state = call.state;
    int result = -1;

    if (call.argc < 1) {
        return -1;
    }
    *state->optarg = NULL;
    if (0 == *state->optind || !state->has_begun) {
        state_begin(state, call.letters, is_posix);
    }
    if ('-' == call.letters[0] || '+' == call.letters[0]) {
        ++call.letters;
    }
    call.is_silent = 0 == *state->opterr || ':' == call.letters[0];
    call.missing = ':' == call.letters[0] ? ':' : '?';
    if (NULL == state->next || '\0' == *state->next) {
        char *argument;

        if (!next_argument(&call, &result)) {
            return result;
        }
        argument = call.argv[*state->optind];
        state->next = argument + 1;
        if (NULL != call.names && '-' == argument[1]) {
            ++state->next;
            return long_option(&call, "--");
        }
        if (NULL != call.names && call.is_only
            && ('\0' != argument[2] || NULL == strchr(call.letters, argument[1]))) {
            result = long_option(&call, "-");
            if (-1 != result) {
                return result;
            }
            state->next = argument + 1;
        }
    }
    return short_option(&call);
}

void mpix_ranks_getopt_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable)
{
    mpix_ranks_getopt_t *state = &rank->libc->getopt;

    state->own_optind = state->own_opterr = 1;
    state->own_optopt = '?';
    state->optind = variable(rank, "optind");
    state->opterr = variable(rank, "opterr");
    state->optopt = variable(rank, "optopt");
    state->optarg = variable(rank, "optarg");
    state->optind = NULL != state->optind ? state->optind : &state->own_optind;
    state->opterr = NULL != state->opterr ? state->opterr : &state->own_opterr;
    state->optopt = NULL != state->optopt ? state->optopt : &state->own_optopt;
    state->optarg = NULL != state->optarg ? state->optarg : &state->own_optarg;
}

/** In a thread of a rank.  argv is const in POSIX's interface, and permuted all the same in
 * glibc's. */
static int of_rank(int argc, char *const argv[], const char *letters, const struct option *names,
                   int *index, bool is_only, bool is_posix)
{
    const call_t call = {.state = &mpix_ranks_self->libc->getopt,
                         .argc = argc,
                         .argv = (char **) argv,
                         .letters = letters,
                         .names = names,
                         .index = index,
                         .is_only = is_only};

    return next_option(call, is_posix);
}

MPIX_RANKS_EXPORT int getopt(int argc, char *const argv[], const char *letters)
{
    return NULL == mpix_ranks_self ? MPIX_RANKS_NEXT(getopt)(argc, argv, letters)
                                   : of_rank(argc, argv, letters, NULL, NULL, false, false);
}

MPIX_RANKS_EXPORT int __posix_getopt(int argc, char *const argv[], const char *letters);

int __posix_getopt(int argc, char *const argv[], const char *letters)
{
    return NULL == mpix_ranks_self ? MPIX_RANKS_NEXT(__posix_getopt)(argc, argv, letters)
                                   : of_rank(argc, argv, letters, NULL, NULL, false, true);
}

MPIX_RANKS_EXPORT int getopt_long(int argc, char *const argv[], const char *letters,
                                  const struct option *names, int *index)
{
    return NULL == mpix_ranks_self ? MPIX_RANKS_NEXT(getopt_long)(argc, argv, letters, names, index)
                                   : of_rank(argc, argv, letters, names, index, false, false);
}

MPIX_RANKS_EXPORT int getopt_long_only(int argc, char *const argv[], const char *letters,
                                       const struct option *names, int *index)
{
    return NULL == mpix_ranks_self
               ? MPIX_RANKS_NEXT(getopt_long_only)(argc, argv, letters, names, index)
               : of_rank(argc, argv, letters, names, index, true, false);
}
