/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The endpoints that this process has from the beginning, and their communicators.
 *
 * Those of all processes together are made as any endpoints are; their handles come here.  A
 * process's own communicator, and each endpoint's own, are made of the same endpoints: no engine
 * more, and groups of all of these name the same members.  libmpi frees them, as it does with what
 * users leave over, when MPI ends.
 *
 * Their attributes go before that: MPI_Finalize begins by deleting those of MPI_COMM_SELF, while
 * everything works (MPI 4.1, 11.2.4), and one of these is ours.
 *
 * Tests: static_world, static_attach, query_thread, ranks_mpi, levels
 */

#include "ompi_config.h"

#include "mpiext_endpoints_attributes.h"
#include "mpiext_endpoints_duplicate.h"
#include "mpiext_endpoints_process.h"

#include <stdlib.h>

#include "ompi/attribute/attribute.h"
#include "ompi/constants.h"
#include "ompi/runtime/mpiruntime.h"

mpix_endpoint_t mpix_endpoints_none = {.endpoints = &ompi_mpi_comm_null.comm,
                                       .process = &ompi_mpi_comm_null.comm,
                                       .self = &ompi_mpi_comm_null.comm,
                                       .parent = &ompi_mpi_comm_null.comm};

/** Of a process in a job where nobody asks for endpoints: as long as it has no duplicates. */
static mpix_endpoint_t plain = {.endpoints = &ompi_mpi_comm_world.comm,
                                .process = &ompi_mpi_comm_self.comm,
                                .self = &ompi_mpi_comm_self.comm};

mpix_endpoint_t *_Atomic mpix_endpoints_first = &plain;

/** Written while MPI begins and ends, when no other thread may call it. */
static struct {
    mpix_endpoint_t *endpoints; /**< of this process; NULL: plain alone */
    int count;                  /**< of those; may be none */
    int level;                  /**< that MPI has begun with; -1: not by a function of ours */
} own = {.level = -1};

/** Read by any thread, also while MPI begins. */
static _Atomic int rule = MPIX_ENDPOINTS_FREE;
static _Atomic bool is_asp;

static void set_first(mpix_endpoint_t *first)
{
    /* Release: orders the endpoint's contents before the pointer; partner:
     * mpix_endpoints_process_first. */
    atomic_store_explicit(&mpix_endpoints_first, first, memory_order_release);
}

/** What MPI_Comm_get_name says, and that it stays. */
static void process_name_communicator(ompi_communicator_t *comm, const char *name)
{
    (void) ompi_comm_set_name(comm, name);
    comm->c_flags |= MPIX_ENDPOINTS_COMM_STATIC;
}

/** The communicator of all endpoints of the process.  @return OMPI_SUCCESS, or an error: none */
static int make_process(mpix_endpoint_t endpoints[], ompi_communicator_t *const handles[],
                        int count)
{
    ompi_communicator_t **comms;
    int rc;

    if (0 >= count) {
        return OMPI_SUCCESS;
    }
    comms = calloc((size_t) count, sizeof(*comms));
    rc = NULL == comms ? OMPI_ERR_OUT_OF_RESOURCE
                       : mpix_endpoints_table()->comm_among(handles, count, comms);
    for (int i = 0; OMPI_SUCCESS == rc && i < count; ++i) {
        endpoints[i].process = comms[i];
    }
    free(comms);
    return rc;
}

static void free_comms(mpix_endpoint_t endpoints[], int count)
{
    for (int i = 0; i < count; ++i) {
        if (NULL != endpoints[i].self) {
            (void) ompi_comm_free(&endpoints[i].self);
        }
        if (NULL != endpoints[i].process) {
            (void) ompi_comm_free(&endpoints[i].process);
        }
    }
}

/** All but the first of an endpoint's communicators. */
static int make_comms(mpix_endpoint_t endpoints[], ompi_communicator_t *const handles[], int count)
{
    int rc = make_process(endpoints, handles, count);

    for (int i = 0; OMPI_SUCCESS == rc && i < count; ++i) {
        rc = mpix_endpoints_table()->comm_among(&handles[i], 1, &endpoints[i].self);
    }
    if (OMPI_SUCCESS != rc) {
        free_comms(endpoints, count);
    }
    return rc;
}

/* ---- the beginning of MPI_Finalize ----------------------------------------------------------- */

/** Behind that of endpoints_keyval.c: one of libmpi's predefined ones, as that is. */
enum { END_KEYVAL = 0x40004571 };

/** Will finalize_begins be called? */
static bool is_watched;

/** As MPI_Comm_free does with a communicator's attributes: in the calling thread.  Of ours: libmpi's
 * own have theirs. */
static void delete_attributes(ompi_communicator_t *comm)
{
    if (mpix_endpoints_process_owns(comm) && NULL != comm->c_keyhash) {
        (void) ompi_attr_delete_all(COMM_ATTR, comm, comm->c_keyhash);
        OBJ_RELEASE(comm->c_keyhash);
        comm->c_keyhash = NULL;
    }
}

/** As MPI_Finalize does with the process's, which is the first endpoint's: no more messages come
 * into it, and those that are there are sent. */
static void drop_buffer(const mpix_endpoint_t *endpoint)
{
    void *address;
    size_t size;

    if (0 < endpoint->index) {
        mpix_endpoints_table()->detach_buffer(endpoint->self, &address, &size);
    }
}

void mpix_endpoints_process_end_endpoint(mpix_endpoint_t *endpoint)
{
    delete_attributes(endpoint->self);
    /* What hangs on others stays as MPI_COMM_WORLD's does, without a call of its functions, which
     * may be gone when the process ends MPI. */
    endpoint->process->c_keyhash = NULL;
    endpoint->endpoints->c_keyhash = NULL;
    drop_buffer(endpoint);
}

/** MPI_COMM_SELF's attributes are deleted: MPI_Finalize has begun. */
static int finalize_begins(MPI_Comm comm, int key, void *value, void *extra)
{
    const int count = mpix_endpoints_process_count();

    (void) comm, (void) key, (void) value, (void) extra;
    for (int i = 0; i < count; ++i) {
        delete_attributes(mpix_endpoints_process_endpoint(i)->self);
    }
    for (int i = 0; i < count; ++i) {
        delete_attributes(mpix_endpoints_process_endpoint(i)->process);
    }
    for (int i = 0; i < count; ++i) {
        delete_attributes(mpix_endpoints_process_endpoint(i)->endpoints);
    }
    for (int i = 0; i < count; ++i) {
        drop_buffer(mpix_endpoints_process_endpoint(i));
    }
    return MPI_SUCCESS;
}

static int copy_none(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void) comm, (void) key, (void) extra, (void) value, (void) copy;
    *flag = 0;
    return MPI_SUCCESS;
}

/** Have finalize_begins called.  @return OMPI_SUCCESS, or OMPI_ERR_OUT_OF_RESOURCE */
static int watch_finalize(void)
{
    const ompi_attribute_fn_ptr_union_t copy = {.attr_communicator_copy_fn = copy_none};
    const ompi_attribute_fn_ptr_union_t remove = {.attr_communicator_delete_fn = finalize_begins};
    ompi_communicator_t *self = &ompi_mpi_comm_self.comm;
    int key = END_KEYVAL, rc;

    if (is_watched) { /* endpoints in place of duplicates */
        return OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS
        != ompi_attr_create_keyval(COMM_ATTR, copy, remove, &key, NULL, OMPI_KEYVAL_PREDEFINED,
                                   NULL)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = ompi_attr_set_c(COMM_ATTR, self, &self->c_keyhash, key, NULL, true);
    (void) ompi_attr_free_keyval(COMM_ATTR, &key, true);
    is_watched = MPI_SUCCESS == rc;
    return MPI_SUCCESS == rc ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/* ---- the beginning and the end --------------------------------------------------------------- */

int mpix_endpoints_process_begin(ompi_communicator_t *const handles[], int count, int level)
{
    mpix_endpoint_t *endpoints = aligned_alloc(_Alignof(mpix_endpoint_t),
                                               (size_t) (0 < count ? count : 1)
                                                   * sizeof(*endpoints));
    int rc;

    if (NULL == endpoints) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < count; ++i) {
        endpoints[i] = (mpix_endpoint_t){.endpoints = handles[i], .index = i, .level = level};
        atomic_init(&endpoints[i].attached, 0);
        atomic_init(&endpoints[i].parent, &ompi_mpi_comm_null.comm);
        atomic_init(&endpoints[i].main, NULL);
    }
    rc = make_comms(endpoints, handles, count);
    if (OMPI_SUCCESS == rc && OMPI_SUCCESS != (rc = watch_finalize())) {
        free_comms(endpoints, count);
    }
    if (OMPI_SUCCESS != rc) {
        free(endpoints);
        return rc;
    }
    for (int i = 0; i < count; ++i) {
        process_name_communicator(endpoints[i].endpoints, "MPIX_COMM_ENDPOINTS");
        process_name_communicator(endpoints[i].process, "MPIX_COMM_PROCESS");
        process_name_communicator(endpoints[i].self, "MPIX_COMM_SELF");
    }
    own.endpoints = endpoints;
    own.count = count;
    own.level = level;
    set_first(0 < count ? &endpoints[0] : &mpix_endpoints_none);
    return OMPI_SUCCESS;
}

void mpix_endpoints_process_undo(void)
{
    set_first(&plain);
    free_comms(own.endpoints, own.count);
    for (int i = 0; i < own.count; ++i) {
        (void) ompi_comm_free(&own.endpoints[i].endpoints);
    }
    free(own.endpoints);
    own.endpoints = NULL;
    own.level = -1;
}

void mpix_endpoints_process_plain(int level)
{
    own.level = plain.level = level;
}

void mpix_endpoints_process_set_rule(mpix_endpoints_rule_t which, int level, bool by_asp)
{
    if (MPIX_ENDPOINTS_ASSIGNED <= which) {
        own.level = level;
        set_first(MPIX_ENDPOINTS_ASSIGNED == which ? NULL : &mpix_endpoints_none);
    }
    atomic_store_explicit(&is_asp, by_asp, memory_order_relaxed);
    /* Release: orders the endpoints, and the two above, before the rule; partner:
     * mpix_endpoints_process_rule. */
    atomic_store_explicit(&rule, (int) which, memory_order_release);
}

mpix_endpoints_rule_t mpix_endpoints_process_rule(void)
{
    /* Acquire: partner: mpix_endpoints_process_set_rule. */
    return (mpix_endpoints_rule_t) atomic_load_explicit(&rule, memory_order_acquire);
}

bool mpix_endpoints_process_is_asp(void)
{
    /* Relaxed: threads call MPI behind what has begun it; nothing else is passed on. */
    return atomic_load_explicit(&is_asp, memory_order_relaxed);
}

int mpix_endpoints_process_duplicate(void)
{
    ompi_communicator_t *all, *process;
    int rc = mpix_endpoints_duplicate(&ompi_mpi_comm_world.comm, &all);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = mpix_endpoints_duplicate(&ompi_mpi_comm_self.comm, &process);
    if (OMPI_SUCCESS != rc) {
        (void) ompi_comm_free(&all);
        return rc;
    }
    process_name_communicator(all, "MPIX_COMM_ENDPOINTS");
    process_name_communicator(process, "MPIX_COMM_PROCESS");
    plain.endpoints = all;
    plain.process = process;
    return watch_finalize();
}

/** The endpoints stay: a thread that ends later may still be attached to one. */
void mpix_endpoints_process_end(void)
{
    set_first(&plain);
    plain.endpoints = &ompi_mpi_comm_world.comm;
    plain.process = &ompi_mpi_comm_self.comm;
    mpix_endpoints_attributes_end(own.endpoints, NULL != own.endpoints ? own.count : 0);
    own.endpoints = NULL;
    own.level = -1;
    is_watched = false;
    mpix_endpoints_process_set_rule(MPIX_ENDPOINTS_FREE, -1, false);
}

int mpix_endpoints_process_count(void)
{
    return NULL != own.endpoints ? own.count : 1;
}

mpix_endpoint_t *mpix_endpoints_process_endpoint(int index)
{
    return NULL != own.endpoints ? &own.endpoints[index] : &plain;
}

int mpix_endpoints_process_level(void)
{
    return own.level;
}

bool mpix_endpoints_process_is_static(void)
{
    return NULL != own.endpoints;
}

bool mpix_endpoints_process_has(const mpix_endpoint_t *endpoint)
{
    const uintptr_t offset = (uintptr_t) endpoint - (uintptr_t) own.endpoints;

    if (NULL == own.endpoints) {
        return &plain == endpoint;
    }
    return offset < (size_t) own.count * sizeof(*endpoint) && 0 == offset % sizeof(*endpoint);
}

mpix_endpoint_t *mpix_endpoints_process_member(ompi_group_t *group, int rank)
{
    const int count = mpix_endpoints_process_count();
    ompi_group_t *own;
    opal_process_name_t name;

    if (0 == count || 0 > rank || group->grp_proc_count <= rank) {
        return NULL;
    }
    own = mpix_endpoints_process_endpoint(0)->process->c_local_group;
    name = ompi_group_get_proc_name(group, rank);
    for (int i = 0; i < count; ++i) {
        const opal_process_name_t other = ompi_group_get_proc_name(own, i);

        if (other.jobid == name.jobid && other.vpid == name.vpid) {
            return mpix_endpoints_process_endpoint(i);
        }
    }
    return NULL;
}
