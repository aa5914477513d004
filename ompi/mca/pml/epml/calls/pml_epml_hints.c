/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the user promises of a communicator by info keys, and what is gained by it; how many threads
 * use a handle.
 *
 *   mpi_assert_no_any_tag, mpi_assert_no_any_source   its messages leave out the queues of such
 *       wildcards (epml_match_promise); promises of the receiving side, kept by its endpoint
 *   mpi_assert_allow_overtaking   a small message that finds others waiting for its peer does not
 *       wait behind them, if there is room for it (send_immediate)
 *   mpi_assert_exact_length   nothing: every message carries its length for the status, and
 *       whether it fits is one comparison.  So the key is not taken, and not shown
 *
 *   mpix_thread_level   how soon a thread gets the bias of the endpoint's lock: of each handle's
 *   own,
 *       the highest is in force
 *
 * Tests: p2p_assert, hint_level
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_hints.h"

#include "ompi/constants.h"
#include "opal/util/info.h"
#include "opal/util/info_subscriber.h"

/** Kinds of receives that an assertion rules out. */
static unsigned int hints_never(uint32_t assertions)
{
    unsigned int kinds = 0;

    if (0 != (assertions & OMPI_COMM_ASSERT_NO_ANY_TAG)) {
        kinds |= 1u << EPML_MATCH_ANY_TAG | 1u << EPML_MATCH_ANY_BOTH;
    }
    if (0 != (assertions & OMPI_COMM_ASSERT_NO_ANY_SOURCE)) {
        kinds |= 1u << EPML_MATCH_ANY_SOURCE | 1u << EPML_MATCH_ANY_BOTH;
    }
    return kinds;
}

/** Take an assertion, or take it back.  Any thread.
 * @return what is in force now, as libmpi's infos have it: a wildcard that is posted already, or no
 * memory, and a promise is not believed */
static const char *set_assertion(opal_infosubscriber_t *object, const char *value, uint32_t flag)
{
    ompi_communicator_t *ompi_comm = (ompi_communicator_t *) object;
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);
    uint32_t assertions;

    if (NULL == comm) {
        return "false";
    }
    mca_pml_epml_lock(comm->ep);
    assertions = opal_str_to_bool(value) ? ompi_comm->c_assertions | flag
                                         : ompi_comm->c_assertions & ~flag;
    (void) epml_match_promise(&comm->ep->match, comm->context, hints_never(assertions));
    if (0 != (hints_never(flag) & ~epml_match_promised(&comm->ep->match, comm->context))) {
        assertions &= ~flag;
    }
    ompi_comm->c_assertions = assertions;
    comm->may_overtake = 0 != (assertions & OMPI_COMM_ASSERT_ALLOW_OVERTAKE);
    mca_pml_epml_unlock(comm->ep);
    return 0 != (assertions & flag) ? "true" : "false";
}

/* libmpi calls these with each new value of the key. */

static const char *set_no_any_tag(opal_infosubscriber_t *object, const char *key, const char *value)
{
    (void) key;
    return set_assertion(object, value, OMPI_COMM_ASSERT_NO_ANY_TAG);
}

static const char *set_no_any_source(opal_infosubscriber_t *object, const char *key,
                                     const char *value)
{
    (void) key;
    return set_assertion(object, value, OMPI_COMM_ASSERT_NO_ANY_SOURCE);
}

static const char *set_allow_overtaking(opal_infosubscriber_t *object, const char *key,
                                        const char *value)
{
    (void) key;
    return set_assertion(object, value, OMPI_COMM_ASSERT_ALLOW_OVERTAKE);
}

static const struct {
    const char *key;
    opal_key_interest_callback_t *set;
} assertions[] = {{"mpi_assert_no_any_tag", set_no_any_tag},
                  {"mpi_assert_no_any_source", set_no_any_source},
                  {"mpi_assert_allow_overtaking", set_allow_overtaking}};

#define NUM_ASSERTIONS (sizeof(assertions) / sizeof(assertions[0]))

/* ---- how many threads ------------------------------------------------------------------------ */

static const char level_key[] = "mpix_thread_level";
static const char *const level_names[EPML_LEVELS] = {"single", "funneled", "serialized",
                                                     "multiple"};

mca_pml_epml_level_t mca_pml_epml_level_read(const char *value)
{
    for (int level = EPML_LEVEL_SINGLE; level <= EPML_LEVEL_MULTIPLE; ++level) {
        if (0 == strcasecmp(value, level_names[level])) {
            return (mca_pml_epml_level_t) level;
        }
    }
    EPML_SHOW_HELP("bad thread level", true, value);
    return EPML_LEVEL_NONE;
}

/** libmpi calls it with each new value, and with "" for a handle that begins without one.
 * @return what the handle shows from now on: a value that is none changes nothing; NULL: nothing */
static const char *set_level(opal_infosubscriber_t *object, const char *key, const char *value)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm((ompi_communicator_t *) object);
    const mca_pml_epml_level_t said = '\0' == *value ? EPML_LEVEL_NONE
                                                     : mca_pml_epml_level_read(value);
    mca_pml_epml_level_t level;

    (void) key;
    if (NULL == comm) {
        return NULL;
    }
    mca_pml_epml_lock(comm->ep);
    if (EPML_LEVEL_NONE != said) {
        mca_pml_epml_comm_say_level(comm, said);
    }
    level = comm->level;
    mca_pml_epml_unlock(comm->ep);
    return EPML_LEVEL_NONE == level ? NULL : level_names[level];
}

int mca_pml_epml_hints_set_level(ompi_communicator_t *comm, mca_pml_epml_level_t level)
{
    return opal_info_set(comm->super.s_info, level_key,
                         set_level(&comm->super, level_key, level_names[level]));
}

int mca_pml_epml_hints_descend(ompi_communicator_t *comm, const ompi_communicator_t *from)
{
    mca_pml_epml_comm_t *state = mca_pml_epml_comm(from);
    mca_pml_epml_level_t level;

    mca_pml_epml_lock(state->ep);
    level = state->level;
    mca_pml_epml_unlock(state->ep);
    return EPML_LEVEL_NONE == level ? OMPI_SUCCESS : mca_pml_epml_hints_set_level(comm, level);
}

/* ---- all of them ----------------------------------------------------------------------------- */

int mca_pml_epml_hints_subscribe(ompi_communicator_t *comm)
{
    int rc = opal_infosubscribe_subscribe(&comm->super, level_key, "", set_level);

    for (size_t i = 0; OMPI_SUCCESS == rc && i < NUM_ASSERTIONS; ++i) {
        rc = opal_infosubscribe_subscribe(&comm->super, assertions[i].key, "false",
                                          assertions[i].set);
    }
    return rc;
}

int mca_pml_epml_hints_copy(ompi_communicator_t *comm, opal_info_t *info)
{
    for (size_t i = 0; NULL != info && i < NUM_ASSERTIONS; ++i) {
        opal_cstring_t *value = NULL;
        int flag = 0, rc;

        if (OPAL_SUCCESS != opal_info_get(info, assertions[i].key, &value, &flag) || 0 == flag) {
            continue;
        }
        rc = opal_info_set(comm->super.s_info, assertions[i].key,
                           assertions[i].set(&comm->super, assertions[i].key, value->string));
        OBJ_RELEASE(value);
        if (OPAL_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}
