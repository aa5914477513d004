/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Part of coll_late: the kinds that move data.  A block of a member is bytes that follow from its
 * sender, its receiver and the step; each member has them as plain bytes, or of a type that has
 * three of eight bytes, and those not in the order of memory.
 */

#include "coll_late.h"

enum { EXTENT = 8, RUN = 3, CLEAR = 0x3a };

static const int place_of[RUN] = {5, 1, 2}; /**< in an element of the type with gaps */

/** A buffer of blocks, one for each member, or one only. */
struct blocks {
    struct ept_buffer buffer;
    size_t at[LATE_MEMBERS_MOST];    /**< where a block begins */
    size_t bytes[LATE_MEMBERS_MOST]; /**< packed */
    bool gaps[LATE_MEMBERS_MOST];
    int counts[LATE_MEMBERS_MOST], disps[LATE_MEMBERS_MOST]; /**< as MPI wants them */
    MPI_Datatype types[LATE_MEMBERS_MOST];
    int n;
};

void late_move_begin(struct late *l)
{
    int lengths[2] = {1, 2}, disps[2] = {place_of[0], place_of[1]};
    MPI_Datatype runs;

    EPT_OK(l->t, MPI_Type_indexed(2, lengths, disps, MPI_BYTE, &runs));
    EPT_OK(l->t, MPI_Type_create_resized(runs, 0, EXTENT, &l->gaps));
    EPT_OK(l->t, MPI_Type_commit(&l->gaps));
    EPT_OK(l->t, MPI_Type_free(&runs));
}

void late_move_end(struct late *l)
{
    EPT_OK(l->t, MPI_Type_free(&l->gaps));
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/** Has this member the block of the step with gaps?  Each as it likes, where the length allows
 * it. */
static bool likes_gaps(const struct late *l, int salt, size_t bytes)
{
    return 0 == bytes % RUN && 0 != ept_mix(l->step, 77, (uint64_t) l->rank, (uint64_t) salt) % 3;
}

/**
 * Room for n blocks.
 *
 * @param bytes   of each
 * @param gaps    0 or 1: all are of that type; 2 (alltoallw): each as the member likes
 * @param spread  blocks have room between them, and are in the opposite order
 */
static void make(struct blocks *b, const struct late *l, int n, const size_t *bytes, int gaps,
                 bool spread)
{
    size_t at = 0;

    *b = (struct blocks){.n = n};
    for (int k = 0; k < n; ++k) {
        const int i = spread ? n - 1 - k : k;
        const bool is_gaps = 2 == gaps ? likes_gaps(l, i, bytes[i]) : 0 != gaps;
        const size_t extent = is_gaps ? EXTENT : 1;

        b->gaps[i] = is_gaps;
        b->types[i] = is_gaps ? l->gaps : MPI_BYTE;
        b->bytes[i] = bytes[i];
        b->counts[i] = (int) (is_gaps ? bytes[i] / RUN : bytes[i]);
        b->at[i] = at;
        b->disps[i] = (int) (2 == gaps ? at : at / extent);
        at += ((size_t) b->counts[i] + (spread ? 3 : 0)) * extent;
    }
    b->buffer = ept_buffer(at, (unsigned) l->step);
}

static uint64_t key(const struct late *l, int from, int to)
{
    return ept_mix(l->step, (uint64_t) from, (uint64_t) (to + 1), 5);
}

static void put(struct blocks *b, int i, uint64_t what)
{
    unsigned char *data = b->buffer.data + b->at[i];

    if (!b->gaps[i]) {
        ept_fill(data, 0, b->bytes[i], what);
        return;
    }
    for (size_t k = 0; k < b->bytes[i]; ++k) {
        data[k / RUN * EXTENT + (size_t) place_of[k % RUN]] = ept_byte(what, k);
    }
}

static void check(const struct late *l, const struct blocks *b, int i, uint64_t what)
{
    const unsigned char *data = b->buffer.data + b->at[i];

    if (!b->gaps[i]) {
        EPT_FILL(l->t, data, b->bytes[i], what);
        return;
    }
    atomic_fetch_add(&l->t->checks, 1);
    for (size_t k = 0; k < b->bytes[i]; ++k) {
        const unsigned char *element = data + k / RUN * EXTENT;
        const unsigned char got = element[place_of[k % RUN]];

        if (ept_byte(what, k) != got || CLEAR != element[0] || CLEAR != element[7]) {
            ept_fail(l->t, __FILE__, __LINE__,
                     "%s, step %llu, block %d: byte %zu of %zu is 0x%02x, not 0x%02x, gaps 0x%02x "
                     "0x%02x",
                     l->what, (unsigned long long) l->step, i, k, b->bytes[i], got,
                     ept_byte(what, k), element[0], element[7]);
            return;
        }
    }
}

/** All blocks are there; and nothing behind a block of a spread buffer. */
static void finish(const struct late *l, struct blocks *b, bool spread)
{
    for (int i = 0; spread && i < b->n; ++i) {
        const unsigned char *behind = b->buffer.data + b->at[i]
                                      + (size_t) b->counts[i] * (b->gaps[i] ? EXTENT : 1);

        EPT_CHECK(l->t, CLEAR == behind[0] && CLEAR == behind[2],
                  "%s, step %llu: written behind block %d", l->what, (unsigned long long) l->step,
                  i);
    }
    EPT_GUARDS(l->t, &b->buffer);
    ept_buffer_free(&b->buffer);
}

static void phase(struct late *l, const char *what, size_t bytes, int root, bool in_place)
{
    l->what = what;
    l->repeats = true;
    ept_phase(l->t, "step %llu: %s of %zu bytes, root %d%s", (unsigned long long) l->step, what,
              bytes, root, in_place ? ", in place" : "");
    late_pause(l);
}

/** A length for each of n blocks: all the same, or any. */
static void lengths(struct late *l, size_t *bytes, int n, bool same)
{
    size_t first = late_bytes(l);

    if (0 == late_below(l, 2)) {
        first -= first % RUN;
    }
    for (int i = 0; i < n; ++i) {
        const size_t one = same ? first : late_bytes(l);

        bytes[i] = one < l->most / (size_t) n ? one : l->most / (size_t) n / RUN * RUN;
    }
}

static bool all_like_gaps(const struct late *l, const size_t *bytes, int n, int salt)
{
    for (int i = 0; i < n; ++i) {
        if (0 != bytes[i] % RUN) {
            return false;
        }
    }
    return likes_gaps(l, salt, 0);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static void bcast(struct late *l)
{
    const int root = late_root(l);
    struct blocks b;
    size_t bytes;

    lengths(l, &bytes, 1, true);
    make(&b, l, 1, &bytes, likes_gaps(l, 1, bytes), false);
    if (root == l->rank) {
        put(&b, 0, key(l, root, -1));
    }
    phase(l, "bcast", bytes, root, false);
    EPT_OK(l->t, LATE_CALL(l, Bcast, bcast, b.buffer.data, b.counts[0], b.types[0], root, l->comm));
    check(l, &b, 0, key(l, root, -1));
    finish(l, &b, false);
}

/** Gather and gatherv (v), with a root; allgather and allgatherv, without (-1). */
static void gather(struct late *l, bool v, int root)
{
    const bool receives = -1 == root || root == l->rank;
    const bool in_place = 0 == late_below(l, 3) && receives;
    struct blocks in, out;
    size_t bytes[LATE_MEMBERS_MOST];
    const void *send;
    bool alike;

    lengths(l, bytes, l->size, !v);
    /* Open MPI's tuned takes an allgatherv for as long as it looks in the sender's type, and
     * another algorithm at each member then: all have one type where it may be called. */
    alike = v && -1 == root && late_is_stock(l);
    make(&in, l, 1, &bytes[l->rank], !alike && likes_gaps(l, 1, bytes[l->rank]), false);
    make(&out, l, receives ? l->size : 0, bytes, !alike && all_like_gaps(l, bytes, l->size, 2), v);
    put(&in, 0, key(l, l->rank, -1));
    if (in_place) {
        put(&out, l->rank, key(l, l->rank, -1));
    }
    send = in_place ? MPI_IN_PLACE : (const void *) in.buffer.data;
    phase(l, v ? "(all)gatherv" : "(all)gather", bytes[l->rank], root, in_place);
    if (-1 == root && v) {
        EPT_OK(l->t, LATE_CALL(l, Allgatherv, allgatherv, send, in.counts[0], in.types[0],
                               out.buffer.data, out.counts, out.disps, out.types[0], l->comm));
    } else if (-1 == root) {
        EPT_OK(l->t, LATE_CALL(l, Allgather, allgather, send, in.counts[0], in.types[0],
                               out.buffer.data, out.counts[0], out.types[0], l->comm));
    } else if (v) {
        EPT_OK(l->t, LATE_CALL(l, Gatherv, gatherv, send, in.counts[0], in.types[0],
                               out.buffer.data, out.counts, out.disps,
                               receives ? out.types[0] : MPI_DATATYPE_NULL, root, l->comm));
    } else {
        EPT_OK(l->t, LATE_CALL(l, Gather, gather, send, in.counts[0], in.types[0], out.buffer.data,
                               receives ? out.counts[0] : -1,
                               receives ? out.types[0] : MPI_DATATYPE_NULL, root, l->comm));
    }
    for (int i = 0; receives && i < l->size; ++i) {
        check(l, &out, i, key(l, i, -1));
    }
    finish(l, &in, false);
    finish(l, &out, v);
}

static void scatter(struct late *l, bool v)
{
    const int root = late_root(l);
    const bool is_root = root == l->rank;
    const bool in_place = 0 == late_below(l, 3) && is_root;
    struct blocks in, out;
    size_t bytes[LATE_MEMBERS_MOST];
    void *recv;

    lengths(l, bytes, l->size, !v);
    make(&in, l, is_root ? l->size : 0, bytes, all_like_gaps(l, bytes, l->size, 1), v);
    make(&out, l, 1, &bytes[l->rank], likes_gaps(l, 2, bytes[l->rank]), false);
    for (int i = 0; is_root && i < l->size; ++i) {
        put(&in, i, key(l, root, i));
    }
    recv = in_place ? MPI_IN_PLACE : (void *) out.buffer.data;
    phase(l, v ? "scatterv" : "scatter", bytes[l->rank], root, in_place);
    if (v) {
        EPT_OK(l->t, LATE_CALL(l, Scatterv, scatterv, in.buffer.data, in.counts, in.disps,
                               is_root ? in.types[0] : MPI_DATATYPE_NULL, recv, out.counts[0],
                               out.types[0], root, l->comm));
    } else {
        EPT_OK(l->t, LATE_CALL(l, Scatter, scatter, in.buffer.data, is_root ? in.counts[0] : -1,
                               is_root ? in.types[0] : MPI_DATATYPE_NULL, recv, out.counts[0],
                               out.types[0], root, l->comm));
    }
    if (!in_place) {
        check(l, &out, 0, key(l, root, l->rank));
    }
    finish(l, &in, v);
    finish(l, &out, false);
}

/** 0: alltoall, 1: v, 2: w */
static void alltoall(struct late *l, int form)
{
    static const char *const names[] = {"alltoall", "alltoallv", "alltoallw"};
    /* libnbc writes a block over another one in place, if they are not all of one length. */
    const bool in_place = 0 == late_below(l, 4)
                          && (0 == form || COLL_BLOCKING == l->mode || !late_is_stock(l));
    const uint64_t salt = ept_random(&l->common);
    size_t send[LATE_MEMBERS_MOST], recv[LATE_MEMBERS_MOST], from[8];
    struct blocks in, out;

    lengths(l, from, 8, 0 == form);
    for (int i = 0; i < l->size; ++i) {
        const uint64_t low = (uint64_t) (i < l->rank ? i : l->rank);
        const uint64_t high = (uint64_t) (i < l->rank ? l->rank : i);
        const size_t most = l->most / (size_t) l->size / RUN * RUN;

        /* In place what two exchange is of one length. */
        send[i] = from[ept_mix(salt, (uint64_t) l->rank, (uint64_t) i, 3) % 8];
        recv[i] = from[ept_mix(salt, (uint64_t) i, (uint64_t) l->rank, 3) % 8];
        if (in_place) {
            send[i] = recv[i] = from[ept_mix(salt, low, high, 4) % 8];
        }
        send[i] = send[i] < most ? send[i] : most;
        recv[i] = recv[i] < most ? recv[i] : most;
    }
    make(&in, l, l->size, send, 2 == form ? 2 : all_like_gaps(l, send, l->size, 1), 0 != form);
    /* In place both have the same types as well: not each as it likes. */
    make(&out, l, l->size, recv,
         in_place    ? 0 == form && 0 == recv[0] % RUN
         : 2 == form ? 2
                     : all_like_gaps(l, recv, l->size, 2),
         0 != form);
    if (in_place && 2 == form) {
        for (int i = 0; i < l->size; ++i) {
            out.disps[i] = (int) out.at[i];
        }
    }
    for (int i = 0; i < l->size; ++i) {
        put(&in, i, key(l, l->rank, i));
        if (in_place) {
            put(&out, i, key(l, l->rank, i));
        }
    }
    phase(l, names[form], send[0], -1, in_place);
    l->repeats = !in_place;
    if (0 == form) {
        EPT_OK(l->t,
               LATE_CALL(l, Alltoall, alltoall,
                         in_place ? MPI_IN_PLACE : (const void *) in.buffer.data, in.counts[0],
                         in.types[0], out.buffer.data, out.counts[0], out.types[0], l->comm));
    } else if (1 == form) {
        EPT_OK(l->t, LATE_CALL(l, Alltoallv, alltoallv,
                               in_place ? MPI_IN_PLACE : (const void *) in.buffer.data, in.counts,
                               in.disps, in.types[0], out.buffer.data, out.counts, out.disps,
                               out.types[0], l->comm));
    } else {
        EPT_OK(l->t, LATE_CALL(l, Alltoallw, alltoallw,
                               in_place ? MPI_IN_PLACE : (const void *) in.buffer.data, in.counts,
                               in.disps, in.types, out.buffer.data, out.counts, out.disps,
                               out.types, l->comm));
    }
    for (int i = 0; i < l->size; ++i) {
        check(l, &out, i, key(l, i, l->rank));
    }
    finish(l, &in, 0 != form);
    finish(l, &out, 0 != form);
}

void late_move(struct late *l)
{
    const int any = late_below(l, 10);
    const int kind = LATE_FROM_ONE == l->way ? (0 == any ? 4 : 9)
                     : LATE_TO_ONE == l->way ? (0 == any ? 7 : 8)
                                             : any;

    switch (kind) {
    case 0:
    case 1:
    case 2:
        alltoall(l, kind);
        break;
    case 3:
    case 4:
        scatter(l, 3 == kind);
        break;
    case 5:
    case 6:
        gather(l, 5 == kind, -1);
        break;
    case 7:
    case 8:
        gather(l, 7 == kind, late_root(l));
        break;
    default:
        bcast(l);
        break;
    }
}
