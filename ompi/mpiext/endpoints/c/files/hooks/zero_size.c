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
 * Many of a datatype of size 0 are nothing to be read or written.  ompio thinks of a count of 0
 * only: nonblocking calls of 5.0 then divide by the size of the data, and of 6.0 leave a request
 * that nobody ends, if they are to be converted.  So they get a count of 0.
 *
 * Tests: file_nonblocking
 */

#include "ompi_config.h"

#include "mpiext_endpoints_ompio_module.h"
#include "mpiext_endpoints_zero_size.h"

#if MPIX_ENDPOINTS_FILES

static mpix_endpoints_io_count_t some(mpix_endpoints_io_count_t count,
                                      const ompi_datatype_t *datatype)
{
    size_t size;

    opal_datatype_type_size(&datatype->super, &size);
    return 0 == size ? 0 : count;
}

/* All calls that begin something, by what they are given besides: a request, an offset. */

#    define BEGINS(name, buffer_t)                                                                 \
        static int name(ompi_file_t *file, buffer_t buffer, mpix_endpoints_io_count_t count,       \
                        ompi_datatype_t *datatype, ompi_request_t **request)                       \
        {                                                                                          \
            return mpix_endpoints_ompio.io_module_file_##name(file, buffer, some(count, datatype), \
                                                              datatype, request);                  \
        }

#    define BEGINS_AT(name, buffer_t)                                                          \
        static int name(ompi_file_t *file, OMPI_MPI_OFFSET_TYPE offset, buffer_t buffer,       \
                        mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,            \
                        ompi_request_t **request)                                              \
        {                                                                                      \
            return mpix_endpoints_ompio.io_module_file_##name(file, offset, buffer,            \
                                                              some(count, datatype), datatype, \
                                                              request);                        \
        }

#    define SPLIT(name, buffer_t)                                                                  \
        static int name(ompi_file_t *file, buffer_t buffer, mpix_endpoints_io_count_t count,       \
                        ompi_datatype_t *datatype)                                                 \
        {                                                                                          \
            return mpix_endpoints_ompio.io_module_file_##name(file, buffer, some(count, datatype), \
                                                              datatype);                           \
        }

#    define ALL(begins, begins_at, split)                                                        \
        begins(iread, void *) begins(iwrite, const void *) begins(iread_all, void *)             \
            begins(iwrite_all, const void *) begins(iread_shared, void *)                        \
                begins(iwrite_shared, const void *) begins_at(iread_at, void *)                  \
                    begins_at(iwrite_at, const void *) begins_at(iread_at_all, void *)           \
                        begins_at(iwrite_at_all, const void *) split(read_ordered_begin, void *) \
                            split(write_ordered_begin, const void *)

ALL(BEGINS, BEGINS_AT, SPLIT)

void mpix_endpoints_nothing_take(mpix_endpoints_io_module_t *module)
{
#    define TAKE(name, buffer_t) module->io_module_file_##name = name;
    ALL(TAKE, TAKE, TAKE)
}

#endif
