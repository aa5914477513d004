/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Derived datatypes at sender, receiver or both, at sizes across all protocol switches; gaps must
 * stay untouched.  Each type comes with its layout as a list of blocks, written down independently
 * of MPI, from which the expected bytes are computed.
 *
 * Guards: pml_epml_request_inline.h, pml_epml_recv.c, pml_epml_send.c
 */

#include "ept.h"

#define MAX_BLOCKS 64
#define EXTENT_BY_MPI (-1)

/** One element of the type: blocks in the order of the type map, offsets in bytes. */
struct layout {
    const char *name;
    MPI_Datatype type;
    ptrdiff_t extent;
    int num_blocks;
    struct {
        ptrdiff_t offset;
        size_t length;
    } blocks[MAX_BLOCKS];
};

static void add_block(struct layout *l, ptrdiff_t offset, size_t length)
{
    l->blocks[l->num_blocks].offset = offset;
    l->blocks[l->num_blocks].length = length;
    ++l->num_blocks;
}

static size_t packed_size(const struct layout *l)
{
    size_t size = 0;

    for (int i = 0; i < l->num_blocks; ++i) {
        size += l->blocks[i].length;
    }
    return size;
}

static void make_vector(struct ept *t, struct layout *l)
{
    l->name = "vector";
    EPT_OK(t, MPI_Type_vector(5, 3, 7, MPI_SHORT, &l->type));
    l->extent = (4 * 7 + 3) * 2;
    for (int i = 0; i < 5; ++i) {
        add_block(l, i * 14, 6);
    }
}

static void make_indexed(struct ept *t, struct layout *l)
{
    static const int lengths[] = {2, 1, 4, 0, 3}, places[] = {5, 0, 12, 3, 20};

    l->name = "indexed";
    EPT_OK(t, MPI_Type_indexed(5, lengths, places, MPI_INT, &l->type));
    l->extent = 23 * 4;
    for (int i = 0; i < 5; ++i) {
        add_block(l, places[i] * 4, (size_t) lengths[i] * 4);
    }
}

static void make_struct(struct ept *t, struct layout *l)
{
    static const int lengths[] = {3, 1, 2};
    static const MPI_Aint places[] = {1, 8, 24};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_FLOAT};

    l->name = "struct";
    EPT_OK(t, MPI_Type_create_struct(3, lengths, places, types, &l->type));
    l->extent = EXTENT_BY_MPI;
    add_block(l, 1, 3);
    add_block(l, 8, 8);
    add_block(l, 24, 8);
}

static void make_resized(struct ept *t, struct layout *l)
{
    MPI_Datatype inner;

    l->name = "resized with gaps";
    EPT_OK(t, MPI_Type_contiguous(3, MPI_INT, &inner));
    EPT_OK(t, MPI_Type_create_resized(inner, 0, 40, &l->type));
    EPT_OK(t, MPI_Type_free(&inner));
    l->extent = 40;
    add_block(l, 0, 12);
}

static void make_negative(struct ept *t, struct layout *l)
{
    static const int lengths[] = {1, 2};
    static const MPI_Aint places[] = {-24, 4};

    l->name = "negative lower bound";
    EPT_OK(t, MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &l->type));
    l->extent = 36;
    add_block(l, -24, 4);
    add_block(l, 4, 8);
}

static void make_subarray(struct ept *t, struct layout *l)
{
    static const int sizes[] = {4, 5, 6}, part[] = {2, 3, 4}, start[] = {1, 1, 2};

    l->name = "subarray";
    EPT_OK(t, MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_INT, &l->type));
    l->extent = 4 * 5 * 6 * 4;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
            add_block(l, (((i + 1) * 5 + j + 1) * 6 + 2) * 4, 16);
        }
    }
}

static void make_nested(struct ept *t, struct layout *l)
{
    MPI_Datatype inner;

    l->name = "contiguous of vector";
    EPT_OK(t, MPI_Type_vector(3, 1, 2, MPI_BYTE, &inner));
    EPT_OK(t, MPI_Type_contiguous(4, inner, &l->type));
    EPT_OK(t, MPI_Type_free(&inner));
    l->extent = 20;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 3; ++j) {
            add_block(l, i * 5 + j * 2, 1);
        }
    }
}

static void make_pair(struct ept *t, struct layout *l)
{
    struct pair {
        double value;
        int index;
    };

    l->name = "MPI_DOUBLE_INT";
    EPT_OK(t, MPI_Type_dup(MPI_DOUBLE_INT, &l->type));
    l->extent = (ptrdiff_t) sizeof(struct pair);
    add_block(l, 0, 8);
    add_block(l, (ptrdiff_t) offsetof(struct pair, index), 4);
}

static void make_short_pair(struct ept *t, struct layout *l)
{
    struct pair {
        short value;
        int index;
    };

    l->name = "MPI_SHORT_INT";
    EPT_OK(t, MPI_Type_dup(MPI_SHORT_INT, &l->type));
    l->extent = (ptrdiff_t) sizeof(struct pair);
    add_block(l, 0, 2);
    add_block(l, (ptrdiff_t) offsetof(struct pair, index), 4);
}

static void make_contiguous(struct ept *t, struct layout *l)
{
    l->name = "contiguous";
    EPT_OK(t, MPI_Type_contiguous(13, MPI_BYTE, &l->type));
    l->extent = 13;
    add_block(l, 0, 13);
}

static void make_empty(struct ept *t, struct layout *l)
{
    l->name = "size zero";
    EPT_OK(t, MPI_Type_contiguous(0, MPI_INT, &l->type));
    l->extent = 0;
}

/* Blocks in an order that is not that of the addresses, a hole first, big blocks. */
static void make_blocks(struct ept *t, struct layout *l)
{
    static const int lengths[] = {1000, 3000, 100};
    static const MPI_Aint places[] = {5000, 100, 9000};

    l->name = "hindexed, large blocks";
    EPT_OK(t, MPI_Type_create_hindexed(3, lengths, places, MPI_BYTE, &l->type));
    l->extent = 9000;
    for (int i = 0; i < 3; ++i) {
        add_block(l, places[i], (size_t) lengths[i]);
    }
}

typedef void (*make_fn)(struct ept *t, struct layout *l);

static const make_fn makers[] = {make_contiguous, make_vector, make_indexed,  make_struct,
                                 make_resized,    make_nested, make_negative, make_subarray,
                                 make_pair,       make_blocks, make_empty,    make_short_pair};
#define NUM_TYPES ((int) (sizeof(makers) / sizeof(makers[0])))

/* Take size and extent from MPI where padding is MPI's choice, and check them where it is not. */
static void finish_type(struct ept *t, struct layout *l)
{
    MPI_Aint lb, extent;
    int size = -1;

    EPT_OK(t, MPI_Type_commit(&l->type));
    EPT_OK(t, MPI_Type_size(l->type, &size));
    EPT_EQ(t, packed_size(l), size);
    EPT_OK(t, MPI_Type_get_extent(l->type, &lb, &extent));
    if (EXTENT_BY_MPI != l->extent) {
        EPT_EQ(t, l->extent, extent);
    }
    l->extent = extent;
}

/** Memory for count elements, with guard zones; origin is what MPI gets as the buffer. */
struct area {
    struct ept_buffer buffer;
    unsigned char *origin;
};

static struct area make_area(const struct layout *l, int count, unsigned skew)
{
    ptrdiff_t low = 0, high = 0, shift = l->extent * (count > 0 ? count - 1 : 0);
    struct area area;

    for (int i = 0; i < l->num_blocks; ++i) {
        ptrdiff_t from = l->blocks[i].offset, to = from + (ptrdiff_t) l->blocks[i].length;

        low = from < low ? from : low;
        high = to + shift > high ? to + shift : high;
    }
    area.buffer = ept_buffer((size_t) (high - low), skew);
    area.origin = area.buffer.data - low;
    return area;
}

/* Fill, or check, the elements from the pattern of the packed message. */
static void fill_area(const struct layout *l, struct area *area, int count, uint64_t key)
{
    size_t at = 0;

    for (int e = 0; e < count; ++e) {
        for (int i = 0; i < l->num_blocks; ++i) {
            ept_fill(area->origin + e * l->extent + l->blocks[i].offset, at, l->blocks[i].length,
                     key);
            at += l->blocks[i].length;
        }
    }
}

static void check_area(struct ept *t, const struct layout *l, const struct area *area, int count,
                       uint64_t key)
{
    struct area wanted = make_area(l, count, 0);

    /* Gaps keep the value they had: compare all of it with a freshly filled area. */
    fill_area(l, &wanted, count, key);
    for (size_t i = 0; i < wanted.buffer.size; ++i) {
        if (wanted.buffer.data[i] != area->buffer.data[i]) {
            ept_fail(t, __FILE__, __LINE__, "%s x %d: byte %zu of %zu: expected 0x%02x, got 0x%02x",
                     l->name, count, i, wanted.buffer.size, wanted.buffer.data[i],
                     area->buffer.data[i]);
            break;
        }
    }
    atomic_fetch_add(&t->checks, 1);
    EPT_GUARDS(t, &area->buffer);
    ept_buffer_free(&wanted.buffer);
}

/* What the two ranks use: the type itself, or its bytes packed. */
enum form { TYPED_TYPED, TYPED_BYTES, BYTES_TYPED, NUM_FORMS };

static void exchange(MPI_Comm comm, struct ept *t, const struct layout *l, int count,
                     enum form form, int to, int from)
{
    size_t bytes = packed_size(l) * (size_t) count;
    uint64_t key_out = ept_mix((uint64_t) t->rank, bytes, (uint64_t) form, 1);
    uint64_t key_in = ept_mix((uint64_t) from, bytes, (uint64_t) form, 1);
    struct area out = make_area(l, count, 0), in = make_area(l, count, 0);
    struct ept_buffer flat_out = ept_buffer(bytes, 1), flat_in = ept_buffer(bytes, 3);
    MPI_Request request;
    MPI_Status status;

    fill_area(l, &out, count, key_out);
    ept_fill(flat_out.data, 0, bytes, key_out);
    if (TYPED_BYTES == form) {
        EPT_OK(t, MPI_Irecv(flat_in.data, (int) bytes, MPI_BYTE, from, 1, comm, &request));
    } else {
        EPT_OK(t, MPI_Irecv(in.origin, count, l->type, from, 1, comm, &request));
    }
    if (BYTES_TYPED == form) {
        EPT_OK(t, MPI_Send(flat_out.data, (int) bytes, MPI_BYTE, to, 1, comm));
    } else {
        EPT_OK(t, MPI_Send(out.origin, count, l->type, to, 1, comm));
    }
    EPT_OK(t, MPI_Wait(&request, &status));
    EPT_EQ(t, from, status.MPI_SOURCE);
    if (TYPED_BYTES == form) {
        EPT_STATUS(t, &status, from, 1, bytes);
        EPT_FILL(t, flat_in.data, bytes, key_in);
        EPT_GUARDS(t, &flat_in);
    } else {
        int got = -1;

        EPT_OK(t, MPI_Get_count(&status, l->type, &got));
        EPT_EQ(t, 0 == bytes ? 0 : count, got);
        check_area(t, l, &in, count, key_in);
    }
    ept_buffer_free(&out.buffer);
    ept_buffer_free(&in.buffer);
    ept_buffer_free(&flat_out);
    ept_buffer_free(&flat_in);
}

static void case_types(MPI_Comm comm, struct ept *t)
{
    static const int wanted[] = {1, 60, 1500, 9000, 40000, 300000, 1500000}; /* bytes, packed */
    int shifts[4], n = ept_shifts(t, shifts), limit = 16 < t->size ? 4 : 8 < t->size ? 6 : 7;

    if (0 == n) {
        shifts[n++] = 0;
    }
    for (int k = 0; k < NUM_TYPES; ++k) {
        struct layout l = {.type = MPI_DATATYPE_NULL};
        size_t one;

        makers[k](t, &l);
        finish_type(t, &l);
        one = packed_size(&l);
        for (int w = 0; w < limit; ++w) {
            int count = 0 == one ? w : (int) ((size_t) wanted[w] / one) + 1;

            for (int i = 0; i < n; ++i) {
                for (int form = 0; form < NUM_FORMS; ++form) {
                    ept_phase(t, "%s x %d, form %d, shift %d", l.name, count, form, shifts[i]);
                    exchange(comm, t, &l, count, form, (t->rank + shifts[i]) % t->size,
                             (t->rank - shifts[i] + t->size) % t->size);
                }
            }
        }
        EPT_OK(t, MPI_Type_free(&l.type));
    }
}

/* MPI_Pack at the sender or MPI_Unpack at the receiver, and MPI_PACKED at both. */
static void case_packed(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int count = 1; count <= 10000; count *= 10) {
        struct layout l = {.type = MPI_DATATYPE_NULL};
        int room = 0, position = 0;
        struct area out, in;
        struct ept_buffer packed_out, packed_in;
        MPI_Request request;
        MPI_Status status;

        make_indexed(t, &l);
        finish_type(t, &l);
        out = make_area(&l, count, 0);
        in = make_area(&l, count, 0);
        fill_area(&l, &out, count, (uint64_t) t->rank);
        EPT_OK(t, MPI_Pack_size(count, l.type, comm, &room));
        packed_out = ept_buffer((size_t) room, 0);
        packed_in = ept_buffer((size_t) room, 0);
        EPT_OK(t, MPI_Pack(out.origin, count, l.type, packed_out.data, room, &position, comm));
        for (int unpack = 0; unpack < 2; ++unpack) {
            ept_phase(t, "count %d, unpack %d", count, unpack);
            EPT_OK(t, MPI_Isend(packed_out.data, position, MPI_PACKED, to, 2, comm, &request));
            if (1 == unpack) {
                int at = 0;

                ept_buffer_clear(&in.buffer);
                EPT_OK(t, MPI_Recv(packed_in.data, room, MPI_PACKED, from, 2, comm, &status));
                EPT_OK(t, MPI_Unpack(packed_in.data, room, &at, in.origin, count, l.type, comm));
                EPT_GUARDS(t, &packed_in);
            } else {
                EPT_OK(t, MPI_Recv(in.origin, count, l.type, from, 2, comm, &status));
            }
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
            check_area(t, &l, &in, count, (uint64_t) from);
        }
        ept_buffer_free(&out.buffer);
        ept_buffer_free(&in.buffer);
        ept_buffer_free(&packed_out);
        ept_buffer_free(&packed_in);
        EPT_OK(t, MPI_Type_free(&l.type));
    }
}

/* A type freed while the messages that use it are still in flight. */
static void case_freed_type(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    struct layout l = {.type = MPI_DATATYPE_NULL};
    int count = 5000;
    struct area out, in;
    MPI_Request requests[2];

    make_vector(t, &l);
    finish_type(t, &l);
    out = make_area(&l, count, 0);
    in = make_area(&l, count, 0);
    fill_area(&l, &out, count, (uint64_t) t->rank);
    EPT_OK(t, MPI_Irecv(in.origin, count, l.type, from, 3, comm, &requests[0]));
    EPT_OK(t, MPI_Isend(out.origin, count, l.type, to, 3, comm, &requests[1]));
    EPT_OK(t, MPI_Type_free(&l.type));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_area(t, &l, &in, count, (uint64_t) from);
    ept_buffer_free(&out.buffer);
    ept_buffer_free(&in.buffer);
}

/* A derived-type message too long for a derived-type receive. */
static void case_truncated_type(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int count = 2; count <= 20000; count *= 100) {
        struct layout l = {.type = MPI_DATATYPE_NULL};
        struct area out, in;
        MPI_Request request;
        int rc;

        ept_phase(t, "count %d", count);
        make_vector(t, &l);
        finish_type(t, &l);
        out = make_area(&l, count, 0);
        in = make_area(&l, count - 1, 0);
        fill_area(&l, &out, count, (uint64_t) t->rank);
        EPT_OK(t, MPI_Isend(out.origin, count, l.type, to, 4, comm, &request));
        rc = MPI_Recv(in.origin, count - 1, l.type, from, 4, comm, MPI_STATUS_IGNORE);
        EPT_CLASS(t, MPI_ERR_TRUNCATE, rc);
        EPT_GUARDS(t, &in.buffer);
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        ept_buffer_free(&out.buffer);
        ept_buffer_free(&in.buffer);
        EPT_OK(t, MPI_Type_free(&l.type));
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

static long double long_value(int rank, int i)
{
    return 1.0L / 3 + (long double) rank + (long double) i * 1e-3L;
}

/* A type with bytes that belong to no value: values have to arrive, whatever those bytes hold,
 * and nothing between them. */
static void case_long_double(MPI_Comm comm, struct ept *t)
{
    enum { COUNT = 12, STRIDE = 3 };
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int block = 1; block <= STRIDE; ++block) {
        long double out[COUNT * STRIDE], in[COUNT * STRIDE];
        MPI_Request request;
        MPI_Datatype type;

        for (int i = 0; i < COUNT * STRIDE; ++i) {
            out[i] = long_value(t->rank, i);
            in[i] = -1;
        }
        EPT_OK(t, MPI_Type_vector(COUNT, block, STRIDE, MPI_LONG_DOUBLE, &type));
        EPT_OK(t, MPI_Type_commit(&type));
        EPT_OK(t, MPI_Isend(out, 1, type, to, 5, comm, &request));
        EPT_OK(t, MPI_Recv(in, 1, type, from, 5, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < COUNT * STRIDE; ++i) {
            long double wanted = i % STRIDE < block ? long_value(from, i) : -1;

            EPT_CHECK(t, wanted == in[i], "blocks of %d: value %d is %Lg, wanted %Lg", block, i,
                      in[i], wanted);
        }
        EPT_OK(t, MPI_Type_free(&type));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_types);
    EPT_CASE(t, case_packed);
    EPT_CASE(t, case_freed_type);
    EPT_CASE(t, case_truncated_type);
    EPT_CASE(t, case_long_double);
    return 0;
}
