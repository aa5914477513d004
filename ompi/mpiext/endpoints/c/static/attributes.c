/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Values that the user keeps with an endpoint, under keyvals that all endpoints of the process
 * share; and those that are there from the beginning.
 *
 * Nothing is called back: endpoints are neither duplicated nor freed.  A keyval that has been freed
 * stays until its last value is deleted, as MPI has it for communicators.
 *
 * One lock for all: this is for threads that begin, not for what they do over and over.
 *
 * Tests: static_attributes, fortran_calls (static), attach_level
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "mpiext_endpoints_attributes.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "ompi/constants.h"
#include "opal/class/opal_hash_table.h"

/** The user's are behind it. */
enum { PREDEFINED_MOST = 0x457f };

/** A value of an endpoint's. */
struct mpix_endpoint_attribute_t {
    mpix_endpoint_attribute_t *next;
    int keyval;
    bool is_integer; /**< set as such, by Fortran */
    mpix_endpoints_value_t value;
};

/** A keyval of the user's. */
typedef struct keyval_t {
    size_t values; /**< of all endpoints */
    bool is_freed;
} keyval_t;

/** The user's keyvals; under the lock, as all values are. */
static struct {
    pthread_mutex_t lock;
    bool is_made;
    opal_hash_table_t table; /**< by number, from the second one on */
    int last;
} keyvals = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- keyvals --------------------------------------------------------------------------------- */

static keyval_t *keyval_find(int number)
{
    void *found = NULL;

    if (!keyvals.is_made
        || OPAL_SUCCESS
               != opal_hash_table_get_value_uint32(&keyvals.table, (uint32_t) number, &found)) {
        return NULL;
    }
    return found;
}

static void keyval_remove(int number, keyval_t *keyval)
{
    (void) opal_hash_table_remove_value_uint32(&keyvals.table, (uint32_t) number);
    free(keyval);
}

static bool make_table(void)
{
    if (!keyvals.is_made) {
        OBJ_CONSTRUCT(&keyvals.table, opal_hash_table_t);
        keyvals.is_made = OPAL_SUCCESS == opal_hash_table_init(&keyvals.table, 16);
        keyvals.last = PREDEFINED_MOST;
    }
    return keyvals.is_made && INT_MAX > keyvals.last;
}

int mpix_endpoints_keyval_create(int *number)
{
    keyval_t *keyval = calloc(1, sizeof(*keyval));
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    pthread_mutex_lock(&keyvals.lock);
    if (NULL != keyval && make_table()
        && OPAL_SUCCESS
               == opal_hash_table_set_value_uint32(&keyvals.table, (uint32_t) (keyvals.last + 1),
                                                   keyval)) {
        *number = ++keyvals.last; /* never one again that has been there */
        rc = OMPI_SUCCESS;
    }
    pthread_mutex_unlock(&keyvals.lock);
    if (OMPI_SUCCESS != rc) {
        free(keyval);
    }
    return rc;
}

int mpix_endpoints_keyval_free(int number)
{
    keyval_t *keyval;
    int rc = OMPI_ERR_NOT_FOUND;

    pthread_mutex_lock(&keyvals.lock);
    keyval = keyval_find(number);
    if (NULL != keyval && !keyval->is_freed) {
        keyval->is_freed = true;
        if (0 == keyval->values) {
            keyval_remove(number, keyval);
        }
        rc = OMPI_SUCCESS;
    }
    pthread_mutex_unlock(&keyvals.lock);
    return rc;
}

/* ---- values ---------------------------------------------------------------------------------- */

/** Where the pointer to a value is, or would be. */
static mpix_endpoint_attribute_t **value_find(mpix_endpoint_t *endpoint, int number)
{
    mpix_endpoint_attribute_t **at = &endpoint->attributes;

    while (NULL != *at && number != (*at)->keyval) {
        at = &(*at)->next;
    }
    return at;
}

static int attributes_set(mpix_endpoint_t *endpoint, int number, mpix_endpoints_value_t value,
                          bool is_integer)
{
    keyval_t *keyval = keyval_find(number);
    mpix_endpoint_attribute_t **at = value_find(endpoint, number);

    if (NULL == keyval || keyval->is_freed) {
        return OMPI_ERR_NOT_FOUND;
    }
    if (NULL == *at) {
        *at = calloc(1, sizeof(**at));
        if (NULL == *at) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        (*at)->keyval = number;
        ++keyval->values;
    }
    (*at)->value = value;
    (*at)->is_integer = is_integer;
    return OMPI_SUCCESS;
}

int mpix_endpoints_attribute_set(mpix_endpoint_t *endpoint, int number,
                                 mpix_endpoints_value_t value, bool is_integer)
{
    int rc;

    pthread_mutex_lock(&keyvals.lock);
    rc = attributes_set(endpoint, number, value, is_integer);
    pthread_mutex_unlock(&keyvals.lock);
    return rc;
}

/** The level that threads have at the endpoint now, or NULL.  A thread that has never attached
 * is on the first endpoint and is not counted: one is always allowed, at the endpoint's level. */
static const int *current_level(const mpix_endpoint_t *endpoint)
{
    static const int levels[] = {
        [MPI_THREAD_SINGLE] = MPI_THREAD_SINGLE,
        [MPI_THREAD_FUNNELED] = MPI_THREAD_FUNNELED,
        [MPI_THREAD_SERIALIZED] = MPI_THREAD_SERIALIZED,
        [MPI_THREAD_MULTIPLE] = MPI_THREAD_MULTIPLE,
    };
    const int level = mpix_endpoints_endpoint_level(endpoint);

    if (0 > level) {
        return mpix_endpoints_process_first() == endpoint ? &endpoint->level : NULL;
    }
    return &levels[level];
}

/** One that is there from the beginning.  @return false: this keyval is none of those */
static bool get_predefined(mpix_endpoint_t *endpoint, int number, const void **value)
{
    switch (number) {
    case MPIX_MAX_THREAD_LEVEL:
        *value = &endpoint->level; /* no attachment gets more */
        return true;
    case MPIX_CURRENT_THREAD_LEVEL:
        *value = current_level(endpoint);
        return true;
    case MPIX_ENDPOINT_INDEX:
        *value = &endpoint->index;
        return true;
    case MPIX_ENDPOINT_CORES:
        *value = mpix_endpoints_place_cores();
        return true;
    case MPIX_ENDPOINT_NUMA_NODE:
        *value = mpix_endpoints_place_node();
        return true;
    case MPIX_ENDPOINT_PROVIDER:
        *value = mpix_endpoints_place_provider();
        return true;
    case MPIX_ENDPOINT_INTERFACE:
        *value = mpix_endpoints_place_interface();
        return true;
    default:
        return false;
    }
}

/** The value as C gets it: of Fortran's integers the address. */
static void *as_pointer(mpix_endpoint_attribute_t *attribute)
{
    return attribute->is_integer ? &attribute->value.integer : attribute->value.pointer;
}

/** A predefined value as Fortran gets it: numbers themselves, a text as its address. */
static MPI_Aint predefined_integer(int number, const void *value)
{
    switch (number) {
    case MPIX_ENDPOINT_CORES:
    case MPIX_ENDPOINT_PROVIDER:
    case MPIX_ENDPOINT_INTERFACE:
        return (MPI_Aint) (intptr_t) value;
    default:
        return *(const int *) value;
    }
}

int mpix_endpoints_attribute_get(mpix_endpoint_t *endpoint, int number, bool as_integer,
                                 mpix_endpoints_value_t *value, bool *found)
{
    mpix_endpoint_attribute_t *attribute;
    const void *predefined;
    int rc = OMPI_SUCCESS;

    if (get_predefined(endpoint, number, &predefined)) {
        *found = NULL != predefined;
        if (*found && as_integer) {
            value->integer = predefined_integer(number, predefined);
        } else if (*found) {
            value->pointer = (void *) (uintptr_t) predefined;
        }
        return OMPI_SUCCESS;
    }
    pthread_mutex_lock(&keyvals.lock);
    attribute = *value_find(endpoint, number);
    *found = NULL != attribute;
    if (*found && as_integer) {
        *value = attribute->value; /* of C's pointers the address that they are */
    } else if (*found) {
        value->pointer = as_pointer(attribute);
    } else if (NULL == keyval_find(number)) {
        rc = OMPI_ERR_NOT_FOUND;
    }
    pthread_mutex_unlock(&keyvals.lock);
    return rc;
}

int mpix_endpoints_attribute_delete(mpix_endpoint_t *endpoint, int number)
{
    mpix_endpoint_attribute_t **at, *attribute;
    keyval_t *keyval;

    pthread_mutex_lock(&keyvals.lock);
    keyval = keyval_find(number);
    at = value_find(endpoint, number);
    attribute = *at;
    if (NULL != keyval && NULL != attribute) {
        *at = attribute->next;
        if (0 == --keyval->values && keyval->is_freed) {
            keyval_remove(number, keyval);
        }
    }
    pthread_mutex_unlock(&keyvals.lock);
    free(attribute);
    return NULL != keyval ? OMPI_SUCCESS : OMPI_ERR_NOT_FOUND;
}

/* ---- the end --------------------------------------------------------------------------------- */

void mpix_endpoints_attributes_end(mpix_endpoint_t endpoints[], int count)
{
    void *keyval, *node = NULL;
    uint32_t number;

    pthread_mutex_lock(&keyvals.lock);
    for (int i = 0; i < count; ++i) {
        while (NULL != endpoints[i].attributes) {
            mpix_endpoint_attribute_t *attribute = endpoints[i].attributes;

            endpoints[i].attributes = attribute->next;
            free(attribute);
        }
    }
    if (keyvals.is_made) {
        for (int rc = opal_hash_table_get_first_key_uint32(&keyvals.table, &number, &keyval, &node);
             OPAL_SUCCESS == rc; rc = opal_hash_table_get_next_key_uint32(&keyvals.table, &number,
                                                                          &keyval, node, &node)) {
            free(keyval);
        }
        OBJ_DESTRUCT(&keyvals.table);
        keyvals.is_made = false;
    }
    pthread_mutex_unlock(&keyvals.lock);
}
