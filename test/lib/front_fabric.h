/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What fabrics of tests have in common that are preloaded in front of libfabric (LD_PRELOAD).
 *
 * libfabric's data calls are inline functions that follow tables of pointers.  front_fabric.c
 * stands in for fi_getinfo, which says what the fabric is like, and for fi_fabric, which hands out
 * the first of these tables; from there the domain's calls lead to the fabric of the test, which
 * puts copies of further tables, with functions of its own, into the objects that these make.
 * There is one provider in a test, so one copy of each table.
 */

#ifndef EPT_FRONT_FABRIC_H
#define EPT_FRONT_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

/** A fabric of a test. */
typedef struct front_fabric_t {
    /** Change what fi_getinfo says of a domain and its endpoints.  NULL: nothing. */
    void (*info)(struct fi_info *info);
    /** Bits of mr_mode that this fabric demands itself: users see them, the provider does not. */
    int mr_mode;
    /** A domain has been made: put functions into its calls, which are those of the provider, and
     * into its other tables. */
    void (*domain)(struct fid_domain *domain, struct fi_ops_domain *ops);
} front_fabric_t;

/** Defined by the fabric of the test. */
extern const front_fabric_t front_fabric;

/** The provider's calls of a domain. */
extern struct fi_ops_domain front_domain_ops;

/** As the provider's fi_endpoint: without those bits of mr_mode that it does not know. */
int front_fabric_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                          void *context);

/** Say at the end whether all three kinds of operations have come, and none was wrong: good, or the numbers.
 * Nothing where none has come: the launcher, which has this library as well, uses no fabric. */
void front_fabric_say(const char *fabric, const char *good, unsigned long sends,
                      unsigned long receives, unsigned long reads, unsigned long wrong);

/**
 * Put a copy of one of its tables into an object.
 *
 * @param[in,out] table     the object's pointer to it
 * @param[out]    provider  what the provider has in it
 * @param[out]    copy      the same, to be changed
 */
#define FRONT_TABLE(table, provider, copy) \
    do {                                   \
        (provider) = *(table);             \
        (copy) = (provider);               \
        (table) = &(copy);                 \
    } while (0)

#endif /* EPT_FRONT_FABRIC_H */
