#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# messages.t BUILD-FOLDER: docs/troubleshooting.md has each text of the help files once, by its beginning, and
# no text that the sources do not print.
#
# Guards: docs/troubleshooting.md

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

use Ept::Build;

my $top = abs_path(dirname(__FILE__) . '/../..');

# What a printf writes as a page has it.
sub shown
{
    return $_[0] =~ s/%(?:[-0-9.]*(?:ll|[lzh])?[a-z])/…/gr =~ s/\s+/ /gr =~ s/^ | $//gr;
}

# "file [topic]" => text, but for those that are only somebody else's text.
my %texts;
for my $file (split /\n/, `find '$top/ompi' '$top/opal' -name 'help-*.txt'`) {
    my ($name) = $file =~ m{([^/]*)$};
    my $text = Ept::Build::read_file($file) =~ s/^#.*\n//gmr;

    $texts{"$name [$1]"} = shown($2) while $text =~ /^\[(.*)\]\n((?:(?!\[).*\n)+)/mg;
}
delete @texts{ grep { '…' eq $texts{$_} } keys %texts };
cmp_ok(scalar(keys %texts), '>', 60, 'texts in help files');

# The other texts are in sources, perhaps in pieces: "..." "..." or f"..." with {} in C and Python.
my $sources = shown(join "\n", map { Ept::Build::read_file($_) =~ s/"\s*f?"//gr =~ s/\{[^{}\n]*\}/…/gr }
    glob "$top/ompi/mpiext/endpoints/{c/base/*.c,ranks/*/*.c,python/*.py}");

my (%rows, @unknown);
my $page = Ept::Build::read_file("$top/docs/troubleshooting.md");
for my $section (split /^(?=## )/m, $page) {
    my ($title) = $section =~ /^## (.*)/ or next;

    next if 'The launcher and Open MPI' eq $title;
    for my $row ($section =~ /^\| `([^`]*)`/mg) {
        my $words = $row =~ s/^RuntimeE\w+: |^RuntimeW\w+: //r;
        my @topics = grep { 0 == index $texts{$_}, $row } keys %texts;

        push @{ $rows{$_} }, $row for @topics;
        push @unknown, "$title: $row"
            if 1 < @topics || 15 > length $row || !@topics && -1 == index $sources, $words;
    }
}
is(join("\n", @unknown), '', 'each row is a text of ours');
is(join("\n", map { "$_: $texts{$_}" } grep { 1 != @{ $rows{$_} // [] } } sort keys %texts), '',
   'each text has its row');

done_testing();
