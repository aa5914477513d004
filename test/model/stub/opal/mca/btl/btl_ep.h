/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file Of Open MPI's interface of a BTL, what the lanes and the pools of btl/epshm need. */

#ifndef MODEL_STUB_BTL_EP_H
#define MODEL_STUB_BTL_EP_H

#include "opal_config.h"

typedef uint8_t mca_btl_base_tag_t;
typedef void (*mca_btl_base_completion_fn_t)(void);
typedef void (*mca_btl_base_rdma_completion_fn_t)(void);

typedef struct mca_btl_base_segment_t {
    union {
        void *pval;
    } seg_addr;
    uint64_t seg_len;
} mca_btl_base_segment_t;

typedef struct mca_btl_base_descriptor_t {
    mca_btl_base_segment_t *des_segments;
    size_t des_segment_count;
} mca_btl_base_descriptor_t;

typedef struct mca_btl_base_module_t {
    int unused;
} mca_btl_base_module_t;

typedef struct mca_btl_ep_module_t {
    mca_btl_base_module_t super;
    uint64_t ep_prefix;
} mca_btl_ep_module_t;

#define MCA_BTL_EP_TAG 0

typedef struct mca_btl_ep_counts_t {
    uint64_t messages, bytes;
} mca_btl_ep_counts_t;

typedef struct mca_btl_ep_component_t {
    int unused;
} mca_btl_ep_component_t;

struct mca_btl_base_endpoint_t;
struct mca_btl_base_registration_handle_t;
struct opal_convertor_t;

/* Objects: constructed by their class's function, no more. */
#define OBJ_CLASS_DECLARATION(type) typedef void (*type##_constructor_t)(type * object)
#define OBJ_CLASS_INSTANCE(type, parent, constructor, destructor) \
    static void type##_construct(type *object)                    \
    {                                                             \
        constructor(object);                                      \
    }                                                             \
    struct type##_end_t
#define OBJ_CONSTRUCT(object, type) type##_construct(object)
#define OBJ_DESTRUCT(object) ((void) (object))

#endif
