#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Gets a library of LibraryTable.pm into the build folder: Debian's packages of it, unpacked, and the
# source of its tests.

package Ept::LibrarySource;

use strict;
use warnings;

use File::Path qw(make_path remove_tree);

use Ept::Build;
use Ept::Debian;

my $SUITE = 'trixie';    # that the packages are for: Open MPI 5's

# What is made of templates by the library's own build.
sub _finish
{
    my ($source) = @_;

    for my $template (glob "$source/test/*.h.in") {
        my $header = $template =~ s/\.in$//r;
        my $text = Ept::Build::read_file($template);

        open my $out, '>', $header or die "$header: $!\n";
        print $out $text =~ s/\@srcdir\@/./gr;
        close $out or die "$header: $!\n";
    }
}

# One attempt; everything, or nothing.
sub _fetch
{
    my ($folder, $work, $mirror, $library) = @_;
    my $part = "$folder.part";

    remove_tree($part);
    make_path($part);
    my $archive = Ept::Debian::source($work, $mirror, $library->{suite}, $library->{source}) // return 0;
    Ept::Debian::unpack_source($archive, "$part/source", @{ $library->{wanted} }) or return 0;
    Ept::Debian::packages($work, $mirror, $SUITE, "$part/root", $library->{run}, $library->{develop})
        or return 0;
    _finish($_) for glob "$part/source/*";
    remove_tree($folder);
    rename $part, $folder or die "$folder: $!\n";
    return 1;
}

# Returns the folder with the source, and the one that stands for / to the packages; or undef, and
# why there is none.
sub get
{
    my ($top, $build, $name, $library) = @_;
    my ($folder, $work) = ("$build/$name", "$build/apt");

    if (!-d $folder) {
        return (undef, 'it takes apt to fetch it') if !Ept::Build::on_path('apt-get');
        my @mirrors = Ept::Debian::mirrors($top);
        return (undef, 'apt is set up with no Debian archive to fetch it from') if !@mirrors;
        print STDERR "# fetching $name and its tests from Debian\n";
        for my $mirror (@mirrors) {
            last if _fetch($folder, $work, $mirror, $library);
        }
        remove_tree($work);
        return (undef, "$name could not be fetched (no network?)") if !-d $folder;
    }
    my ($source) = glob "$folder/source/*";
    return ($source, "$folder/root");
}

1;
