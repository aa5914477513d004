/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the launcher was told: the number of endpoints and the thread level, before MPI has begun,
 * while it runs, and behind its end; as an attribute; that it is a maximum; and how many ranks share
 * the process, in MPI_INFO_ENV.
 *
 *   --number N, --told-level L  what is to come out
 *   --how i                     begin by MPI_Init, not with as many endpoints as were told
 *
 * Guards: query_told.c, told.c, query_number.c, endpoints_keyval.c, init_endpoint.c,
 * init_make.c
 */

#include "static.h"

#if defined(HAVE_EP)

static int number_before = -2, level_before = -2, keyval_before;

int test_process_init(int *argc, char ***argv)
{
    (void) MPIX_Query_endpoints_told(&number_before, &level_before);
    keyval_before = MPIX_ENDPOINTS;
    if ('i' == *ept_option("how", "s")) {
        static_code = MPI_Init(argc, argv);
    } else {
        static_code = MPIX_Init_endpoint(argc, argv, 0 < number_before ? number_before : 1,
                                         0 <= level_before ? level_before : MPI_THREAD_MULTIPLE,
                                         static_endpoints);
    }
    return MPI_THREAD_MULTIPLE;
}

/* Behind the end of MPI nobody listens to a test: it ends with a status of its own. */
static void ask_at_exit(void)
{
    int number = -2, level = -2, is_over = 0;

    MPI_Finalized(&is_over);
    if (!is_over || MPI_SUCCESS != MPIX_Query_endpoints_told(&number, &level)
        || number_before != number || level_before != level) {
        ept_note("after MPI_Finalize: told %d, level %d, before it %d, %d", number, level,
                 number_before, level_before);
        _Exit(3);
    }
}

static void case_told(MPI_Comm comm, struct ept *t)
{
    const int expected = (int) ept_option_long("number", 0);
    const int levels[] = {-1, MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE}; /* other numbers in the MPI ABI */
    const int expected_level = levels[1 + ept_option_long("told-level", -1)];
    int number = -2, level = -2;

    (void) comm;
    EPT_EQ(t, MPI_SUCCESS, static_code);
    EPT_EQ(t, expected, number_before);
    EPT_EQ(t, expected_level, level_before);
    EPT_EQ(t, MPI_SUCCESS, MPIX_Query_endpoints_told(&number, &level));
    EPT_EQ(t, expected, number);
    EPT_EQ(t, expected_level, level);
    EPT_EQ(t, MPI_ERR_ARG, MPIX_Query_endpoints_told(NULL, &level));
    EPT_EQ(t, MPI_ERR_ARG, PMPIX_Query_endpoints_told(&number, NULL));
    EPT_EQ(t, 0, atexit(ask_at_exit));
}

static void case_asp(MPI_Comm comm, struct ept *t)
{
    const int expected = 'i' == *ept_option("how", "s") ? 1 : (int) ept_option_long("number", 1);
    static const char *const keys[] = {"asp", "MPI_ENV_ASP"};
    int size = -1;

    (void) comm;
    EPT_OK(t, MPI_Comm_size(MPIX_COMM_PROCESS, &size));
    EPT_EQ(t, 0 == expected ? 1 : expected, size);
    for (int i = 0; i < 2; ++i) {
        char asp[16] = "";
        int flag = 0;

        EPT_OK(t, MPI_Info_get(MPI_INFO_ENV, keys[i], sizeof(asp) - 1, asp, &flag));
        EPT_EQ(t, 1, flag);
        EPT_EQ(t, size, atoi(asp));
    }
}

/* The same number as an attribute of MPI_COMM_WORLD's; nobody said one: as many as there may be. */
static void case_attribute(MPI_Comm comm, struct ept *t)
{
    int expected = (int) ept_option_long("number", 0), optimal, keyval = MPIX_ENDPOINTS, flag = 0;
    const int *value = NULL;

    (void) comm;
    if (0 == expected) {
        EPT_OK(t, MPIX_Query_endpoints_number(MPI_COMM_WORLD, &optimal, &expected));
    }
    EPT_CHECK(t, MPI_KEYVAL_INVALID != keyval, "no keyval");
    EPT_EQ(t, keyval, PMPIX_Endpoints_keyval());
    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag));
    EPT_EQ(t, 1, flag);
    EPT_EQ(t, expected, 1 == flag ? *value : -1);
    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_SELF, keyval, &value, &flag));
    EPT_EQ(t, 0, flag);
    /* It is there for good. */
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_CHECK(t, MPI_SUCCESS != MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval), "it was deleted");
    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag));
    EPT_EQ(t, 1, flag);
}

/* No process gets more; a call that asks for more returns an error that says so. */
static void case_maximum(MPI_Comm comm, struct ept *t)
{
    const int most = (int) ept_option_long("number", 0);
    MPI_Comm comms[STATIC_MAX] = {MPI_COMM_NULL};
    char text[MPI_MAX_ERROR_STRING] = "", here[32];
    int optimal = -1, maximum = -1, length, code;

    (void) comm;
    if (0 == most) {
        return;
    }
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPIX_Query_endpoints_number(MPI_COMM_SELF, &optimal, &maximum));
    EPT_EQ(t, most, maximum);
    EPT_CHECK(t, 1 <= optimal && optimal <= most, "%d would be best", optimal);
    code = MPIX_Comm_create_endpoints(MPI_COMM_SELF, most + 1, MPI_INFO_NULL, comms);
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, code);
    EPT_OK(t, MPI_Error_string(code, text, &length));
    (void) snprintf(here, sizeof(here), "(here %d)", most);
    EPT_CHECK(t, NULL != strstr(text, here), "no \"%s\" in \"%s\"", here, text);
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, most, MPI_INFO_NULL, comms));
    for (int i = 0; i < most; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_EQ(t, MPI_KEYVAL_INVALID, keyval_before);
    (void) comm;
    EPT_CASE(t, case_attribute);
    EPT_CASE(t, case_told);
    EPT_CASE(t, case_maximum);
    EPT_CASE(t, case_asp);
    return 0;
}

#else

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    ept_skip(t, "told", "no endpoints");
    return 0;
}

#endif
