#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# bench.t BUILD-FOLDER: what run-bench makes of figures of collectives, files, windows and the paper's
# experiments that are given to it: table, goals, the page's rows; which points are run where; and whose goals they are.
#
# Guards: bench/EpBench/Paper.pm, bench/EpBench/Costs.pm, bench/EpBench/Coll.pm, bench/EpBench/CollGoals.pm, bench/EpBench/Files.pm,
# bench/EpBench/Rma.pm, bench/EpBench/RmaGoals.pm

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

my $bench;
BEGIN { $bench = dirname(__FILE__) . '/../../bench'; unshift(@INC, $bench); }

use EpBench::Coll;
use EpBench::CollGoals;
use EpBench::Costs;
use EpBench::Data;
use EpBench::Files;
use EpBench::Paper;
use EpBench::Rma;
use EpBench::RmaGoals;
use EpBench::Table;
use EpBench::Ways;

# The figures of two rounds, of which the second is twice the first: medians are 1.5 times what is
# given.  ['in', 1, 'ep', 'barrier', 0, value]
sub data
{
    my $data = EpBench::Data->new(0);

    for my $row (@_) {
        my ($scenario, $pairs, $way, $measure, $size, $value) = @$row;

        $data->add_output($_, $way, join(',', 'epbench', $way, $scenario, $pairs, $measure, $size,
                                         1, 10, $value * $_, $value * $_, 'us')) for 1, 2;
    }
    $data->{about} = { MPICH => 'MPICH Version: 4.2.1', 'newer MPICH' => '5.0.2',
                       'newer Open MPI' => '6.0.0' };
    return $data;
}

# The words after "seen" of the goals' lines that match.
sub seen
{
    my ($text, $what) = @_;

    return [map { /seen\s+(\S+\s+\S+)/ ? $1 =~ s/\s+/ /r : () } grep { /\Q$what\E/ }
            split /\n/, $text];
}

# ---- the comparison ------------------------------------------------------------------------------

sub comparison
{
    my $table = EpBench::Table::comparison(data(['in', 1, 'ep', 'barrier', 0, 0.08],
                                                ['in', 1, 'proc-epml', 'dup', 0, 5]), 'in', 1, 0);

    like($table, qr/^Barrier.*\n +0\.120 /m, 'the comparison has what endpoints have measured');
    unlike($table, qr/Comm_dup/, 'and no line of dashes for what only ways without a column have');
}
comparison();

# ---- goals ---------------------------------------------------------------------------------------

sub goals
{
    return EpBench::CollGoals::table(data(@_));
}

my $good = goals([in => 1, ep => barrier => 0, 0.03], [in => 1, threadcomm => barrier => 0, 0.06],
                 [in => 1, proc => barrier => 0, 0.3],
                 [tcp => 1, proc => allreduce => 4096, 10],
                 [tcp => 2, hybrid => hybrid => 4096, 15],
                 [tcp => 2, ep => allreduce => 4096, 5]);

is_deeply(seen($good, ' Barrier '), ['0.0450 met', '2.00 met'],
          'a barrier in time, and better than the best peer');
is_deeply(seen($good, '2 x 2, Allreduce 4 KiB'), ['3.00 met', '2.01 met'],
          'one thread that does it for all; two processes that do it alone, and two barriers');
is_deeply(seen($good, 'Allreduce 1 MiB'), ['- none', '- none', '- none'], 'what was not measured');

my $bad = goals([in => 1, ep => barrier => 0, 0.05], [in => 1, xhc => barrier => 0, 0.04],
                [in => 1, ep => gather => 8, 1], [in => 1, acoll => gather => 8, 3],
                [in => 1, ep => scan => 8, 1], [in => 1, 'mpich-new' => scan => 8, 1.4],
                [in => 1, proc => scan => 8, 2]);

is_deeply(seen($bad, ' Barrier '), ['0.0750 MISSED', '0.80 MISSED'], 'a barrier too late');
is_deeply(seen($bad, 'the others: worst'), ['1.40 MISSED'], 'the worst of the others');
like($bad, qr/1 of 2 lines miss it:\n\s+Scan 8 B\s+1\.40\n/, 'which is named, and alone');

# ---- table and page ------------------------------------------------------------------------------

my $table = EpBench::Coll::table(data([in => 1, ep => bcast => 65536, 2],
                                      map { [in => 1, $EpBench::Coll::PEERS[$_], 'bcast', 65536,
                                             4 + 2 * $_] } 0 .. 6), 'in', 1);
my ($line) = $table =~ /^( +64 KiB .*)$/m;

is(($line // '') =~ s/ +/ /gr, ' 64 KiB 3.00 33 6.00 9.00 12.0 15.0 18.0 21.0 24.0 2.00',
   'a line of the table: ours, spread, each peer, times the best');
ok(80 >= length($line // ''), 'which fits');

my $row = EpBench::CollGoals::row(data([in => 1, ep => bcast => 65536, 2],
                                       [in => 1, xhc => bcast => 65536, 8]),
                              'in', 1, 'bcast', 65536);
is($row, "| Broadcast 64 KiB | 3.00 | 1.5 |  |  |  |  |  | 12.0 |  | 4.0 |\n", 'a row of the page');

# ---- what is run ---------------------------------------------------------------------------------

sub points
{
    my ($way, @at) = @_;

    return map { @{ $_->{points} } } EpBench::Coll::parts($EpBench::Ways::WAY{$way}, @at);
}

my %all = map { $_ => 1 } points('ep', 'in', 1);
is(scalar(keys %all), 41, 'all points of two endpoints');
is(scalar(grep { /^[ip](?:barrier|allreduce)/ } points('threadcomm', 'in', 1)), 0,
   'thread communicators have nothing to wait for later');
is_deeply([points('xhc', 'shm', 2)], [], 'xhc is left out where it does not give way');
is_deeply([points('proc', 'tcp', 1)], [map { "allreduce:$_" } 8, 512, 4096],
          'two processes that do it alone');
is_deeply([points('hybrid', 'tcp', 2)], [map { "hybrid:$_" } 8, 512, 4096],
          'and with other threads at barriers');
is_deeply([grep { 'barrier:0' eq $_ } points('ep', 'in', 1, 0, undef, 'barrier:0')], [],
          'what is measured anyway is not measured twice');
is_deeply([points('ep-before', 'in', 1, 0, { barrier => 1 })], ['barrier:0'],
          'other endpoints as ours, and only what is asked for');

# Files.
my @parts = EpBench::Files::parts(1, { mwrite => 1, dreadall => 1 });
is_deeply([map { [$_->{name}, @{ $_->{points} }] } @parts],
          [['m', 'mwrite:0', 'mwrite:4096'], ['d', 'dreadall:0', 'dreadall:4096']],
          'a job for each folder, with what is asked for');
$table = EpBench::Files::table(data([in => 2, ep => mwriteall => 4096, 3],
                                    [in => 2, proc => mwriteall => 4096, 2]), 'in');
like($table, qr/^Collective write, tmpfs\n +4 KiB +4\.50 .* +3\.00 +1\.50$/m,
     'more bytes a second are better');
is(EpBench::Files::table(data([in => 2, proc => mwriteall => 0, 2]), 'in'), '',
   'no table without endpoints');
my $folders = EpBench::Files::environment();
is(scalar(grep { -d } values %$folders), 2, 'two folders, while this process lives');

# The figures of the paper.
sub layouts_of
{
    my ($way, $pairs, $cores) = @_;

    return [map { "$_->{processes} $_->{arguments}[1]" }
            EpBench::Paper::parts($EpBench::Ways::WAY{$way}, 'shm', $pairs, 1, $cores)];
}

is_deeply([EpBench::Paper::pairs(2)], [1, 2], 'no more workers on a side than cores');
is_deeply([EpBench::Paper::pairs(12)], [1, 2, 4, 8], 'however many cores there are');
is_deeply(layouts_of('ep', 4, 16), ['2 shm-1x4', '4 shm-2x2', '8 shm-4x1'],
          'processes and threads of four workers on a side');
is_deeply(layouts_of('shared', 16, 16), ['2 shm-1x16', '8 shm-4x4', '16 shm-8x2', '32 shm-16x1'],
          'one process alone has more than four threads');
is_deeply(layouts_of('threadcomm', 4, 16), ['2 shm-1x4'], 'thread communicators of one process');
is_deeply(layouts_of('proc', 4, 16), ['8 shm-4x1'], 'as many processes as workers');
my @paper = (['shm-1x2', 2, ep => birate => 65536, 4], ['shm-1x2', 2, shared => birate => 65536, 1],
             ['shm-2x1', 2, proc => birate => 65536, 2], ['shm-1x2', 2, ep => posted => 1, 8],
             ['shm-1x2', 2, thread => posted => 1, 2]);
$table = EpBench::Paper::table(data(@paper), 'shm');
is_deeply([map { s/ +/ /gr } grep { /1 x 2/ } split /\n/, $table],
          [' 1 x 2 64 KiB 6.00 33 - - 1.50 4.00 3.00 2.00', ' 1 x 2 1 12.0 33 3.00 4.00 - - - -'],
          'a layout beside threads of it, and beside as many processes');
my $view = EpBench::Paper::view(data(@paper));
is($view->figure('shm-1x2', 2, 'bandwidth', 65536, 'ep')->{median}, 6 * 65.536,
   'bandwidth is that of the messages, GB/s');
my %plots = EpBench::Paper::figures(data(@paper));
is_deeply([grep { length $plots{$_} } sort keys %plots],
          [qw(figure3 figure4 figure5 figure6 figure7 senders)], 'a plot of what was measured');

# What endpoints cost.
is_deeply([map { $_->{name} } EpBench::Costs::parts($EpBench::Ways::WAY{ep}, 'in', 1, 1)],
          [qw(make idle pair)], 'creation, memory, and what a thread level is compared with');
is_deeply([map { $_->{name} } EpBench::Costs::parts($EpBench::Ways::WAY{proc}, 'tcp', 4, 1)],
          [qw(peerheap peerresident)], 'processes have peers alone');

# Windows.
sub window_points
{
    my ($way, @at) = @_;

    return map { @{ $_->{points} } } EpBench::Rma::parts($EpBench::Ways::WAY{$way}, @at);
}

is_deeply([window_points('proc', 'created', 1)], [], 'osc/sm has no created windows');
is_deeply([window_points('mpich-new', 'tcp', 1)], [], 'MPICH is left out over TCP');
is_deeply([map { [window_points($_, 'in', $EpBench::Rma::MANY)] } qw(ep-before proc)],
          [['wlockall:0'], []], 'many members are of endpoints alone');
is_deeply([map { scalar grep { /^(?:wcopy|watomic)/ } window_points($_, 'shm', 1) }
           qw(ep proc rdma mpich)], [3, 3, 0, 0], 'what needs no MPI, where it is wanted');
is_deeply([map { $_->{arguments} } EpBench::Rma::parts($EpBench::Ways::WAY{rdma}, 'tcp', 1)],
          [['--created']], 'windows over TCP are created ones');
is_deeply([map { $_->{arguments} } EpBench::Rma::parts($EpBench::Ways::WAY{ep}, 'in', 1, 1,
                                                       { wfence => 1 })],
          [[]], 'one job for what is asked for, on an allocated window');

my @windows = ([in => 1, ep => wput => 8, 0.03], [in => 1, proc => wput => 8, 0.04],
               [in => 1, mpich => wput => 8, 2],
               [in => 1, ep => wget => 8, 0.03], [in => 1, rdma => wget => 8, 0.04],
               [in => 1, ep => wfence => 0, 0.05], [in => 1, ep => barrier => 0, 0.04],
               [in => 1, ep => wput => 1048576, 40], [in => 1, ep => wcopyto => 1048576, 36],
               [in => 1, ep => wlockall => 0, 0.02],
               [in => $EpBench::Rma::MANY, ep => wlockall => 0, 0.021],
               [created => 1, ep => wput => 8, 0.6], [created => 1, ep => lat => 8, 0.25],
               [created => 1, rdma => wput => 8, 0.5]);
$table = EpBench::Rma::table(data(@windows), 'in');
($line) = $table =~ /^(Put 8 B .*)$/m;
is(($line // '') =~ s/ +/ /gr, 'Put 8 B 45.0 33 60.0 - 3000 - 1.33',
   'a line of the table: ours in ns, spread, each peer, times the best');
ok(80 >= length($line // ''), 'which fits');
is(EpBench::Rma::table(data(@windows), 'tcp'), '', 'no table of what was not measured');
my $goals = EpBench::RmaGoals::table(data(@windows));
is_deeply([map { seen($goals, "inside $_")->[0] } 'Put 8 B', 'Get 8 B', 'Fence', 'Put 1 MiB',
           'lock_all, 16', 'Compare'],
          ['0.750 met', '0.750 MISSED', '15.0 met', '0.90 MISSED', '1.05 met', '- none'],
          'shares of the best time, ns, shares of memcpy, growth');
is_deeply(seen($goals, 'create Put 8 B'), ['1.20 met', '1.20 MISSED'],
          'shares of a round trip, and of osc/rdma');

done_testing();
