/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
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
 * EPT-PARTS: random_traffic_lists.c random_traffic_recv.c
 *
 * Guards: pml_epml_recv.c, pml_epml_recvfrag.c, pml_epml_send.c, pml_epml_flow.c,
 * pml_epml_transmit.c, btl_epofi_context.c, btl_epofi_frag.c, btl_epofi_get.c,
 * btl_epofi_packet.c, btl_epofi_recv.c, btl_epofi_send.c, btl_epofi_share.c,
 * btl_epshm_node_packet.c, btl_epshm_node_pipe.c
 */

#include "random_traffic.h"

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
    to = traffic_to_comm(f, m->comm, dst);
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
    traffic_resolve(f);
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
        traffic_post_receive(f);
        break;
    case 4:
        traffic_probe_receive(f, 0 == f->sends_left, false);
        break;
    case 5:
        traffic_probe_receive(f, 0 == f->sends_left, true);
        break;
    default:
        complete_some(f);
        break;
    }
    traffic_resolve(f);
}

static void run_epoch(struct traffic *f)
{
    struct ept *t = f->t;
    long steps = 0;

    traffic_make_streams(f);
    traffic_make_sends(f);
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
