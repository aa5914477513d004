/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What MPI keeps per process, per rank: its beginning and end, levels of threads, attributes, names,
 * error handlers, buffers, Fortran's handles.
 *
 * Guards: begin.c, environment.c, handles.c, hook_errors.c, world_f2c.c, predefined.c, ranks.c, process.c
 */

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int deleted, handled;

static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    int is_finalized, size;

    (void) key, (void) value, (void) extra;
    MPI_Finalized(&is_finalized);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_COMM_SELF != comm || is_finalized || size != ranks_size()) {
        abort();
    }
    ++deleted;
    return MPI_SUCCESS;
}

static int never(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value, (void) extra;
    abort();
}

static void *other_thread(void *flag)
{
    MPI_Is_thread_main(flag);
    return NULL;
}

static void check_begin(int *argc, char ***argv)
{
    int flag = 1, level = -1;
    pthread_t thread;

    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
    CHECK(MPI_THREAD_SERIALIZED == level);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Finalized(&flag);
    CHECK(!flag);
    level = -1;
    MPI_Query_thread(&level);
    CHECK(MPI_THREAD_SERIALIZED == level);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    CHECK(0 == pthread_create(&thread, NULL, other_thread, &flag) && 0 == pthread_join(thread, NULL));
    CHECK(!flag);
    ranks_case("the beginning");
}

static int attribute(int key)
{
    int *value, flag = 0;

    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(flag);
    return flag ? *value : -1;
}

static void check_world(void)
{
    MPI_Comm parent, dup, world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    char text[MPI_MAX_INFO_VAL + 1];
    int result, flag, class, code;

    CHECK(32767 <= attribute(MPI_TAG_UB));
    CHECK(ranks_size() <= attribute(MPI_UNIVERSE_SIZE));
    CHECK(0 == attribute(MPI_APPNUM));
    (void) attribute(MPI_IO);
    (void) attribute(MPI_WTIME_IS_GLOBAL);
    MPI_Add_error_class(&class);
    CHECK(class <= attribute(MPI_LASTUSEDCODE));
    MPI_Add_error_code(class, &code);
    CHECK(code <= attribute(MPI_LASTUSEDCODE));
    MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL, text, &flag);
    CHECK(flag && ranks_size() == atoi(text));
    MPI_Info_get(MPI_INFO_ENV, "thread_level", MPI_MAX_INFO_VAL, text, &flag);
    CHECK(flag && 0 == strcmp(text, "MPI_THREAD_SERIALIZED"));
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &result);
    CHECK(0 == strcmp(text, "MPI_COMM_WORLD"));
    MPI_Comm_get_name(MPI_COMM_SELF, text, &result);
    CHECK(0 == strcmp(text, "MPI_COMM_SELF"));
    MPI_Comm_get_parent(&parent);
    CHECK(MPI_COMM_NULL == parent);
    MPI_Comm_compare(world, MPI_COMM_WORLD, &result);
    CHECK(MPI_IDENT == result);
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    MPI_Comm_compare(dup, self, &result);
    CHECK(MPI_CONGRUENT == result);
    MPI_Comm_free(&dup);
    CHECK(0 == MPI_Comm_c2f(MPI_COMM_WORLD) && MPI_COMM_WORLD == MPI_Comm_f2c(0));
    CHECK(1 == MPI_Comm_c2f(MPI_COMM_SELF) && MPI_COMM_SELF == MPI_Comm_f2c(1));
    ranks_case("the world");
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    CHECK(MPI_COMM_WORLD == *comm || MPI_COMM_SELF == *comm);
    (void) code;
    ++handled;
}

/* Each rank's handler is another one; an error of a call without a communicator finds it. */
static void check_errors(void)
{
    MPI_Errhandler own, before;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    const int counts = 0 == ranks_rank() % 2;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    CHECK(MPI_ERRORS_ARE_FATAL == before);
    MPI_Comm_create_errhandler(handle, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts ? own : MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counts ? own : MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_SUCCESS != MPI_Type_commit(&none));
    CHECK(handled == counts);
    CHECK(MPI_SUCCESS != MPI_Comm_free(&world) && MPI_SUCCESS != MPI_Comm_disconnect(&world));
    CHECK(MPI_SUCCESS != MPI_Comm_free(&self));
    CHECK(MPI_COMM_WORLD == world && handled == 4 * counts);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&own);
    ranks_case("errors");
}

static char buffer[3][1000];

static void *send_buffered(void *comm)
{
    const int rank = ranks_rank(), size = ranks_size();

    MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 7, *(MPI_Comm *) comm);
    return NULL;
}

/* A buffer for each rank, of its own size, also for its threads. */
static void check_buffers(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    MPI_Comm world = MPI_COMM_WORLD;
    pthread_t thread;
    void *address;
    int bytes, got = -1;

    MPI_Buffer_attach(buffer[rank % 3], 500 + rank);
    CHECK(0 == pthread_create(&thread, NULL, send_buffered, &world) && 0 == pthread_join(thread, NULL));
    MPI_Recv(&got, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK((rank + size - 1) % size == got);
    MPI_Buffer_detach(&address, &bytes);
    CHECK(buffer[rank % 3] == address && 500 + rank == bytes);
    ranks_case("buffers");
}

int main(int argc, char **argv)
{
    int key, status, flag = 0, world_key;

    check_begin(&argc, &argv);
    check_world();
    check_errors();
    check_buffers();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, never, &world_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, world_key, &key);
    status = ranks_end();
    MPI_Finalized(&flag);
    return 0 != status ? status : flag && 1 == deleted ? 0 : 1;
}
