# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What the project promises of one-sided communication on two cores, wanted and seen.

package EpBench::RmaGoals;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Goals;
use EpBench::Rma;

# In a process, and between two in allocated memory: most of the best peer's time.
my @SHARES = (
    ['wput',        8,       1.0],
    ['wget',        8,       0.6],
    ['wfop',        8,       0.6],
    ['wcas',        8,       0.6],
    ['wacc',        8,       0.8],
    ['wacc',        65536,   1.0],
    ['wacc',        1048576, 1.0],
    ['wlockshared', 8,       0.6],
    ['wlockexcl',   8,       0.85],
    ['wlockall',    0,       0.6],
    ['wpscw',       8,       0.75],
);

my $FENCE_NS = 20;      # more than our barrier
my $GROWTH   = 1.1;     # of lock_all with 16 members, in times of that with 2
my $COPY     = 0.95;    # of memcpy's bandwidth
my $ATOMIC   = 1.5;     # times a bare loop, contended by two

# Where the target has to help: most of a round trip of 8 B, and of osc/rdma's time.
my %ROUND_TRIPS = (created => 1.3, tcp => 1.2);
my %RDMA        = (created => [[8, 1.0], [65536, 0.8]], tcp => [[8, 1.0]]);

my %WHERE = (in => 'inside', shm => 'shm', created => 'create', tcp => 'tcp');

sub mine {
    my ($data, $scenario, $measure, $size, $pairs) = @_;
    return $data->value($scenario, $pairs || 1, $measure, $size, 'ep');
}

sub quotient {
    my ($above, $below) = @_;
    return defined $above && $below ? $above / $below : undef;
}

sub share_line {
    my ($data, $scenario, $measure, $size, $wanted, $name, @peers) = @_;
    my $best = EpBench::Rma::best_peer($data, $scenario, $measure, $size, @peers);
    return EpBench::Goals::line($WHERE{$scenario}, EpBench::Data::title($measure, $size),
                                $name, $wanted,
                                quotient(mine($data, $scenario, $measure, $size), $best), 0);
}

sub near {
    my ($data, $scenario) = @_;
    my $where = $WHERE{$scenario};
    my $text = join('', map { share_line($data, $scenario, @$_, 'best peer', @EpBench::Rma::PEERS) }
                    @SHARES);
    my ($fence, $barrier) = map { mine($data, $scenario, $_, 0) } qw(wfence barrier);
    $text .= EpBench::Goals::line($where, 'Fence', 'barrier, ns more', $FENCE_NS,
                                  defined $fence && defined $barrier
                                  ? 1e3 * ($fence - $barrier) : undef, 0);
    for my $pair (['wput', 'wcopyto'], ['wget', 'wcopyfrom']) {
        $text .= EpBench::Goals::line($where, EpBench::Data::title($pair->[0], 1048576), 'memcpy',
                                      $COPY, quotient(map { mine($data, $scenario, $_, 1048576) }
                                                      reverse @$pair), 1);
    }
    return $text . EpBench::Goals::line(
        $where, EpBench::Data::title('wfopboth', 8), 'bare atomics', $ATOMIC,
        quotient(map { mine($data, $scenario, $_, 8) } qw(wfopboth watomicboth)), 0);
}

sub far {
    my ($data, $scenario) = @_;
    my $way  = mine($data, $scenario, 'lat', 8);
    my $text = EpBench::Goals::line($WHERE{$scenario}, EpBench::Data::title('wput', 8),
                                    'a round trip', $ROUND_TRIPS{$scenario},
                                    quotient(mine($data, $scenario, 'wput', 8),
                                             defined $way ? 2 * $way : undef), 0);
    return $text . join('', map { share_line($data, $scenario, 'wput', @$_, 'osc/rdma', 'rdma') }
                        @{ $RDMA{$scenario} });
}

sub table {
    my ($data) = @_;
    return "Goals of windows (shares of a time, or as it says): wanted and seen\n" . '=' x 80 . "\n"
        . near($data, 'in')
        . EpBench::Goals::line('inside', 'lock_all, 16 members', 'with 2', $GROWTH,
                               quotient(mine($data, 'in', 'wlockall', 0, $EpBench::Rma::MANY),
                                        mine($data, 'in', 'wlockall', 0)), 0)
        . near($data, 'shm') . far($data, 'created') . far($data, 'tcp');
}

1;
