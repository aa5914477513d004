/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reads and writes of a datatype of size 0 get a count of 0.  ompio checks the count only:
 * nonblocking calls of 5.0 divide by the size of the data then, and those of 6.0 leave a request
 * that never ends, if data are to be converted.
 *
 * Tests: file_nonblocking
 */

#include "ompi_config.h"

#include "interception.h"

#if MPIX_ENDPOINTS_FILES

static mpix_endpoints_io_count_t zero_size_count(mpix_endpoints_io_count_t count,
                                                 const ompi_datatype_t *datatype)
{
    size_t size;

    opal_datatype_type_size(&datatype->super, &size);
    return 0 == size ? 0 : count;
}

/* All nonblocking calls, by their further arguments: a request, an offset. */

#    define ZERO_SIZE(name, buffer_t)                                                           \
        static int zero_size_##name(ompi_file_t *file, buffer_t buffer,                         \
                                    mpix_endpoints_io_count_t count, ompi_datatype_t *datatype, \
                                    ompi_request_t **request)                                   \
        {                                                                                       \
            return mpix_endpoints_ompio.io_module_file_##name(file, buffer,                     \
                                                              zero_size_count(count, datatype), \
                                                              datatype, request);               \
        }

#    define ZERO_SIZE_AT(name, buffer_t)                                                        \
        static int zero_size_##name(ompi_file_t *file, OMPI_MPI_OFFSET_TYPE offset,             \
                                    buffer_t buffer, mpix_endpoints_io_count_t count,           \
                                    ompi_datatype_t *datatype, ompi_request_t **request)        \
        {                                                                                       \
            return mpix_endpoints_ompio.io_module_file_##name(file, offset, buffer,             \
                                                              zero_size_count(count, datatype), \
                                                              datatype, request);               \
        }

#    define ZERO_SIZE_SPLIT(name, buffer_t)                                                     \
        static int zero_size_##name(ompi_file_t *file, buffer_t buffer,                         \
                                    mpix_endpoints_io_count_t count, ompi_datatype_t *datatype) \
        {                                                                                       \
            return mpix_endpoints_ompio.io_module_file_##name(file, buffer,                     \
                                                              zero_size_count(count, datatype), \
                                                              datatype);                        \
        }

/* clang-format off */
#    define ALL(plain, at, split)             \
        plain(iread, void *)                  \
        plain(iwrite, const void *)           \
        plain(iread_all, void *)              \
        plain(iwrite_all, const void *)       \
        plain(iread_shared, void *)           \
        plain(iwrite_shared, const void *)    \
        at(iread_at, void *)                  \
        at(iwrite_at, const void *)           \
        at(iread_at_all, void *)              \
        at(iwrite_at_all, const void *)       \
        split(read_ordered_begin, void *)     \
        split(write_ordered_begin, const void *)
/* clang-format on */

ALL(ZERO_SIZE, ZERO_SIZE_AT, ZERO_SIZE_SPLIT)

void mpix_endpoints_zero_size_hook(mpix_endpoints_io_module_t *module)
{
#    define REPLACE(name, buffer_t) module->io_module_file_##name = zero_size_##name;
    ALL(REPLACE, REPLACE, REPLACE)
}

#endif
