#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Which tests of libraries over MPI-IO run on endpoints, and how: one table, with reasons for what
# does not.  A library is Debian's own, as it is; its tests come from Debian's source package.
#
#   source        the source package; suite: of which Debian
#   wanted        what of it is unpacked, with wildcards
#   run, develop  binary packages: with what they need; for headers only
#   libraries     which every rank gets a copy of
#   folders       where its tests are; sources: what is compiled into each; include, define: with
#   example       of ours in examples/: a program, and what its threads load
#   programs      what runs:
#     parts       sources, where the program has more than its own
#     args        arguments (default: those of the library); SOURCE is where its source is
#     after       programs that leave a file for it, in front
#     layouts     default: those of the library; long: those only with --longer
#     timeout     seconds, if it takes long
#     skip        why it does not run

package Ept::LibraryTable;

use strict;
use warnings;

our @NAMES = qw(hdf5 pnetcdf);

# t_pshutdown leaves its file to t_prestart.
my %HDF5 = (
    t_mpi => {},
    t_pread => {},
    t_prestart => { after => ['t_pshutdown'] },
    t_init_term => {},
    t_select_io_dset => {},
    t_shapesame => {},
    t_vfd => {},
    testphdf5 => { layouts => ['2x2'], long => ['1x4'], parts => [qw(
        testphdf5 t_dset t_file t_file_image t_mdset t_ph5basic t_coll_chunk t_span_tree
        t_chunk_alloc t_filter_read t_prop t_coll_md t_oflush
    )] },
    t_filters_parallel => { layouts => [], long => [qw(1x4 2x2)] },
    t_pmulti_dset => { layouts => [], long => [qw(1x4 2x2)] },
    t_cache => { layouts => [], long => [qw(1x4 2x2)] },
    t_cache_image => { layouts => [], long => ['2x2'], timeout => 1200 },
    t_bigio => { layouts => [], long => [qw(1x4 2x2)], timeout => 600 },
    t_2Gio => { skip => 'writes and keeps gigabytes' },
    t_pflush1 => { skip => 'dies without MPI_Finalize, which a rank that is a thread cannot' },
    t_pflush2 => { skip => 'reads what t_pflush1 leaves' },
    t_subfiling_vfd => { skip => 'is about what Debian\'s HDF5 is built without' },
);

my %PNETCDF = (
    (map { $_ => {} } qw(
        testcases/add_var testcases/alignment_test testcases/buftype_free testcases/check_striping
        testcases/check_type testcases/collective_error testcases/error_precedence
        testcases/flexible testcases/flexible2 testcases/flexible_varm testcases/inq_num_vars
        testcases/inq_recsize testcases/iput_all_kinds testcases/ivarn testcases/large_var_cdf5
        testcases/last_large_var testcases/mix_collectives testcases/modes
        testcases/ncmpi_vars_null_stride testcases/noclobber testcases/nonblocking
        testcases/null_args testcases/one_record testcases/put_all_kinds testcases/record
        testcases/redef1 testcases/scalar testcases/test_erange testcases/test_fillvalue
        testcases/test_vard testcases/test_vard_multiple testcases/test_vard_rec
        testcases/test_varm testcases/tst_def_var_fill testcases/tst_free_comm testcases/tst_info
        testcases/varn_contig testcases/varn_int testcases/vectors
        nonblocking/flexible_bput nonblocking/i_varn_indef nonblocking/i_varn_int64
        nonblocking/interleaved nonblocking/large_num_reqs nonblocking/mcoll_perf
        nonblocking/req_all nonblocking/test_bput nonblocking/wait_after_indep
        header/header_consistency cdf_format/cdf_type
        largefile/large_var largefile/tst_cdf5_begin largefile/large_dims_vars_attrs
    )),
    'C/pres_temp_4D_rd' => { after => ['C/pres_temp_4D_wr'] },
    (map { $_ => { args => ['SOURCE/test/cdf_format'] } } qw(
        cdf_format/test_inq_format cdf_format/tst_corrupt
    )),
    'largefile/high_dim_var' => { layouts => [], long => [qw(1x4 2x2)] },
    (map { $_ => { skip => 'asks for what PnetCDF 1.14 no longer forbids' } } qw(
        cdf_format/dim_cdf12 testcases/tst_dimsizes largefile/large_coalesce
    )),
    (map { $_ => { skip => 'is written for a build with a configuration of its own' } } qw(
        testcases/erange_fill testcases/tst_vars_fill nonblocking/bput_varn nonblocking/column_wise
        testcases/tst_max_var_dims testcases/tst_pthread
    )),
    'cdf_format/tst_open_cdf5' => { args => ['SOURCE/test/cdf_format/bad_begin.nc5'] },
    'largefile/large_files' => { skip => 'writes gigabytes' },
);

our %LIBRARIES = (
    hdf5 => {
        source => 'hdf5', suite => 'trixie',
        wanted => [map { "hdf5*/$_" } qw(src/*.h testpar/*.[ch] test/*.[ch] test/*.h.in)],
        run => ['libhdf5-openmpi-310'], develop => ['libhdf5-openmpi-dev'],
        libraries => ['libhdf5_openmpi.so.310'],
        folders => ['testpar'],
        sources => [map { "test/$_.c" } qw(
            h5test testframe cache_common swmr_common external_common
        )],
        include => [qw(src test)], header_folder => 'hdf5/openmpi',
        # As Debian's is compiled: some tests look at what is in it.
        define => [qw(-D_GNU_SOURCE -D_POSIX_C_SOURCE=200809L -DNDEBUG -UH5_DEBUG_API)],
        args => [], layouts => [qw(1x4 2x2)], long => [],
        example => ['hdf5_threads', 'hdf5_part'],
        programs => \%HDF5,
    },
    # trixie's source of it cannot always be had; the older tests suit its library.
    pnetcdf => {
        source => 'pnetcdf', suite => 'bookworm',
        wanted => [map { "pnetcdf*/$_" } qw(src/include test m4)],
        run => ['libpnetcdf6'], develop => ['libpnetcdf-dev'],
        libraries => ['libpnetcdf.so.6'],
        sources => ['test/common/testutils.c'],
        include => [qw(test/common src/include)], header_folder => '.',
        define => [qw(-D_GNU_SOURCE -DHAVE_STRDUP -DHAVE_STRCASECMP -DHAVE_DECL_MPI_OFFSET)],
        args => ['test.nc'], layouts => ['2x2'], long => ['1x4'],
        programs => \%PNETCDF,
    },
);

1;
