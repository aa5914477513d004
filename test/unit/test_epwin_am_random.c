/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows' operations by messages (osc/epwin, am), in a world of one thread (test_epwin_am.h): random
 * operations of two origins with random types against a model that packs and reduces with MPI's
 * functions.
 *
 * Guards: osc/epwin/am
 */

#include "test_epwin_am.h"

enum { OPERATIONS = TAP_SANITIZED ? 300 : 3000 };

static void *packed(const void *buffer, int count, MPI_Datatype type, int *bytes_p)
{
    int size, at = 0;
    void *to;

    MPI_Type_size(type, &size);
    *bytes_p = size * count;
    to = malloc((size_t) *bytes_p + 1);
    MPI_Pack(buffer, count, type, to, *bytes_p, &at, MPI_COMM_SELF);
    return to;
}

static void unpacked(const void *from, int bytes, void *buffer, int count, MPI_Datatype type)
{
    int at = 0;

    MPI_Unpack(from, bytes, &at, buffer, count, type, MPI_COMM_SELF);
}

/* ---- operations against a model --------------------------------------------------------------- */

/** An operation of the user's, and its result in the model. */
typedef struct call_t {
    struct call_t *next;
    void *result, *expected; /**< with margins */
    size_t bytes;
    ompi_request_t *request;
} call_t;

static unsigned char model[MEMBERS][WINDOW];
static call_t *calls;

/** @return a buffer of random bytes for elements of a type; small numbers, so that all ops are
 * defined */
static char *buffer_new(const kind_t *kind, int count, size_t *bytes_p)
{
    MPI_Aint lb, extent;
    char *buffer;

    MPI_Type_get_extent(kind->type, &lb, &extent);
    *bytes_p = (size_t) count * (size_t) extent + 64;
    buffer = malloc(*bytes_p);
    for (size_t i = 0; i < *bytes_p; ++i) {
        buffer[i] = (char) tap_random(&world.random);
    }
    if (MPI_DOUBLE == kind->basic) {
        for (size_t i = 0; i + 8 <= *bytes_p; i += 8) {
            const double value = (double) (int64_t) tap_below(&world.random, 1000);

            memcpy(buffer + i, &value, 8);
        }
    }
    return buffer;
}

/** target = target op origin, in the model.  @return the packed elements before */
static void *model_apply(unsigned char *target, const char *origin, int count, const kind_t *kind,
                         MPI_Op op)
{
    int bytes, element;
    void *before = packed(target, count, kind->type, &bytes), *operand, *left, *right, *after;

    MPI_Type_size(kind->basic, &element);
    if (MPI_NO_OP == op || NULL == origin) {
        return before;
    }
    operand = packed(origin, count, kind->type, &bytes);
    if (MPI_REPLACE == op) {
        unpacked(operand, bytes, target, count, kind->type);
    } else {
        left = calloc((size_t) (count * kind->elements), 32);
        right = calloc((size_t) (count * kind->elements), 32);
        unpacked(operand, bytes, left, count * kind->elements, kind->basic);
        unpacked(before, bytes, right, count * kind->elements, kind->basic);
        MPI_Reduce_local(left, right, count * kind->elements, kind->basic, op);
        after = packed(right, count * kind->elements, kind->basic, &bytes);
        unpacked(after, bytes, target, count, kind->type);
        free(left);
        free(right);
        free(after);
    }
    free(operand);
    return before;
}

/** Buffers of puts, which may be in use until the next flush. */
static void *kept[OPERATIONS];
static int kept_count;

static void kept_add(void *data)
{
    kept[kept_count++] = data;
}

static void kept_free(void)
{
    while (0 < kept_count) {
        free(kept[--kept_count]);
    }
}

static void call_add(void *result, size_t bytes, const void *before, int count, const kind_t *kind,
                     ompi_request_t *request)
{
    call_t *call = malloc(sizeof(*call));
    int size;

    *call = (call_t){.next = calls, .result = result, .bytes = bytes, .request = request};
    call->expected = malloc(bytes);
    memcpy(call->expected, result, bytes);
    MPI_Type_size(kind->type, &size);
    unpacked(before, size * count, call->expected, count, kind->type);
    calls = call;
}

/** Results are there, and nothing else is written. */
static void calls_check(void)
{
    kept_free();
    while (NULL != calls) {
        call_t *call = calls;

        TAP_CHECK(0 == memcmp(call->expected, call->result, call->bytes), "a result differs");
        if (NULL != call->request && &ompi_request_empty != call->request) {
            TAP_EQ(MPI_SUCCESS, call->request->req_status.MPI_ERROR);
            free(call->request);
        }
        calls = call->next;
        free(call->expected);
        free(call->result);
        free(call);
    }
}

/** An operation of a member on another one's memory: members 0 and 3 use a half of it each.  Doubles
 * are at their alignment, among themselves: what operations do with NaN depends on the code. */
static void call_random(int origin, int target, bool is_dynamic)
{
    mca_osc_epwin_module_t *module = &world.module[origin];
    const kind_t *kind = &kinds[tap_below(&world.random, (uint64_t) kind_count)];
    const size_t half = is_dynamic ? WINDOW / 4 : WINDOW / 2, part = half / BASICS / 8 * 8;
    MPI_Aint lb, extent;
    int count, rc = MPI_SUCCESS;
    size_t bytes, at;
    char *data, *result;
    void *before = NULL;
    ompi_request_t *request = NULL, **request_p;
    MPI_Op op = kind_op(kind);

    MPI_Type_get_extent(kind->type, &lb, &extent);
    count = (int) tap_below(&world.random,
                            0 == tap_below(&world.random, 4) ? part / 2 / (size_t) extent : 4);
    at = tap_below(&world.random, part - (size_t) count * (size_t) extent);
    at = 0 == tap_below(&world.random, 8) && MPI_DOUBLE != kind->basic ? at : at & ~(size_t) 7;
    at += (0 == origin ? 0 : half) + kind->part * part;
    data = buffer_new(kind, count, &bytes);
    result = buffer_new(kind, count, &bytes);
    request_p = 0 == tap_below(&world.random, 3) ? &request : NULL;
    const mca_osc_epwin_buffer_t from = {.address = data,
                                         .count = (size_t) count,
                                         .type = kind->type};
    const mca_osc_epwin_buffer_t to = {.address = result,
                                       .count = (size_t) count,
                                       .type = kind->type};
    const mca_osc_epwin_place_t place = {.target = target,
                                         .at = (ptrdiff_t) at
                                               + (is_dynamic ? (intptr_t) world_base(target) : 0),
                                         .count = (size_t) count,
                                         .type = kind->type};

    switch (tap_below(&world.random, 4)) {
    case 0:
        rc = mca_osc_epwin_am_put(module, &from, &place, true);
        free(model_apply(model[target] + at, data, count, kind, MPI_REPLACE));
        break;
    case 1:
        rc = mca_osc_epwin_am_get(module, &to, &place, request_p);
        before = model_apply(model[target] + at, NULL, count, kind, MPI_NO_OP);
        break;
    case 2:
        rc = mca_osc_epwin_am_accumulate(module, &from, NULL, &place, kind->basic, op, NULL);
        free(model_apply(model[target] + at, data, count, kind, op));
        break;
    default:
        rc = mca_osc_epwin_am_accumulate(module, &from, &to, &place, kind->basic, op, request_p);
        before = model_apply(model[target] + at, data, count, kind, op);
        break;
    }
    TAP_EQ(MPI_SUCCESS, rc);
    if (NULL != before) {
        call_add(result, bytes, before, count, kind, request);
        free(before);
    } else {
        free(result);
    }
    kept_add(data);
}

/** MPI_Compare_and_swap of an integer that is equal half of the time. */
static void call_swap(int origin, int target)
{
    const size_t at = (0 == origin ? 0 : WINDOW / 2) + 8 * tap_below(&world.random, 4);
    const mca_osc_epwin_place_t place = {
        .target = target, .at = (ptrdiff_t) at, .count = 1, .type = MPI_INT64_T};
    const kind_t kind = {.type = MPI_INT64_T, .basic = MPI_INT64_T, .elements = 1};
    int64_t value = (int64_t) tap_below(&world.random, 2), compare, before;
    void *result = calloc(1, 8);

    memcpy(&before, model[target] + at, 8);
    compare = 0 == tap_below(&world.random, 2) ? before : value;
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_swap(&world.module[origin], &value, &compare,
                                              &(mca_osc_epwin_buffer_t){.address = result,
                                                                        .count = 1,
                                                                        .type = place.type},
                                              &place));
    call_add(result, 8, &before, 1, &kind, NULL);
    if (compare == before) {
        memcpy(model[target] + at, &value, 8);
    }
}

static void model_compare(bool is_dynamic)
{
    for (int i = 0; i < MEMBERS; ++i) {
        size_t at = 0;

        while (at < (is_dynamic ? WINDOW / 2 : WINDOW) && model[i][at] == world_base(i)[at]) {
            ++at;
        }
        TAP_CHECK(at == (is_dynamic ? WINDOW / 2 : WINDOW), "member %d differs at %zu", i, at);
    }
}

/** @param[in] limit, rendezvous  parameters */
static void case_random(uint16_t flavor, size_t limit, size_t rendezvous)
{
    const bool is_dynamic = MPI_WIN_FLAVOR_DYNAMIC == flavor;

    tap_case("random operations, flavor %d, limits %zu, %zu", flavor, limit, rendezvous);
    world_begin(flavor, 100 + flavor + limit + rendezvous, limit);
    mca_osc_epwin_component.rendezvous_limit = rendezvous;
    for (int i = 0; i < MEMBERS; ++i) {
        memcpy(model[i], world_base(i), WINDOW);
        for (int at = 0; at < WINDOW; at += 8) { /* numbers that any op takes */
            const double value = (double) tap_below(&world.random, 1000);

            memcpy(model[i] + at, &value, 8);
            memcpy(world_base(i) + at, &value, 8);
        }
    }
    for (int i = 0; i < OPERATIONS && !tap_case_failed(); ++i) {
        const int origin = 3 * (int) tap_below(&world.random, 2);
        const int target = 1 + (int) tap_below(&world.random, 2);

        if (0 == tap_below(&world.random, 10) && !is_dynamic) {
            call_swap(origin, target);
        } else {
            call_random(origin, target, is_dynamic);
        }
        world_turn();
        if (0 == tap_below(&world.random, 10)) {
            for (int j = 0; j < MEMBERS; j += 3) {
                TAP_EQ(MPI_SUCCESS,
                       mca_osc_epwin_am_flush(&world.module[j], MPIX_ENDPOINTS_ANY_RANK));
            }
            model_compare(is_dynamic);
            world_settle(20); /* requests are completed by steps */
            calls_check();
        }
    }
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[0], MPIX_ENDPOINTS_ANY_RANK));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[3], MPIX_ENDPOINTS_ANY_RANK));
    world_settle(20);
    calls_check();
    TAP_EQ(0, world.nonsense);
    TAP_CHECK((0 < rendezvous) == (0 < world.longs_matched), "%u messages", world.longs_matched);
    TAP_CHECK(NULL == world.longs, "a message is left");
    world_end(true);
    tap_case_done();
}

int main(int argc, char **argv)
{
    world_init(argc, argv, "test_epwin_am_random");
    case_random(MPI_WIN_FLAVOR_CREATE, 1 << 20, 0);
    case_random(MPI_WIN_FLAVOR_CREATE, 1000, 0);
    case_random(MPI_WIN_FLAVOR_CREATE, 1000, 100);
    case_random(MPI_WIN_FLAVOR_DYNAMIC, 1 << 20, 0);
    return world_exit();
}
