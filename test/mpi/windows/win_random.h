/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The model of win_random: predefined types with their operations, written down independently of
 * MPI, and layouts of elements in memory, each with the datatype that describes it.
 */

#ifndef EPT_WIN_RANDOM_H
#define EPT_WIN_RANDOM_H

#include "ept.h"

enum {
    LAYOUT_MOST = 24, /* elements of a datatype */
    CELLS = 2         /* of an origin, at each target */
};

/** Operations of accumulates; bits of win_basic.ops. */
enum win_op {
    OP_REPLACE,
    OP_NO_OP,
    OP_SUM,
    OP_PROD,
    OP_MIN,
    OP_MAX,
    OP_LAND,
    OP_LOR,
    OP_LXOR,
    OP_BAND,
    OP_BOR,
    OP_BXOR,
    OP_MINLOC,
    OP_MAXLOC,
    NUM_OPS
};

/** A predefined type; or MIXED, four types in slots of 8 bytes, which only put and get have. */
struct win_basic {
    const char *name;
    MPI_Datatype type;
    int size;   /**< bytes that are significant */
    int extent; /**< bytes from one element to the next */
    unsigned ops;
    bool is_swap; /**< MPI_Compare_and_swap has it */
    bool is_mixed;
};

/** Where elements lie: element i at (i / per) * extent + at[i % per]. */
struct win_layout {
    MPI_Datatype type;
    bool is_own;      /**< to be freed */
    int count;        /**< of the type */
    int per;          /**< elements of the type */
    ptrdiff_t extent; /**< bytes */
    ptrdiff_t at[LAYOUT_MOST];
    ptrdiff_t low, high; /**< bytes that elements occupy, from the address that MPI is given */
};

int win_num_basics(void);
const struct win_basic *win_basic(int i);

MPI_Op win_op(enum win_op op);

/** One of the basic's operations by chance, except OP_NO_OP; commuting: also except OP_REPLACE. */
enum win_op win_op_draw(const struct win_basic *basic, bool commuting, uint64_t *random);

/** Writes an element: small numbers, so that floating point is exact in any order. */
void win_value(const struct win_basic *basic, enum win_op op, uint64_t key, void *element);

/** target = target op origin, of one element. */
void win_apply(const struct win_basic *basic, enum win_op op, const void *origin, void *target);

/** @return significant bytes of element i */
int win_size(const struct win_basic *basic, int i);

/** Draws a number of elements that layouts of at most bytes can hold. */
int win_elements_draw(const struct win_basic *basic, size_t bytes, uint64_t *random);

/**
 * Draws a layout of n elements that occupies at most bytes; makes no datatype.
 *
 * @param[out] kind_p  for win_layout_commit
 */
void win_layout_draw(const struct win_basic *basic, int n, size_t bytes, uint64_t *random,
                     struct win_layout *layout, int *kind_p);

/** Makes the datatype of a layout, which win_layout_free frees. */
void win_layout_commit(struct ept *t, const struct win_basic *basic, int kind,
                       struct win_layout *layout);
void win_layout_free(struct win_layout *layout);

static inline ptrdiff_t win_layout_at(const struct win_layout *layout, int i)
{
    return (ptrdiff_t) (i / layout->per) * layout->extent + layout->at[i % layout->per];
}

/* ---- win_random_access.c: single calls -------------------------------------------------------- */

/** Calls. */
enum win_kind { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP };

enum win_side { ORIGIN, TARGET, RESULT, SIDES };

/** One call. */
struct win_access {
    struct win_access *next;
    enum win_kind kind;
    const struct win_basic *basic;
    enum win_op op;
    int n;     /**< elements */
    int times; /**< that it is issued */
    struct win_layout layout[SIDES];
    int layout_kind[SIDES];
    size_t cell_at;  /**< in the target's part */
    size_t offset;   /**< of the target's address, in the cell */
    uint64_t key;    /**< of the origin's values */
    bool is_request; /**< the form that returns a request */
    bool is_hit;     /**< of a swap: the value is compared with the one that is there */
    bool is_bare;    /**< MPI_NO_OP without an origin buffer */
    bool is_common;  /**< others change the cell meanwhile: what is fetched is not known */

    /* of my own */
    struct ept_buffer buffer[SIDES]; /**< not of TARGET */
    unsigned char *device[SIDES];    /**< in its place for MPI, in device memory; or NULL */
    unsigned char *expected;         /**< of the result's buffer */
    unsigned char compare[16];
    MPI_Request request;
};

struct win_run;

/** Is it the cell in which all origins accumulate? */
bool win_cell_is_common(const struct win_run *run, int cell);
uint64_t win_cell_key(const struct win_run *run, int target, int cell);
const struct win_basic *win_cell_basic(const struct win_run *run, int target, int cell);

/** Draws a call of a kind on a cell. */
void win_access_draw(const struct win_run *run, int target, int cell, enum win_kind kind,
                     enum win_op op, struct win_access *access, uint64_t *random);

/**
 * Applies an access to the cell, and to what is expected in the result's buffer.
 *
 * @param[out] result  the address that MPI is given for the result, or NULL
 */
void win_access_apply(struct win_access *access, unsigned char *cell, unsigned char *result);

/** Issues an access, and keeps it until it is checked; cell is the model, which has it afterwards. */
void win_access_issue(struct win_run *run, int target, const struct win_access *drawn,
                      unsigned char *cell, uint64_t *random);

/** All requests of accesses are complete. */
void win_access_wait(struct win_run *run);

/** Checks the results of all accesses, which are complete, and frees them. */
void win_access_check(struct win_run *run);

/** The displacement that MPI is given for an offset in a target's part. */
MPI_Aint win_displacement(const struct win_run *run, int target, size_t offset);

/* ---- win_random_ops.c: the operations of a phase ---------------------------------------------- */

struct win_words;

/** A window; its operations under way; and the model of my own part. */
struct win_run {
    struct ept *t;
    MPI_Comm comm;
    MPI_Win win;
    int rank, size;
    int *unit;         /**< by rank: bytes of a displacement */
    MPI_Aint *base;    /**< by rank: address in a dynamic window; else NULL */
    size_t cell;       /**< bytes of a cell; a multiple of 64 */
    size_t part_bytes; /**< of each member's part */
    unsigned char *model;
    unsigned char *scratch; /**< the model of a cell elsewhere */
    uint64_t key;           /**< of the phase */
    bool is_passive;
    struct win_access *pending; /**< list, the latest one first */
    struct win_words *words;    /**< by target */
    unsigned char *device;      /**< memory of a device, for buffers; or NULL */
    size_t device_used;         /**< bytes of it */
};

/** Bytes of a rank's device memory for buffers of operations. */
#define WIN_DEVICE_BYTES ((size_t) 6 << 20)

/** @param[in] device  of WIN_DEVICE_BYTES; or NULL */
void win_run_init(struct win_run *run, struct ept *t, MPI_Comm comm, size_t cell, bool is_dynamic,
                  unsigned char *device);
void win_run_end(struct win_run *run);

/** Begins a phase; sets the model to what win_ops_fill writes. */
void win_ops_begin(struct win_run *run, uint64_t key, bool is_passive);
void win_ops_fill(const struct win_run *run, unsigned char *part);

/** My operations at a target, inside of an epoch. */
void win_ops_issue(struct win_run *run, int target);

/** The operations of an origin at me, on the model. */
void win_ops_apply(struct win_run *run, int origin);

/** After the epoch, on all ranks: compares all results, and my part with the model. */
void win_ops_check(struct win_run *run, unsigned char *part, int phase, const char *epoch);

#endif /* EPT_WIN_RANDOM_H */
