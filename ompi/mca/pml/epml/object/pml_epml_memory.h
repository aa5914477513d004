/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that handles of one communicator share within a process: pml_epml_memory.c.
 */

#ifndef MCA_PML_EPML_MEMORY_H
#define MCA_PML_EPML_MEMORY_H

#include "ompi_config.h"

#include "../base/base.h"

#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

/** What tells memory from other memory. */
typedef struct mca_pml_epml_memory_key_t {
    uint64_t context; /**< of the communicator */
    uint32_t number;  /**< of the client, and the reach */
    uint32_t key;     /**< the client's own */
} mca_pml_epml_memory_key_t;

/** Where memory comes from that reaches further than the process.  Under a lock of all memory: not
 * to ask for some. */
typedef struct mca_pml_epml_memory_source_t {
    /** @param[in]  context  as given to mca_pml_epml_memory_get
     *  @param[out] token_p  its name, for the other two
     *  @return OMPI_SUCCESS, or an error that is the caller's */
    int (*get)(void *context, const mca_pml_epml_memory_key_t *key, size_t size, void **base_p,
               void **token_p);
    bool (*is_whole)(void *token); /**< see memory_is_complete; any thread, no lock */
    int (*fill)(void *token, size_t offset, size_t size); /**< see memory_fill; likewise */
    void (*put)(void *token);
} mca_pml_epml_memory_source_t;

/**
 * Memory of this key: made, and cleared, or found.  Any thread.
 *
 * @param[in]  key     no padding, nothing unset
 * @param[in]  source  where it comes from; NULL: this process's own
 * @param[out] memory_p  one reference
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE; OMPI_ERR_BAD_PARAM: it has another size, or size
 *         is 0; or an error of the source's
 */
int mca_pml_epml_memory_get(const mca_pml_epml_memory_key_t *key, size_t size,
                            const mca_pml_epml_memory_source_t *source, void *context,
                            mpix_endpoints_memory_t **memory_p);
bool mca_pml_epml_memory_is_whole(const mpix_endpoints_memory_t *memory);

/** See memory_fill.  @return OMPI_SUCCESS, OMPI_ERR_OUT_OF_RESOURCE; OMPI_ERR_BAD_PARAM: not within
 * the memory */
int mca_pml_epml_memory_fill(mpix_endpoints_memory_t *memory, size_t offset, size_t size);

/** One reference less; with the last one it goes.  Any thread. */
void mca_pml_epml_memory_put(mpix_endpoints_memory_t *memory);

END_C_DECLS

#endif /* MCA_PML_EPML_MEMORY_H */
