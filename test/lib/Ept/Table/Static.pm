#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Endpoints from the beginning on, and threads that are attached to them.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Static;

use strict;
use warnings;

# Errors of the initialization come back.
my $RETURN = 'mpi_initial_errhandler mpi_errors_return';

# The launcher takes these for its own if they are among its options.
my $ASYNC = 'OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0';

# Debian's PMIx cannot start several programs as one job otherwise (docs/static.md).
my $SPAWN = 'PMIX_MCA_mca_base_param_files=none';

our @ENTRIES = (
    # The ranks that exist, by how each process has begun: s MPIX_Init_endpoint, i MPI_Init, t
    # MPI_Init_thread.
    (map { my ($variant, $configs, $args, @longer) = @$_;
           +{ program => 'static_world', variant => $variant, configs => $configs, args => $args,
              longer => \@longer,
              quick => 'counts' eq $variant ? ['3x0'] : [], plain => 0 } }
        [same => ['2x0'], '--counts 3', '1x0'],
        [counts => ['3x0'], '--counts 142'], [without => ['3x0'], '--counts 203'],
        [one => ['2x0'], '--counts 1 --level 0', '1x0'],
        [multiple => ['2x0'], '--counts 2 --level 3'],
        [mixed => ['3x0'], '--how ist --counts 3'],
        [late => ['4x0'], '--how tsis --counts 2314 --level 3'],
        [none => ['3x0'], '--how iti', '1x0']),
    { program => 'static_world', variant => 'dirt', configs => ['2x0'], longer => ['1x0'], quick => ['2x0'],
      plain => 0, args => '--counts 4 --dirt 1' },
    { program => 'static_world', variant => 'direct', configs => ['2x0'], quick => [], plain => 0,
      args => '--how si --counts 3', direct => 1 },
    { program => 'static_world', variant => 'cluster', cluster => 'one', configs => ['6x0'],
      quick => [], plain => 0, args => '--how ststis --counts 213 --level 3' },
    { program => 'static_world', variant => 'tsan', kind => 'tsan', configs => ['2x0'], quick => [],
      plain => 0, args => '--counts 3', timeout => 240 },
    # What processes say is fetched when it is asked for.
    { program => 'static_world', variant => 'async', configs => ['3x0'], quick => [], plain => 0,
      args => '--how sti --counts 2', env => $ASYNC },
    (map { my ($wrong, $mca, %more) = @$_;
           +{ program => 'static_errors', variant => $wrong, configs => ['3x0'], quick => [],
              plain => 0, args => "--wrong $wrong --by 1 --how ssi", mca => "$RETURN $mca",
              timeout => 60, %more } }
        ['count', ''], ['level', ''], ['none', ''], ['array', ''],
        ['limit', 'pml_epml_max_endpoints 8', says => 'pml_epml_max_endpoints'],
        ['told', '', launcher => '-endpoints 2'],
        ['absent', ''], ['apart', '', args => '--wrong apart --by 1 --how s',
                         env => 'MPIX_ENDPOINTS_STATIC=0']),
    # Nobody waits for what others say.
    { program => 'static_errors', variant => 'unheard', configs => ['2x0'], quick => [], plain => 0,
      args => '--wrong apart --by 9', mca => $RETURN, timeout => 60,
      env => "$ASYNC OMPI_MCA_async_mpi_init=1" },
    { program => 'static_errors', variant => 'late', configs => ['2x0'], longer => ['1x0'], quick => [],
      plain => 0, args => '--wrong late --by 9 --how si', mca => $RETURN, timeout => 60 },
    { program => 'static_errors', variant => 'unselected', configs => ['2x0'], quick => [],
      plain => 0, args => '--wrong unselected --by 9', mca => "$RETURN pml ob1", timeout => 60,
      says => 'endpoints were asked for.*"ob1", not "epml".*epmpirun' },

    { program => 'static_attach', configs => [qw(1x0 2x0)], args => '--counts 4 --level 3',
      quick => ['1x0'], plain => 0 },
    { program => 'static_attach', variant => 'funneled', configs => ['1x0'], longer => ['2x0'], quick => [],
      args => '--counts 3', plain => 0 },
    { program => 'static_attach', variant => 'tsan', kind => 'tsan', configs => ['1x0'],
      quick => [], args => '--counts 4 --level 3', plain => 0, timeout => 240 },
    { program => 'static_attach', variant => 'long', configs => ['1x0'], long => 1, plain => 0,
      args => '--counts 16 --level 3 --million 1000000 --most 50', timeout => 120 },
    # Two phases, mixed with all ways to begin; and what is wrong with the second, which all hear of.
    (map { my ($variant, $config, $args, %more) = @$_;
           +{ program => 'two_phase', variant => $variant, configs => [$config], args => $args,
              plain => 0, quick => [], timeout => 60, %more } }
        ['', '3x0', '--how b --counts 231', quick => ['3x0']],
        [mixed => '4x0', '--how ibst --counts 1321 --level 1'],
        [late => '2x0', '--how bi --counts 3'],
        [endpoints => '2x0', '--how s --counts 31 --endpoints 1'],
        [omit => '2x0', '--how b --omit 1', kind => 'fatal', status => 0, says => 'one endpoint, 0'],
        [call => '1x0', '--how b --call 1', kind => 'fatal', says => 'error occurred in MPI_Barrier'],
        [abi => '2x0', '--how bt --counts 3', abi => 1],
        [tsan => '2x0', '--how bt --counts 3', kind => 'tsan', timeout => 240],
        (map { [$_ => '3x0', "--how bbi --by 1 --wrong $_", mca => $RETURN] }
            qw(none limit array place))),
    { program => 'attach_level', configs => ['1x0'], quick => ['1x0'], args => '--level 3', plain => 0 },
    { program => 'attach_level', variant => 'funneled', configs => ['1x0'], quick => [],
      args => '--level 1', plain => 0 },
    { program => 'attach_level', variant => 'tsan', kind => 'tsan', configs => ['1x0'], quick => [],
      args => '--level 3', plain => 0, timeout => 240 },
    { program => 'attach_level', variant => 'abi', abi => 1, configs => ['1x0'], quick => [],
      args => '--level 3', plain => 0 },
    # A call by each thread of a PGAS program: figures 7 and 9 of the text, and others.
    (map { my ($variant, $config, $args, %more) = @$_;
           +{ program => 'pgas', variant => $variant, configs => [$config],
              args => "--threads 4 $args", launcher => '-endpoints 4', plain => 0, quick => [], %more } }
        ['', '2x0', '', quick => ['2x0']], [every => '2x0', '--every 3 --seed 2'],
        [one => '2x0', '--every 0'], [upc => '2x0', '--upc 1 --every 3 --seed 3'],
        [later => '2x0', '--later 1 --every 3'], [twice => '2x0', '--twice 1', mca => $RETURN],
        [abi => '2x0', '--upc 1', abi => 1],
        [tsan => '1x0', '--every 2', kind => 'tsan', timeout => 240]),
    # Chapter 12 of the draft for MPI 3.
    (map { my ($variant, $config, $args, %more) = @$_;
           +{ program => 'levels', variant => $variant, configs => [$config], args => "--asp 3 $args",
              launcher => '-endpoints 3 -x MPIX_ENDPOINTS_ASP=1', plain => 0, quick => [], %more } }
        [single => '2x0', '--required 0 --provided 1'], [funneled => '1x0', '--required 1'],
        [serialized => '1x0', '--required 2'], [multiple => '2x0', '--required 3', quick => ['2x0']],
        [attach => '2x0', '--required 4', quick => ['2x0']], [reattach => '2x0', '--required 5'],
        [all => '2x0', '--required 3 --begin all'], [mains => '2x0', '--required 3 --end mains'],
        [pool => '2x0', '--required 4 --end pool'],
        [told => '1x0', '--required 1 --provided 4',
         launcher => '-endpoints 3 -x MPIX_ENDPOINTS_ASP=1 -threadlevel attach'],
        [alone => '2x0', '--required 5 --asp 1', launcher => ''],
        [abi => '2x0', '--required 4', abi => 1],
        [tsan => '1x0', '--required 3 --end mains', kind => 'tsan', timeout => 240]),
    { program => 'static_orphan', configs => ['2x0'], longer => ['1x0'], args => '--counts 3', quick => ['2x0'],
      plain => 0 },
    { program => 'static_number', configs => ['2x0'], longer => ['1x0'], quick => ['2x0'], plain => 0,
      args => '--limit 8', mca => 'pml_epml_max_endpoints 8' },
    { program => 'static_number', variant => 'cluster', cluster => 'one', configs => ['3x0'],
      quick => [], plain => 0, args => '--net 1' },
    { program => 'static_attributes', configs => ['2x0'], longer => ['1x0'], args => '--counts 3', quick => ['2x0'],
      plain => 0 },
    { program => 'static_attributes', variant => 'net', configs => ['2x0'], quick => [], plain => 0,
      args => '--counts 2 --net tcp', mca => 'btl_epshm_processes 0 btl_epofi_provider tcp' },
    { program => 'static_attributes', variant => 'tsan', kind => 'tsan', configs => ['1x0'], quick => [],
      long => 1, args => '--counts 4 --level 3', plain => 0, timeout => 240 },
    # A thread's own MPI_COMM_WORLD.
    { program => 'world_c', configs => [qw(1x0 2x0)], args => '--counts 3 --level 3', quick => ['2x0'],
      plain => 0 },
    { program => 'world_c', variant => 'tsan', kind => 'tsan', configs => ['1x0'], quick => [],
      args => '--counts 3 --level 3', plain => 0, timeout => 240 },
    { program => 'world_c', variant => 'abi', abi => 1, configs => ['2x0'], quick => ['2x0'],
      args => '--counts 3 --level 3', plain => 0 },
    (map { +{ program => 'world_attach', variant => $_->[0], configs => ['2x0'], longer => ['1x0'],
              args => "--level 3 --counts 2 --how $_->[1]", quick => [], plain => 0,
              abi => 'abi' eq $_->[0] } }
        ['plain', 't'], ['static', 's'], ['abi', 's']),
    (map { +{ program => 'world_fortran.F90', variant => $_, interface => $_, configs => ['2x0'],
              longer => ['1x0'], launcher => '-world', quick => 'f08' eq $_ ? ['2x0'] : [], plain => 0 } }
        qw(mpifh mpi f08)),
    { program => 'world_python.py', kind => 'python', folder => 'test/mpi/begin', configs => ['2x3/node'],
      longer => ['1x4'], launcher => '-world', quick => [], plain => 0, timeout => 60 },
    (map { +{ program => 'world_tools', variant => $_->[0], configs => ['1x0'], preload => 'world_tool',
              args => '--counts 2 --level 3', launcher => $_->[1], quick => [], plain => 0,
              abi => scalar($_->[0] =~ /abi/) } }
        ['front', ''], ['behind', '-world'], ['front_abi', ''], ['behind_abi', '-world']),
    # What the launcher was told, by its options and by the environment; nothing, and nonsense.
    (map { my ($variant, $launcher, $args, %more) = @$_;
           +{ program => 'static_told', variant => $variant, configs => ['2x0'], plain => 0,
              launcher => $launcher, args => $args, quick => [], %more } }
        [number => '-endpoints 3 -threadlevel funneled', '--number 3 --told-level 1', quick => ['2x0']],
        [environment => '-x MPIX_ENDPOINTS=2 -x MPIX_THREAD_LEVEL=3', '--number 2 --told-level 3'],
        [plain => '--endpoints 4', '--number 4 --how i'], [nothing => '', ''],
        [nonsense => '-x MPIX_ENDPOINTS=0x4 -x MPIX_THREAD_LEVEL=6', '']),
    { program => 'static_told', variant => 'abi', abi => 1, configs => ['2x0'], quick => [], plain => 0,
      launcher => '-endpoints 2 -threadlevel multiple', args => '--number 2 --told-level 3' },
    # Children, which the launcher starts, and their endpoints.
    (map { my ($variant, %more) = @$_;
           +{ program => 'static_spawn', variant => $variant, configs => ['2x0'], quick => [],
              plain => 0, mca => 'pml_epml_max_endpoints 8', timeout => 60, env => $SPAWN, %more } }
        ['', quick => ['2x0']],
        ['inherit', args => '--inherit 1', env => "$SPAWN MPIX_ENDPOINTS=5", long => 1],
        ['direct', direct => 1, long => 1], ['abi', abi => 1],
        ['env', args => '--env 1', says => 'Deprecated key: +env'],
        ['unselected', args => '--unselected 1', mca => 'pml ob1'],
        ['death', kind => 'fatal', args => '--die 1', env => undef,
         says => 'exited with non-zero status']),
    (map { +{ program => $_, variant => 'abi', abi => 1, configs => ['2x0'], quick => ['2x0'],
              args => '--counts 3', plain => 0 } }
        qw(static_world static_attach static_attributes)),
    # All calls from Fortran, created endpoints and such, by each of its interfaces.
    (map { my $interface = $_;
           map { my ($variant, $config, $args) = @$_;
                 +{ program => 'fortran_calls.F90', variant => "$interface$variant", plain => 0,
                    interface => $interface, configs => [$config], args => $args, mca => $RETURN,
                    quick => 'f08' eq $interface ? [$config] : [],
                    launcher => '-endpoints 3 -threadlevel 2' } }
               ['', '2x0', ''], ['_static', '2x0', '--static 1'] }
        qw(mpifh mpi f08)),
    # What other tests ask of handles, of such.
    (map { +{ program => $_, variant => 'static', configs => [/^(?:p2p_match|coll_reduce|comm_tree)$/ ? '1x4' : '2x2/node'],
              longer => [qw(1x4 2x2/node)], quick => [], args => '--static 1', plain => 0 } }
        qw(p2p_basic p2p_match p2p_bsend coll_move coll_reduce comm_tree comm_groups finalize)),
);

1;
