#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# tsan.t BUILD-FOLDER: of a program under ThreadSanitizer that hands data over by messages, collectives and windows
# nothing is reported, of one with races each of them; compiled with gcc and with clang, by epmpicc, pkg-config
# and CMake, and started as any program is.
#
# Guards: tsan_order.c, tsan_calls.c, tsan_options.c, tsan_openmp.c

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;
use Ept::Installed qw(output);

my $build = shift // die "usage: tsan.t BUILD-FOLDER\n";
my $here = abs_path(dirname(__FILE__));
my $folder = abs_path($build) . '/install-tsan';
my $flags = '-g -O1 -pthread -fsanitize=thread';

my %sources = (
    tsan_right => "'$here/tsan_right.c' '$here/tsan_collectives.c' '$here/tsan_windows.c'",
    tsan_races => "'$here/tsan_races.c'",
);

remove_tree($folder);
make_path($folder);

# Has a compiler its library?
sub has_tsan
{
    my ($cc) = @_;

    return Ept::Build::on_path($cc)
        && 0 == system("echo 'int main(void) { return 0; }' | $cc -fsanitize=thread -x c - -o '$folder/none'"
            . ' 2>/dev/null');
}

# All that is printed, but for the missing symbolizer of clang's.
sub run_in
{
    my ($processes, $program) = @_;

    my $text = output("epmpirun --oversubscribe -n $processes '$folder/$program'");

    return $text =~ s/^==\d+==WARNING: [^\n]*symbolizer![^\n]*\n//mgr;
}

sub is_right
{
    my ($processes, $program, $what) = @_;

    is(run_in($processes, $program), join("\n", ('right') x $processes), "$what: nothing to report");
}

for my $cc (qw(gcc clang)) {
    SKIP: {
        skip "no $cc with ThreadSanitizer", 5 if !has_tsan($cc);
        for my $name (qw(tsan_right tsan_races)) {
            is(output("OMPI_CC=$cc epmpicc $flags $sources{$name} -o '$folder/$name'"), '', "$name, $cc");
        }
        is_right(1, 'tsan_right', "$cc, one process");
        is_right(2, 'tsan_right', "$cc, two");
        my $log = run_in(1, 'tsan_races');
        my @reports = $log =~ /^SUMMARY: ThreadSanitizer: data race/mg;
        cmp_ok(scalar @reports, '>=', 5, "$cc: races are reported") or diag($log);
        next if 'gcc' ne $cc; # clang's has no names without llvm-symbolizer
        like($log, qr/#\d+ race_$_\b/, "that of race_$_") or diag($log) for qw(silence behind root copy post);
    }
}

SKIP: {
    skip 'no gcc with ThreadSanitizer', 2 if !has_tsan('gcc');
    is(output("OMPI_CC=gcc epmpicc -fopenmp $flags '$here/tsan_openmp.c' -o '$folder/openmp'"), '', 'OpenMP');
    is_right(1, 'openmp', 'OpenMP');
}

SKIP: {
    skip 'no ThreadSanitizer', 5 if !has_tsan('cc');
    is(output("cc $flags $sources{tsan_right} -o '$folder/by_pkg'"
              . ' $(pkg-config --variable=tsan mpix_endpoints) $(pkg-config --cflags --libs mpix_endpoints)'
              . ' -Wl,-rpath,$(pkg-config --variable=libdir mpix_endpoints)'), '', 'pkg-config');
    is_right(1, 'by_pkg', 'pkg-config');
    is(output("epmpicc $flags -shared -fPIC $sources{tsan_right} -o '$folder/shared.so'"), '', 'a library');
    unlike(output("nm '$folder/shared.so'"), qr/ D mpix_endpoints_tsan|mpix_tsan_/, 'leaves it to the program');
    skip 'no cmake (Debian: cmake)', 2 if !Ept::Build::on_path('cmake');
    my ($libdir) = split ' ', output('epmpicc --showme:libdirs');
    my $log = output("cmake -S '$here/cmake' -B '$folder/cmake' -DTSAN=yes -DCMAKE_C_FLAGS='$flags'"
        . " -DSOURCE='$here/tsan_right.c;$here/tsan_collectives.c;$here/tsan_windows.c'"
        . " -DCMAKE_PREFIX_PATH='" . dirname($libdir) . "' && cmake --build '$folder/cmake'");
    is($?, 0, 'CMake') or diag($log);
    is_right(1, 'cmake/asks', 'CMake');
}

remove_tree($folder);
done_testing();
