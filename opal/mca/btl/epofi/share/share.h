/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Contexts that several modules share, where the fabric has too few: which context a module gets,
 * and, if others are in it, libfabric objects of its own that stand in front of the real ones.
 *
 * Called when modules are made and closed, and, in place of the provider, by all functions that
 * call it for a module that shares.  Knows of a message only its destination; calls no module.
 *
 * Below it: fabric, sockets, base.
 */

#ifndef MCA_BTL_EPOFI_SHARE_LAYER_H
#define MCA_BTL_EPOFI_SHARE_LAYER_H

#include "btl_epofi_share.h"

#endif /* MCA_BTL_EPOFI_SHARE_LAYER_H */
