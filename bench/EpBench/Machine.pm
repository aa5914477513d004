# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What a run was on: the machine and the versions, in machine.txt.

package EpBench::Machine;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use POSIX qw(strftime);

use EpBench::Ways;

sub first_line {
    my ($command) = @_;
    my ($line) = split(/\n/, `$command 2>/dev/null` || '');
    return $line // 'unknown';
}

# Of this source tree: its version, and the commit if it is known.
sub endpoints_version {
    my $top = abs_path(dirname(__FILE__) . '/../..');
    my ($version) = map { /^AC_INIT\(\[[^]]*\], \[([^]]*)\]/ ? $1 : () }
        EpBench::Ways::lines("$top/configure.ac");
    my $commit = first_line("git -C '$top' describe --always --dirty");
    my $known = $commit =~ /^[\w.-]+$/ && 'unknown' ne $commit;
    return ($version // 'unknown') . ($known ? " ($commit)" : '');
}

# What write wrote, for the captions of plots.
sub read {
    my ($path) = @_;
    return { map { /^([\w ]+):\s+(.*\S)/ ? ($1 => $2) : () } EpBench::Ways::lines($path) };
}

# Of the Debian with newer peers: [name, version].
sub newer_versions {
    my @versions;
    for my $peer (['MPICH', 'mpich-new', 'mpichversion'],
                  ['Open MPI', 'ompi-new', 'mpirun.openmpi --version']) {
        my ($name, $program, $ask) = @$peer;
        my $tool = EpBench::Ways::tools()->{$program};
        next if $tool->{missing};
        my $enter = join(' ', map { "'$_'" } @{ $tool->{enter} });
        my ($version) = first_line("$enter $ask") =~ /(\d\S*)$/;
        push(@versions, ["newer $name", $version // 'unknown']);
    }
    return @versions;
}

sub write {
    my ($path, $option) = @_;
    open(my $file, '>', $path) or die "$path: $!\n";
    my ($model) = map { /^model name\s*:\s*(.*)/ ? $1 : () } EpBench::Ways::lines('/proc/cpuinfo');
    my @mpi = EpBench::Ways::find_ompi();
    print $file 'date:     ', strftime('%Y-%m-%d %H:%M:%S %z', localtime), "\n",
        'cores:    ', $option->{cores}, "\n", 'cpu:      ', $model // 'unknown', "\n",
        'kernel:   ', (POSIX::uname())[2], "\n",
        'Open MPI: ', @mpi ? first_line("'$mpi[1]' --version") : 'none', "\n",
        'MPICH:    ', (EpBench::Ways::on_path('mpichversion')
                       ? first_line('mpichversion') : 'none'), "\n",
        ($option->{coll} || $option->{rma} ? map { "$_->[0]: $_->[1]\n" } newer_versions() : ()),
        'endpoints: ', endpoints_version(), "\n",
        'rounds:   ', $option->{rounds}, ', ', $option->{budget}, " ms per figure\n";
    close($file);
    return;
}

1;
