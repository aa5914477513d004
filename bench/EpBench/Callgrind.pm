#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What callgrind has counted: reads its dumps (with --dump-instr, and nothing compressed), and finds
# the atomic read-modify-write instructions among those that ran.

package EpBench::Callgrind;

use strict;
use warnings;

# A dump of one thread: { name (of the client request), functions => { object => { function =>
# instructions } }, addresses => { object => { address => times } }, where => { object => { address =>
# function } } }; each function's own cost.
sub read_dump
{
    my ($file) = @_;
    my %dump = (name => '', functions => {}, addresses => {}, where => {});
    my ($object, $function, $is_call) = ('', '', 0);

    open my $in, '<', $file or die "$file: $!\n";
    while (my $line = <$in>) {
        if ($line =~ /^0x([0-9a-f]+) \S+ (\d+)$/) {
            if (!$is_call) {
                $dump{functions}{$object}{$function} += $2;
                $dump{addresses}{$object}{ hex $1 } += $2;
                $dump{where}{$object}{ hex $1 } = $function;
            }
            $is_call = 0;       # the line behind calls= has what was spent in the callee
        } elsif ($line =~ /^calls=/) {
            $is_call = 1;
        } elsif ($line =~ /^ob=(.*)$/) {
            $object = $1;
        } elsif ($line =~ /^fn=(.*)$/) {
            $function = $1 =~ /^0x/ ? '(no name)' : $1;
        } elsif ($line =~ /^desc: Trigger: Client Request: (.*)$/) {
            $dump{name} = $1;
        } elsif ($line =~ /^0x|^[+*-]/) {
            die "$file: compressed positions\n";
        }
    }
    close $in;
    return \%dump;
}

# What an instruction must look like, in objdump's words, to be atomic and to read and write memory.
# xchg with memory needs no prefix.  An exclusive store ends the loop of an aarch64 without LSE.
my %ATOMIC = (
    x86_64 => qr/^(?:lock |(?:xacquire |xrelease )*(?:lock )?xchg[bwlq]? .*\()/,
    aarch64 => qr/^(?:cas|swp|ld(?:add|clr|set|eor|[su]max|[su]min)|st(?:add|clr|set|eor)|stl?xr)/,
);

sub knows_atomics
{
    my ($architecture) = @_;

    return exists $ATOMIC{$architecture};
}

# Ranges that hold the addresses, few but without long gaps.
sub _ranges
{
    my @ranges;

    for my $address (sort { $a <=> $b } @_) {
        if (@ranges && $address - $ranges[-1][1] < 65536) {
            $ranges[-1][1] = $address;
        } else {
            push @ranges, [$address, $address];
        }
    }
    return @ranges;
}

# The atomic instructions of an object at these addresses: { address => text }.
my %cache;

sub _atomics_of
{
    my ($architecture, $object, @addresses) = @_;
    my $known = $cache{$object} //= {};

    for my $range (_ranges(grep { !exists $known->{$_} } @addresses)) {
        my %found;

        open my $in, '-|', 'objdump', '-d', '--no-show-raw-insn',
            '--start-address=' . $range->[0], '--stop-address=' . ($range->[1] + 16), $object
            or die "objdump: $!\n";
        while (<$in>) {
            $found{ hex $1 } = $2 if /^\s*([0-9a-f]+):\s+(\S.*?)\s*$/;
        }
        close $in or die "objdump cannot read $object\n";
        for my $address (grep { $range->[0] <= $_ && $_ <= $range->[1] } @addresses) {
            die sprintf("%s: no instruction at 0x%x\n", $object, $address)
                if !defined $found{$address};
            $known->{$address} = $found{$address} =~ $ATOMIC{$architecture} ? $found{$address} : '';
        }
    }
    return { map { $_ => $known->{$_} } grep { '' ne $known->{$_} } @addresses };
}

# The atomic read-modify-write instructions that ran, [object, function, instruction, times] each;
# objects without a file are left out, as are those that leave_out fits.
sub atomics
{
    my ($architecture, $dump, $leave_out) = @_;
    my @atomics;

    for my $object (keys %{ $dump->{addresses} }) {
        my $ran = $dump->{addresses}{$object};

        next if $object =~ $leave_out || !-f $object;
        my $found = _atomics_of($architecture, $object, keys %$ran);
        push @atomics, map { [$object, $dump->{where}{$object}{$_}, $found->{$_}, $ran->{$_}] }
            sort { $a <=> $b } keys %$found;
    }
    return @atomics;
}

1;
