/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The one table through which the extension (libmpix_endpoints, linked into the program) and
 * pml/epml (loaded by Open MPI) know each other.
 *
 * pml/epml is linked with libmpix_endpoints, so whichever of the two is loaded first, both see the
 * same copy of the library; the PML registers its table when it is selected and takes it back when
 * it is finalized.  The extension holds the user's functions and the hooks into libmpi, the PML
 * everything that knows what an endpoint or a message is.
 */

#ifndef OMPI_COMMON_EP_LINK_H
#define OMPI_COMMON_EP_LINK_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/group/group.h"
#include "ompi/mca/common/ep/common_ep_engine.h"
#include "opal/util/info.h"

BEGIN_C_DECLS

/** Raised whenever this structure or the meaning of one of its functions changes. */
#define MPIX_ENDPOINTS_LINK_ABI 16

/** Why endpoints could not be created; each becomes an error code of class MPIX_ERR_ENDPOINTS or
 * of the class named. */
typedef enum mpix_endpoints_error_t {
    MPIX_ENDPOINTS_OK = 0,
    MPIX_ENDPOINTS_ERR_ARG,      /**< MPI_ERR_ARG: negative count, NULL array */
    MPIX_ENDPOINTS_ERR_LIMIT,    /**< more in one process than there may be */
    MPIX_ENDPOINTS_ERR_RESOURCE, /**< the fabric or the memory allows no more */
    MPIX_ENDPOINTS_ERR_PROMISE,  /**< same_num_ep was promised and not kept: MPI_ERR_INFO_VALUE */
    MPIX_ENDPOINTS_ERR_INTERN,   /**< something below failed: MPI_ERR_INTERN */
    MPIX_ENDPOINTS_ERR_COMM,     /**< MPI_ERR_COMM: a member's communicators are not suitable */
    MPIX_ENDPOINTS_ERR_LOST      /**< MPI_ERR_PROC_FAILED: a member is lost */
} mpix_endpoints_error_t;

/** How the leaders of two groups of different jobs, or of one, reach each other. */
typedef struct mpix_endpoints_bridge_t {
    int error;                 /**< OMPI_SUCCESS, or why there is none; the rest is not read then */
    ompi_communicator_t *comm; /**< of processes; both leaders are in it */
    int remote_leader;         /**< rank in it, or in its remote group */
    int tag, out_tag;          /**< of what the other leader sends, of what it is sent */
} mpix_endpoints_bridge_t;

/** A member, in this process, of a group that becomes a communicator (create_from_group). */
typedef struct mpix_endpoints_member_t {
    int rank;                      /**< in the group */
    opal_info_t *info;             /**< the member's own, or NULL */
    ompi_errhandler_t *errhandler; /**< likewise; of the new communicator's handle */
    ompi_communicator_t *comm;     /**< its handle, set on success */
} mpix_endpoints_member_t;

/** What survivors agree on while they make a communicator: coll_agree and coll_iagree of endpoints,
 * which are coll/epcoll's, take it as MPIX_ENDPOINTS_AGREED_COUNT elements of MPI_UINT64_T. */
typedef struct mpix_endpoints_agreed_t {
    uint64_t flag; /**< the bitwise AND of all, on an intercommunicator those of both sides */
    uint64_t id;   /**< one that a member has contributed */
    /** Not 0: the agreement has its place among others, and waits until this member's contribution
     * is there; then a release of 0. */
    _Atomic uint64_t held;
} mpix_endpoints_agreed_t;

#define MPIX_ENDPOINTS_AGREED_COUNT 3

typedef struct mpix_endpoints_pml_t {
    uint32_t abi; /**< MPIX_ENDPOINTS_LINK_ABI */

    /**
     * Collective over parent: create this process's endpoints.  See MPIX_Comm_create_endpoints(3).
     *
     * A process that has found a mistake in its own arguments takes part all the same and passes
     * it as local_error, so that every member gets an error and none waits.
     *
     * @param[in]  parent       a valid communicator
     * @param[in]  num_ep       number of endpoints of this process (0 if local_error is set)
     * @param[in]  info         the user's info, or NULL
     * @param[in]  local_error  MPIX_ENDPOINTS_OK, or what is wrong with this process's arguments
     * @param[out] comms        num_ep handles, set only on success; all MPI_COMM_NULL if the parent
     *                          is an intercommunicator one side of which has no endpoints
     * @param[out] error        which error it was; the same class on every member
     *
     * @return OMPI_SUCCESS, or an OMPI error code (then nothing was created anywhere)
     */
    int (*create_endpoints)(ompi_communicator_t *parent, int num_ep, opal_info_t *info,
                            mpix_endpoints_error_t local_error, ompi_communicator_t **comms,
                            mpix_endpoints_error_t *error);

    /** Is this communicator one of endpoints?  Any thread, any valid communicator. */
    bool (*is_endpoint_comm)(const ompi_communicator_t *comm);

    /** Is this the name of an endpoint that is no process, in whichever job?  Any thread. */
    bool (*is_endpoint_name)(const opal_process_name_t *name);

    /** Are the endpoints, or processes, of these names in one process?  Any thread. */
    bool (*same_process)(const opal_process_name_t *name1, const opal_process_name_t *name2);

    /**
     * ompi_comm_nextcid and its nonblocking form for a parent that is an endpoint communicator: the
     * members agree on a context id, and newcomm gets a slot, the id and its state in the PML.
     *
     * @param[in] newcomm  being built, groups set
     * @param[in] comm     the parent
     * @param[in] arg0     in mode OMPI_COMM_CID_GROUP the user's tag (int)
     * @param[in] mode     OMPI_COMM_CID_...
     *
     * @return OMPI_SUCCESS; MPI_ERR_GROUP (not all members of newcomm are members of comm);
     *         MPI_ERR_UNSUPPORTED_OPERATION (a mode that endpoints do not have); or an error
     */
    int (*comm_nextcid)(ompi_communicator_t *newcomm, ompi_communicator_t *comm, const void *arg0,
                        int mode);
    int (*comm_nextcid_nb)(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int mode,
                           struct ompi_request_t **request_p);

    /**
     * ompi_comm_activate and its nonblocking form, likewise: the members wait until all of them have
     * set up the new communicator.  The arguments are libmpi's.
     */
    int (*comm_activate)(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                         ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                         bool send_first, int mode);
    int (*comm_activate_nb)(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                            ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                            bool send_first, int mode, struct ompi_request_t **request);

    /**
     * Wait until the requests of an endpoint communicator that are started are complete, also those
     * that the user has freed.  Progresses all endpoints of the process meanwhile.
     */
    void (*comm_drain)(ompi_communicator_t *comm);

    /**
     * Attach a buffer for buffered sends to the endpoint that comm is a handle of; without one, its
     * buffered sends use the process's.  Any thread.
     *
     * @return OMPI_SUCCESS; MPI_ERR_BUFFER: it has one; OMPI_ERR_OUT_OF_RESOURCE
     */
    int (*attach_buffer)(ompi_communicator_t *comm, void *address, size_t size);

    /**
     * Detach it; waits until all messages in it have been sent, and progresses all endpoints of the
     * process meanwhile.
     *
     * @param[out] address, size  as they were given; NULL and 0: it has none
     */
    void (*detach_buffer)(ompi_communicator_t *comm, void **address, size_t *size);

    /**
     * Let a request of libmpi's hold comm, an endpoint communicator, until it is freed: what it
     * stands for goes on in libmpi's progress, also when the user has freed comm.  Before the user
     * has the request.  Any thread.
     */
    void (*request_hold)(struct ompi_request_t *request, ompi_communicator_t *comm);

    /**
     * Make a communicator of endpoints of this process, without a message: one thread does so for
     * all of them, and no member may send on it before it returns.  The predefined attributes and
     * the promised thread level are as with MPIX_Comm_create_endpoints; the caller begins the
     * notes.
     *
     * @param[in]  handles  of different endpoints of this process, by rank in the new one; any
     *                      intracommunicators of endpoints, the caller's
     * @param[out] comms    count handles, set on success
     *
     * @return OMPI_SUCCESS, or an OMPI error code: none is made
     */
    int (*comm_among)(ompi_communicator_t *const handles[], int count, ompi_communicator_t **comms);

    /**
     * MPI_Intercomm_create, for any two communicators; collective over both.
     *
     * Asks the other side first.  If neither is of endpoints nothing else is done, and Open MPI's
     * own function is to be called.
     *
     * @param[in]  local_comm     a valid intracommunicator
     * @param[in]  local_leader   a rank in it
     * @param[in]  bridge         read by the leader only, checked
     * @param[in]  remote_leader  likewise
     * @param[out] newcomm        set on success, if served
     * @param[out] served         false: go on with Open MPI's own
     * @param[out] error          what was in the way of endpoints, or MPIX_ENDPOINTS_OK
     *
     * @return OMPI_SUCCESS, or an error, the same on all members of a side
     */
    int (*intercomm_create)(ompi_communicator_t *local_comm, int local_leader,
                            ompi_communicator_t *bridge, int remote_leader, int tag,
                            ompi_communicator_t **newcomm, bool *served,
                            mpix_endpoints_error_t *error);

    /**
     * Likewise for two groups whose leaders have met by a port; what comes of it is of endpoints, be
     * both of processes.
     *
     * @param[in]  local_comm    a valid intracommunicator
     * @param[in]  local_leader  a rank in it
     * @param[in]  bridge        read by the leader only.  With an error nothing is said to the other
     *                           side; all of this one get it
     * @param[out] newcomm       set on success
     * @param[out] error         what was in the way of endpoints, or MPIX_ENDPOINTS_OK
     *
     * @return OMPI_SUCCESS, or an error, the same on all members of a side
     */
    int (*intercomm_connect)(ompi_communicator_t *local_comm, int local_leader,
                             const mpix_endpoints_bridge_t *bridge, ompi_communicator_t **newcomm,
                             mpix_endpoints_error_t *error);

    /**
     * Likewise for a side of processes whose members are all endpoints of each of them.  Collective
     * over the processes; the other side calls intercomm_connect.
     *
     * @param[in]  processes  an intracommunicator of them
     * @param[in]  bridge     as for intercomm_connect
     * @param[in]  failed     OMPI_SUCCESS; or why this side has no endpoints, the same on all of it:
     *                        the other side is notified, and gets MPI_ERR_SPAWN
     * @param[in]  own        count handles, which may be 0, of one communicator, which has the
     *                        endpoints of all these processes in their order
     * @param[out] newcomms   count, empty before; set on success
     *
     * @return as intercomm_connect
     */
    int (*intercomm_bring)(ompi_communicator_t *processes, int local_leader,
                           const mpix_endpoints_bridge_t *bridge, int failed,
                           ompi_communicator_t *const own[], int count,
                           ompi_communicator_t **newcomms, mpix_endpoints_error_t *error);

    /**
     * A communicator of the members of a group, each with an endpoint of its own that has the
     * member's name and proc.  One thread of each process that has members calls it for all of them
     * there.
     *
     * @param[in]     group    of endpoints and processes of this job, the same everywhere
     * @param[in]     key      of the group and the user's tag: tells calls apart that are under way
     *                         at a time
     * @param[in,out] members  those of this process, in the order of the group
     * @param[in]     count    of them, 1 or more
     * @param[out]    error    what was in the way, or MPIX_ENDPOINTS_OK
     *
     * @return OMPI_SUCCESS, or an error, at all members (then nothing was created anywhere);
     *         MPI_ERR_UNSUPPORTED_OPERATION: there are members of other jobs, or no MPI_COMM_WORLD
     */
    int (*create_from_group)(ompi_group_t *group, uint64_t key, mpix_endpoints_member_t *members,
                             int count, mpix_endpoints_error_t *error);

    /**
     * The maximum of a value over all members of a group of processes of this job.  Collective over
     * them.
     *
     * @param[in]     key    as for create_from_group
     * @param[in,out] value  complete after success
     *
     * @return as create_from_group
     */
    int (*group_max)(ompi_group_t *group, uint64_t key, int64_t *value);

    /**
     * Wait until something is so, which another thread of this process makes so; progresses all of
     * the process meanwhile.
     */
    void (*wait_until)(bool (*until)(const void *context), const void *context);

    /**
     * MPIX_Comm_merge; collective over all members that are connected by the communicators they
     * pass.
     *
     * A member that has found a mistake in its own arguments takes part on those communicators that
     * are valid all the same.
     *
     * @param[in]  comms        valid intracommunicators, different ones
     * @param[in]  count        1 or 2
     * @param[in]  local_error  MPIX_ENDPOINTS_OK, or what is wrong with this member's arguments
     * @param[out] newcomm      set on success only
     * @param[out] error        which error it was, the same at all members unless several have
     *                          different ones
     *
     * @return OMPI_SUCCESS, or an OMPI error code (then there is nothing new anywhere)
     */
    int (*comm_merge)(ompi_communicator_t *const comms[], int count,
                      mpix_endpoints_error_t local_error, ompi_communicator_t **newcomm,
                      mpix_endpoints_error_t *error);

    /**
     * How many endpoints could this process bring into a creation on parent?  Local; makes nothing.
     *
     * @param[out] optimal  as many as there are cores, and as the network serves well
     * @param[out] maximum  as many as there may be; not less than optimal
     */
    void (*number)(ompi_communicator_t *parent, int *optimal, int *maximum);

    /**
     * What was chosen for this process and why, a line each, for people.  Any thread.
     *
     * @param[out] text  of size bytes; always terminated
     */
    void (*report)(char *text, size_t size);

    /**
     * Which network others reach endpoints of this process by.  Any thread.
     *
     * @param[out] provider, interface  MCA_BTL_EP_NAME_BYTES each (common_ep_btl.h); empty: it has no name
     *
     * @return OMPI_SUCCESS, or an error: none has to be reached by one
     */
    int (*network)(char *provider, char *interface);

    /**
     * The members of an endpoint communicator that its endpoint has lost, of both groups of an
     * intercommunicator, in the order in which they were first given out: later groups begin with
     * what earlier ones had.  Any thread; local.
     *
     * @param[in]  acked    those only that have been acknowledged
     * @param[out] group_p  the caller's, set on success
     *
     * @return OMPI_SUCCESS, OMPI_ERR_OUT_OF_RESOURCE
     */
    int (*comm_failed)(ompi_communicator_t *comm, bool acked, ompi_group_t **group_p);

    /**
     * Acknowledge the first members of that group: MPI_ANY_SOURCE works again on this handle once all
     * are.  Any thread; local.
     *
     * @param[in]  wanted   of them; more than there are: all
     * @param[out] acked_p  so many are by now; set on success
     *
     * @return OMPI_SUCCESS, OMPI_ERR_OUT_OF_RESOURCE
     */
    int (*comm_ack_failed)(ompi_communicator_t *comm, int wanted, int *acked_p);

    /**
     * Revoke an endpoint communicator: what waits in it, or is started later, ends with
     * MPI_ERR_REVOKED, here at once, and at the other members, which pass it on, when the notice
     * arrives. Any thread; local.
     *
     * @return OMPI_SUCCESS
     */
    int (*comm_revoke)(ompi_communicator_t *comm);

    /**
     * MPIX_Comm_shrink and MPIX_Comm_ishrink of an endpoint communicator, an intercommunicator or
     * not: the survivors, in the order of their ranks, get a communicator, or all an error.  Of an
     * intercommunicator of which a side has no survivors they get MPI_COMM_NULL.
     *
     * @param[out] newcomm_p  of comm_ishrink: set at the end of the request; else MPI_COMM_NULL
     *
     * @return OMPI_SUCCESS; MPI_ERR_UNSUPPORTED_OPERATION: without fault tolerance; or an error
     */
    int (*comm_shrink)(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p);
    int (*comm_ishrink)(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p,
                        struct ompi_request_t **request_p);

    /**
     * Is this an active receive of an endpoint that waits for the acknowledgement of a loss?  Then
     * its status has MPI_ERR_PROC_FAILED_PENDING.  Any request of libmpi's, any thread.
     */
    bool (*request_is_pending)(struct ompi_request_t *request);

    /** What components of ours may ask for: mpix_endpoints_engine gives it to them. */
    const mpix_endpoints_engine_t *engine;
} mpix_endpoints_pml_t;

/**
 * Called by pml/epml when it is selected (table) and when it is finalized (NULL).
 *
 * @return OMPI_SUCCESS, or OMPI_ERR_NOT_SUPPORTED if table->abi is not the library's own
 */
OMPI_DECLSPEC int mpix_endpoints_register_pml(const mpix_endpoints_pml_t *table);

/** libmpi's own ompi_comm_activate_nb, for the PML, which continues with it in some cases. */
OMPI_DECLSPEC int mpix_endpoints_libmpi_comm_activate_nb(
    ompi_communicator_t **newcomm, ompi_communicator_t *comm, ompi_communicator_t *bridgecomm,
    const void *arg0, const void *arg1, bool send_first, int mode, struct ompi_request_t **request);

/**
 * Are the hooks into libmpi in force (docs/hooks.md, "Hooks")?  Looked into at the first
 * call; if the dynamic linker did not put them there it tries to patch libmpi's own call slots.
 * Any thread.
 */
OMPI_DECLSPEC bool mpix_endpoints_hooks_in_force(void);

/** Called by pml/epml when a handle of endpoints is about to end, with all its parts still there.
 * With Open MPI's fault tolerance on it leaves libmpi's table.  Any thread, without a lock. */
OMPI_DECLSPEC void mpix_endpoints_handle_ends(ompi_communicator_t *comm);

/** By which way libmpi's calls are led, and which are not, in words.  Any thread.
 *
 * @param[out] text  of size bytes; always terminated */
OMPI_DECLSPEC void mpix_endpoints_hooks_describe(char *text, size_t size);

/**
 * What pml/epml has chosen and why, for tools: see mpix_endpoints_pml_t.
 *
 * @return OMPI_SUCCESS, or OMPI_ERR_NOT_AVAILABLE: pml/epml is not selected, or MPI not
 *         initialized
 */
OMPI_DECLSPEC int mpix_endpoints_report(char *text, size_t size);

END_C_DECLS

#endif /* OMPI_COMMON_EP_LINK_H */
