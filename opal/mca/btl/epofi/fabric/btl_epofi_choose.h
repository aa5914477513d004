/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which provider, and which interface.
 */

#ifndef MCA_BTL_EPOFI_CHOOSE_H
#define MCA_BTL_EPOFI_CHOOSE_H

#include "opal_config.h"

#include "btl_epofi_net.h"

#include <rdma/fabric.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

BEGIN_C_DECLS

/** Its address, if that is one of IP. */
static inline const struct sockaddr *mca_btl_epofi_ip_address(const struct fi_info *info)
{
    return FI_SOCKADDR_IN == info->addr_format || FI_SOCKADDR_IN6 == info->addr_format
               ? info->src_addr
               : NULL;
}

/** The best of what libfabric offers, duplicated; NULL if nothing will do.
 * @param[in]  net       the job's; see mca_btl_epofi_net_choose
 * @param[out] result_p  of fi_getinfo */
struct fi_info *mca_btl_epofi_choose(const mca_btl_epofi_net_t *net, bool rma, int *result_p);

/** Nothing will do: say what there would have been.  @param[in] result  of fi_getinfo */
void mca_btl_epofi_choose_say_nothing(int result);

/**
 * Is the provider that the user names one that this libfabric has ever heard of?  It need not work
 * here: a site may name what only its compute nodes have.  The caller holds the lock.
 *
 * @return OPAL_SUCCESS, or OPAL_ERR_NOT_AVAILABLE after saying which there are
 */
int mca_btl_epofi_choose_check(void);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_CHOOSE_H */
