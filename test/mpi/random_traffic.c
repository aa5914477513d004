/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Random traffic: every rank sends to every rank (itself included), on four communicators, with
 * sizes across every protocol switch, in all send modes but ready, from contiguous and strided
 * memory; and receives by exact and wildcard receives, probes and matched probes, completed by
 * test and wait in turns.  Every byte is checked.
 *
 * Soundness.  What goes from src to dst in an epoch is a list that both compute from (seed, epoch,
 * src, dst); the list tells communicator, tag and size, and the position in it the contents.
 *  - Which message a receive got: receives on one communicator that matched the same source and
 *    tag did so in the order of posting.  So completed receives are looked at ("resolved") in that
 *    order, and each is the next message of its source and tag.
 *  - No receive is posted in vain: a receive is posted only if more messages that it fits are
 *    unresolved than pending receives that could take one of them.  Earlier receives have
 *    precedence, so later ones cannot starve it.
 *  - Nobody waits for the other's window: sends are never limited, and a rank blocks only when it
 *    has started all of its own, and only for something that includes a receive.
 *
 *   --epochs N     default 3
 *   --messages N   messages per rank and epoch (default: fewer for more ranks)
 *   --max N        largest message in bytes
 *
 * Guards: pml_epml_recv.c, pml_epml_recvfrag.c, pml_epml_send.c, pml_epml_flow.c,
 * pml_epml_transmit.c, btl_epofi_frag.c
 */

#include "ept.h"

enum { NUM_COMMS = 4, NUM_TAGS = 3, SLOTS = 12, BSEND_LIMIT = 9000 };
enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_BUFFERED, SEND_STRIDED, NUM_MODES };

struct message {
    int comm, tag, bytes;
    enum send_mode mode;
    uint64_t key;
};

struct list {
    int num;
    struct message *messages;
};

/** The messages of one source, communicator and tag, in order: indices into the source's list. */
struct stream {
    int num, next;
    int *indices;
};

/** A receive from posting to resolution. */
struct slot {
    bool used, completed;
    int comm, source, tag; /* as posted; source is a rank of the run, or ANY */
    MPI_Status status;
    struct ept_buffer buffer;
};

struct queue { /* of slots, in the order of posting */
    int num;
    int slots[SLOTS];
};

struct outgoing {
    unsigned char *data;
    size_t bytes;
};

struct traffic {
    struct ept *t;
    MPI_Comm comms[NUM_COMMS];
    uint64_t random; /* of this rank alone: the choices of how */
    int epoch, max_bytes, per_rank;
    /* receiving */
    struct list *in;               /* by source */
    struct stream *streams;        /* by source, communicator, tag */
    int unresolved;
    struct slot slots[SLOTS];
    struct queue queues[NUM_COMMS];
    /* sending */
    struct list *out;              /* by destination */
    int *started;                  /* by destination: how many of the list */
    int sends_left, num_sends;
    struct outgoing *outgoing;     /* by number of the send */
    MPI_Request *requests;         /* SLOTS receives, then the sends */
    int *indices;
    MPI_Status *statuses;
};

/* ---- the lists ---------------------------------------------------------------------------- */

static int random_size(uint64_t *stream, int max_bytes)
{
    static const int edges[] = {0,    8,    32,   40,    56,    64,    128,   256,    1024,
                                4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576};
    int num = 0, edge, size;

    while (num < (int) (sizeof(edges) / sizeof(edges[0])) && edges[num] <= max_bytes) {
        ++num;
    }
    /* Small ones more often: the lower of two choices. */
    edge = (int) ept_random_below(stream, (uint64_t) num);
    size = (int) ept_random_below(stream, (uint64_t) num);
    edge = edges[size < edge ? size : edge];
    switch (ept_random_below(stream, 3)) {
    case 0:
        size = edge + (int) ept_random_below(stream, 3) - 1;
        break;
    case 1:
        size = edge + (int) ept_random_below(stream, (uint64_t) edge / 8 + 50);
        break;
    default:
        size = (int) ept_random_below(stream, (uint64_t) edge + 1);
        break;
    }
    return size < 0 ? 0 : size > max_bytes ? max_bytes : size;
}

static struct list make_list(const struct traffic *f, int src, int dst)
{
    uint64_t stream = ept_mix(f->t->seed, (uint64_t) f->epoch, (uint64_t) src, (uint64_t) dst);
    int size = f->t->size;
    struct list l;

    /* per_rank in the mean; unevenly, some pairs not at all. */
    l.num = (int) ept_random_below(&stream, (uint64_t) (2 * f->per_rank / size + 2));
    l.messages = malloc(((size_t) l.num + 1) * sizeof(*l.messages));
    for (int i = 0; i < l.num; ++i) {
        struct message *m = &l.messages[i];

        m->comm = (int) ept_random_below(&stream, NUM_COMMS);
        m->tag = (int) ept_random_below(&stream, NUM_TAGS);
        m->bytes = random_size(&stream, f->max_bytes);
        m->mode = (enum send_mode) ept_random_below(&stream, NUM_MODES);
        if (SEND_BUFFERED == m->mode && BSEND_LIMIT < m->bytes) {
            m->mode = SEND_STANDARD;
        }
        m->key = ept_random(&stream);
    }
    return l;
}

static struct stream *stream_of(const struct traffic *f, int source, int comm, int tag)
{
    return &f->streams[(source * NUM_COMMS + comm) * NUM_TAGS + tag];
}

static void make_streams(struct traffic *f)
{
    f->unresolved = 0;
    for (int s = 0; s < f->t->size; ++s) {
        f->in[s] = make_list(f, s, f->t->rank);
        f->unresolved += f->in[s].num;
        for (int k = 0; k < NUM_COMMS * NUM_TAGS; ++k) {
            struct stream *stream = &f->streams[s * NUM_COMMS * NUM_TAGS + k];

            stream->num = stream->next = 0;
            stream->indices = malloc(((size_t) f->in[s].num + 1) * sizeof(int));
        }
        for (int i = 0; i < f->in[s].num; ++i) {
            struct message *m = &f->in[s].messages[i];
            struct stream *stream = stream_of(f, s, m->comm, m->tag);

            stream->indices[stream->num++] = i;
        }
    }
}

static void make_sends(struct traffic *f)
{
    f->num_sends = f->sends_left = 0;
    for (int d = 0; d < f->t->size; ++d) {
        f->out[d] = make_list(f, f->t->rank, d);
        f->started[d] = 0;
        f->sends_left += f->out[d].num;
    }
    f->outgoing = calloc((size_t) f->sends_left + 1, sizeof(*f->outgoing));
    f->requests = malloc(((size_t) f->sends_left + SLOTS) * sizeof(*f->requests));
    f->indices = malloc(((size_t) f->sends_left + SLOTS) * sizeof(*f->indices));
    f->statuses = malloc(((size_t) f->sends_left + SLOTS) * sizeof(*f->statuses));
    for (int i = 0; i < SLOTS + f->sends_left; ++i) {
        f->requests[i] = MPI_REQUEST_NULL;
    }
}

/* ---- ranks of the communicators: the last one is in reverse -------------------------------- */

static int to_comm(const struct traffic *f, int comm, int rank)
{
    return MPI_ANY_SOURCE == rank || NUM_COMMS - 1 != comm ? rank : f->t->size - 1 - rank;
}

static int from_comm(const struct traffic *f, int comm, int rank)
{
    return NUM_COMMS - 1 != comm ? rank : f->t->size - 1 - rank;
}

/* ---- sending ------------------------------------------------------------------------------ */

/* Every four bytes of the message in the first four of six. */
static void start_strided(struct traffic *f, const struct message *m, int to, struct outgoing *o,
                          MPI_Request *request)
{
    struct ept *t = f->t;
    int blocks = m->bytes / 4;
    MPI_Datatype type;
    unsigned char *flat = malloc((size_t) m->bytes + 1);

    ept_fill(flat, 0, (size_t) m->bytes, m->key);
    o->data = malloc((size_t) blocks * 6 + 1);
    for (int i = 0; i < blocks; ++i) {
        memcpy(o->data + 6 * i, flat + 4 * i, 4);
    }
    free(flat);
    EPT_OK(t, MPI_Type_vector(blocks, 4, 6, MPI_BYTE, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    EPT_OK(t, MPI_Isend(o->data, 1, type, to, m->tag, f->comms[m->comm], request));
    EPT_OK(t, MPI_Type_free(&type));
}

static void start_send(struct traffic *f)
{
    struct ept *t = f->t;
    int dst = (int) ept_random_below(&f->random, (uint64_t) t->size), to;
    const struct message *m;
    struct outgoing *o = &f->outgoing[f->num_sends];
    MPI_Request *request = &f->requests[SLOTS + f->num_sends];
    MPI_Comm comm;

    while (f->started[dst] == f->out[dst].num) {
        dst = (dst + 1) % t->size;
    }
    m = &f->out[dst].messages[f->started[dst]++];
    ++f->num_sends;
    --f->sends_left;
    to = to_comm(f, m->comm, dst);
    comm = f->comms[m->comm];
    if (SEND_STRIDED == m->mode && 0 == m->bytes % 4) {
        start_strided(f, m, to, o, request);
        return;
    }
    o->data = malloc((size_t) m->bytes + 1);
    ept_fill(o->data, 0, (size_t) m->bytes, m->key);
    switch (m->mode) {
    case SEND_SYNCHRONOUS:
        EPT_OK(t, MPI_Issend(o->data, m->bytes, MPI_BYTE, to, m->tag, comm, request));
        break;
    case SEND_BUFFERED:
        EPT_OK(t, MPI_Bsend(o->data, m->bytes, MPI_BYTE, to, m->tag, comm));
        /* The buffer is ours again: overwrite what must have been copied. */
        memset(o->data, 0xee, (size_t) m->bytes);
        break;
    default:
        EPT_OK(t, MPI_Isend(o->data, m->bytes, MPI_BYTE, to, m->tag, comm, request));
        break;
    }
}

/* ---- receiving ---------------------------------------------------------------------------- */

static bool meets(int a, int b)
{
    return a == b || MPI_ANY_SOURCE == a || MPI_ANY_SOURCE == b;
}

static bool meets_tag(int a, int b)
{
    return a == b || MPI_ANY_TAG == a || MPI_ANY_TAG == b;
}

/* May a receive of this kind be posted without fear that nothing is left for it? */
static bool feasible(const struct traffic *f, int comm, int source, int tag)
{
    int messages = 0;

    for (int s = 0; s < f->t->size; ++s) {
        for (int g = 0; g < NUM_TAGS && meets(source, s); ++g) {
            const struct stream *stream = stream_of(f, s, comm, g);

            messages += meets_tag(tag, g) ? stream->num - stream->next : 0;
        }
    }
    for (int i = 0; i < f->queues[comm].num; ++i) {
        const struct slot *slot = &f->slots[f->queues[comm].slots[i]];

        messages -= meets(source, slot->source) && meets_tag(tag, slot->tag);
    }
    return 0 < messages;
}

static int free_slot(const struct traffic *f)
{
    for (int i = 0; i < SLOTS; ++i) {
        if (!f->slots[i].used) {
            return i;
        }
    }
    return -1;
}

static struct slot *use_slot(struct traffic *f, int i, int comm, int source, int tag)
{
    struct slot *slot = &f->slots[i];

    slot->used = true;
    slot->completed = false;
    slot->comm = comm;
    slot->source = source;
    slot->tag = tag;
    f->queues[comm].slots[f->queues[comm].num++] = i;
    return slot;
}

/* A random kind of receive that is feasible, if one is found in a few attempts. */
static bool choose(struct traffic *f, int *comm, int *source, int *tag)
{
    for (int attempt = 0; attempt < 6; ++attempt) {
        uint64_t kind = ept_random_below(&f->random, 4);

        *comm = (int) ept_random_below(&f->random, NUM_COMMS);
        *source = 0 == (kind & 1) ? (int) ept_random_below(&f->random, (uint64_t) f->t->size)
                                  : MPI_ANY_SOURCE;
        *tag = 0 == (kind & 2) ? (int) ept_random_below(&f->random, NUM_TAGS) : MPI_ANY_TAG;
        if (feasible(f, *comm, *source, *tag)) {
            return true;
        }
    }
    for (*comm = 0; *comm < NUM_COMMS; ++*comm) {
        *source = MPI_ANY_SOURCE;
        *tag = MPI_ANY_TAG;
        if (feasible(f, *comm, *source, *tag)) {
            return true;
        }
    }
    return false;
}

static void post_receive(struct traffic *f)
{
    int i = free_slot(f), comm, source, tag;
    struct ept *t = f->t;
    struct slot *slot;

    if (0 > i || !choose(f, &comm, &source, &tag)) {
        return;
    }
    slot = use_slot(f, i, comm, source, tag);
    EPT_OK(t, MPI_Irecv(slot->buffer.data, (int) slot->buffer.size, MPI_BYTE,
                        to_comm(f, comm, source), tag, f->comms[comm], &f->requests[i]));
}

/* Receive what a probe finds; by MPI_Recv, or from the message handle. */
static void probe_receive(struct traffic *f, bool blocking, bool matched)
{
    int i = free_slot(f), comm, source, tag, flag = 0, bytes = -1, got = -2;
    MPI_Message message = MPI_MESSAGE_NULL;
    struct ept *t = f->t;
    struct slot *slot;
    MPI_Status status;

    if (0 > i || !choose(f, &comm, &source, &tag)) {
        return;
    }
    source = to_comm(f, comm, source);
    if (blocking) {
        flag = 1;
        if (matched) {
            EPT_OK(t, MPI_Mprobe(source, tag, f->comms[comm], &message, &status));
        } else {
            EPT_OK(t, MPI_Probe(source, tag, f->comms[comm], &status));
        }
    } else if (matched) {
        EPT_OK(t, MPI_Improbe(source, tag, f->comms[comm], &flag, &message, &status));
    } else {
        EPT_OK(t, MPI_Iprobe(source, tag, f->comms[comm], &flag, &status));
    }
    if (0 == flag) {
        return;
    }
    slot = use_slot(f, i, comm, from_comm(f, comm, status.MPI_SOURCE), status.MPI_TAG);
    EPT_OK(t, MPI_Get_count(&status, MPI_BYTE, &bytes));
    if (matched) {
        EPT_OK(t, MPI_Imrecv(slot->buffer.data, bytes, MPI_BYTE, &message, &f->requests[i]));
    } else {
        EPT_OK(t, MPI_Recv(slot->buffer.data, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
                           f->comms[comm], &slot->status));
        EPT_OK(t, MPI_Get_count(&slot->status, MPI_BYTE, &got));
        EPT_EQ(t, bytes, got);
        slot->completed = true;
    }
}

/* The head of the queue is complete: it got the next message of its source and tag. */
static void resolve_one(struct traffic *f, struct queue *queue)
{
    struct slot *slot = &f->slots[queue->slots[0]];
    int source = from_comm(f, slot->comm, slot->status.MPI_SOURCE), tag = slot->status.MPI_TAG;
    struct ept *t = f->t;
    struct stream *stream;
    const struct message *m;

    --queue->num;
    memmove(queue->slots, queue->slots + 1, (size_t) queue->num * sizeof(int));
    slot->used = false;
    --f->unresolved;
    EPT_CHECK(t, 0 <= source && t->size > source && 0 <= tag && NUM_TAGS > tag,
              "a message from %d with tag %d", source, tag);
    EPT_CHECK(t, meets(slot->source, source) && meets_tag(slot->tag, tag),
              "asked for source %d, tag %d, got source %d, tag %d", slot->source, slot->tag, source,
              tag);
    if (0 > source || t->size <= source || 0 > tag || NUM_TAGS <= tag) {
        return;
    }
    stream = stream_of(f, source, slot->comm, tag);
    EPT_CHECK(t, stream->next < stream->num, "too many messages from %d with tag %d on %d", source,
              tag, slot->comm);
    if (stream->next == stream->num) {
        return;
    }
    m = &f->in[source].messages[stream->indices[stream->next++]];
    EPT_STATUS(t, &slot->status, slot->status.MPI_SOURCE, m->tag, m->bytes);
    EPT_FILL(t, slot->buffer.data, (size_t) m->bytes, m->key);
    EPT_GUARDS(t, &slot->buffer);
}

static void resolve(struct traffic *f)
{
    for (int c = 0; c < NUM_COMMS; ++c) {
        while (0 < f->queues[c].num && f->slots[f->queues[c].slots[0]].completed) {
            resolve_one(f, &f->queues[c]);
        }
    }
}

/* ---- completing --------------------------------------------------------------------------- */

static void completed(struct traffic *f, int index, const MPI_Status *status)
{
    if (index < SLOTS) {
        f->slots[index].completed = true;
        f->slots[index].status = *status;
    } else {
        free(f->outgoing[index - SLOTS].data);
        f->outgoing[index - SLOTS].data = NULL;
    }
}

static void complete_some(struct traffic *f)
{
    int all = SLOTS + f->num_sends, n = 0, index = MPI_UNDEFINED, flag = 0;
    bool may_block = false;
    struct ept *t = f->t;

    for (int i = 0; i < SLOTS && 0 == f->sends_left; ++i) {
        may_block = may_block || MPI_REQUEST_NULL != f->requests[i];
    }

    switch (ept_random_below(&f->random, 4)) {
    case 0:
        if (may_block) {
            EPT_OK(t, MPI_Waitany(all, f->requests, &index, f->statuses));
        } else {
            EPT_OK(t, MPI_Testany(all, f->requests, &index, &flag, f->statuses));
        }
        f->indices[0] = index;
        n = MPI_UNDEFINED == index ? 0 : 1;
        break;
    case 1:
        /* One of the receives alone. */
        index = (int) ept_random_below(&f->random, SLOTS);
        if (MPI_REQUEST_NULL != f->requests[index]) {
            EPT_OK(t, MPI_Test(&f->requests[index], &flag, f->statuses));
            f->indices[0] = index;
            n = flag;
        }
        break;
    default:
        if (may_block) {
            EPT_OK(t, MPI_Waitsome(all, f->requests, &n, f->indices, f->statuses));
        } else {
            EPT_OK(t, MPI_Testsome(all, f->requests, &n, f->indices, f->statuses));
        }
        break;
    }
    for (int i = 0; MPI_UNDEFINED != n && i < n; ++i) {
        completed(f, f->indices[i], &f->statuses[i]);
    }
    resolve(f);
}

/* ---- an epoch ----------------------------------------------------------------------------- */

static void step(struct traffic *f)
{
    switch (ept_random_below(&f->random, 8)) {
    case 0:
    case 1:
        if (0 < f->sends_left) {
            start_send(f);
        }
        break;
    case 2:
    case 3:
        post_receive(f);
        break;
    case 4:
        probe_receive(f, 0 == f->sends_left, false);
        break;
    case 5:
        probe_receive(f, 0 == f->sends_left, true);
        break;
    default:
        complete_some(f);
        break;
    }
    resolve(f);
}

static void run_epoch(struct traffic *f)
{
    struct ept *t = f->t;
    long steps = 0;

    make_streams(f);
    make_sends(f);
    while (0 < f->unresolved || 0 < f->sends_left) {
        if (0 == steps++ % 64) {
            ept_phase(t, "epoch %d: %d to receive, %d to send, pending %d %d %d %d", f->epoch,
                      f->unresolved, f->sends_left, f->queues[0].num, f->queues[1].num,
                      f->queues[2].num, f->queues[3].num);
        }
        step(f);
    }
    ept_phase(t, "epoch %d: wait for %d sends", f->epoch, f->num_sends);
    EPT_OK(t, MPI_Waitall(f->num_sends, f->requests + SLOTS, MPI_STATUSES_IGNORE));
    for (int s = 0; s < t->size; ++s) {
        for (int k = 0; k < NUM_COMMS * NUM_TAGS; ++k) {
            free(f->streams[s * NUM_COMMS * NUM_TAGS + k].indices);
        }
        free(f->in[s].messages);
        free(f->out[s].messages);
    }
    for (int i = 0; i < f->num_sends; ++i) {
        free(f->outgoing[i].data);
    }
    free(f->outgoing);
    free(f->requests);
    free(f->indices);
    free(f->statuses);
}

static void check_silence(struct traffic *f)
{
    struct ept *t = f->t;
    int flag = 1;

    for (int c = 0; c < NUM_COMMS; ++c) {
        EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, f->comms[c], &flag, MPI_STATUS_IGNORE));
        EPT_EQ(t, 0, flag);
    }
}

/* ---- the buffer of the buffered sends: one per process -------------------------------------- */

static void *attached;
static atomic_int attached_bytes;

static void attach(struct ept *t, int per_rank)
{
    /* More than all of an epoch's could need. */
    int need = (2 * per_rank + 2 * t->size) * (BSEND_LIMIT + MPI_BSEND_OVERHEAD) / 3 + 100000;

    if (0 == t->local) {
        atomic_store(&attached_bytes, need * t->nlocal);
        attached = malloc((size_t) atomic_load(&attached_bytes));
        EPT_OK(t, MPI_Buffer_attach(attached, atomic_load(&attached_bytes)));
    }
    ept_local_barrier(t);
}

static void detach(struct ept *t)
{
    ept_local_barrier(t);
    if (0 == t->local) {
        void *address;
        int size;

        EPT_OK(t, MPI_Buffer_detach(&address, &size));
        free(attached);
    }
    ept_local_barrier(t);
}

static void case_traffic(MPI_Comm comm, struct ept *t)
{
    int epochs = (int) ept_option_long("epochs", 3);
    struct traffic *f = calloc(1, sizeof(*f));

    f->t = t;
    f->random = ept_mix(t->seed, (uint64_t) t->rank, 0, 5);
    f->per_rank = (int) ept_option_long("messages", 16 < t->size ? 100 : 4 < t->size ? 250 : 500);
    f->max_bytes = (int) ept_option_long("max", 16 < t->size ? 70000 : 300000);
    f->comms[0] = comm;
    EPT_OK(t, MPI_Comm_dup(comm, &f->comms[1]));
    EPT_OK(t, MPI_Comm_dup(f->comms[1], &f->comms[2]));
    EPT_OK(t, MPI_Comm_split(comm, 0, -t->rank, &f->comms[3]));
    f->in = calloc((size_t) t->size, sizeof(*f->in));
    f->out = calloc((size_t) t->size, sizeof(*f->out));
    f->started = calloc((size_t) t->size, sizeof(*f->started));
    f->streams = calloc((size_t) t->size * NUM_COMMS * NUM_TAGS, sizeof(*f->streams));
    for (int i = 0; i < SLOTS; ++i) {
        f->slots[i].buffer = ept_buffer((size_t) f->max_bytes, (unsigned) i);
    }
    attach(t, f->per_rank);
    for (f->epoch = 0; f->epoch < epochs; ++f->epoch) {
        run_epoch(f);
        ept_phase(t, "barrier after epoch %d", f->epoch);
        EPT_OK(t, MPI_Barrier(f->comms[f->epoch % NUM_COMMS]));
        check_silence(f);
        EPT_OK(t, MPI_Barrier(comm));
    }
    detach(t);
    for (int i = 0; i < SLOTS; ++i) {
        ept_buffer_free(&f->slots[i].buffer);
    }
    for (int c = 1; c < NUM_COMMS; ++c) {
        EPT_OK(t, MPI_Comm_free(&f->comms[c]));
    }
    free(f->in);
    free(f->out);
    free(f->started);
    free(f->streams);
    free(f);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_traffic);
    return 0;
}
