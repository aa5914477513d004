/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The files that segments are.
 */

#ifndef MCA_BTL_EPSHM_SEGMENT_FILE_H
#define MCA_BTL_EPSHM_SEGMENT_FILE_H

#include "opal_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "opal/util/proc.h"

BEGIN_C_DECLS

/** Where the segment of a process is.  @return to be freed, or NULL (no memory) */
char *mca_btl_epshm_segment_path(const opal_process_name_t *name, uint64_t stamp);

/** A new file to which this process's life is tied.
 * @return its descriptor, or -1 with errno set; EEXIST: try another name */
int mca_btl_epshm_segment_file_create(const char *path);

/** Open a file of this user.  Never waits, and does not touch what is another user's.
 *
 * @param[in] folder  that path is relative to, or AT_FDCWD
 * @return its descriptor, or -1 with errno set; EPERM: not a file of this user */
int mca_btl_epshm_segment_file_open(int folder, const char *path);

/** The file of memory that several processes make together: opened, or made, and of that size, with
 * memory behind the first bytes of it, cleared.  No process takes it for one that was left as long
 * as the descriptor is open; closing any of this process's for it ends that.
 *
 * @param[in] filled  bytes that have memory; size: all of them
 * @return its descriptor, or -1 with errno set; EINVAL: it has another size */
int mca_btl_epshm_segment_file_share(const char *path, uint64_t size, uint64_t filled);

/** Is the life of another process tied to this file?  A system call. */
bool mca_btl_epshm_segment_file_is_owned(int fd);

/** Remove what other jobs have left in the folder. */
void mca_btl_epshm_segment_sweep(void);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_SEGMENT_FILE_H */
