/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Endpoint_create_keyval, _free_keyval, _set_attr, _get_attr and _delete_attr.
 *
 * Tests: static_attributes, fortran_calls (static)
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"

/** Has MPI begun, and not ended?  @return MPI_SUCCESS or an error */
static int check_running(void)
{
    return mpix_endpoints_process_is_running() ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int check_endpoint(const mpix_endpoint_t *endpoint)
{
    const int code = check_running();

    if (MPI_SUCCESS != code || mpix_endpoints_process_has(endpoint)) {
        return code;
    }
    return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_ATTRIBUTE);
}

/** Errors are raised as those of calls without a communicator. */
static int endpoint_attributes_ended(int code, int rc, const char *name)
{
    if (MPI_SUCCESS == code) {
        code = OMPI_SUCCESS == rc         ? MPI_SUCCESS
               : OMPI_ERR_NOT_FOUND == rc ? MPI_ERR_KEYVAL
                                          : MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS == code ? MPI_SUCCESS : OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
}

int mpix_endpoints_call_create_keyval(int *keyval)
{
    int code = check_running();

    code = MPI_SUCCESS == code && NULL == keyval ? MPI_ERR_ARG : code;
    return endpoint_attributes_ended(code,
                                     MPI_SUCCESS == code ? mpix_endpoints_keyval_create(keyval)
                                                         : OMPI_SUCCESS,
                                     "MPIX_Endpoint_create_keyval");
}

int mpix_endpoints_call_free_keyval(int *keyval)
{
    int code = check_running(), rc = OMPI_SUCCESS;

    code = MPI_SUCCESS == code && NULL == keyval ? MPI_ERR_ARG : code;
    if (MPI_SUCCESS == code) {
        rc = mpix_endpoints_keyval_free(*keyval);
    }
    if (MPI_SUCCESS == code && OMPI_SUCCESS == rc) {
        *keyval = MPI_KEYVAL_INVALID;
    }
    return endpoint_attributes_ended(code, rc, "MPIX_Endpoint_free_keyval");
}

static int endpoint_attributes_set(mpix_endpoint_t *endpoint, int keyval,
                                   mpix_endpoints_value_t value, bool is_integer)
{
    const int code = check_endpoint(endpoint);

    return endpoint_attributes_ended(code,
                                     MPI_SUCCESS == code
                                         ? mpix_endpoints_attribute_set(endpoint, keyval, value,
                                                                        is_integer)
                                         : OMPI_SUCCESS,
                                     "MPIX_Endpoint_set_attr");
}

int mpix_endpoints_call_set_attr(struct mpix_endpoint_t *endpoint, int keyval, void *value)
{
    return endpoint_attributes_set(endpoint, keyval, (mpix_endpoints_value_t){.pointer = value},
                                   false);
}

int mpix_endpoints_call_set_integer(struct mpix_endpoint_t *endpoint, int keyval, MPI_Aint value)
{
    return endpoint_attributes_set(endpoint, keyval, (mpix_endpoints_value_t){.integer = value},
                                   true);
}

/** @param[out] is_set  is there a value? */
static int endpoint_attributes_get(mpix_endpoint_t *endpoint, int keyval, bool as_integer,
                                   mpix_endpoints_value_t *value, bool *is_set, int *flag)
{
    int code = check_endpoint(endpoint), rc = OMPI_SUCCESS;

    *is_set = false;
    code = MPI_SUCCESS == code && NULL == flag ? MPI_ERR_ARG : code;
    if (MPI_SUCCESS == code) {
        rc = mpix_endpoints_attribute_get(endpoint, keyval, as_integer, value, is_set);
        *flag = *is_set;
    }
    return endpoint_attributes_ended(code, rc, "MPIX_Endpoint_get_attr");
}

int mpix_endpoints_call_get_attr(struct mpix_endpoint_t *endpoint, int keyval, void *value,
                                 int *flag)
{
    mpix_endpoints_value_t found;
    bool is_set;
    const int code = endpoint_attributes_get(endpoint, keyval, false, &found, &is_set,
                                             NULL != value ? flag : NULL);

    if (is_set) {
        *(void **) value = found.pointer;
    }
    return code;
}

int mpix_endpoints_call_get_integer(struct mpix_endpoint_t *endpoint, int keyval, MPI_Aint *value,
                                    int *flag)
{
    mpix_endpoints_value_t found;
    bool is_set;
    const int code = endpoint_attributes_get(endpoint, keyval, true, &found, &is_set, flag);

    if (is_set) {
        *value = found.integer;
    }
    return code;
}

int mpix_endpoints_call_delete_attr(struct mpix_endpoint_t *endpoint, int keyval)
{
    const int code = check_endpoint(endpoint);

    return endpoint_attributes_ended(code,
                                     MPI_SUCCESS == code
                                         ? mpix_endpoints_attribute_delete(endpoint, keyval)
                                         : OMPI_SUCCESS,
                                     "MPIX_Endpoint_delete_attr");
}

bool mpix_endpoints_call_is_level(int keyval)
{
    return MPIX_MAX_THREAD_LEVEL == keyval || MPIX_CURRENT_THREAD_LEVEL == keyval;
}

#define EXPORTED(name, call, ...)                                                       \
    MPIX_ENDPOINTS_EXPORT int P##name(__VA_ARGS__) __attribute__((alias(#call)));       \
    MPIX_ENDPOINTS_EXPORT int name(__VA_ARGS__) __attribute__((weak, alias(#call)))

EXPORTED(MPIX_Endpoint_create_keyval, mpix_endpoints_call_create_keyval, int *keyval);
EXPORTED(MPIX_Endpoint_free_keyval, mpix_endpoints_call_free_keyval, int *keyval);
EXPORTED(MPIX_Endpoint_set_attr, mpix_endpoints_call_set_attr, MPIX_Endpoint endpoint, int keyval,
         void *value);
EXPORTED(MPIX_Endpoint_get_attr, mpix_endpoints_call_get_attr, MPIX_Endpoint endpoint, int keyval,
         void *value, int *flag);
EXPORTED(MPIX_Endpoint_delete_attr, mpix_endpoints_call_delete_attr, MPIX_Endpoint endpoint,
         int keyval);
