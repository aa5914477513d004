#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# What is special about some of MPICH's tests: one table, with reasons.

package Ept::MpichTable;

use strict;
use warnings;

# Not run at all.
our %NOWHERE = (
    'datatype/pack_external' => 'switches on datatype handles, which are pointers in Open MPI',
    'datatype/type_large' => 'needs MPI-4 functions that Open MPI 5.0 does not have',
    'pt2pt/pt2pt_large' => 'needs MPI-4 functions that Open MPI 5.0 does not have',
    'init/timeout' => 'tests the time-out of MPICH\'s mpiexec',
);

# Hangs under ob1: not waited for that long.
our %HANGS = map { $_ => 1 } qw(
    comm/comm_idup_nb comm/comm_idup_isend pt2pt/scancel pt2pt/pscancel pt2pt/cancelrecv
);
our $HANG_TIMEOUT = 15;

# On endpoints:
#   skip => REASON         not at all
#   ranks => N             N ranks and no others
#   layouts => ['PxE']     only these layouts
#   alone => 1             each rank is a world of its own
our %ENDPOINTS = (
    # Wants one process.
    (map { $_ => { alone => 1 } } qw(
        pt2pt/bsend2 datatype/zeroparms datatype/struct_ezhov
    )),
    # Wants two ranks.
    (map { $_ => { ranks => 2 } } qw(
        comm/ctxalloc pt2pt/sendrecv3 pt2pt/cancelanysrc pt2pt/huge_dupcomm pt2pt/huge_ssend
        pt2pt/multi_psend_derived pt2pt/dtype_send pt2pt/precv_anysrc pt2pt/precv_anysrc_exp
        datatype/sendrecvt2 datatype/sendrecvt4 datatype/subarray
    )),
    'datatype/concurrent_irecv' => { ranks => 3 },
);

1;
