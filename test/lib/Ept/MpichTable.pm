#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What is special about some of MPICH's tests: one table, with reasons.

package Ept::MpichTable;

use strict;
use warnings;

# Not run at all.
our %NOWHERE = (
    'datatype/pack_external' => 'switches on datatype handles, which are pointers in Open MPI',
    'datatype/type_large' => 'needs MPI-4 functions that Open MPI 5.0 does not have',
    'part/nonblocking_pready' => 'sends with MPI_DATATYPE_NULL, which Open MPI refuses',
    'pt2pt/rqstatus' => 'looks at MPI_ERROR of a status, which Open MPI 5.0 leaves as it was',
    'pt2pt/pt2pt_large' => 'needs MPI-4 functions that Open MPI 5.0 does not have',
    'coll/coll_large' => 'needs MPI-4 functions that Open MPI 5.0 does not have',
    (map { $_ => 'takes datatype handles for ints, which are pointers in Open MPI' } qw(
        coll/nonblocking2 coll/nonblocking3
    )),
    (map { $_ => 'uses MPI_LB and MPI_UB, which MPI-3 has not' } qw(
        romio/i_noncontig romio/noncontig romio/noncontig_coll romio/noncontig_coll2
    )),
    'romio/syshints' => 'reads a file of hints for ROMIO, which is not what serves the files',
    (map { $_ => 'is Fortran that ROMIO\'s configure makes; runs in C, as romio/misc or romio/coll_test' } qw(
        romio/fmisc romio/fcoll_test romio/pfcoll_test
    )),
    # Another arena's, if a thread of PMIx has allocated what was freed before.
    'io/i_noncontig_coll2' => 'keeps distances of blocks that malloc gives in ints',
    (map { $_ => 'reads a pair as bytes while it is replaced, which are atomic one by one' } qw(
        rma/linked_list_bench_lock_all rma/linked_list_bench_lock_shr
        rma/linked_list_bench_lock_shr_nocheck
    )),
    'rma/badrma' => 'accumulates in types without elements, which Open MPI refuses',
    'rma/rmanull' => 'locks MPI_PROC_NULL, which Open MPI refuses',
    'rma/win_info' => 'asks for hints that nobody has set, which Open MPI does not show',
    'ft/abort' => 'computes for ever where Open MPI\'s fault tolerance leaves it behind, also under ob1',
    'ft/revoke_shrink' => 'expects the result of an allreduce that has failed',
    'init/timeout' => 'tests the time-out of MPICH\'s mpiexec',
);

# Not with processes, only with ranks as threads, where they must pass.
our %ENDPOINTS_ONLY = (
    # The stock Open MPI does, or nearly always, and what happens under epml says nothing then.
    (map { $_ => 'waits for ever under ob1' } qw(
        comm/comm_idup_nb comm/comm_idup_isend part/parrived part/parrived_wait
        part/parrived_pready_out_of_order pt2pt/scancel pt2pt/pscancel pt2pt/cancelrecv
    )),
    # Of processes osc/rdma serves it, and ends one run in ten by MPI_ERR_RMA_RANGE.
    'rma/linked_list_bench_lock_excl' => 'fails now and then under ob1',
    (map { ("ft/$_" => 'waits for ever under ob1 now and then') } qw(
        die sendalive isendalive multi_isendalive senddead recvdead isenddead irecvdead barrier
        gather reduce bcast scatter anysource revoke_nofail shrink agree agree_shrink nbccoll failure_ack
    )),
    # Tens of thousands of communicators one after the other, tens of seconds: libmpi's own matter.
    (map { $_ => 'would take the time of all others' } qw(comm/ctxalloc comm/ctxsplit)),
);

# ROMIO's own tests, which are in MPICH's source without a list like the others: what its script
# `runtests` runs, with how many processes, and with which arguments.
our @ROMIO = (
    (map { [$_, 4, '-fname', 'test'] } qw(
        simple async async-multiple atomicity coll_test excl file_info noncontig_coll2 misc
        shared_fp ordered_fp split_coll psimple fmisc fcoll_test pfcoll_test
    )),
    (map { [$_, 2, '-fname', 'test'] } qw(i_noncontig noncontig noncontig_coll)),
    ['aggregation1', 4, '-h', '-f', 'test'],
    ['aggregation2', 4, 'test'],
    ['hindexed', 4, 'test'],
    ['darray_read', 4, 'test'],
    ['types_with_zeros', 2, 'test'],
    (map { [$_, 1, '-fname', 'test'] } qw(error status)),
    ['syshints', 1],
);

# Of folders that have too many: what runs by default, with four ranks of one process.
our %QUICK = (
    rma => [qw(
        winname allocmem putfidx accfence2 adlb_mimic1 transpose3 test2 test4 lockcontention3
        lockopts fetchandadd_tree wintest nullpscw attrorderwin mixedsync rmazero
        strided_getacc_indexed window_attach put_bottom win_flavors win_shared_noncontig
        compare_and_swap fetch_and_op_short fetch_and_op_long_double get_accumulate_int_derived
        linked_list_fop reqops flush overlap_wins_acc atomic_rmw_gacc acc_pairtype racc_local_comp
        win_shared_query_null
    )],
);

# Make shared windows: of several processes only where these share memory, so not over tcp.
our %SHARED = map { ("rma/$_" => 1) } qw(
    fence_shm mutex_bench_shared strided_getacc_indexed_shared strided_putget_indexed_shared
    win_shared win_shared_acc_flush_load win_shared_cas_flush_load win_shared_create_allocshm
    win_shared_create_no_allocshm win_shared_fop_flush_load win_shared_gacc_flush_load
    win_shared_noncontig win_shared_noncontig_put win_shared_put_flush_get
    win_shared_put_flush_load win_shared_query_null win_shared_zerobyte win_zero
);

my $TWICE = 'frees a key twice, which may be another rank\'s of the process by then';

# With ranks as threads:
#   skip => REASON         not at all
#   ranks => N             N ranks and no others; otherwise 4, or as many as MPICH's list says
#   layouts => ['PrE']     only these layouts
#   dies => N              rank N dies, which must be alone in its process
our %ENDPOINTS = (
    'attr/keyval_double_free' => { skip => $TWICE },
    'attr/keyval_double_free_comm' => { skip => $TWICE },
    'attr/keyval_double_free_type' => { skip => $TWICE },
    'attr/keyval_double_free_win' => { skip => $TWICE },
    'datatype/typename' => { skip => 'changes the names of predefined types for all ranks' },
    (map { $_ => { skip => 'cancels sends, which Open MPI does not do' } } qw(
        pt2pt/scancel pt2pt/pscancel pt2pt/cancelrecv
    )),
    (map { $_ => { skip => 'ranks as threads are refused sessions' } } qw(
        init/session init/session_mult_init init/session_psets init/session_self
    )),
    'errhan/adderr' => { skip => 'counts on being alone to add error classes' },

    (map { ("ft/$_" => { dies => 1 }) } qw(
        die sendalive isendalive senddead recvdead isenddead irecvdead barrier gather reduce bcast
        scatter anysource failure_ack
    )),
    (map { ("ft/$_" => { dies => 2 }) } qw(shrink agree agree_shrink)),
    'ft/nbccoll' => { dies => 3 },
    # Three of four die, one after the other.
    'ft/multi_isendalive' => { layouts => [qw(4r1/node 4r1)] },
    # None does.
    'ft/revoke_nofail' => { layouts => [qw(2r2/node 2r2)] },

    # As ENDPOINTS_ONLY has it; between processes comm_flat does likewise.
    'comm/ctxalloc' => { layouts => ['1r2'] },
    'comm/ctxsplit' => { layouts => ['1r4'] },

    # It wants 33 processes at least, and splits them in two.
    'comm/ic2' => { layouts => [qw(1r33 3r11)] },

    # Sets the error handler of MPI_FILE_NULL, of which a process has one.
    'errors/io/fileerrret' => { layouts => [qw(1r1 4r1)] },
    # Want one process.
    (map { $_ => { ranks => 1 } } qw(datatype/zeroparms datatype/struct_ezhov)),
    # Wants two.
    (map { $_ => { ranks => 2 } } qw(
        pt2pt/sendrecv3 pt2pt/cancelanysrc pt2pt/scancel_unmatch
        pt2pt/huge_dupcomm pt2pt/huge_ssend pt2pt/multi_psend_derived pt2pt/dtype_send
        pt2pt/precv_anysrc pt2pt/precv_anysrc_exp datatype/sendrecvt2 datatype/sendrecvt4
        datatype/subarray
    )),
    'coll/iallred' => { ranks => 2 },
    (map { $_ => { ranks => 2 } } qw(rma/at_complete rma/aint rma/aint_collattach rma/manyget)),
    (map { $_ => { ranks => 2 } } qw(io/i_noncontig io/i_noncontig_coll io/i_types_with_zeros)),
    (map { $_ => { ranks => 1 } } qw(io/resized io/resized2 io/tst_fileview)),
    'romio/types_with_zeros' => { ranks => 2 },
    (map { $_ => { ranks => 1 } } qw(romio/error romio/status)),
    'coll/ring_neighbor_alltoall' => { ranks => 2 },
    # Want a number that divides 10.
    (map { $_ => { ranks => 5 } } qw(coll/coll2 coll/coll6 coll/coll7
        coll/gatherv coll/nbcoll2 coll/p_gatherv
    )),
    # Minutes each: 10000 rounds; 60 GB of bytes, each of them an atomic operation.
    'rma/rma_contig:2' => { layouts => ['1r4'] },
    'rma/large_acc_flush_local' => { layouts => ['1r2'] },
    # Wants four.
    'rma/win_shared_put_flush_get' => { ranks => 4 },
    # Want three.
    (map { $_ => { ranks => 3 } } 'datatype/concurrent_irecv', map { "rma/$_" } qw(
        win_shared_put_flush_load win_shared_acc_flush_load win_shared_gacc_flush_load
        win_shared_fop_flush_load win_shared_cas_flush_load put_flush_get acc_flush_get
        gacc_flush_get fop_flush_get cas_flush_get
    )),
);

1;
