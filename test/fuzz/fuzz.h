/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Fuzzing of pml/epml's packet handler: what its parts share.  How it works: fuzz_epml.c.
 */

#ifndef EP_TEST_FUZZ_H
#define EP_TEST_FUZZ_H

#include "ompi_config.h"

#include "ompi/mca/pml/epml/proto/pml_epml_part.h"
#include "ompi/mca/common/ep/common_ep_engine.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** An invariant: a violation is reported as libFuzzer reports a crash, with the input. */
#define FUZZ_CHECK(condition, ...)                                \
    do {                                                          \
        if (!(condition)) {                                       \
            fprintf(stderr, "fuzz: %s:%d: ", __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__);                         \
            fprintf(stderr, " (%s)\n", #condition);               \
            abort();                                              \
        }                                                         \
    } while (0)

/** What is left of an input. */
typedef struct fuzz_input_t {
    const uint8_t *data;
    size_t size;
} fuzz_input_t;

/** The next byte; 0 behind the end. */
static inline uint8_t fuzz_byte(fuzz_input_t *input)
{
    if (0 == input->size) {
        return 0;
    }
    --input->size;
    return *input->data++;
}

/** The next count bytes as they are, zeros behind the end. */
static inline void fuzz_bytes(fuzz_input_t *input, void *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ((uint8_t *) bytes)[i] = fuzz_byte(input);
    }
}

/* ---- the ranks: fuzz_epml.c ------------------------------------------------------------------ */

#define FUZZ_RANKS 3 /**< 0: under test; 1: a local peer; 2: in another process, as it were */
#define FUZZ_REMOTE 2

enum { FUZZ_COMM_MAIN, FUZZ_COMM_DUP, FUZZ_COMM_REVERSED, FUZZ_COMM_FREED, FUZZ_COMMS };

/** A communicator of rank 0's.  What is known of the freed one is its context. */
typedef struct fuzz_comm_t {
    MPI_Comm comm;
    uint64_t context;
    int rank;   /**< of the endpoint under test */
    int remote; /**< rank of FUZZ_REMOTE */
} fuzz_comm_t;

extern fuzz_comm_t fuzz_comms[FUZZ_COMMS];
extern mca_pml_epml_ep_t *fuzz_ep;       /**< under test */
extern mca_pml_epml_peer_t *fuzz_remote; /**< FUZZ_REMOTE, as rank 0 sees it */
extern uint64_t fuzz_local_uid;          /**< of rank 1's endpoint */

/** Be a client of the engine, before there are endpoints: fuzz_headers.c. */
void fuzz_header_client(void);

/* ---- what must hold: fuzz_check.c ------------------------------------------------------------ */

/** All of it, between two actions. */
void fuzz_check(void);

/** The matching table counts right, and its lists hang together.  Under the lock. */
void fuzz_check_matching(void);

/** Each number is free or belongs to the request that has it.  Under the lock.
 * @return how many are used */
uint32_t fuzz_check_numbers(void);

/** Nothing is under way on any communicator.  Under the lock. */
void fuzz_check_idle(void);

/* ---- the network: fuzz_net.c ----------------------------------------------------------------- */

#define FUZZ_EAGER_LIMIT 256
#define FUZZ_FRAG_LIMIT 512
#define FUZZ_GET_LIMIT 300
#define FUZZ_HANDLE_SIZE 16
#define FUZZ_LEARNED 32
#define FUZZ_SOURCE UINT64_C(0x5eed) /**< the remote rank's module; see ep_source */

/** What the network does from now on.  FLAKY: every second call finds it full.  AT_ONCE: a get is
 * done before its call returns; there is no memory for a connection, or for a message. */
enum { FUZZ_WELL, FUZZ_FULL, FUZZ_BROKEN, FUZZ_FLAKY, FUZZ_AT_ONCE, FUZZ_POLICIES };

/** The calls that have a policy. */
enum {
    FUZZ_CALL_CONNECT,
    FUZZ_CALL_SEND,
    FUZZ_CALL_PREPARE,
    FUZZ_CALL_SEND_DESCRIPTOR,
    FUZZ_CALL_GET,
    FUZZ_CALL_REGISTER,
    FUZZ_CALLS
};

typedef struct fuzz_net_t {
    mca_btl_ep_module_t module;
    mca_pml_epml_transport_t transport; /**< whose place the module takes */
    uint8_t policy[FUZZ_CALLS];
    /** Numbers of requests that rank 0 has sent, the newest first: what a peer may answer to. */
    uint32_t learned[FUZZ_LEARNED];
    uint32_t learned_count;
    uint32_t gets;         /**< begun, not finished */
    int64_t registrations; /**< handles given out, not given back */
    bool lost;             /**< the endpoint knows that it has lost the remote rank */
    bool abandoned;        /**< and has notified the network */
} fuzz_net_t;

extern fuzz_net_t fuzz_net;

void fuzz_net_init(void);

/** Back to the beginning; nothing may be under way. */
void fuzz_net_reset(void);

/** Let a message arrive by the network, in the endpoint's progress, under its lock.  Copied. */
void fuzz_net_deliver(const void *message, size_t size);

/** Likewise a message out of shared memory, whose header changes while it is read.  Over a network
 * it stays as it is. */
void fuzz_net_deliver_changing(const void *message, size_t size);

/** Finish the oldest get, likewise. */
void fuzz_net_finish_get(int status);

/** Let the network find out that the remote rank cannot be reached any more, likewise. */
void fuzz_net_lose(void);

/** Turn the endpoint once, with nothing to arrive. */
void fuzz_net_poll(void);

/* ---- memory that changes: fuzz_changing.c ---------------------------------------------------- */

#define FUZZ_CHANGING 48 /**< bytes from the beginning */

/** A copy of a message, whose first bytes are others at every read.  One at a time. */
void *fuzz_changing_begin(const void *message, size_t size);
void fuzz_changing_end(void);

/* ---- headers: fuzz_headers.c ----------------------------------------------------------------- */

/** Make a message as the input says, mostly one that makes sense, and let it arrive. */
void fuzz_header_deliver(fuzz_input_t *input);

/* ---- messages: fuzz_messages.c --------------------------------------------------------------- */

/** A message of one kind that makes sense: answers to number, or is of remote and tag. */
void fuzz_eager(const fuzz_comm_t *comm, int source, int tag, size_t payload);
void fuzz_rndv(mca_pml_epml_hdr_kind_t kind, const fuzz_comm_t *comm, int tag, uint64_t length);
void fuzz_frag(mca_pml_epml_hdr_kind_t kind, uint32_t number, uint64_t offset, size_t payload);
void fuzz_part_start(uint32_t number, uint32_t round, uint64_t length);
void fuzz_part_data(const mca_pml_epml_part_t *part, uint64_t offset, size_t payload);
void fuzz_part_rndv(const mca_pml_epml_part_t *part, uint64_t offset, uint64_t length);
void fuzz_finished(mca_pml_epml_hdr_kind_t kind, uint32_t number, uint32_t round);

/** The flags of a peer that has memory to be fetched from, or can fetch. */
uint8_t fuzz_can_get(void);

/** What kind of request is it, by the name that a dump would show?  (The tables are the PML's own,
 * and not to be had from outside.) */
static inline bool fuzz_is(const mca_pml_epml_request_t *request, const char *name)
{
    return 0 == strcmp(name, request->ops->name);
}

static inline bool fuzz_is_part(const mca_pml_epml_request_t *request)
{
    return fuzz_is(request, "partitioned send") || fuzz_is(request, "partitioned receive");
}

/* ---- requests of rank 0: fuzz_requests.c ----------------------------------------------------- */

/** Start what every input finds. */
void fuzz_requests_start(void);

/** What the user may do meanwhile: start, test, cancel, free, probe, receive. */
void fuzz_requests_act(fuzz_input_t *input);

/** Messages that were matched by a probe and not received yet. */
void fuzz_requests_receive_probed(void);

/** Is this memory that a receive may be written to?  By the network. */
bool fuzz_requests_may_write(const void *memory, size_t size);

/** Every pending request must be where the engine will find it. */
void fuzz_requests_check(void);

/** All must be complete by now: frees them, and looks at all memory. */
void fuzz_requests_finish(void);

/* ---- partitioned requests of rank 0: fuzz_parts.c -------------------------------------------- */

/** Start what every input finds: unmatched, matched, granted, and with pieces under way. */
void fuzz_parts_start(void);

/** What the user may do meanwhile: start, mark as ready, test, ask what has arrived, free. */
void fuzz_parts_act(fuzz_input_t *input);

/** See fuzz_requests_may_write. */
bool fuzz_parts_may_write(const void *memory, size_t size);

/** The counts of each agree, and the engine will come back to what is pending. */
void fuzz_parts_check(void);

/** Mark what is left as ready. */
void fuzz_parts_ready(void);

/** Give one that waits what it waits for.  @return false: it waits for nothing */
bool fuzz_parts_answer(const mca_pml_epml_part_t *part);

/** See fuzz_requests_finish. */
void fuzz_parts_finish(void);

#endif /* EP_TEST_FUZZ_H */
