/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For how many modules there is room, as the provider says, and descriptors: no context is opened.
 *
 * Standalone: no Open MPI.
 *
 * Tests: unit/test_epofi_context_limit
 */

#ifndef MCA_BTL_EPOFI_CONTEXT_LIMIT_H
#define MCA_BTL_EPOFI_CONTEXT_LIMIT_H

#include <dirent.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

/** That a module takes over tcp before it is connected. */
#define EPOFI_CONTEXT_LIMIT_DESCRIPTORS 4

/** How many modules may share a context. */
#define EPOFI_CONTEXT_LIMIT_SHARE 4095

/** A count of libfabric's, where 0 is "not said". */
static inline int epofi_context_limit_count(size_t count)
{
    return 0 == count || INT_MAX < count ? INT_MAX : (int) count;
}

static inline int epofi_context_limit_least(int a, int b)
{
    return a < b ? a : b;
}

/** Contexts of a process. */
typedef struct epofi_context_limit_plan_t {
    unsigned int own;    /**< so many modules have one of their own, ... */
    unsigned int shared; /**< ... and the others are in so many; 0: no limit is known */
} epofi_context_limit_plan_t;

/**
 * Of as many contexts as there may be, which are for sharing?
 *
 * @param[in] info    of the provider
 * @param[in] most    contexts, as the user says; 0: the user does not
 * @param[in] shared  of them to be shared, if there are so many
 */
static inline void epofi_context_limit_plan(const struct fi_info *info, unsigned int most,
                                            unsigned int shared, epofi_context_limit_plan_t *plan)
{
    int contexts = epofi_context_limit_count(info->domain_attr->ep_cnt);

    contexts = 0 == most ? contexts
                         : epofi_context_limit_least(contexts, epofi_context_limit_count(most));
    if (INT_MAX == contexts) {
        *plan = (epofi_context_limit_plan_t){.own = INT_MAX};
        return;
    }
    plan->shared = (unsigned int) contexts < shared ? (unsigned int) contexts : shared;
    plan->own = (unsigned int) contexts - plan->shared;
}

/**
 * Room for modules, of which each has a domain and an endpoint of its own, or shares them.
 *
 * @param[in]  info         of the provider
 * @param[in]  most         as for epofi_context_limit_plan, as is shared
 * @param[in]  descriptors  that this process can have yet, if a module takes some; else negative
 * @param[out] optimal      as many as the provider serves well
 * @param[out] maximum      as many as there may be; INT_MAX: no limit is known
 */
static inline void epofi_context_limit_of(const struct fi_info *info, unsigned int most,
                                          unsigned int shared, long descriptors, int *optimal,
                                          int *maximum)
{
    epofi_context_limit_plan_t plan;
    int contexts;

    epofi_context_limit_plan(info, most, shared, &plan);
    contexts = epofi_context_limit_count((size_t) plan.own + plan.shared);
    *maximum = epofi_context_limit_count(plan.own
                                         + (size_t) EPOFI_CONTEXT_LIMIT_SHARE * plan.shared);
    if (0 <= descriptors && descriptors / EPOFI_CONTEXT_LIMIT_DESCRIPTORS < contexts) {
        contexts = (int) (descriptors / EPOFI_CONTEXT_LIMIT_DESCRIPTORS);
        *maximum = contexts;
    }
    *optimal = epofi_context_limit_least(epofi_context_limit_count(info->domain_attr->tx_ctx_cnt),
                                         epofi_context_limit_count(info->domain_attr->rx_ctx_cnt));
    *optimal = epofi_context_limit_least(*optimal, contexts);
}

/** Descriptors that this process can have yet. */
static inline long epofi_context_limit_descriptors(void)
{
    DIR *open = opendir("/proc/self/fd");
    struct dirent *entry;
    struct rlimit limit;
    long used = 0;

    if (0 != getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t) INT_MAX < limit.rlim_cur) {
        limit.rlim_cur = INT_MAX;
    }
    /* The limit is of their numbers; some may be above it, from when it was another. */
    while (NULL != open && NULL != (entry = readdir(open))) {
        used += '.' != entry->d_name[0] && (rlim_t) atol(entry->d_name) < limit.rlim_cur ? 1 : 0;
    }
    if (NULL != open) {
        (void) closedir(open);
        --used; /* the folder itself */
    }
    return used < (long) limit.rlim_cur ? (long) limit.rlim_cur - used : 0;
}

#endif /* MCA_BTL_EPOFI_CONTEXT_LIMIT_H */
