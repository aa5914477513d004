/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What all files use: libfabric, the help texts, the lock, the clock, errors.
 */

#ifndef MCA_BTL_EPOFI_BASE_H
#define MCA_BTL_EPOFI_BASE_H

#include "opal_config.h"

#include "btl_epofi.h"

#include "opal/mca/common/ep/common_ep_cancel.h"
#include "opal/mca/common/ep/common_ep_help.h"
#include "opal/mca/threads/mutex.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

#define EPOFI_SHOW_HELP(...)                                     \
    do {                                                         \
        MCA_BTL_EP_HOLD_CANCEL();                                \
        mca_btl_ep_show_help("help-btl-epofi.txt", __VA_ARGS__); \
    } while (0)

/** Guards what modules share: the fabric, the list of modules, what has been said once.  Not taken
 * on any path of a message. */
extern opal_mutex_t mca_btl_epofi_lock;

/** True the first time it is called with a flag; for messages that are said once per process. */
static inline bool mca_btl_epofi_first_time(atomic_flag *said)
{
    /* Relaxed: it orders nothing, it only counts to one. */
    return !atomic_flag_test_and_set_explicit(said, memory_order_relaxed);
}

/** Does a text, of a parameter's or of libfabric's, say something?  An empty one is NULL or "". */
static inline bool mca_btl_epofi_is_set(const char *text)
{
    return NULL != text && '\0' != *text;
}

/** Nanoseconds of a clock that only goes forward. */
uint64_t mca_btl_epofi_now(void);

/**
 * Memory for buffers that the provider sends from or receives into.
 *
 * @param[in]  size      of each, bytes
 * @param[out] stride_p  how far they are apart
 *
 * @return count strides, to be freed by free(), or NULL: no memory
 */
void *mca_btl_epofi_buffers_alloc(unsigned int count, size_t size, size_t *stride_p);

/** The OPAL code for a positive libfabric error. */
int mca_btl_epofi_status(int error);

/** The object of the given type whose member op is at the given address. */
#define EPOFI_CONTAINER(pointer, type, member) \
    ((type *) ((char *) (pointer) -offsetof(type, member)))

END_C_DECLS

#endif /* MCA_BTL_EPOFI_BASE_H */
