/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The other processes of the node, whose segments are mapped here.
 */

#ifndef MCA_BTL_EPSHM_PEER_PROC_H
#define MCA_BTL_EPSHM_PEER_PROC_H

#include "opal_config.h"

#include <stdatomic.h>

#include "btl_epshm_identity.h"

#include "opal/mca/smsc/smsc.h"
#include "opal/util/proc.h"

BEGIN_C_DECLS

/** Another process of the node, whose segment is mapped.  Kept as long as the component. */
typedef struct epshm_peer_proc_t {
    struct epshm_peer_proc_t *next;
    opal_process_name_t name;
    uint32_t number; /**< in the words of doorbells, of no other local peer */
    uint64_t stamp;
    unsigned char *base;
    uint64_t size;
    const _Atomic uint64_t *used;     /**< in its segment */
    int fd;                           /**< to ask whether it lives */
    mca_smsc_endpoint_t *single_copy; /**< NULL: its memory cannot be read from here */
    _Atomic bool copy_failed; /**< it could not be read when it was tried, or was another one's */
    epshm_identity_t identity;
    _Atomic uint64_t proven_ns; /**< when its memory was last seen to be its own; 0: never */
} epshm_peer_proc_t;

/** Map the segment of a process, of any job.  Any thread.
 *
 * @param[in] name, stamp, size  as in the address of one of its modules
 * @return OPAL_SUCCESS; OPAL_ERR_UNREACH (said why, once) */
int mca_btl_epshm_peer_proc_attach(const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                                   epshm_peer_proc_t **peer_proc_p);

/** The segment of a process that has been mapped.  Any thread.  @return NULL: none */
epshm_peer_proc_t *mca_btl_epshm_peer_proc_find(const opal_process_name_t *name);

/** Likewise, by its number. */
epshm_peer_proc_t *mca_btl_epshm_peer_proc_of(uint32_t number);

/** The number by which a process is known to processes of a job, this process's own or another one:
 * in its own job its rank.
 *
 * @param[in] name, stamp  of the process */
uint32_t mca_btl_epshm_peer_proc_number(const opal_process_name_t *name, uint64_t stamp,
                                        opal_jobid_t job);

/** Has the process of a mapped segment ended?  A system call. */
bool mca_btl_epshm_peer_proc_is_dead(const epshm_peer_proc_t *peer_proc);

/** How many there are, and the memory of how many of them cannot be read from here, although Open
 * MPI has a way to try.  Any thread. */
void mca_btl_epshm_peer_procs_count(int *all_p, int *unreadable_p);

/** They are not used any more: unmap all. */
void mca_btl_epshm_peer_procs_forget(void);

/* ---- btl_epshm_identity.c ----------------------------------------------------------------------- */

/** Read memory of another process: one copy.  Any thread.
 *
 * @param[in] registration  of the other's, where Open MPI's way needs one
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE: this cannot be read, or nothing of it */
int mca_btl_epshm_peer_proc_copy(epshm_peer_proc_t *peer_proc, void *local, uint64_t remote,
                                 size_t size, void *registration);

/** Write it, likewise, where no registration is needed.  On an error some of it may be written. */
int mca_btl_epshm_peer_proc_copy_to(epshm_peer_proc_t *peer_proc, const void *local,
                                    uint64_t remote, size_t size);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_PEER_PROC_H */
