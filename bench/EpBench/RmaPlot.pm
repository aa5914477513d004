# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The plot of what Rma.pm has measured: times of small operations and of epochs beside the peers'.

package EpBench::RmaPlot;

use strict;
use warnings;

use File::Copy qw(copy);

use EpBench::Plot;
use EpBench::Ways;

my @OPERATIONS = (['wput', 'put'], ['wget', 'get'], ['wfop', 'fetch, add'], ['wcas', 'swap'],
                  ['wacc', 'accumulate']);
my @EPOCHS = (['wlockshared', 'lock shared'], ['wlockexcl', 'exclusive'], ['wlockall', 'lock all'],
              ['wfence', 'fence'], ['wpscw', 'post to wait']);

# Scenario, title, points.
my @PANELS = (
    ['in', 'Two threads of a process: 8 B and flush', @OPERATIONS],
    ['in', 'Two threads of a process: epochs', @EPOCHS],
    ['shm', 'Two processes, allocated: 8 B and flush', @OPERATIONS],
    ['created', 'Two processes, created: 8 B and flush', @OPERATIONS],
);

# What the panels ask of the data, in ns.
sub EpBench::RmaPlot::Ns::figure {
    my ($self, @at) = @_;
    my $figure = $self->{data}->figure(@at) or return;
    return { map { $_ => 1e3 * $figure->{$_} } qw(median min max) };
}

# File's name => input of gnuplot.  Peers are processes in each panel.
sub figures {
    my ($data) = @_;
    local $EpBench::Ways::WAY{proc} = { %{ $EpBench::Ways::WAY{proc} }, title => 'osc/sm' };
    local $EpBench::Ways::WAY{rdma} = { %{ $EpBench::Ways::WAY{rdma} }, title => 'osc/rdma' };
    my $ns = bless({ data => $data }, 'EpBench::RmaPlot::Ns');
    my @panels = grep { length } map {
        my ($scenario, $title, @points) = @$_;
        EpBench::Plot::bar_panel(
            $ns, $scenario, 1, $title, ['ns', 'log'],
            map { [$_->[0], ($data->sizes(scenario => $scenario, pairs => 1,
                                          measure => $_->[0]))[0] // 0, $_->[1]] } @points)
    } @PANELS;
    return () if @panels < @PANELS;
    return (windows => EpBench::Plot::figure(
        $data, 'in', \@EpBench::Plot::ORDER,
        { title => 'Windows: MPI endpoints and their peers (less is better)',
          note => 'Peers are two processes in each panel.' }, @panels));
}

# The page docs/windows.md has the plot of a whole run.
sub renew {
    my ($docs, $out) = @_;
    copy("$out/windows.svg", "$docs/windows-times.svg") or die "$out/windows.svg: $!\n";
    return;
}

1;
