#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The parts of --long, each of some twenty minutes at most on two cores, and the table of when each ran
# last, test/LONG.md, which --record keeps.

package Ept::Long;

use strict;
use warnings;

use POSIX qw(strftime);

use Ept::Build;

# The first whose pattern matches a job's name has it.
my @PARTS = (
    [mutations => qr{^mutations/}],
    [packages => qr{^(?:install/(?!tree)|self/)}],
    [tree => qr{^install/tree}],
    [schedulers => qr{^schedulers/}],
    [machines => qr{^unit/.*/aarch64$}],
    [libraries => qr{^library/}],
    [mpich => qr{^mpich/}],
    [checkers => qr{^unit/|tsan|valgrind|^fuzz/}],
    [failures => qr{^(?:death|fault|cut|file_death|win_death|jobs_death|ulfm|last_words|comm_abort|cluster|flood|slow_peer)}],
    [coll => qr{^coll_}],
    [comm => qr{^(?:comm_|create|merge|handles|static_|finalize|client|example/)}],
    [files => qr{^file_}],
    [ranks => qr{^ranks_}],
    [random => qr{^(?:random_traffic|win_random)}],
    [p2p => qr{}],
);

sub parts
{
    return map { $_->[0] } @PARTS;
}

sub part_of
{
    my ($job) = @_;
    my ($part) = grep { $job->{name} =~ $_->[1] } @PARTS;

    return $part->[0];
}

# Of all jobs, those of a part: what runs by default, too, is in none.
sub choose
{
    my ($part, $default, @jobs) = @_;
    my %default = map { $_->{name} => 1 } @$default;

    return grep { !$default{ $_->{name} } && $part eq part_of($_) } @jobs;
}

my $TEXT = <<'END';
# When the parts of `--long` ran last

`./ep check --long=PART --record` keeps this table.

| part | day | commit | jobs | failed | minutes |
|---|---|---|---|---|---|
END

# Put a run into the table: commit (its name, or nothing), jobs, failed (their numbers), seconds.
sub record
{
    my ($file, $part, $run) = @_;
    my %rows = map { /^\| (\w+) \|/ && 'part' ne $1 ? ($1 => $_) : () }
        split /\n/, Ept::Build::read_file($file);

    $rows{$part} = sprintf '| %s | %s | %s | %d | %d | %.0f |', $part, strftime('%Y-%m-%d', localtime),
        $run->{commit} // '?', @$run{qw(jobs failed)}, $run->{seconds} / 60;
    open my $out, '>', $file or die "$file: $!\n";
    print $out $TEXT, map { "$_\n" } grep { defined } map { $rows{$_} } parts();
    close $out;
}

1;
