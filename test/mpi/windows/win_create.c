/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows come, say what they are, and go: created, allocated and dynamic ones (shared ones:
 * win_shared) with sizes, units and addresses that differ between members, on duplicates, parts and
 * reversed communicators; names, attributes with callbacks, groups, infos, error handlers of each
 * handle; windows over the same memory.
 *
 * With --windows N that many windows of all members exist at once.
 *
 * Guards: osc_epwin_create.c, osc_epwin_data.c, osc_epwin_free.c, osc_epwin_handle.c,
 * osc_epwin_peers.c, osc_epwin_query.c, osc_epwin_component.c, osc_epwin_module.c
 */

#include "ept.h"

enum { PAGE = 4096 };

/** Sizes that differ between members, among them 0. */
static MPI_Aint size_of(int rank)
{
    static const MPI_Aint sizes[] = {64, 0, 4 * PAGE + 8, 24, 100 * PAGE};

    return sizes[rank % 5];
}

static int unit_of(int rank)
{
    static const int units[] = {1, 8, 4, 3};

    return units[rank % 4];
}

/* ---- what a window says of itself ------------------------------------------------------------ */

static void check_attributes(MPI_Win win, struct ept *t, const void *base, MPI_Aint size, int unit,
                             int flavor)
{
    void *value;
    int found;

    EPT_OK(t, MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &found));
    EPT_CHECK(t, found && base == value, "base %p instead of %p", value, base);
    EPT_OK(t, MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &found));
    EPT_EQ(t, size, *(MPI_Aint *) value);
    EPT_OK(t, MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &found));
    EPT_EQ(t, unit, *(int *) value);
    EPT_OK(t, MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &found));
    EPT_EQ(t, flavor, *(int *) value);
    EPT_OK(t, MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &found));
    EPT_EQ(t, MPI_WIN_UNIFIED, *(int *) value);
}

/** Name, group, info. */
static void check_window(MPI_Win win, MPI_Comm comm, struct ept *t)
{
    char name[MPI_MAX_OBJECT_NAME], got[MPI_MAX_OBJECT_NAME];
    MPI_Group group, of_comm;
    MPI_Info info;
    int rank, length, result;

    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Win_get_group(win, &group));
    EPT_OK(t, MPI_Comm_group(comm, &of_comm));
    EPT_OK(t, MPI_Group_compare(group, of_comm, &result));
    EPT_EQ(t, MPI_IDENT, result);
    EPT_OK(t, MPI_Group_rank(group, &result));
    EPT_EQ(t, rank, result);
    EPT_OK(t, MPI_Group_free(&group));
    EPT_OK(t, MPI_Group_free(&of_comm));
    (void) snprintf(name, sizeof(name), "window of %d", t->rank);
    EPT_OK(t, MPI_Win_set_name(win, name));
    EPT_OK(t, MPI_Win_get_name(win, got, &length));
    EPT_STREQ(t, name, got);
    EPT_OK(t, MPI_Win_get_info(win, &info));
    EPT_OK(t, MPI_Info_free(&info));
}

/**
 * Each member writes a pattern into the part of each other one that belongs to it, and finds those
 * of the others in its own: all bytes of all parts, but for a rest.
 */
static void check_data(MPI_Win win, MPI_Comm comm, struct ept *t, unsigned char *base)
{
    int rank, size;

    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Comm_size(comm, &size));
    EPT_OK(t, MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    for (int target = 0; target < size; ++target) {
        const MPI_Aint unit = unit_of(target), part = size_of(target) / unit / size;
        unsigned char *data = malloc((size_t) (part * unit) + 1);

        ept_fill(data, 0, (size_t) (part * unit), ept_mix(t->seed, (uint64_t) rank,
                                                          (uint64_t) target, 1));
        EPT_OK(t, MPI_Put(data, (int) (part * unit), MPI_BYTE, target, rank * part,
                          (int) (part * unit), MPI_BYTE, win));
        EPT_OK(t, MPI_Win_fence(0, win));
        free(data);
    }
    EPT_OK(t, MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int origin = 0; origin < size; ++origin) {
        const size_t unit = (size_t) unit_of(rank), part = (size_t) size_of(rank) / unit
                                                           / (size_t) size;

        EPT_FILL(t, base + (size_t) origin * part * unit, part * unit,
                 ept_mix(t->seed, (uint64_t) origin, (uint64_t) rank, 1));
    }
}

/* ---- flavors --------------------------------------------------------------------------------- */

static void use_created(MPI_Comm comm, struct ept *t)
{
    struct ept_buffer memory;
    MPI_Win win;
    int rank;

    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    memory = ept_buffer((size_t) size_of(rank), (unsigned) rank % 64);
    EPT_OK(t, MPI_Win_create(0 == size_of(rank) ? NULL : memory.data, size_of(rank), unit_of(rank),
                             MPI_INFO_NULL, comm, &win));
    check_attributes(win, t, 0 == size_of(rank) ? NULL : memory.data, size_of(rank), unit_of(rank),
                     MPI_WIN_FLAVOR_CREATE);
    check_window(win, comm, t);
    check_data(win, comm, t, memory.data);
    EPT_OK(t, MPI_Win_free(&win));
    EPT_CHECK(t, MPI_WIN_NULL == win, "the handle is not MPI_WIN_NULL");
    EPT_GUARDS(t, &memory);
    ept_buffer_free(&memory);
}

static void use_allocated(MPI_Comm comm, struct ept *t, MPI_Info info, size_t alignment)
{
    unsigned char *base;
    MPI_Win win;
    int rank;

    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Win_allocate(size_of(rank), unit_of(rank), info, comm, &base, &win));
    EPT_CHECK(t, (NULL == base) == (0 == size_of(rank)), "%d bytes at %p", (int) size_of(rank),
              (void *) base);
    EPT_EQ(t, 0, (uintptr_t) base % alignment);
    for (MPI_Aint i = 0; i < size_of(rank); ++i) {
        if (0 != base[i]) {
            EPT_EQ(t, 0, base[i]); /* nothing of other windows; MPI does not promise it */
            break;
        }
    }
    check_attributes(win, t, base, size_of(rank), unit_of(rank), MPI_WIN_FLAVOR_ALLOCATE);
    check_window(win, comm, t);
    check_data(win, comm, t, base);
    EPT_OK(t, MPI_Win_free(&win));
}

static void use_all(MPI_Comm comm, struct ept *t)
{
    MPI_Win win;

    use_created(comm, t);
    use_allocated(comm, t, MPI_INFO_NULL, PAGE);
    EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    check_attributes(win, t, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    check_window(win, comm, t);
    EPT_OK(t, MPI_Win_free(&win));
}

static void case_flavors(MPI_Comm comm, struct ept *t)
{
    use_all(comm, t);
}

static void case_alignment(MPI_Comm comm, struct ept *t)
{
    /* Values that are none are ignored. */
    static const char *const values[] = {"64", "16384", "2097152", "12345", "-1", "much"};
    static const size_t alignments[] = {PAGE, 16384, 2097152, PAGE, PAGE, PAGE};

    for (int i = 0; i < 6; ++i) {
        MPI_Info info;

        EPT_OK(t, MPI_Info_create(&info));
        EPT_OK(t, MPI_Info_set(info, "mpi_minimum_memory_alignment", values[i]));
        use_allocated(comm, t, info, alignments[i]);
        EPT_OK(t, MPI_Info_free(&info));
    }
}

static void case_comms(MPI_Comm comm, struct ept *t)
{
    MPI_Comm other;

    EPT_OK(t, MPI_Comm_dup(comm, &other));
    ept_phase(t, "a duplicate");
    use_all(other, t);
    EPT_OK(t, MPI_Comm_free(&other));
    ept_phase(t, "reversed");
    EPT_OK(t, MPI_Comm_split(comm, 0, -t->rank, &other));
    use_all(other, t);
    EPT_OK(t, MPI_Comm_free(&other));
    ept_phase(t, "parts");
    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &other));
    use_all(other, t);
    EPT_OK(t, MPI_Comm_free(&other));
    ept_phase(t, "one member");
    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &other));
    use_all(other, t);
    EPT_OK(t, MPI_Comm_free(&other));
}

/** What a member finds at an address that it is told of must be what its owner has written. */
static void check_query(MPI_Win win, struct ept *t, const unsigned char *base)
{
    for (int rank = 0; rank < t->size; ++rank) {
        unsigned char *address = (unsigned char *) &address;
        MPI_Aint size = -1;
        int unit = -1;

        EPT_OK(t, MPI_Win_shared_query(win, rank, &size, &unit, &address));
        EPT_EQ(t, unit_of(rank), unit);
        if (rank == t->rank || (rank / t->nlocal == t->proc && t->endpoints)) {
            EPT_EQ(t, size_of(rank), size); /* it is in this process */
        }
        EPT_CHECK(t, rank != t->rank || base == address, "%p instead of %p", (void *) address,
                  (const void *) base);
        if (0 != size) {
            EPT_EQ(t, size_of(rank), size);
            EPT_FILL(t, address, (size_t) size, ept_mix(t->seed, (uint64_t) rank, 2, 2));
        } else {
            EPT_CHECK(t, NULL == address, "size 0 at %p", (void *) address);
        }
    }
}

static void case_query(MPI_Comm comm, struct ept *t)
{
    const size_t size = (size_t) size_of(t->rank);
    unsigned char *memory = malloc(size + 1), *base;
    MPI_Aint queried;
    MPI_Win win;
    int unit;

    ept_fill(memory, 0, size, ept_mix(t->seed, (uint64_t) t->rank, 2, 2));
    EPT_OK(t, MPI_Win_create(0 == size ? NULL : memory, (MPI_Aint) size, unit_of(t->rank),
                             MPI_INFO_NULL, comm, &win));
    check_query(win, t, 0 == size ? NULL : memory);
    EPT_OK(t, MPI_Win_free(&win));
    EPT_OK(t, MPI_Win_allocate((MPI_Aint) size, unit_of(t->rank), MPI_INFO_NULL, comm, &base, &win));
    ept_fill(base, 0, size, ept_mix(t->seed, (uint64_t) t->rank, 2, 2));
    EPT_OK(t, MPI_Win_fence(0, win));
    check_query(win, t, base);
    EPT_OK(t, MPI_Win_free(&win));
    EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(win, 0, &queried, &unit, &base));
    EPT_CLASS(t, MPI_ERR_RMA_FLAVOR,
              MPI_Win_shared_query(win, MPI_PROC_NULL, &queried, &unit, &base));
    EPT_OK(t, MPI_Win_free(&win));
    free(memory);
}

/* ---- what hangs on a handle ------------------------------------------------------------------ */

static _Thread_local int deleted, handled, handled_class;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void) win;
    (void) keyval;
    deleted += (int) (intptr_t) value * *(int *) extra;
    return MPI_SUCCESS;
}

static void case_keyvals(MPI_Comm comm, struct ept *t)
{
    int keyval, found, extra = 10, memory = 0;
    void *value;
    MPI_Win win;

    EPT_OK(t, MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, &extra));
    EPT_OK(t, MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_get_attr(win, keyval, &value, &found));
    EPT_EQ(t, 0, found);
    EPT_OK(t, MPI_Win_set_attr(win, keyval, (void *) (intptr_t) (t->rank + 1)));
    EPT_OK(t, MPI_Win_get_attr(win, keyval, &value, &found));
    EPT_EQ(t, t->rank + 1, found ? (intptr_t) value : -1);
    deleted = 0;
    EPT_OK(t, MPI_Win_delete_attr(win, keyval));
    EPT_EQ(t, 10 * (t->rank + 1), deleted);
    EPT_OK(t, MPI_Win_set_attr(win, keyval, (void *) (intptr_t) (t->rank + 2)));
    deleted = 0;
    EPT_OK(t, MPI_Win_free(&win));
    EPT_EQ(t, 10 * (t->rank + 2), deleted);
    EPT_OK(t, MPI_Win_free_keyval(&keyval));
}

static void on_error(MPI_Win *win, int *code, ...)
{
    (void) win;
    ++handled;
    (void) MPI_Error_class(*code, &handled_class);
}

/** Each handle has its own. */
static void case_errhandlers(MPI_Comm comm, struct ept *t)
{
    MPI_Errhandler handler;
    int memory = 0;
    MPI_Win win;

    EPT_OK(t, MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_create_errhandler(on_error, &handler));
    EPT_OK(t, MPI_Win_set_errhandler(win, 0 == t->rank % 2 ? handler : MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Errhandler_free(&handler));
    handled = handled_class = 0;
    EPT_CLASS(t, MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, &memory, sizeof(memory)));
    EPT_CLASS(t, MPI_ERR_RMA_FLAVOR, MPI_Win_detach(win, &memory));
    EPT_EQ(t, 0 == t->rank % 2 ? 2 : 0, handled);
    EPT_EQ(t, 0 == t->rank % 2 ? MPI_ERR_RMA_FLAVOR : 0, handled_class);
    EPT_OK(t, MPI_Win_free(&win));
}

/* ---- several windows ------------------------------------------------------------------------- */

/** Windows over the same memory, and more than libmpi's tables begin with. */
static void case_many(MPI_Comm comm, struct ept *t)
{
    const int count = (int) ept_option_long("windows", 20);
    MPI_Win *windows = malloc((size_t) count * sizeof(*windows));
    int *memory = calloc((size_t) count, sizeof(*memory));
    int *order = malloc((size_t) count * sizeof(*order));
    uint64_t random = t->seed;

    for (int i = 0; i < count; ++i) {
        ept_phase(t, "window %d", i);
        EPT_OK(t, MPI_Win_create(memory, count * (int) sizeof(int), sizeof(int), MPI_INFO_NULL,
                                 comm, &windows[i]));
    }
    for (int i = 0; i < count; ++i) {
        const int value = 100 * i + t->rank;

        EPT_OK(t, MPI_Win_fence(0, windows[i]));
        EPT_OK(t, MPI_Put(&value, 1, MPI_INT, (t->rank + 1) % t->size, i, 1, MPI_INT, windows[i]));
        EPT_OK(t, MPI_Win_fence(0, windows[i]));
        EPT_EQ(t, 100 * i + (t->rank + t->size - 1) % t->size, memory[i]);
    }
    for (int i = 0; i < count; ++i) {
        order[i] = i;
    }
    ept_shuffle(order, count, &random);
    for (int i = 0; i < count; ++i) {
        EPT_OK(t, MPI_Win_free(&windows[order[i]]));
    }
    free(order);
    free(memory);
    free(windows);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_flavors);
    EPT_CASE(t, case_alignment);
    EPT_CASE(t, case_comms);
    if (t->endpoints) {
        EPT_CASE(t, case_query);
    } else {
        ept_skip(t, "case_query", "Open MPI 5 does not serve created windows");
    }
    EPT_CASE(t, case_keyvals);
    EPT_CASE(t, case_errhandlers);
    EPT_CASE(t, case_many);
    return 0;
}
