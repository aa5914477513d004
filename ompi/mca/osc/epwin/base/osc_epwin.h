/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * osc/epwin: windows on communicators of endpoints.  The objects:
 *
 *     component  parameters, and the engine's interface
 *     window     shared by the handles of a process: the table of peers (mca_osc_epwin_window_t)
 *     control    control words of one member, in memory that all members of its domain map
 *     module     one per window handle: the epoch state, and the messages under way
 *
 * A *domain* is a set of members that share control memory: the members of a node, or, where the
 * node's memory is not complete, those of a process.  Within a domain, synchronization uses the
 * control words directly.  Between domains it uses active messages, whose handler at the target
 * performs the same operations on the same words.
 *
 * Data are accessed directly where the target's memory is mapped (EPWIN_WAY_DIRECT), otherwise by
 * active messages.  Device memory (GPUs) is copied by Open MPI's accelerator component, in the process
 * that has it (target/osc_epwin_device_memory.h).  All atomic operations on a target's memory are executed by CPUs of its node, by
 * the same functions (target/), so operations of all ways are atomic with each other.
 *
 * Tests: win_flush
 */

#ifndef MCA_OSC_EPWIN_H
#define MCA_OSC_EPWIN_H

#include "ompi_config.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi.h"
#include "osc_epwin_compat.h"
#include "osc_epwin_handle_lock.h"
#include "osc_epwin_lock.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/common/ep/common_ep_engine.h"
#include "ompi/op/op.h"
#include "ompi/win/win.h"
#include "opal/prefetch.h"

BEGIN_C_DECLS

#define EPWIN_LINE 64

typedef struct mca_osc_epwin_component_t {
    ompi_osc_base_component_t super;
    const mpix_endpoints_engine_t *engine; /**< NULL: pml/epml is not selected */
    int client;                            /**< our number as its client */
    bool has_accelerator;                  /**< there may be device memory */

    /* parameters */
    int priority;
    size_t pending_limit; /**< bytes of messages under way to a target */
    size_t copy_limit;    /**< least bytes that the kernel copies between processes; 0: never */
    size_t rendezvous_limit;  /**< least bytes that go by a message of their own; 0: never */
    size_t progress_interval; /**< microseconds between polls of the progress thread; 0: none */
} mca_osc_epwin_component_t;

OMPI_DECLSPEC extern mca_osc_epwin_component_t mca_osc_epwin_component;

/** Keys of memory that is got from the engine for a duplicate. */
enum {
    EPWIN_KEY_WINDOW,  /**< mca_osc_epwin_window_t, of the process */
    EPWIN_KEY_CONTROL, /**< of the domain */
    EPWIN_KEY_DATA     /**< of allocated and shared windows */
};

/* ---- control memory --------------------------------------------------------------------------- */

/** Control words of one member, each group of writers on a line of its own. */
typedef struct mca_osc_epwin_control_t {
    mca_osc_epwin_lock_t lock; /**< of MPI_Win_lock; written by origins */
    /** Accumulates that no atomic instruction performs: 0, or the holder's rank + 1. */
    alignas(EPWIN_LINE) _Atomic uint32_t accumulate;
    /** Calls of MPI_Win_complete of origins for this target; only grows. */
    alignas(EPWIN_LINE) _Atomic uint64_t completed;
} mca_osc_epwin_control_t;

_Static_assert(3 * EPWIN_LINE == sizeof(mca_osc_epwin_control_t), "three lines");

/** Control memory of a domain.  Behind the controls, by slot: the *post* rows, one per member, of
 * a bit per rank of the window.  Bit t of the row of an origin: target t has called MPI_Win_post
 * for it, and it has not called MPI_Win_start since. */
typedef struct mca_osc_epwin_domain_t {
    mca_osc_epwin_lock_t lock; /**< MPI_Win_lock_all against exclusive locks of its members */
    mca_osc_epwin_control_t control[];
} mca_osc_epwin_domain_t;

/* ---- the table of peers ----------------------------------------------------------------------- */

typedef enum mca_osc_epwin_way_t {
    EPWIN_WAY_DIRECT, /**< its memory is mapped here, at base */
    EPWIN_WAY_DEVICE, /**< a created window of this process in device memory, at base */
    /* by messages, from here on */
    EPWIN_WAY_MESSAGE, /**< active messages */
    EPWIN_WAY_COPY     /**< likewise, but the kernel copies long data without gaps */
} mca_osc_epwin_way_t;

/** A member, as this process reaches it.  Constant once the window exists. */
typedef struct mca_osc_epwin_peer_t {
    char *base;    /**< EPWIN_WAY_DIRECT: address here, NULL for a dynamic window; EPWIN_WAY_DEVICE:
                    * address of the device; EPWIN_WAY_COPY:
                    * address there, for a dynamic window of the list of what is attached;
                    * otherwise NULL */
    uint64_t size; /**< bytes; UINT64_MAX for a dynamic window */
    uint64_t unit; /**< bytes of a displacement unit */
    uint32_t domain;    /**< number of its domain, the same at all members */
    uint32_t slot : 30; /**< of its control in its domain */
    uint32_t way : 2;   /**< mca_osc_epwin_way_t */
} mca_osc_epwin_peer_t;

_Static_assert(32 == sizeof(mca_osc_epwin_peer_t), "what a member costs in each process");

struct mca_osc_epwin_regions_t; /* osc_epwin_regions.c */

/** Shared by the handles of a process; in the engine's memory of the process. */
typedef struct mca_osc_epwin_window_t {
    bool is_made; /**< filled in; under a lock in create/ */
    struct mca_osc_epwin_regions_t *regions; /**< dynamic: attached memory of the members of this
                                              * process, by their index there; else NULL */
    mca_osc_epwin_peer_t peers[];            /**< by rank */
} mca_osc_epwin_window_t;

/* ---- modules ---------------------------------------------------------------------------------- */

/** The access epoch of a handle. */
typedef enum mca_osc_epwin_access_t {
    EPWIN_ACCESS_NONE,
    EPWIN_ACCESS_FENCE,
    EPWIN_ACCESS_START,
    /* passive target, from here on */
    EPWIN_ACCESS_LOCK, /**< one or more of MPI_Win_lock */
    EPWIN_ACCESS_LOCK_ALL
} mca_osc_epwin_access_t;

/** Values of open_target besides a rank. */
enum {
    EPWIN_OPEN_ALL = -1,  /**< operations may address any target */
    EPWIN_OPEN_NONE = -2, /**< no target */
    EPWIN_OPEN_SOME = -3  /**< several: mca_osc_epwin_is_open_slow */
};

/** How a lock is held. */
typedef enum mca_osc_epwin_hold_t {
    EPWIN_HOLD_NOTHING, /**< MPI_MODE_NOCHECK */
    EPWIN_HOLD_SHARED,
    EPWIN_HOLD_EXCLUSIVE
} mca_osc_epwin_hold_t;

/** Is the lock of a member's domain held with an exclusive lock of the member? */
typedef enum mca_osc_epwin_unit_state_t {
    EPWIN_UNIT_NONE,  /**< no, or not yet */
    EPWIN_UNIT_HELD,  /**< yes */
    EPWIN_UNIT_SHARED /**< with another lock of the handle, which is EPWIN_UNIT_HELD */
} mca_osc_epwin_unit_state_t;

/** A lock of MPI_Win_lock that this handle holds, or that a thread of it waits for. */
typedef struct mca_osc_epwin_held_t {
    int rank;
    uint8_t hold; /**< mca_osc_epwin_hold_t */
    uint8_t unit; /**< mca_osc_epwin_unit_state_t */
} mca_osc_epwin_held_t;

/** Which threads use a handle. */
typedef enum mca_osc_epwin_threads_t {
    EPWIN_THREADS_TURNS, /**< one at a time: the process has no MPI_THREAD_MULTIPLE, or the info key
                           * mpix_thread_level of the window says so */
    EPWIN_THREADS_UNKNOWN,
    EPWIN_THREADS_SEVERAL /**< the info key says so */
} mca_osc_epwin_threads_t;

struct mca_osc_epwin_origin_t; /* am/: messages of this handle as origin; NULL: none yet */
struct mca_osc_epwin_queue_t;  /* am/: messages to this handle as target */

/**
 * A window handle; the client's object of the duplicate, which lives as long.
 *
 * Threads.  The lock of the handle (osc_epwin_enter.h) guards what is marked with (lock); the engine's
 * handler and steps use queue.  The rest is constant, or is written by calls that MPI allows one thread
 * of a handle at a time: those that begin or end an epoch of the handle.
 */
typedef struct mca_osc_epwin_module_t {
    ompi_osc_base_module_t super;

    /* Used by each operation. */
    const mca_osc_epwin_peer_t *peers; /**< window->peers */
    /** That operations may address, or EPWIN_OPEN_...; written under (lock) in
     * EPWIN_ACCESS_LOCK. */
    _Atomic int open_target;
    uint8_t
        access; /**< mca_osc_epwin_access_t; likewise, with the first lock and the last unlock */
    uint8_t threads;     /**< mca_osc_epwin_threads_t */
    bool listens;        /**< may messages of others arrive? */
    bool is_exposed;     /**< between MPI_Win_post and MPI_Win_wait */
    bool is_all_nocheck; /**< MPI_Win_lock_all with MPI_MODE_NOCHECK */
    bool may_bias;       /**< may guard be biased? (epwin_handle_lock_setup) */
    uint16_t flavor;     /**< MPI_WIN_FLAVOR_... */
    int rank, size;      /**< in the window's group */

    ompi_communicator_t *comm; /**< the duplicate: barriers, messages, memory */
    _Atomic(ompi_win_t *) win; /**< NULL once it is freed: messages are dropped */
    mca_osc_epwin_window_t *window;
    mca_osc_epwin_domain_t *domain; /**< of this member */
    uint32_t domain_number;
    uint32_t domain_size;                      /**< members of it */
    mpix_endpoints_memory_t *memory[3];        /**< by EPWIN_KEY_...; NULL: none */
    struct mca_osc_epwin_origin_t *origin;     /**< NULL: no message has been sent */
    struct mca_osc_epwin_queue_t *queue;

    /* sync/ */
    mca_osc_epwin_held_t *held; /**< of held_room, by rank; EPWIN_ACCESS_LOCK; (lock) */
    uint32_t held_count, held_room;
    mca_osc_epwin_held_t first_held; /**< held, until there are two */
    mca_osc_epwin_control_t *held_alone; /**< of the target of held[0], if that is the only lock and
                                          * a fast path has taken it; else NULL; (lock) */
    int unsure; /**< 0, or the rank + 1 of a lock in another domain that is asked
                                 * for, and may not be held yet; (lock) */
    ompi_group_t *start_group, *post_group; /**< of start_ranks, post_ranks; retained; for the next
                                             * call with the same group */
    int *start_ranks, *post_ranks;          /**< in the window's group, ascending */
    int start_count, post_count;
    uint64_t completed_seen; /**< of control->completed, by MPI_Win_wait */
    _Atomic uint8_t calls;   /**< since the last progress; wraps */

    /** The lock.  With EPWIN_THREADS_TURNS only its bias is used. */
    mca_osc_epwin_handle_lock_t guard;

    /* What a thread waits for, the last one that waits, for dumps of queues. */
    const char *_Atomic awaited; /**< constant text; NULL: it does not wait */
    _Atomic int awaited_rank;    /**< the rank it waits for, or MPIX_ENDPOINTS_ANY_RANK */
} mca_osc_epwin_module_t;

static inline mca_osc_epwin_module_t *mca_osc_epwin_module(const ompi_win_t *win)
{
    return (mca_osc_epwin_module_t *) win->w_osc_module;
}

/** The control of a member of the own domain. */
static inline mca_osc_epwin_control_t *
mca_osc_epwin_control(const mca_osc_epwin_module_t *module, int rank)
{
    return &module->domain->control[module->peers[rank].slot];
}

/** May this handle use the target's control words directly? */
static inline bool mca_osc_epwin_is_near(const mca_osc_epwin_module_t *module, int rank)
{
    return module->peers[rank].domain == module->domain_number;
}

/** 64-bit words of a post row. */
static inline size_t mca_osc_epwin_row_words(const mca_osc_epwin_module_t *module)
{
    return ((size_t) module->size + 63) / 64;
}

/** The post row of a member of the own domain. */
static inline _Atomic uint64_t *mca_osc_epwin_row(const mca_osc_epwin_module_t *module, int rank)
{
    return (_Atomic uint64_t *) &module->domain->control[module->domain_size]
           + module->peers[rank].slot * mca_osc_epwin_row_words(module);
}

/** Bytes of a domain's control memory. */
static inline size_t mca_osc_epwin_domain_bytes(size_t members, size_t ranks)
{
    return sizeof(mca_osc_epwin_domain_t)
           + members * (sizeof(mca_osc_epwin_control_t) + (ranks + 63) / 64 * sizeof(uint64_t));
}

/** The first of two errors. */
static inline int mca_osc_epwin_first_error(int first, int next)
{
    return MPI_SUCCESS != first ? first : next;
}

/** Is an atomic read-modify-write a full fence?  Then a flush after one needs no other. */
#if defined(__x86_64__) || defined(__i386__)
#    define EPWIN_ATOMIC_IS_FENCE true
#else
#    define EPWIN_ATOMIC_IS_FENCE false
#endif

/**
 * This thread has stored into memory of others, by plain stores, since its last full fence or locked
 * instruction: a flush needs a fence (docs/windows.md).
 *
 * Of the thread, not of the handle: a fence orders the stores of the thread that executes it.  A flush
 * that completes another thread's put needs no fence for it: the program has ordered the put before
 * the flush, by a store after it and a load before the flush, and both machines that this is written
 * for show one thread's stores to all others in one order.
 */
extern __attribute__((tls_model("initial-exec"))) _Thread_local bool mca_osc_epwin_is_dirty;

/** A number of the running thread, not 0. */
static inline uintptr_t mca_osc_epwin_self(void)
{
    return (uintptr_t) &mca_osc_epwin_is_dirty;
}

/** Orders all stores of this thread before its later loads, if there were any since the last time.
 * A flush needs it: of two threads that each put, flush and get the other's word, one must see the
 * other's put (MPI-4.1, 12.5.4: the operation is complete at the target). */
static inline void mca_osc_epwin_settle(void)
{
    if (mca_osc_epwin_is_dirty) {
        mca_osc_epwin_is_dirty = false;
        atomic_thread_fence(memory_order_seq_cst);
    } else {
        atomic_signal_fence(memory_order_seq_cst);
    }
}

/** Has the handle sent messages as origin? */
static inline bool mca_osc_epwin_has_origin(const mca_osc_epwin_module_t *module)
{
    /* Relaxed: what has been sent before this call, in another thread, is ordered before it by the
     * program. */
    return NULL != __atomic_load_n(&module->origin, __ATOMIC_RELAXED);
}

/** Index in held of the lock of a rank; if there is none, of the first one of a larger rank.  Under
 * the handle's lock. */
uint32_t mca_osc_epwin_held_find(const mca_osc_epwin_module_t *module, int rank);

/** May an operation address a target?  Several targets are open.  Takes the handle's lock. */
bool mca_osc_epwin_is_open_slow(mca_osc_epwin_module_t *module, int target);

/** Does the handle's access epoch have one target or all, and this one?  For fast paths: not in an
 * epoch of several targets. */
static inline bool mca_osc_epwin_is_open_fast(const mca_osc_epwin_module_t *module, int target)
{
    /* Relaxed: while a thread addresses a target, other threads of the handle open and close other
     * ones.  All values meanwhile say that this target is open, or EPWIN_OPEN_SOME. */
    const int open = atomic_load_explicit(&module->open_target, memory_order_relaxed);

    return OPAL_LIKELY(EPWIN_OPEN_ALL == open || target == open);
}

/** May an operation address a target, in the handle's access epoch? */
static inline bool mca_osc_epwin_is_open(mca_osc_epwin_module_t *module, int target)
{
    return mca_osc_epwin_is_open_fast(module, target) || mca_osc_epwin_is_open_slow(module, target);
}

END_C_DECLS

#endif /* MCA_OSC_EPWIN_H */
