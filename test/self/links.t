#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# links.t BUILD-FOLDER: what the pages link to is there, headings included; so is what comments and
# help texts name of docs/, and what pages name of ours; every page is in the tarball, and what else
# is easily left out there; a page is found from the first ones, and no longer than one sitting;
# README.md's example is the one that is tested; drawings are what docs/make-drawings writes.  All of
# what git tracks; where there is no git, of all files but what a build leaves.
#
# Guards: docs, README.md

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Find;
use File::Temp qw(tempdir);
use Test::More;

use Ept::Build;

my $top = abs_path(dirname(__FILE__) . '/../..');
# What a build leaves.
my %SKIP = map { $_ => 1 } qw(.git .ep autom4te.cache bench-results build generated temp);
# Of all other files, those that people write.
my $TEXTS = qr{(?:\.(?:[chmt]|ac|am|in|md|pl|pm|py|sh|txt|[137]|docs)
                  |/ep|/run-\w+|-table|-instructions)$}x;

sub tracked_files
{
    return () if !-e "$top/.git";
    # Whatever user owns the tree.
    return split /\0/, `git -c 'safe.directory=*' -C '$top' ls-files -z 2>/dev/null`;
}

sub found_files
{
    my @files;

    find({ no_chdir => 1, wanted => sub {
        my $name = $_ =~ s{.*/}{}r;
        if (-d $_ && ($SKIP{$name} || -e "$_/config.status")) {
            # A build tree; the top may be one as well.
            $File::Find::prune = 1 if $_ ne $top;
            return;
        }
        push @files, s{^\Q$top\E/}{}r if -f $_ && $name ne 'Makefile.in';
    } }, $top);
    return @files;
}

my @files = grep { -f "$top/$_" } tracked_files();
@files = found_files() if !@files;
my @pages = grep { /\.md$/ } @files;
my @texts = grep { "/$_" =~ $TEXTS } @files;
ok(10 < @pages, scalar(@pages) . ' pages');

# A page without its code: what looks like a link there is none.  $names: but for `names`.
sub prose
{
    my ($text, $names) = @_;

    $text =~ s/^( *)```.*?^\1```//gms;
    $text =~ s/^    .*$//gm;
    return $names ? $text : $text =~ s/`[^`\n]*`/`/gr;
}

# The anchors of a page, as GitHub names them: letters, digits, - and _; the second one of a name
# ends with -1.
my %anchors;
sub anchors
{
    my ($page) = @_;

    return $anchors{$page} if $anchors{$page};
    my (%seen, %found);
    my $text = Ept::Build::read_file("$top/$page") =~ s/^( *)```.*?^\1```//gmsr;
    utf8::decode($text);
    for my $heading ($text =~ /^#+ +(.*?)\s*$/gm) {
        $heading =~ s/\[([^]]*)\]\([^)]*\)/$1/g;
        my $name = lc($heading) =~ s/[^\w -]//gr =~ s/ /-/gr;
        my $n = $seen{$name}++;
        $found{ $n ? "$name-$n" : $name } = $heading;
    }
    return $anchors{$page} = \%found;
}

# "a/b/../c" -> "a/c"
sub plain_path
{
    my @parts;

    for my $part (split m{/}, $_[0]) {
        if ('..' eq $part) {
            pop @parts;
        } elsif ('.' ne $part && length $part) {
            push @parts, $part;
        }
    }
    return join '/', @parts;
}

my @broken;
my $links = 0;
for my $page (@pages) {
    my $text = prose(Ept::Build::read_file("$top/$page"));
    my ($folder) = $page =~ m{^(.*/)};

    for my $target ($text =~ /\]\(\s*<?([^)\s>]+)/g, $text =~ /\b(?:src|href)="([^"]+)"/g) {
        next if $target =~ /^[a-z]+:/;
        my ($file, $anchor) = split /#/, $target, 2;
        my $path = length $file ? plain_path(($folder // '') . $file) : $page;

        $links++;
        if (!-e "$top/$path") {
            push @broken, "$page: $target: no such file";
        } elsif (defined $anchor) {
            utf8::decode($anchor);
            push @broken, "$page: $target: no such heading" if !anchors($path)->{$anchor};
        }
    }
}
ok(100 < $links, "$links links");
is(join("\n", @broken), '', 'each leads somewhere');

# docs/x.md, and with the heading: docs/x.md, "Heading", also over the end of a comment's line.
@broken = ();
my $named = 0;
for my $file (grep { 'test/self/links.t' ne $_ } @texts) {
    my $text = Ept::Build::read_file("$top/$file");

    utf8::decode($text);
    while ($text =~ m{\b(docs/[\w-]+\.(?:md|svg|png))\b(?:,[ \n*#]+"([^"\n]+)")?}g) {
        my ($page, $heading) = ($1, $2);

        $named++;
        if (!-e "$top/$page") {
            push @broken, "$file: $page: no such file";
        } elsif (defined $heading && !grep { $_ eq $heading } values %{ anchors($page) }) {
            push @broken, "$file: $page: no heading \"$heading\"";
        }
    }
}
ok(20 < $named, "$named times a page is named elsewhere");
is(join("\n", @broken), '', 'each is there');

# A name of ours in `code`: a file, or a word of some source.  What parameters and variables there
# are install/files knows; their pages are taken at their word.
my $OURS = qr/(?:mca|(?:pml_|btl_|test_)?ep(?:ml|shm|ofi)?|mpix_endpoints|(?:test_)?hook)/i;
# Functions of others that pages name, and our sources do not.
my $FOREIGN = qr/(?:opal|ompi|btl_tcp|c|coll|map|prte|smr|xnet)_/;
my (%known, @code);
@broken = ();
for my $file (grep { !/\.md$/ || m{^docs/(?:parameters|variables)\.md$} } @texts) {
    my $name = $file =~ s{.*/}{}r;

    $known{$_} = 1 for $name =~ s/\.in$//r, $name =~ s/\.\w+$//r;
    $known{$_} = 1 for Ept::Build::read_file("$top/$file") =~ /\b(?:${OURS}|[a-z]\w*_)\w*/g;
}
for my $page (grep { 'NEWS.md' ne $_ } @pages) {
    for (prose(Ept::Build::read_file("$top/$page"), 1) =~ /`([^`\n]+)`/g) {
        push @code, map { [$page, $_] } /(?<![\w.-])(${OURS}_\w*(?:\.(?:[ch]|m4)\b|\*)?)/g;
        push @code, [$page, $_] if /^[a-z]\w*_\w+$/ && !/^$FOREIGN/;
    }
}
for (@code) {
    my ($page, $name) = @$_;

    # mca_pml_epml_OBJECT_VERB: what a name is made of.
    next if $name =~ /[a-z]/ && $name =~ /[A-Z]/;
    if (my ($start) = $name =~ /(.*)\*$/) {
        push @broken, "$page: $name: nothing begins so" if !grep { /^\Q$start/ } keys %known;
    } elsif (!$known{$name}) {
        push @broken, "$page: $name: no such name in the sources";
    }
}
ok(300 < @code, scalar(@code) . ' times a page names something of ours');
is(join("\n", @broken), '', 'each is in the sources');

# Likewise a path: from the top, from the page, or from a component, whose folders are layers.
my @LAYERED = ('ompi/mca/pml/epml', 'ompi/mca/coll/epcoll', 'ompi/mca/osc/epwin',
               'opal/mca/btl/epshm', 'opal/mca/btl/epofi',
               'ompi/mpiext/endpoints', 'ompi/mpiext/endpoints/c');
my $folders = join '|', map { s{.*/}{}r } grep { -d } map { glob "$top/$_/[a-z]*" } '.', @LAYERED;
my $paths = 0;
@broken = ();
for my $page (grep { 'NEWS.md' ne $_ } @pages) {
    for (prose(Ept::Build::read_file("$top/$page"), 1) =~ /`([^`\n]+)`/g) {
        for my $path (m{(?<![\w./-])((?:\.\./)?(?:$folders)/[\w./*{},-]*[\w*])}g) {
            $paths++;
            push @broken, "$page: $path: no such file"
                if !grep { -e } map { glob "$top/$_/$path" } '.', dirname($page), @LAYERED;
        }
    }
}
ok(50 < $paths, "$paths paths");
is(join("\n", @broken), '', 'each leads somewhere');

# What make dist takes along; a folder without a Makefile.am goes as a whole.
my %of;
push @{ $of{ dirname($_) } }, $_ for @pages, grep { m{^docs/[^/]*\.svg$} } @files;
for my $folder (sort grep { -e "$top/$_/Makefile.am" } keys %of) {
    my $list = Ept::Build::read_file("$top/$folder/Makefile.am");

    $list =~ /(?<![\w-])\Q$_\E(?![\w-])/ or fail("$folder/Makefile.am lacks $_")
        for map { s{.*/}{}r } @{ $of{$folder} };
}
# Likewise headers beside components, folders of tests, and unit tests.
my %folders = map { m{^test/([^/]+)/} ? ($1 => 1) : () } @files;
for (['', 'opal/mca/btl/', grep { m{^opal/mca/btl/[^/]*\.h$} } @files],
     ['test/', '', sort keys %folders],
     ['test/', 'unit/', map { m{^test/unit/(test_\w+)\.c$} } @files]) {
    my ($folder, $prefix, @names) = @$_;
    my $list = Ept::Build::read_file("$top/${folder}Makefile.am");

    is(join(' ', grep { $list !~ m{^\t\Q$prefix$_\E(?![\w-])}m } map { s{.*/}{}r } @names), '',
       "${folder}Makefile.am has all of $prefix");
}

# A page can be read in one sitting, and is found.  A heading stands once in it, so that a link
# stays right when another one comes before it.
my $readme = Ept::Build::read_file("$top/README.md");
my $guide = Ept::Build::read_file("$top/docs/README.md");
my $LINES = 300;
my $PAGES = 38;
@broken = ();
for my $page (sort grep { m{^docs/} } @pages) {
    my ($name) = $page =~ m{([^/]*)$};
    my $lines = () = Ept::Build::read_file("$top/$page") =~ /\n/g;

    push @broken, "$page has $lines lines, more than $LINES: make two of it" if $LINES < $lines;
    push @broken, "$page: docs/README.md does not lead there"
        if 'README.md' ne $name && $guide !~ /\(\Q$name\E[#)]/;
    push @broken, map { "$page: heading \"$_\" is there twice" }
        map { anchors($page)->{$_} }
        grep { /(.*)-\d+$/ && anchors($page)->{$1} } keys %{ anchors($page) };
}
is(join("\n", @broken), '', 'each page of docs/ is short, is found, and has headings of its own');
like($readme, qr{\(docs/README\.md\)}, 'README.md leads to docs/README.md');
cmp_ok(scalar(grep { m{^docs/} && 'docs/README.md' ne $_ } @pages), '<=', $PAGES,
       "at most $PAGES pages: a new subject goes into the page that is about it");

# Drawings are what docs/make-drawings writes.
my $drawn = tempdir(CLEANUP => 1);
system("$top/docs/make-drawings", $drawn) and fail('docs/make-drawings');
is(join(' ', grep { Ept::Build::read_file($_) ne Ept::Build::read_file("$top/docs/" . basename($_)) }
             glob "$drawn/*.svg"),
   '', 'drawings are those of docs/make-drawings');

# What a newcomer reads first.
my ($listing) = $readme =~ /^```c\n(.*?)^```/ms;
my $source = Ept::Build::read_file("$top/examples/hello_endpoints.c");
ok(-1 != index($source, $listing // "\0"), 'its example is that of examples/');

done_testing();
