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
 * What is chosen for the process, and opened: provider, interface and network, and a module's
 * libfabric objects.
 *
 * Called when modules are made and closed, and for epinfo.  Sends nothing.
 *
 * Below it: sockets, base.
 */

#ifndef MCA_BTL_EPOFI_FABRIC_LAYER_H
#define MCA_BTL_EPOFI_FABRIC_LAYER_H

#include "btl_epofi_book.h"
#include "btl_epofi_choose.h"
#include "btl_epofi_context.h"
#include "btl_epofi_fabric.h"
#include "btl_epofi_net.h"
#include "btl_epofi_room.h"

#endif /* MCA_BTL_EPOFI_FABRIC_LAYER_H */
