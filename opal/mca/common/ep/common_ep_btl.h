/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The endpoint BTL contract: what btl/epshm and btl/epofi add to Open MPI's BTL interface
 * (opal/mca/btl/btl.h), and what pml/epml may rely on.
 *
 * A stock BTL has one module per device, shared by all threads, progressed by one component-wide
 * loop.  An endpoint BTL has a module for each MPI endpoint, created and destroyed with it,
 * progressed alone.  Nothing else differs: messages leave through btl_sendi/btl_alloc/btl_send,
 * arrive through mca_btl_base_active_message_trigger[tag], bulk data moves through btl_get.
 *
 * Thread safety, for every function that takes a module and does not say otherwise: the caller
 * serializes all calls on one module; calls on different modules may run at the same time.
 * Callbacks run inside the module call that caused them (never from another thread) and may send
 * on the module they were called for, but not progress it.
 */

#ifndef OPAL_COMMON_EP_BTL_H
#define OPAL_COMMON_EP_BTL_H

#include "opal_config.h"

#include "opal/mca/btl/btl.h"

BEGIN_C_DECLS

/** Raised whenever a structure or a rule of this file changes. */
#define MCA_BTL_EP_ABI 9

/** The version of a component of ours, not of the Open MPI that it is built for: configure gives
 * the three numbers, with commas between them. */
#define MCA_BTL_EP_VERSION MCA_BTL_EP_MAKE_VERSION(EP_VERSION_NUMBERS)
#define MCA_BTL_EP_MAKE_VERSION(...) MCA_BASE_MAKE_VERSION(component, __VA_ARGS__)

/** The longest address blob that a module may publish, in bytes. */
#define MCA_BTL_EP_ADDRESS_MAX 256

/** The one active message tag of the endpoint PML: the upper half of the PML's own range, so that
 * ob1, which uses the lower half in the same process-wide table, is left alone. */
#define MCA_BTL_EP_TAG (MCA_BTL_TAG_PML + 0x10)

struct mca_btl_ep_module_t;

/**
 * Run the module's own progress: deliver what has arrived, finish what was started, push what was
 * held back.
 *
 * @return number of events handled (0: nothing to do), or a negative OPAL error code: the module
 *         is broken for good, which has been reported to the user
 */
typedef int (*mca_btl_ep_progress_fn_t)(struct mca_btl_ep_module_t *module);

/**
 * May progress find something to do?  A cheap hint, for callers that ask again.
 *
 * May be called by any thread, without the serialization the other functions need; while another
 * thread progresses the module the answer may be out of date either way.
 */
typedef bool (*mca_btl_ep_pending_fn_t)(const struct mca_btl_ep_module_t *module);

/**
 * Reach a peer's module.
 *
 * @param[in]  address     the peer module's ep_address blob, as published; copied.  It may come off
 *                         the wire: it is checked, not trusted.
 * @param[in]  length      its length in bytes
 * @param[out] endpoint_p  BTL endpoint, the caller's until ep_disconnect
 *
 * @return OPAL_SUCCESS; OPAL_ERR_BAD_PARAM (malformed blob); OPAL_ERR_UNREACH;
 *         OPAL_ERR_OUT_OF_RESOURCE
 */
typedef int (*mca_btl_ep_connect_fn_t)(struct mca_btl_ep_module_t *module, const void *address,
                                       size_t length, struct mca_btl_base_endpoint_t **endpoint_p);

/**
 * Can a peer's module be reached?  What all modules of this process need for it is prepared.
 * NULL: yes, as far as is known before ep_connect.  Thread safe.
 *
 * @param[in] address  as for ep_connect
 *
 * @return OPAL_SUCCESS; OPAL_ERR_BAD_PARAM (malformed blob); OPAL_ERR_UNREACH
 */
typedef int (*mca_btl_ep_reach_fn_t)(struct mca_btl_ep_module_t *module, const void *address,
                                     size_t length);

/** Give up an endpoint from ep_connect; nothing may be in flight to it. */
typedef void (*mca_btl_ep_disconnect_fn_t)(struct mca_btl_ep_module_t *module,
                                           struct mca_btl_base_endpoint_t *endpoint);

/**
 * Send a message to a peer that the owner no longer knows, if there is room: as ep_connect, ep_send
 * and ep_disconnect, but the peer is not taken up again by that.  If the module has given the peer
 * up, the peer is still notified when it asks.  NULL: such peers cannot write here.
 *
 * @param[in] address  as for ep_connect
 *
 * @return OPAL_SUCCESS: sent, or there was no room; or an error of ep_connect's
 */
typedef int (*mca_btl_ep_answer_fn_t)(struct mca_btl_ep_module_t *module, const void *address,
                                      size_t length, const void *message, size_t size,
                                      mca_btl_base_tag_t tag);

/**
 * Send header and payload, both contiguous, at once or not at all: btl_sendi without a convertor.
 *
 * Both are copied before it returns; header_size + payload_size must not exceed btl_eager_limit.
 * (Evidence for a function of our own: preparing a convertor and packing 8 bytes with it takes 7 ns
 * where the whole send takes 19; docs/decisions.md.)
 *
 * Messages between a pair of modules arrive in the order in which ep_send and btl_send were called.
 *
 * @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE (no room at present: progress and try again);
 *         OPAL_ERR_NOT_AVAILABLE (no memory to buffer as much, now or later; less may do);
 *         OPAL_ERR_UNREACH (the peer is gone)
 */
typedef int (*mca_btl_ep_send_fn_t)(struct mca_btl_ep_module_t *module,
                                    struct mca_btl_base_endpoint_t *endpoint, const void *header,
                                    size_t header_size, const void *payload, size_t payload_size,
                                    mca_btl_base_tag_t tag);

/**
 * A message of MCA_BTL_EP_TAG that begins with ep_prefix, without it.  The owner's; called instead
 * of the active message handler, where the BTL likes.
 *
 * @param[in] context  ep_context
 * @param[in] rest     what follows the prefix, aligned to 8 bytes, valid during the call
 * @param[in] size     of it, bytes
 */
typedef void (*mca_btl_ep_receive_bare_fn_t)(void *context, const void *rest, size_t size);

/**
 * Send as ep_send does, but leave the payload where it is: the receiver copies it from there.  If
 * it does not come for it soon, the payload is copied after all, by the sender's progress.
 * Under the same serialization as ep_send, and in order with it.
 *
 * @param[in] header  begins with ep_prefix
 * @param[in] token   the caller's name for the message: given to ep_returned, once, in a later
 *                    call of this module, when the payload is not needed any more
 *
 * @return OPAL_SUCCESS: sent; OPAL_ERR_NOT_AVAILABLE: not now, ep_send it;
 *         OPAL_ERR_OUT_OF_RESOURCE (no room at present, for ep_send neither)
 */
typedef int (*mca_btl_ep_send_zcopy_fn_t)(struct mca_btl_ep_module_t *module,
                                          struct mca_btl_base_endpoint_t *endpoint,
                                          const void *header, size_t header_size,
                                          const void *payload, size_t payload_size, void *token);

/** Owner's: a payload that was sent with zero copy is the owner's again.  Must not send. */
typedef void (*mca_btl_ep_returned_fn_t)(void *context, void *token);

/**
 * Owner's: a message that was sent with zero copy, or whose payload does not follow its header; as
 * mca_btl_ep_receive_bare_fn_t.  Of a module for the node (MCA_BTL_EP_FLAG_NODE) others may write
 * to both while they are read.
 *
 * @param[in] rest  what follows the prefix of the header
 * @param[in] data  the payload, readable during the call
 * @param[in] size  of data, bytes
 */
typedef void (*mca_btl_ep_receive_zcopy_fn_t)(void *context, const void *rest, const void *data,
                                              size_t size);

/**
 * Find out whether a peer that has been silent for long is still there: check it, or send it
 * something harmless.  If it is not, ep_lost follows, now or in a later progress.  Does nothing if
 * there is no room.
 *
 * @param[in] connect  also if there has been nothing between the two yet, so that it takes a
 *                     connection; of these there may be a bounded number
 */
typedef void (*mca_btl_ep_check_liveness_fn_t)(struct mca_btl_ep_module_t *module,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               bool connect);

/**
 * Has the peer's module ended, so that nothing that is sent to it is read?  What it had sent may
 * still arrive.
 */
typedef bool (*mca_btl_ep_is_left_fn_t)(struct mca_btl_ep_module_t *module,
                                        const struct mca_btl_base_endpoint_t *endpoint);

/**
 * The owner has learnt that the peer's process is dead: refuse everything to it from now on, and
 * end what is under way with OPAL_ERR_UNREACH, in later progress, within seconds.  No message, no
 * ep_lost.
 */
typedef void (*mca_btl_ep_abandon_fn_t)(struct mca_btl_ep_module_t *module,
                                        struct mca_btl_base_endpoint_t *endpoint);

/**
 * The owner cannot send to a peer and never will: let the peer find out, when it asks, that this
 * module is lost to it.  NULL: cannot be.
 *
 * @param[in] address  the peer module's, as for ep_connect.  NULL: all peers', those that come
 *                     later included; this takes no memory.  What is sent here is not read any more
 */
typedef void (*mca_btl_ep_refuse_fn_t)(struct mca_btl_ep_module_t *module, const void *address,
                                       size_t length);

/**
 * Owner's: the transport has found out that a peer cannot be reached any more.  Called inside any
 * module call but ep_abandon, perhaps more than once per peer; must not call the module, but may
 * take a moment.  Operations under way end with OPAL_ERR_UNREACH in later progress.
 *
 * @return should the transport tell the user why (once per peer)?
 */
typedef bool (*mca_btl_ep_lost_fn_t)(struct mca_btl_ep_module_t *module,
                                     struct mca_btl_base_endpoint_t *endpoint);

/**
 * Owner's: does the launcher say that a peer's process lives?  No socket listens at its address any
 * more, which has other reasons, too.  Called as ep_lost; may take a moment.
 */
typedef bool (*mca_btl_ep_lives_fn_t)(struct mca_btl_ep_module_t *module,
                                      struct mca_btl_base_endpoint_t *endpoint);

/**
 * Owner's: as ep_lost, of a peer that has sent to the module, and to which the module has not been
 * connected.  Called inside ep_progress and ep_drain; may call ep_disconnect for others.
 *
 * @param[in]  address  of its module, as published
 * @param[out] peer_text  the peer in words, of size bytes; may be left as it is
 *
 * @return as ep_lost
 */
typedef bool (*mca_btl_ep_lost_sender_fn_t)(struct mca_btl_ep_module_t *module, const void *address,
                                            size_t length, char *peer_text, size_t size);

/**
 * Take in all messages that have arrived complete, of all senders; what arrives meanwhile may wait.
 */
typedef void (*mca_btl_ep_drain_fn_t)(struct mca_btl_ep_module_t *module);

/**
 * Owner's: the peer in words, for messages to the user.
 *
 * @param[in]  endpoint  NULL: the one that ep_connect is called for at the moment
 * @param[out] text      of size bytes; always set
 */
typedef void (*mca_btl_ep_describe_fn_t)(struct mca_btl_ep_module_t *module,
                                         struct mca_btl_base_endpoint_t *endpoint, char *text,
                                         size_t size);

/**
 * Owner's: a peer that this module has no endpoint for must be sent a notice.  If the owner knows
 * it, it calls ep_connect.  Called inside any module call but ep_abandon.
 *
 * @param[in] source  as in ep_source
 */
typedef void (*mca_btl_ep_meet_fn_t)(struct mca_btl_ep_module_t *module, uint64_t source);

/** What a module has sent and thrown away since it was made. */
typedef struct mca_btl_ep_counts_t {
    uint64_t messages; /**< sent, fragments and the transport's own included */
    uint64_t bytes;    /**< of them: headers, but for the transport's own, and payload */
    uint64_t dropped;  /**< messages that arrived and were thrown away by the transport */
} mca_btl_ep_counts_t;

/** Count.  Slow: a transport counts nothing for it on a short message's way, but works it out of
 * what it keeps anyway. */
typedef void (*mca_btl_ep_count_fn_t)(const struct mca_btl_ep_module_t *module,
                                      mca_btl_ep_counts_t *counts);

/**
 * A BTL module that serves one MPI endpoint.
 *
 * Of the stock interface (member super) these are provided: btl_eager_limit and btl_max_send_size
 * (both: header and payload, bytes), btl_alloc, btl_free, btl_prepare_src, btl_send, btl_sendi,
 * btl_flags; if MCA_BTL_FLAGS_GET is set also btl_get, btl_get_limit, btl_get_alignment, and, where
 * the transport wants it, btl_register_mem / btl_deregister_mem with btl_registration_handle_size
 * (handles are position independent and travel in our headers, at most MCA_BTL_EP_ADDRESS_MAX
 * bytes); btl_finalize, which destroys the module.
 *
 * btl_get may return OPAL_ERR_NOT_AVAILABLE: this peer's memory cannot be read, nothing has been;
 * the data must come some other way.
 *
 * btl_prepare_src sets its size to 0 where it returns NULL because the data could not be packed,
 * which is not worth another try; btl_sendi returns OPAL_ERR_NOT_AVAILABLE then.
 *
 * btl_send returns 1 (done, descriptor's callback not called unless
 * MCA_BTL_DES_SEND_ALWAYS_CALLBACK), OPAL_SUCCESS (callback follows) or an error, with the meaning
 * btl.h gives them.  OPAL_ERR_OUT_OF_RESOURCE: not sent, descriptor still the caller's.
 */
typedef struct mca_btl_ep_module_t {
    mca_btl_base_module_t super;

    /** The owner's pointer, as given to ep_create; the BTL never follows it. */
    void *ep_context;

    /** The first 8 bytes of most of the owner's headers, the same for all modules that reach each
     * other: a BTL may leave them out on the way, and hands such messages to ep_receive_bare.  Both
     * are set by the owner before the first message. */
    uint64_t ep_prefix;
    mca_btl_ep_receive_bare_fn_t ep_receive_bare;
    mca_btl_ep_receive_zcopy_fn_t ep_receive_zcopy; /**< likewise */
    mca_btl_ep_returned_fn_t ep_returned;         /**< likewise */

    mca_btl_ep_progress_fn_t ep_progress;
    mca_btl_ep_pending_fn_t ep_pending;
    mca_btl_ep_reach_fn_t ep_reach; /**< may be NULL */
    mca_btl_ep_connect_fn_t ep_connect;
    mca_btl_ep_disconnect_fn_t ep_disconnect;
    mca_btl_ep_send_fn_t ep_send;
    mca_btl_ep_answer_fn_t ep_answer; /**< may be NULL */
    mca_btl_ep_send_zcopy_fn_t ep_send_zcopy; /**< NULL: no zero-copy sends */
    size_t ep_zcopy_min; /**< bytes of payload from which on ep_send_zcopy is worth a try */
    size_t ep_zcopy_max; /**< bytes of payload up to which it is possible */
    mca_btl_ep_check_liveness_fn_t ep_check_liveness; /**< NULL if peers cannot be lost */
    mca_btl_ep_abandon_fn_t ep_abandon; /**< likewise */
    mca_btl_ep_refuse_fn_t ep_refuse;
    mca_btl_ep_is_left_fn_t ep_is_left; /**< NULL: that is not known, or modules do not end */
    mca_btl_ep_drain_fn_t ep_drain;     /**< NULL: calls of ep_progress do it, as far as they do */
    mca_btl_ep_count_fn_t ep_count;     /**< NULL: it does not count */

    /* Set by the owner after ep_create, or NULL. */
    mca_btl_ep_lost_fn_t ep_lost;
    mca_btl_ep_lives_fn_t ep_lives;
    mca_btl_ep_lost_sender_fn_t ep_lost_sender;
    mca_btl_ep_describe_fn_t ep_describe;
    mca_btl_ep_meet_fn_t ep_meet;

    /** Whose message is being delivered: the first 8 bytes of its module's address, which are its
     * alone and which it has proved to have.  0: the transport does not tell, and need not, because
     * it is memory that only this job's processes can write to. */
    uint64_t ep_source;

    /** Set by a transport while ep_lost is called: the peer's process is dead, and not only what is
     * between the two over. */
    bool ep_dead;

    /** Set by the owner while a message is being delivered: no sender that is sound can have sent
     * it, so one may be missing that a receive waits for.  A transport that does not prove whose
     * messages are gives the sender up (ep_lost, ep_lost_sender) and clears it; others need not
     * look. */
    bool ep_nonsense;

    /** Messages between this module and another one that lives are lost, and the two are lost to
     * each other for good: not to be given to another endpoint. */
    bool ep_worn;

    /** The blob by which other modules of this component reach this one; constant. */
    size_t ep_address_length;
    unsigned char ep_address[MCA_BTL_EP_ADDRESS_MAX];
} mca_btl_ep_module_t;

/** Bits of btl_get's flags. */
enum {
    /** There are more threads than cores: do not let the transfer depend on the peer's threads. */
    MCA_BTL_EP_GET_ALONE = 0x1
};

/** How a module will be used; bits of mca_btl_ep_create_fn_t's flags. */
enum {
    MCA_BTL_EP_FLAG_NONE = 0,
    /** To reach other processes of this node, through shared memory (btl/epshm, whose modules
     * without this flag reach the endpoints of their process). */
    MCA_BTL_EP_FLAG_NODE = 0x1
};

/**
 * Create the module of one MPI endpoint.  Thread safe.
 *
 * @param[in]  context   stored as ep_context
 * @param[in]  flags     MCA_BTL_EP_FLAG_*
 * @param[out] module_p  the module; destroyed by super.btl_finalize
 *
 * @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_NOT_AVAILABLE (the transport cannot be
 *         used on this machine, and the component has said why through opal_show_help, once; or
 *         the user does not want it)
 */
typedef int (*mca_btl_ep_create_fn_t)(void *context, uint32_t flags,
                                      mca_btl_ep_module_t **module_p);

/** Take note of a choice, for people.
 *
 * @param[in] what  two words or so
 * @param[in] text  what was chosen, and why; valid during the call */
typedef void (*mca_btl_ep_tell_fn_t)(void *context, const char *what, const char *text);

/**
 * Tell what the component has chosen for modules with these flags, and why.  Any thread.
 *
 * @param[in] flags  as for ep_create
 */
typedef void (*mca_btl_ep_report_fn_t)(uint32_t flags, mca_btl_ep_tell_fn_t tell, void *context);

/** Room for the name of a provider, or of an interface. */
#define MCA_BTL_EP_NAME_BYTES 64

/**
 * Which network modules without flags are reached by.  Thread safe.
 *
 * @param[out] provider, interface  MCA_BTL_EP_NAME_BYTES each; empty: it has no name
 *
 * @return OPAL_SUCCESS, or an error: it cannot be used
 */
typedef int (*mca_btl_ep_network_fn_t)(char *provider, char *interface);

/**
 * Are the parameters valid?  For a component that makes no module yet, and would not see a mistake
 * before the job is larger.  Thread safe.
 *
 * @return OPAL_SUCCESS, or OPAL_ERR_NOT_AVAILABLE after saying what is wrong
 */
typedef int (*mca_btl_ep_check_fn_t)(void);

/**
 * For how many modules without flags is there room, as far as the transport knows?  Those that are
 * there may count or not.  Makes none.  Thread safe.
 *
 * @param[out] optimal  as many as the transport serves well
 * @param[out] maximum  as many as there may be; INT_MAX: no limit is known.  Both 0: it cannot be
 *                      used
 */
typedef void (*mca_btl_ep_context_limit_fn_t)(int *optimal, int *maximum);

/** What tells memory of a node from other memory. */
typedef struct mca_btl_ep_memory_name_t {
    const void *address; /**< of a module for the node, of the process that all name it after */
    size_t address_length;
    uint64_t context, key;
} mca_btl_ep_memory_name_t;

/** Memory that processes of a node share. */
typedef struct mca_btl_ep_memory_t {
    void *base; /**< in this process; aligned to a page */

    /** Have all of them it?  If it is asked when none of them will come any more, the answer is the
     * same for all.  Any thread. */
    bool (*is_whole)(struct mca_btl_ep_memory_t *memory);

    /** Allocate the pages of a part, those at its edges whole, as if the calling thread touched them
     * first.  Does nothing where they are there already.  Any thread; parts may overlap.
     *
     * @param[in] offset, size  in bytes, within the memory
     * @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE: there is no room, it must not be accessed */
    int (*fill)(struct mca_btl_ep_memory_t *memory, size_t offset, size_t size);

    /** This process does without.  The others keep it. */
    void (*put)(struct mca_btl_ep_memory_t *memory);
} mca_btl_ep_memory_t;

/**
 * Get memory of the node: the first caller makes it, cleared.  Thread safe, but for two calls for
 * the same memory.  Not again before it is put back.
 *
 * @param[in]  name       the same for all
 * @param[in]  size       in bytes; likewise
 * @param[in]  processes  that are to have it; likewise
 * @param[in]  reserve    allocate no pages: each part is filled before it is accessed; likewise
 * @param[out] memory_p   until its put
 *
 * @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_BAD_PARAM: it has another size;
 *         OPAL_ERR_NOT_AVAILABLE: memory of that process's cannot be seen from here
 */
typedef int (*mca_btl_ep_memory_get_fn_t)(const mca_btl_ep_memory_name_t *name, size_t size,
                                          unsigned int processes, bool reserve,
                                          mca_btl_ep_memory_t **memory_p);

/**
 * Copy between memory of this process and of another process of the node, without that process.
 * Any thread.
 *
 * @param[in] address, length  of any module of the other process
 * @param[in] remote           address in that process
 * @param[in] to_remote        write it; otherwise read it
 *
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE: the kernel does not copy, or not there; of a write
 *         some may have been done
 */
typedef int (*mca_btl_ep_copy_fn_t)(const void *address, size_t length, void *local,
                                    uint64_t remote, size_t size, bool to_remote);

/**
 * An endpoint BTL's component.  btl_init, which Open MPI's own BTL selection calls, offers no
 * module; pml/epml opens the component by name and calls ep_create.
 */
typedef struct mca_btl_ep_component_t {
    mca_btl_base_component_3_0_0_t super;

    /** MCA_BTL_EP_ABI of the component's build; epml refuses any other. */
    uint32_t ep_abi;

    mca_btl_ep_create_fn_t ep_create;
    mca_btl_ep_report_fn_t ep_report;
    mca_btl_ep_check_fn_t ep_check;           /**< may be NULL */
    mca_btl_ep_memory_get_fn_t ep_memory_get; /**< NULL: it shares none */
    mca_btl_ep_copy_fn_t ep_copy;             /**< NULL: it copies none */
    mca_btl_ep_context_limit_fn_t ep_context_limit; /**< NULL: there is always room */
    mca_btl_ep_network_fn_t ep_network;       /**< NULL: none */
} mca_btl_ep_component_t;

END_C_DECLS

#endif /* OPAL_COMMON_EP_BTL_H */
