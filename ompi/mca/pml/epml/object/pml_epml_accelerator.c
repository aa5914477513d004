/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Data in device memory (GPUs).  Open MPI's convertors copy by the accelerator component where a
 * flag says so, so a request of such data counts as one of a layout in pieces: it is packed into,
 * and unpacked from, host memory of the transports, a fragment at a time.
 *
 * Open MPI sets the flag by the buffer's address alone, which is none where a datatype has absolute
 * addresses (MPI_BOTTOM).  So the convertor is prepared here, with the flag: Open MPI 6 has functions
 * of its own for such convertors, and chooses them then.
 *
 * Any thread of the process may progress an endpoint, and so copy for it.  The cuda component
 * copies only in threads with a CUDA context, and gives one to a thread that has none when that
 * thread asks about an address of the device (check_addr).  So each copy asks first; beside a copy
 * that costs little.
 *
 * Called by the layers calls and proto.
 *
 * Tests: device
 */

#include "ompi_config.h"

#include "mpi.h"

#include <stdatomic.h>

#include "pml_epml_accelerator.h"

#include "ompi/constants.h"
#include "opal/mca/accelerator/accelerator.h"

/** The convertor's function of Open MPI, the same in all convertors. */
static _Atomic memcpy_fct_t convertor_copy;

static void *accelerator_copy(void *to, const void *from, size_t size, opal_convertor_t *convertor)
{
    int device;
    uint64_t flags;

    if (0 >= opal_accelerator.check_addr(to, &device, &flags)) {
        (void) opal_accelerator.check_addr(from, &device, &flags);
    }
    /* Relaxed: the request has come here after it was stored. */
    return atomic_load_explicit(&convertor_copy, memory_order_relaxed)(to, from, size, convertor);
}

int mca_pml_epml_request_by_accelerator(mca_pml_epml_request_t *request)
{
    opal_convertor_t *convertor = &request->convertor;
    int rc;

    if (request->convertor_set) {
        (void) opal_convertor_cleanup(convertor);
        request->convertor_set = false;
    }
    rc = mca_pml_epml_request_prepare(request,
                                      CONVERTOR_ACCELERATOR | CONVERTOR_SKIP_ACCELERATOR_INIT);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    request->contiguous = false;
    if (accelerator_copy != convertor->cbmemcpy) {
        atomic_store_explicit(&convertor_copy, convertor->cbmemcpy, memory_order_relaxed);
        convertor->cbmemcpy = accelerator_copy;
    }
    return OMPI_SUCCESS;
}

bool mca_pml_epml_request_is_piece_of_device(mca_pml_epml_request_t *request)
{
    return request->convertor_set && accelerator_copy == request->convertor.cbmemcpy
           && mca_pml_epml_is_contiguous(request->buffer, request->count, request->datatype,
                                         &request->base, &request->size);
}
