#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Gets MPICH's own tests: the folders test/mpi and src/mpi/romio/test of Debian's source package
# mpich, into the build folder.

package Ept::MpichSource;

use strict;
use warnings;

use File::Path qw(remove_tree);

use Ept::Build;
use Ept::Debian;

# The tables in MpichTable.pm were written for the MPICH of the first, 4.0.2.
my @SUITES = qw(bookworm trixie);
# The tests only: a twentieth of the whole.
my @WANTED = ('mpich*/test/mpi', 'mpich*/src/mpi/romio/test');

sub _is_there
{
    my ($folder) = @_;
    my ($romio) = glob "$folder/mpich*/src/mpi/romio/test";

    return defined $romio;
}

# Two of ROMIO's are to be made by its configure, which knows how printf names a long long.
sub _finish
{
    my ($folder) = @_;

    for my $template (glob "$folder/mpich*/src/mpi/romio/test/*.c.in") {
        my $source = $template =~ s/\.in$//r;
        open my $out, '>', $source or die "$source: $!\n";
        print $out Ept::Build::read_file($template) =~ s/\@LL\@/lld/gr;
        close $out or die "$source: $!\n";
    }
}

# Returns the folder with the tests and MPICH's version; without the first, why there is none.
sub get
{
    my ($top, $build) = @_;
    my ($folder, $work) = ("$build/source", "$build/apt");

    if (!_is_there($folder)) {
        return (undef, 'it takes apt to fetch MPICH\'s source') if !Ept::Build::on_path('apt-get');
        my @mirrors = Ept::Debian::mirrors($top);
        return (undef, 'apt is set up with no Debian archive to fetch MPICH\'s source from: '
                       . 'add one to its sources, or put its address (http://HOST/debian) '
                       . 'into .ep/mirror')
            if !@mirrors;
        print STDERR "# fetching MPICH's source from Debian\n";
        ATTEMPT: for my $mirror (@mirrors) {
            for my $suite (@SUITES) {
                my $archive = Ept::Debian::source($work, $mirror, $suite, 'mpich') // next;
                remove_tree("$folder.part");
                next if !Ept::Debian::unpack_source($archive, "$folder.part", @WANTED);
                _finish("$folder.part");
                remove_tree($folder);
                rename "$folder.part", $folder or die "$folder: $!\n";
                last ATTEMPT;
            }
        }
        remove_tree($work);
        return (undef, 'MPICH\'s source could not be fetched (no network?)') if !_is_there($folder);
    }
    my ($tests) = glob "$folder/mpich*/test/mpi";
    return (undef, "$folder does not look like MPICH's tests") if !defined $tests;
    return ($tests, $tests =~ m{/mpich-([^/]+)/test/mpi$});
}

1;
