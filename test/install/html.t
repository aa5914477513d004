#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# html.t BUILD-FOLDER: make install-html: all pages and manual pages are there, with their version; all links
# lead somewhere, and nothing is fetched from elsewhere; the search knows all pages; a broken link is an error.
#
# Guards: docs/make-html, docs/Makefile.am

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Find;
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;

my $build = shift // die "usage: html.t BUILD-FOLDER\n";
my $top = abs_path(dirname(__FILE__) . '/../..');
my $tree = dirname(dirname($build)) . '/build';
my $folder = "$build/html";

plan(skip_all => 'no Sphinx with Markdown, or no mandoc (Debian: python3-sphinx, python3-myst-parser, mandoc)')
    if 0 != system(q((python3 -c 'import sphinx, myst_parser' && command -v mandoc) >/dev/null 2>&1));
plan(skip_all => 'no build tree') if !-f "$tree/docs/Makefile";

remove_tree($folder);
make_path($folder);
my $said = `make -s -C '$tree/docs' install-html DESTDIR='$folder/to' htmldir=/doc 2>&1`;
is($?, 0, 'make install-html') or diag(Ept::Build::last_lines($said, 20));
my ($version) = Ept::Build::read_file("$top/configure.ac") =~ /^AC_INIT\(\[.*?\], \[(.*?)\]/m;
ok(-f "$tree/docs/html/$version/index.html", "in a folder of its version, $version");

my %html;
my $root = "$folder/to/doc/html";
find({ no_chdir => 1, wanted => sub {
    $html{ s{^\Q$root\E/}{}r } = Ept::Build::read_file($_) if /\.html$/;
} }, $root);
my @pages = map { s{^\Q$top\E/}{}r =~ s/\.md$//r }
    glob "$top/{*,docs/*,bench/README,examples/README,packaging/README,test/*,test/model/README}.md";
push @pages, map { "man/$_" } qw(epmpirun.1 MPIX_Comm_create_endpoints.3 mpix_endpoints.7);
cmp_ok(scalar(@pages), '>', 40, 'pages');
is(join(' ', grep { !$html{"$_.html"} } @pages), '', 'each is there');
is(join(' ', grep { $html{$_} !~ m{<title>[^<]*Open MPI Endpoints \Q$version\E} } sort keys %html), '',
   'its title has the version');

my (@broken, @foreign);
my $links = 0;
for my $page (sort keys %html) {
    while ($html{$page} =~ /\b(href|src)="([^"]*)"/g) {
        my ($kind, $target) = ($1, $2);

        if ($target =~ /^[a-z]+:/) {
            push @foreign, "$page: $target" if 'src' eq $kind;
            next;
        }
        my ($file, $anchor) = $target =~ /^([^#?]*)[^#]*(?:#(.*))?$/;
        my $path = '' eq $file ? $page : abs_path(dirname("$root/$page") . "/$file") // '';

        $path =~ s{^\Q$root\E/}{};
        $links++;
        push @broken, "$page: $target" if !-e "$root/$path"
            || defined $anchor && '' ne $anchor && $html{$path} && $html{$path} !~ /\bid="\Q$anchor\E"/;
    }
}
cmp_ok($links, '>', 2000, 'links');
is(join("\n", @broken), '', 'each leads somewhere');
is(join("\n", @foreign), '', 'nothing is fetched from elsewhere');
my @drawings = map { basename($_) } glob "$top/docs/*.svg";
is(join(' ', grep { !-f "$root/_images/$_" } @drawings), '', 'the drawings');
like($html{'README.html'}, qr/<div class="highlight-c .*?<span class="/s, 'code in colours');

my ($names) = Ept::Build::read_file("$root/searchindex.js") =~ /"docnames": ?\[(.*?)\]/;
my %known = map { s/"//gr => 1 } split /, ?/, $names // '';
is(join(' ', grep { !$known{$_} } @pages), '', 'the search knows all pages');
ok(-f "$root/_static/searchtools.js", 'and works without others');

# A project of links, in which one page has a broken one.
make_path("$folder/broken");
system("cp -R '$top/docs' '$folder/broken/' && ln -s '$top'/[!d.]* '$folder/broken/'") and fail('a copy');
open my $page, '>>', "$folder/broken/docs/python.md" or die $!;
print $page "\n[nothing](no-page.md#at-all)\n";
close $page;
$said = `'$folder/broken/docs/make-html' '$folder/to' 2>&1`;
isnt($?, 0, 'a broken link is an error');
like($said, qr/python\.md.*no-page\.md/, 'that names it');

done_testing();
