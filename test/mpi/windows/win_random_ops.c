/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * win_random: the operations of a phase.
 *
 * A part, by offset: CELLS cells for each origin; the common cell; the counter and the word.
 */

#include "win_random.h"

enum {
    STEPS_MOST = 3,    /* on a cell, with a flush after each */
    TIMES_LEAST = 128, /* that a call on the common cell is repeated; at most 16 times as often */
    TIMES_ELEMENTS = 40000, /* that all of these have together, at most */
    COUNTS_MOST = 30,       /* additions to a counter */
    WORDS_BYTES = 64,       /* of the counter and the word, at the end of a part */
    WORD_AT = 8             /* of the word, behind the counter */
};

/** What this rank has called on a target's counter and word. */
struct win_words {
    int64_t one, first, mine; /**< added; compared; swapped in */
    int64_t fetched[COUNTS_MOST];
    int64_t found; /**< by the swap */
};

/* ---- where things are ------------------------------------------------------------------------- */

static size_t common_at(const struct win_run *run)
{
    return (size_t) run->size * CELLS * run->cell;
}

static size_t words_at(const struct win_run *run)
{
    return common_at(run) + run->cell;
}

static int num_cells(const struct win_run *run)
{
    return run->size * CELLS + 1;
}

static void cell_fill(const struct win_run *run, int target, int cell, unsigned char *memory)
{
    const struct win_basic *basic = win_cell_basic(run, target, cell);
    const uint64_t key = win_cell_key(run, target, cell);

    for (size_t at = 0; at < run->cell; at += (size_t) basic->extent) {
        win_value(basic, OP_REPLACE, key + at, memory + at);
    }
}

static int64_t counter_first(const struct win_run *run, int target)
{
    return (int64_t) (ept_mix(run->key, (uint64_t) target, 9, 9) >> 8);
}

/** What a swap of the word leaves, other than its first value. */
static int64_t word_value(const struct win_run *run, int target, int origin)
{
    return counter_first(run, target) + 1 + origin;
}

static int counts(const struct win_run *run, int origin, int target)
{
    return 1 + (int) (ept_mix(run->key, (uint64_t) origin, (uint64_t) target, 6) % COUNTS_MOST);
}

/* ---- steps ------------------------------------------------------------------------------------- */

static void flush(struct win_run *run, int target, uint64_t *random)
{
    struct ept *t = run->t;

    win_access_wait(run);
    switch (ept_random_below(random, 4)) {
    case 0:
        EPT_OK(t, MPI_Win_flush_all(run->win));
        break;
    case 1:
        EPT_OK(t, MPI_Win_flush_local(target, run->win));
        EPT_OK(t, MPI_Win_flush(target, run->win));
        break;
    case 2:
        EPT_OK(t, MPI_Win_flush_local_all(run->win));
        EPT_OK(t, MPI_Win_flush(target, run->win));
        break;
    default:
        EPT_OK(t, MPI_Win_flush(target, run->win));
    }
}

/** The calls of a step: those of an origin on one cell that do not conflict. */
struct step {
    enum win_kind kind; /**< of the only call; ACCUMULATE and COMPARE_AND_SWAP: of all */
    enum win_op op;
    int calls;
};

static struct step step_draw(const struct win_run *run, int target, int cell, uint64_t *random)
{
    const struct win_basic *basic = win_cell_basic(run, target, cell);
    struct step step = {.kind = (enum win_kind) ept_random_below(random, 4), .calls = 1};
    uint64_t common = win_cell_key(run, target, cell) + 1;

    if (win_cell_is_common(run, cell)) {
        step.kind = ACCUMULATE;
        step.op = win_op_draw(basic, true, &common); /* the same of all origins */
    } else if (basic->is_mixed) {
        step.kind = step.kind % 2;
    } else if (GET_ACCUMULATE == step.kind) {
        step.kind = basic->is_swap ? COMPARE_AND_SWAP : ACCUMULATE;
    }
    if (ACCUMULATE == step.kind && !win_cell_is_common(run, cell)) {
        step.op = win_op_draw(basic, false, random);
    }
    if (ACCUMULATE <= step.kind) {
        step.calls = 1 + (int) ept_random_below(random, 3);
    }
    return step;
}

/** How often a call is issued: calls of several origins on the common cell have to meet.  Sums of
 * small types would overflow. */
static int times_draw(const struct win_access *access, uint64_t *random)
{
    const int times = TIMES_LEAST << ept_random_below(random, 5);

    if (!access->is_common || ACCUMULATE != access->kind || 2 >= access->basic->size
        || access->is_request) {
        return 1;
    }
    return times * access->n <= TIMES_ELEMENTS ? times : 1 + TIMES_ELEMENTS / 4 / access->n;
}

/** The next call of a step. */
static void call_draw(const struct win_run *run, int target, int cell, const struct step *step,
                      struct win_access *access, uint64_t *random)
{
    enum win_kind kind = step->kind;
    enum win_op op = step->op;

    if (ACCUMULATE == kind) {
        kind = (enum win_kind)(ACCUMULATE + ept_random_below(random, 3));
        if (ACCUMULATE != kind && 0 == ept_random_below(random, 4)) {
            op = OP_NO_OP;
        }
    }
    win_access_draw(run, target, cell, kind, op, access, random);
}

/**
 * All that an origin does to a cell in the phase: the same draws for the origin, which issues it
 * (mine is the stream of its further choices), and for the target (mine is NULL).
 *
 * @param[in,out] memory  the model of the cell
 */
static void cell_run(struct win_run *run, int origin, int target, int cell, unsigned char *memory,
                     uint64_t *mine)
{
    uint64_t random = ept_mix(win_cell_key(run, target, cell), (uint64_t) origin, 5, 5);
    const int steps = run->is_passive && !win_cell_is_common(run, cell)
                          ? 1 + (int) ept_random_below(&random, STEPS_MOST)
                          : 1;

    for (int i = 0; i < steps; ++i) {
        const struct step step = step_draw(run, target, cell, &random);

        for (int call = 0; call < step.calls; ++call) {
            struct win_access access;

            call_draw(run, target, cell, &step, &access, &random);
            access.times = times_draw(&access, &random);
            if (NULL != mine) {
                win_access_issue(run, target, &access, memory, mine);
                continue;
            }
            for (int time = 0; time < access.times; ++time) {
                win_access_apply(&access, memory, NULL);
            }
        }
        if (NULL != mine && i + 1 < steps) {
            flush(run, target, mine);
        }
    }
}

/** Adds to the counter of a target and swaps its word; what comes back is kept. */
static void words_issue(struct win_run *run, int target)
{
    struct ept *t = run->t;
    struct win_words *words = &run->words[target];
    const MPI_Aint counter = win_displacement(run, target, words_at(run));
    const MPI_Aint word = win_displacement(run, target, words_at(run) + WORD_AT);
    const int times = counts(run, run->rank, target);

    *words = (struct win_words){.one = 1,
                                .first = counter_first(run, target),
                                .mine = word_value(run, target, run->rank)};
    for (int i = 0; i < times; ++i) {
        EPT_OK(t, MPI_Fetch_and_op(&words->one, &words->fetched[i], MPI_INT64_T, target, counter,
                                   MPI_SUM, run->win));
    }
    EPT_OK(t, MPI_Compare_and_swap(&words->mine, &words->first, &words->found, MPI_INT64_T, target,
                                   word, run->win));
}

void win_ops_issue(struct win_run *run, int target)
{
    uint64_t mine = ept_mix(run->key, (uint64_t) run->rank, (uint64_t) target, 8);
    const int first = run->rank * CELLS;

    words_issue(run, target);
    for (int i = 0; i <= CELLS; ++i) { /* the common one first: others may come to it as well */
        const int cell = 0 < i ? first + i - 1 : run->size * CELLS;

        cell_fill(run, target, cell, run->scratch);
        cell_run(run, run->rank, target, cell, run->scratch, &mine);
    }
    if (0 == ept_random_below(&mine, 8)) {
        EPT_OK(run->t, MPI_Put(run->scratch, 8, MPI_BYTE, MPI_PROC_NULL, 0, 8, MPI_BYTE, run->win));
    }
    win_access_wait(run);
}

void win_ops_apply(struct win_run *run, int origin)
{
    for (int i = 0; i <= CELLS; ++i) {
        const int cell = i < CELLS ? origin * CELLS + i : run->size * CELLS;

        cell_run(run, origin, run->rank, cell, run->model + (size_t) cell * run->cell, NULL);
    }
}

/* ---- phases ----------------------------------------------------------------------------------- */

void win_ops_begin(struct win_run *run, uint64_t key, bool is_passive)
{
    run->key = key;
    run->is_passive = is_passive;
    win_ops_fill(run, run->model);
    memset(run->words, 0, (size_t) run->size * sizeof(*run->words));
}

void win_ops_fill(const struct win_run *run, unsigned char *part)
{
    const int64_t first = counter_first(run, run->rank);

    for (int cell = 0; cell < num_cells(run); ++cell) {
        cell_fill(run, run->rank, cell, part + (size_t) cell * run->cell);
    }
    memset(part + words_at(run), 0, WORDS_BYTES);
    memcpy(part + words_at(run), &first, sizeof(first));
    memcpy(part + words_at(run) + WORD_AT, &first, sizeof(first));
}

/** What all ranks have fetched of a target's counter and word, added up. */
enum sum { ADDED, FETCHED, SWAPS, WINNERS, WINNER, SUMS };

/** Some number that different values are unlikely to share a sum of. */
static uint64_t print(int64_t value)
{
    return ept_mix((uint64_t) value, 1, 1, 1);
}

static void words_sum(struct win_run *run, uint64_t (*sums)[SUMS])
{
    memset(sums, 0, (size_t) run->size * sizeof(*sums));
    for (int target = 0; target < run->size; ++target) {
        const struct win_words *words = &run->words[target];

        if (0 == words->one) {
            continue; /* it was no target of mine */
        }
        for (int i = 0; i < counts(run, run->rank, target); ++i) {
            sums[target][FETCHED] += print(words->fetched[i]);
            ++sums[target][ADDED];
        }
        ++sums[target][SWAPS];
        if (words->found == words->first) {
            ++sums[target][WINNERS];
            sums[target][WINNER] += (uint64_t) words->mine;
        }
    }
    EPT_OK(run->t,
           MPI_Allreduce(MPI_IN_PLACE, sums, run->size * SUMS, MPI_UINT64_T, MPI_SUM, run->comm));
}

/**
 * Each value of a counter was fetched once; one swap of a word has found its first value, and all
 * others what that one has left.  Sets the model of my own words.
 */
static void words_check(struct win_run *run)
{
    struct ept *t = run->t;
    uint64_t(*sums)[SUMS] = malloc((size_t) run->size * sizeof(*sums));

    words_sum(run, sums);
    for (int target = 0; target < run->size; ++target) {
        const struct win_words *words = &run->words[target];
        const int64_t first = counter_first(run, target);
        uint64_t expected = 0;

        for (uint64_t i = 0; i < sums[target][ADDED]; ++i) {
            expected += print(first + (int64_t) i);
        }
        EPT_CHECK(t, expected == sums[target][FETCHED], "values of a counter are missing");
        EPT_EQ(t, 0 < sums[target][SWAPS] ? 1 : 0, sums[target][WINNERS]);
        if (0 != words->one && words->found != first) {
            EPT_EQ(t, sums[target][WINNER], words->found);
        }
    }
    for (int i = 0; i < 2; ++i) {
        int64_t last = counter_first(run, run->rank) + (int64_t) sums[run->rank][ADDED];

        if (1 == i) {
            last = 0 < sums[run->rank][SWAPS] ? (int64_t) sums[run->rank][WINNER]
                                              : counter_first(run, run->rank);
        }
        memcpy(run->model + words_at(run) + i * WORD_AT, &last, sizeof(last));
    }
    free(sums);
}

/** Compares my part with the model. */
static void part_check(struct win_run *run, const unsigned char *part, int phase, const char *epoch)
{
    for (int cell = 0; cell <= num_cells(run); ++cell) {
        const bool is_cell = cell < num_cells(run);
        const size_t start = (size_t) cell * run->cell;
        const struct win_basic *basic = is_cell ? win_cell_basic(run, run->rank, cell)
                                                : win_basic(6);
        size_t wrong = 0;

        for (size_t i = 0; i < (is_cell ? run->cell : WORDS_BYTES); ++i) {
            const bool is_gap = (int) (i % (size_t) basic->extent) >= basic->size;

            if (!is_gap && part[start + i] != run->model[start + i] && 1 == ++wrong) {
                EPT_CHECK(run->t, false,
                          "phase %d, %s, cell %d of %d, %s: byte %zu is %02x, not %02x", phase,
                          epoch, cell, num_cells(run), basic->name, i, part[start + i],
                          run->model[start + i]);
            }
        }
        EPT_EQ(run->t, 0, wrong);
    }
}

void win_ops_check(struct win_run *run, unsigned char *part, int phase, const char *epoch)
{
    win_access_check(run);
    words_check(run);
    part_check(run, part, phase, epoch);
}

/* ---- windows ---------------------------------------------------------------------------------- */

void win_run_init(struct win_run *run, struct ept *t, MPI_Comm comm, size_t cell, bool is_dynamic,
                  unsigned char *device)
{
    *run = (struct win_run){
        .t = t, .comm = comm, .win = MPI_WIN_NULL, .cell = cell, .device = device};
    MPI_Comm_rank(comm, &run->rank);
    MPI_Comm_size(comm, &run->size);
    run->part_bytes = words_at(run) + WORDS_BYTES;
    run->model = malloc(run->part_bytes);
    run->scratch = malloc(cell);
    run->unit = malloc((size_t) run->size * sizeof(*run->unit));
    run->words = calloc((size_t) run->size, sizeof(*run->words));
    for (int rank = 0; rank < run->size; ++rank) {
        run->unit[rank] = is_dynamic ? 1 : 1 << ept_mix(t->seed, (uint64_t) rank, cell, 1) % 4;
    }
    if (is_dynamic) {
        run->base = malloc((size_t) run->size * sizeof(*run->base));
    }
}

void win_run_end(struct win_run *run)
{
    free(run->base);
    free(run->words);
    free(run->unit);
    free(run->scratch);
    free(run->model);
}
