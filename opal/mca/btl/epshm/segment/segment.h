/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that the processes of a node share: the own segment and its file, those of local peers,
 * whether they live and whose memory can be read, and what lies in a segment, pipes.
 *
 * Called by the node side, and for epinfo.  Knows no module: senders, and the messages lost with a
 * pipe, are the matter of the layers above.
 *
 * Below it: base.
 */

#ifndef MCA_BTL_EPSHM_SEGMENT_LAYER_H
#define MCA_BTL_EPSHM_SEGMENT_LAYER_H

#include "btl_epshm_doorbell.h"
#include "btl_epshm_peer_proc.h"
#include "btl_epshm_pipe_in.h"
#include "btl_epshm_pipe_out.h"
#include "btl_epshm_segment.h"
#include "btl_epshm_segment_file.h"

#endif /* MCA_BTL_EPSHM_SEGMENT_LAYER_H */
