/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * coll/epcoll: collectives among endpoints that share an address space.  Its objects:
 *
 *     component  parameters, and the engine's interface
 *     handle     the engine's object for each communicator of endpoints: the view of the segment
 *     module     libmpi's object for it, which is released a little earlier
 */

#ifndef MCA_COLL_EPCOLL_H
#define MCA_COLL_EPCOLL_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../segment/segment.h"
#include "coll_epcoll_call.h"
#include "coll_epcoll_layout.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_handle_t mca_coll_epcoll_handle_t;

typedef struct mca_coll_epcoll_component_t {
    mca_coll_base_component_t super;
    const mpix_endpoints_engine_t *engine; /**< NULL: pml/epml is not there */
    int client;                            /**< our number behind it */

    /** How nonblocking ones begin, and persistent ones are made, those of no bytes included in
     * neither; where members live in several processes, those that have a schedule.  The layer
     * pending's.
     * @param[out] request_p  the user's; set on success
     * @return MPI_SUCCESS or an error code */
    int (*begin)(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call,
                 struct ompi_request_t **request_p);
    int (*init)(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call,
                struct ompi_request_t **request_p);

    /* parameters */
    int priority;
    bool serves[EPCOLL_KINDS];
    bool serves_neighbors;
    size_t inline_limit;
    size_t chunk_size;
    unsigned int fanout;
    unsigned int slices;
    size_t slice_size;
    size_t bounce_size;
    size_t bounce_min;
} mca_coll_epcoll_component_t;

/** Ways that a call may go. */
typedef enum mca_coll_epcoll_path_t {
    EPCOLL_PATH_SLOTS,  /**< in slots */
    EPCOLL_PATH_CHUNKS, /**< in chunks of partitions */
    EPCOLL_PATH_HIER,   /**< of several processes, but for those in slots of the node */
    EPCOLL_PATHS
} mca_coll_epcoll_path_t;
/** Keys of memory that is got from the engine. */
enum {
    EPCOLL_KEY_SEGMENT,
    EPCOLL_KEY_LAYOUT,
    EPCOLL_KEY_BOUNCE,
    EPCOLL_KEY_NODE_SEGMENT,
    EPCOLL_KEY_RINGS,
    EPCOLL_KEY_DOUBLE_BUFFERS
};

/** Memory for temporary elements, which grows with what is asked for. */
typedef struct mca_coll_epcoll_scratch_t {
    void *memory;
    size_t size;
} mca_coll_epcoll_scratch_t;

/** Scratch buffers of a call between processes. */
#define EPCOLL_SCHEDULE_SCRATCHES 3

/** What most handles never need.  Made with the first call that is nonblocking or persistent, or
 * that does not fit in slots (mca_coll_epcoll_lazy). */
typedef struct mca_coll_epcoll_lazy_t {
    /** Calls by other paths than slots; see coll_epcoll_count.h. */
    _Atomic uint64_t calls[EPCOLL_PATHS - 1][EPCOLL_KINDS];
    struct mca_coll_epcoll_pending_t *pending; /**< active operations; NULL: there have been none */
    mca_coll_epcoll_scratch_t scratch[EPCOLL_SCHEDULE_SCRATCHES]; /**< of blocking calls */
    mpix_endpoints_memory_t
        *double_buffers;          /**< of the process: coll_epcoll_hier_small.c; NULL: none yet */
    uint32_t double_buffer_calls; /**< that have used them: the same at all members */
    uint32_t direct_inits; /**< persistent ones of the layer direct: the same at all members */
} mca_coll_epcoll_lazy_t;

/** A member's view of a segment in which its thread waits, by progressing its endpoint. */
typedef struct mca_coll_epcoll_view_t {
    epcoll_member_t member; /**< first: see mca_coll_epcoll_progress */
    ompi_communicator_t *comm;
    bool is_handle;      /**< it is a handle's */
    bool is_local;       /**< a handle's: all members are in this process, and nothing has failed */
    bool has_progressed; /**< in the current call the engine has been progressed */
    uint8_t yields;      /**< of waits, where threads share cores */
} mca_coll_epcoll_view_t;

/**
 * Of a communicator, one per member; used by the member's thread alone.  What it takes is counted
 * (docs/comparison.md): what libmpi knows of the communicator, what all members of the process have
 * alike, and what only some handles need, is somewhere else.
 */
struct mca_coll_epcoll_handle_t {
    /** Of the process's segment, for blocking calls.  Without a segment: see bare. */
    mca_coll_epcoll_view_t view;
    /** NULL: libmpi has it.  Made with the handle, which may fail at all members or at none; later,
     * a member without a module would be served by the fallback components. */
    mca_coll_base_module_t *module;
    /** How a call is run.  @return MPI_SUCCESS or an error code */
    int (*run)(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);
    mca_coll_epcoll_lazy_t *_Atomic lazy; /**< NULL: not yet */
    /** Calls in slots; see coll_epcoll_count.h. */
    _Atomic uint64_t small[EPCOLL_KINDS_IN_SLOTS];
    bool is_hier; /**< it is a mca_coll_epcoll_hier_t */
};

/** A handle of a communicator in which no process has two members: it has no segment. */
typedef struct mca_coll_epcoll_bare_t {
    mca_coll_epcoll_handle_t super;
    _Atomic int broken; /**< what the view's is */
} mca_coll_epcoll_bare_t;

/** Memory of the node that all members use from a call on: see coll_epcoll_node_segment.c. */
typedef struct mca_coll_epcoll_cutover_t {
    uint16_t calls;  /**< in which it was asked for, or might have been used */
    bool is_used;    /**< in the call that we are in; the same at all members */
    bool is_settled; /**< and in all behind it */
} mca_coll_epcoll_cutover_t;

/** A handle whose members live in several processes. */
typedef struct mca_coll_epcoll_hier_t {
    mca_coll_epcoll_handle_t super;
    const mca_coll_epcoll_layout_t *layout;
    /** For data in slots: the view of a segment of all members, by rank, if they are on this node;
     * if they are on several, of the node's processes.  NULL: we have none. */
    struct mca_coll_epcoll_node_segment_t *_Atomic node_segment;
    /** All are on this node: their bounce buffers, for what is longer (coll_epcoll_bounce.h).
     * NULL: there are none. */
    struct mca_coll_epcoll_bounce_t *_Atomic bounce;
    uint32_t calls; /**< served by the layer hier: the same at all members */
    mca_coll_epcoll_cutover_t node_cutover; /**< to the node segment */
    mca_coll_epcoll_cutover_t ring_cutover; /**< to its rings */
    bool is_on_node;                        /**< all are on this node */
    bool bounce_is_used;                    /**< all have them */
    bool bounce_is_known;                   /**< whether all have them */
    uint8_t bounce_calls; /**< that bounce buffers would have been for: the same at all members */
} mca_coll_epcoll_hier_t;

/** A segment of the node, of blocking calls. */
typedef struct mca_coll_epcoll_node_segment_t {
    mca_coll_epcoll_view_t view;
    epcoll_aux_t aux;                       /**< of that view */
    mpix_endpoints_memory_t *memory, *ring; /**< of segments; of rings, NULL: not yet, or none */
} mca_coll_epcoll_node_segment_t;

/** The bounce buffers, and the segment that they are in. */
typedef struct mca_coll_epcoll_bounce_t {
    mca_coll_epcoll_view_t view;
    mpix_endpoints_memory_t *memory;
} mca_coll_epcoll_bounce_t;

/** With its part of the segment: 576 bytes (unit/test_epcoll_segment has the segment's part). */
#define EPCOLL_HANDLE_BYTES 200
_Static_assert(EPCOLL_HANDLE_BYTES == sizeof(mca_coll_epcoll_handle_t)
                   && EPCOLL_HANDLE_BYTES + 48 >= sizeof(mca_coll_epcoll_hier_t),
               "what a member takes: docs/comparison.md");

/** The functions of the fallback components, for what we do not serve. */
typedef struct mca_coll_epcoll_fallback_t {
#define EPCOLL_FALLBACK_FORM(name)                                   \
    __typeof__(((mca_coll_base_module_t *) NULL)->coll_##name) name; \
    mca_coll_base_module_t *name##_module;
#define EPCOLL_FALLBACK(name, ...) \
    EPCOLL_FALLBACK_FORM(name)     \
    EPCOLL_FALLBACK_FORM(i##name)  \
    EPCOLL_FALLBACK_FORM(name##_init)
    EPCOLL_FOR_ALL_KINDS(EPCOLL_FALLBACK)
    EPCOLL_FOR_ALL_NEIGHBORS(EPCOLL_FALLBACK)
#undef EPCOLL_FALLBACK
#undef EPCOLL_FALLBACK_FORM
} mca_coll_epcoll_fallback_t;

typedef struct mca_coll_epcoll_module_t {
    mca_coll_base_module_t super;
    mca_coll_epcoll_handle_t *handle;
    /** From enable on.  NULL: we serve all there is; from Open MPI 6.0 on it is never NULL. */
    mca_coll_epcoll_fallback_t *fallback;
} mca_coll_epcoll_module_t;

OBJ_CLASS_DECLARATION(mca_coll_epcoll_module_t);

/** The component, in coll_epcoll_component.c. */
OMPI_DECLSPEC extern mca_coll_epcoll_component_t mca_coll_epcoll_component;

/** Our rank. */
static inline int mca_coll_epcoll_rank(const mca_coll_epcoll_handle_t *handle)
{
    return ompi_comm_rank(handle->view.comm);
}

/** Members of the communicator. */
static inline uint32_t mca_coll_epcoll_size(const mca_coll_epcoll_handle_t *handle)
{
    return (uint32_t) ompi_comm_size(handle->view.comm);
}

/** Of a handle that is wide. */
static inline mca_coll_epcoll_hier_t *mca_coll_epcoll_hier(const mca_coll_epcoll_handle_t *handle)
{
    return (mca_coll_epcoll_hier_t *) (uintptr_t) handle;
}

/** Has each process one member at most? */
static inline bool mca_coll_epcoll_is_bare(const mca_coll_epcoll_handle_t *handle)
{
    return NULL == handle->view.member.segment;
}

/** NULL: all members are in this process; or it is a view of the node's memory. */
static inline const mca_coll_epcoll_layout_t *mca_coll_epcoll_layout(
    const mca_coll_epcoll_handle_t *handle)
{
    return handle->is_hier ? mca_coll_epcoll_hier(handle)->layout : NULL;
}

/** May it use memory of the node? */
static inline bool mca_coll_epcoll_is_on_node(const mca_coll_epcoll_handle_t *handle)
{
    return handle->is_hier && mca_coll_epcoll_hier(handle)->is_on_node;
}

/** Do all members use memory of the node in the call that we are in? */
static inline bool mca_coll_epcoll_uses_node_segment(const mca_coll_epcoll_hier_t *hier)
{
    return hier->is_on_node && hier->node_cutover.is_used;
}

/** Of the handle's own thread.  @return NULL: there is none yet */
static inline mca_coll_epcoll_lazy_t *mca_coll_epcoll_lazy_if_made(mca_coll_epcoll_handle_t *handle)
{
    /* Relaxed: it was made by this thread.  Of others: mca_coll_epcoll_counted. */
    return atomic_load_explicit(&handle->lazy, memory_order_relaxed);
}

/** Likewise; made if there is none yet.  @return NULL: no memory */
static inline mca_coll_epcoll_lazy_t *mca_coll_epcoll_lazy(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_lazy_t *lazy = mca_coll_epcoll_lazy_if_made(handle);

    if (OPAL_UNLIKELY(NULL == lazy)) {
        lazy = calloc(1, sizeof(*lazy));
        /* Release: that it is 0; partner: the acquire in mca_coll_epcoll_counted. */
        atomic_store_explicit(&handle->lazy, lazy, memory_order_release);
    }
    return lazy;
}

static inline mca_coll_epcoll_handle_t *mca_coll_epcoll_handle(mca_coll_base_module_t *module)
{
    return ((mca_coll_epcoll_module_t *) module)->handle;
}

static inline const mca_coll_epcoll_fallback_t *mca_coll_epcoll_fallback(
    mca_coll_base_module_t *module)
{
    return ((mca_coll_epcoll_module_t *) module)->fallback;
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_H */
