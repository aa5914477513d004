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
 * coll/epcoll: collectives among endpoints that share an address space.  What hangs where:
 *
 *     component  parameters, and the door to the engine
 *     handle     the engine's object for each communicator of endpoints: the view of the block
 *     module     libmpi's object for it, which lives a little shorter
 */

#ifndef MCA_COLL_EPCOLL_H
#define MCA_COLL_EPCOLL_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../block/block.h"
#include "coll_epcoll_call.h"
#include "coll_epcoll_layout.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_door.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_component_t {
    mca_coll_base_component_t super;
    const mpix_endpoints_door_t *door; /**< NULL: pml/epml is not there */
    int guest;                         /**< our number behind it */

    /* parameters */
    int priority;
    bool serves[EPCOLL_KINDS];
    size_t inline_limit;
    size_t share_size;
    unsigned int fan;
    unsigned int rails;
    size_t rail_size;
    size_t shelf_size;
    size_t shelf_least;
} mca_coll_epcoll_component_t;

/** Ways that a call may go. */
typedef enum mca_coll_epcoll_way_t {
    EPCOLL_WAY_SMALL,   /**< in slots */
    EPCOLL_WAY_PIECES,  /**< in shares of pieces */
    EPCOLL_WAY_BETWEEN, /**< of several processes, but for those in slots of the node */
    EPCOLL_WAYS
} mca_coll_epcoll_way_t;
/** Keys of memory behind the door. */
enum { EPCOLL_KEY_BLOCK, EPCOLL_KEY_LAYOUT, EPCOLL_KEY_SHELF, EPCOLL_KEY_NEAR, EPCOLL_KEY_AHEAD };

/** Memory for temporary elements, which grows with what is asked for. */
typedef struct mca_coll_epcoll_room_t {
    void *memory;
    size_t size;
} mca_coll_epcoll_room_t;

/** Memory of the node that all members use from a call on: see coll_epcoll_near.c. */
typedef struct mca_coll_epcoll_common_t {
    mpix_endpoints_memory_t *memory; /**< NULL: not yet, or none */
    uint32_t calls;                  /**< in which it was asked for, or might have been used */
    bool is_used;                    /**< in the call that we are in; the same at all members */
    bool is_settled;                 /**< and in all behind it */
} mca_coll_epcoll_common_t;

/** Of a communicator, one per member; used by the member's thread alone. */
typedef struct mca_coll_epcoll_handle_t mca_coll_epcoll_handle_t;
struct mca_coll_epcoll_handle_t {
    epcoll_member_t member; /**< of blocking calls */
    ompi_communicator_t *comm;
    /** How a call is run.  @return MPI_SUCCESS or an error code */
    int (*run)(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);
    /** How nonblocking ones begin, and persistent ones are made, those of no bytes included in
     * neither; where members live in several processes, those that have a program.
     * @param[out] request_p  the user's; set on success
     * @return MPI_SUCCESS or an error code */
    int (*begin)(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call,
                 struct ompi_request_t **request_p);
    int (*init)(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call,
                struct ompi_request_t **request_p);
    struct mca_coll_epcoll_pending_t *pending; /**< what is under way; NULL: nothing has been, yet */
    bool is_local;                   /**< all members are in this process, and nothing has failed */
    /** Until libmpi asks for it.  Made with the handle, which may fail at all members or at none;
     * behind that, one without a module would be served by the components below. */
    mca_coll_base_module_t *module;
    int rank;                        /**< ours */
    uint32_t size;                   /**< of the communicator */
    mpix_endpoints_members_t here;   /**< in this process */
    mpix_endpoints_memory_t *memory; /**< the block's */
    mpix_endpoints_wait_t wait;      /**< of an operation that has not ended at once */
    /** Calls; written by mca_coll_epcoll_count alone, read by anybody.  Those in slots, and of the other
     * ways from the first such call on, NULL before. */
    _Atomic uint64_t small[EPCOLL_KINDS];
    struct mca_coll_epcoll_tally_t *_Atomic others;
    mca_coll_epcoll_handle_t *next, *previous; /**< of coll_epcoll_variables.c, under its lock */

    /* if not all members are in this process */
    const mca_coll_epcoll_layout_t *layout;
    mpix_endpoints_memory_t *layout_memory;
    /** All members are on this node: the view of a block of all of them, by rank, for what travels in
     * slots.  NULL: we have none. */
    mca_coll_epcoll_handle_t *_Atomic near;
    bool may_be_near;                /**< all are on this node */
    mca_coll_epcoll_common_t blocks; /**< that the node's block is in */
    mca_coll_epcoll_common_t rings;  /**< likewise its rings */
    /** Likewise: their shelves, for what is longer (coll_epcoll_shelf.h).  NULL: there are none. */
    mca_coll_epcoll_handle_t *_Atomic shelf;
    bool shelf_is_used;   /**< all have them */
    bool shelf_is_known;  /**< whether all have them */
    uint32_t shelf_calls; /**< that shelves would have been for: the same at all members */
    uint32_t yields;    /**< of waits, where threads share cores */
    uint32_t calls;     /**< served by the layer between: the same at all members */
    mca_coll_epcoll_room_t room[2];            /**< see coll_epcoll_exchange.h */
    struct mca_coll_epcoll_program_t *program; /**< of blocking calls; NULL: there was none yet */
};

/** The functions of the components below us, for what we do not serve. */
typedef struct mca_coll_epcoll_below_t {
#define EPCOLL_BELOW_FORM(name)              \
    mca_coll_base_module_##name##_fn_t name; \
    mca_coll_base_module_t *name##_module;
#define EPCOLL_BELOW(name, kind) \
    EPCOLL_BELOW_FORM(name)      \
    EPCOLL_BELOW_FORM(i##name)   \
    EPCOLL_BELOW_FORM(name##_init)
    EPCOLL_FOR_ALL_KINDS(EPCOLL_BELOW)
#undef EPCOLL_BELOW
#undef EPCOLL_BELOW_FORM
} mca_coll_epcoll_below_t;

typedef struct mca_coll_epcoll_module_t {
    mca_coll_base_module_t super;
    mca_coll_epcoll_handle_t *handle;
    /** From enable on.  NULL: we serve all there is; from Open MPI 6.0 on it is never NULL. */
    mca_coll_epcoll_below_t *below;
} mca_coll_epcoll_module_t;

OBJ_CLASS_DECLARATION(mca_coll_epcoll_module_t);

/** The component, in coll_epcoll_component.c. */
OMPI_DECLSPEC extern mca_coll_epcoll_component_t mca_coll_epcoll_component;

static inline mca_coll_epcoll_handle_t *mca_coll_epcoll_handle(mca_coll_base_module_t *module)
{
    return ((mca_coll_epcoll_module_t *) module)->handle;
}

static inline const mca_coll_epcoll_below_t *mca_coll_epcoll_below(mca_coll_base_module_t *module)
{
    return ((mca_coll_epcoll_module_t *) module)->below;
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_H */
