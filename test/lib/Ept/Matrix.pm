#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What runs where: the jobs made from the tables of the MPI tests, lib/Ept/Table/*.pm.  What else
# there is to run is in Jobs.pm.
#
# A job is a hash: name (what is printed and --only matches), kind (how lib/Ept/Job.pm runs it),
# program, np (processes), ep (endpoints per process; 0: plain ranks), provider, args, timeout (s).

package Ept::Matrix;

use strict;
use warnings;

use Ept::Table::Checked;
use Ept::Table::Comms;
use Ept::Table::Failures;
use Ept::Table::Files;
use Ept::Table::Messages;
use Ept::Table::Places;
use Ept::Table::Ranks;
use Ept::Table::Static;
use Ept::Table::Windows;

# What an entry says: test/TABLE.md.
my @TABLE = (
    @Ept::Table::Messages::ENTRIES,
    @Ept::Table::Comms::ENTRIES,
    @Ept::Table::Files::ENTRIES,
    @Ept::Table::Places::ENTRIES,
    @Ept::Table::Ranks::ENTRIES,
    @Ept::Table::Static::ENTRIES,
    @Ept::Table::Windows::ENTRIES,
    @Ept::Table::Failures::ENTRIES,
    @Ept::Table::Checked::ENTRIES,
);

# In a plain run ob1 must not copy straight from the sender's memory in p2p_basic and p2p_types:
# on that path it writes past the end of a receive buffer that is too short.
my $NO_SINGLE_COPY = 'smsc ^cma,xpmem,knem';
my %PLAIN_MCA = (p2p_basic => $NO_SINGLE_COPY, p2p_types => $NO_SINGLE_COPY);

sub _configs_of
{
    my ($entry, $options) = @_;
    my @wanted = @{ $entry->{configs} };

    push @wanted, @{ $entry->{longer} // [] } if $options->{long};
    if ($options->{quick}) {
        my %listed = map { $_ => 1 } @wanted, map { ("$_/tcp", "$_/node") } @wanted;
        @wanted = $entry->{quick} ? @{ $entry->{quick} }
                                  : grep { $listed{$_} } qw(1x4 2x2/tcp 2x2/node 1r4);
        # One network is enough, the one that is asked for.
        s{/tcp$}{/$options->{provider}} for $options->{provider} ? @wanted : ();
    }
    return @wanted;
}

# One configuration of an entry: one job, or one per provider.
sub _jobs_of_config
{
    my ($entry, $config, $options) = @_;
    my ($np, $by, $ep, $provider) = $config =~ m{^(\d+)([xr])(\d+)(?:/([\w;]+))?$} or die "config $config";
    my @ways = ('tcp', $options->{long} ? 'shm' : (), 'node');
    my @providers = (1 < $np && 0 < $ep) ? ($provider ? ($provider) : @ways) : (undef);
    my $kind = $entry->{kind} // 'mpi';
    my $folder = $entry->{folder} // 'examples';
    my $name = ($kind =~ /^(?:example|python)$/ && 'examples' eq $folder ? 'example/' : '')
        . $entry->{program} . ($entry->{variant} ? ":$entry->{variant}" : '');
    my $mca = $entry->{mca} // '';
    my @jobs;

    $mca .= " $PLAIN_MCA{$entry->{program}}" if 0 == $ep && $PLAIN_MCA{ $entry->{program} };
    $mca =~ s/^ //;
    for my $p (@providers) {
        next if defined $p && $options->{provider} && $p ne $options->{provider};
        push @jobs, {
            name => "$name/$config" . (defined $p && $config !~ m{/} ? "/$p" : ''),
            kind => $kind,
            program => $entry->{program},
            folder => $folder,
            np => $np,
            ep => $ep,
            ranks => 'r' eq $by,
            unmodified => 'r' eq $by,
            variant => $entry->{variant},
            flags => $entry->{flags},
            compiler => $entry->{compiler},
            provider => $p,
            mca => $mca,
            says => $entry->{says},
            status => $entry->{status},
            once => $entry->{once},
            runs => $entry->{runs},
            launcher => $entry->{launcher},
            preload => $entry->{preload},
            direct => $entry->{direct},
            abi => $entry->{abi},
            tbb => $entry->{tbb},
            interface => $entry->{interface},
            never => $entry->{never} // '(?!)',
            survivors => $entry->{survivors},
            later => $entry->{later},
            class => $entry->{class} // 'MPI_ERR_PROC_FAILED',
            env => $entry->{env},
            hosts => $entry->{hosts},
            not_6 => $entry->{not_6},
            cluster => $entry->{cluster},
            rank0 => $entry->{rank0},
            leaves => $entry->{leaves},
            args => $entry->{args} // '',
            timeout => ($entry->{timeout} // 120) * (32 <= $np * $ep ? 2 : 1),
        };
    }
    return @jobs;
}

# Does it run only if it is named, or with --long?  Checkers do: they take builds of their own, or long.
sub _is_long
{
    my ($entry) = @_;

    return $entry->{long} || ($entry->{kind} // '') =~ /^(?:tsan|valgrind)$/;
}

# Endpoints under epml.
sub endpoint_jobs
{
    my ($options) = @_;
    my @jobs;

    for my $entry (grep { $options->{long} || !_is_long($_) } @TABLE) {
        push @jobs, map { _jobs_of_config($entry, $_, $options) } _configs_of($entry, $options);
    }
    return @jobs;
}

# --smoke: does it work at all, with this Open MPI?
my %SMOKE = map { $_ => 1 } qw(
    p2p_basic/2x2/tcp p2p_basic/2x2/node p2p_match/1x4 p2p_order/2x2/node p2p_requests/2x2/tcp
    p2p_persistent/1x4 p2p_sendrecv/1x4 p2p_basic:ordinary/2x0 random_traffic/2x2/tcp progress/1x4
    coll_move/2x2/node coll_reduce/1x4 coll_neighbor/2x2/tcp comm_ops/2x2/tcp comm_bridge/2x2/node
    comm_tree/1x4 file_basic/2x2/node file_shared/1x4 file_random/1x4 file_nonblocking/1x4
    comm_inter/1x4 comm_groups/2x2/node comm_errors/1x4 comm_refused/2x2/tcp
    part/2x2/tcp part_life/1x4 create/2x2/tcp create_errors/2x1/tcp finalize/2x2/node variables/1x4
    newer/1x4 p2p_basic:abi/2x2/node comm_bridge:abi/2x2/node comm_errors:abi/1x4
    comm_ops:direct/2x2/node death:told_stream/3x2/tcp comm_abort/2x3/tcp epinfo/2x2/node
    example/hello_endpoints/1x4 example/openmp_allreduce/2x4/tcp example/ring/2x4/tcp
    example/halo_partitions/2x3/tcp example/mesh_tiles/3x5/tcp example/endpoints.py/2x3/tcp);

sub smoke_jobs
{
    return grep { 'unit' eq $_->{kind} ? 'plain' eq $_->{flavour} : $SMOKE{ $_->{name} } } @_;
}

# The same programs with processes under the stock PML: what validates the tests themselves.
sub plain_jobs
{
    my ($options) = @_;
    my (@jobs, %seen);

    for my $entry (grep { $_->{plain} // 1 } @TABLE) {
        next if $seen{ $entry->{program} }++;
        for my $np ($options->{quick} ? (2) : (1, 2, 3, 4)) {
            push @jobs, {
                name => "plain/$entry->{program}/$np",
                kind => 'plain',
                program => $entry->{program},
                np => $np,
                ep => 0,
                unmodified => scalar($entry->{configs}[0] =~ /r/),
                (map { $_ => $entry->{$_} } qw(variant flags compiler interface)),
                mca => $PLAIN_MCA{ $entry->{program} } // '',
                args => $entry->{args} // '',
                timeout => $entry->{timeout} // 120,
            };
        }
    }
    return @jobs;
}

1;
