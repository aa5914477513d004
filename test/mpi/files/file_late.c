/* EPT-PARTS: file_tools.c */
/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * file_nonblocking with reads and writes that end late: the C library's (aio.h) are replaced by
 * ours, which do them when they are asked about for the third time, by any thread.  So a write that
 * has been begun is not in the file before somebody has seen that it has ended.  And there are no
 * threads of the C library's, with which ThreadSanitizer does not work.
 *
 * Guards: io.c, posix_request.c
 */

#include "file_nonblocking.c"

#include <aio.h>
#include <errno.h>
#include <unistd.h>

/** libmpi is to find them. */
#define EXPORT __attribute__((visibility("default")))

/* In an aiocb, fields of the C library's own are free. */
#define ASKED(cb) ((cb)->__error_code)
#define RESULT(cb) ((cb)->__return_value)

enum { AT_LAST = 3 };

static int begin(struct aiocb *cb, int opcode)
{
    cb->aio_lio_opcode = opcode;
    ASKED(cb) = 0;
    return 0;
}

EXPORT int aio_read(struct aiocb *cb)
{
    return begin(cb, LIO_READ);
}

EXPORT int aio_write(struct aiocb *cb)
{
    return begin(cb, LIO_WRITE);
}

EXPORT int aio_error(const struct aiocb *constant)
{
    struct aiocb *cb = (struct aiocb *) constant;

    if (++ASKED(cb) < AT_LAST) {
        return EINPROGRESS;
    }
    RESULT(cb) = LIO_READ == cb->aio_lio_opcode
                     ? pread(cb->aio_fildes, (void *) cb->aio_buf, cb->aio_nbytes, cb->aio_offset)
                     : pwrite(cb->aio_fildes, (const void *) cb->aio_buf, cb->aio_nbytes,
                              cb->aio_offset);
    return 0 > RESULT(cb) ? errno : 0;
}

EXPORT ssize_t aio_return(struct aiocb *cb)
{
    return RESULT(cb);
}
