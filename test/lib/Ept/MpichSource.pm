#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Gets MPICH's own tests: the folder test/mpi of Debian's source package mpich, with apt, into the
# build folder.  apt runs on settings of its own there; what the machine's apt knows stays as it is.
# Signatures are checked as always.

package Ept::MpichSource;

use strict;
use warnings;

use File::Path qw(make_path remove_tree);

use Ept::Build;
use Ept::Session;

# The tables in MpichTable.pm were written for the MPICH of the first, 4.0.2.
my @SUITES = qw(bookworm trixie);
my $APT_HELPER = '/usr/lib/apt/apt-helper';
my $TIMEOUT = 300;

# Where packages may come from: what ./ep found out, what apt is set up with.  No other place is
# known here: the machine's own settings say it.
sub _mirrors
{
    my ($top) = @_;
    my @mirrors = map { Ept::Build::read_file($_) =~ m{^(https?://\S+)}m }
        "$top/.ep/mirror", "$top/.ep/ompi6/mirror";
    my $result = Ept::Session::run_command([qw(apt-get --print-uris update)], 30);
    my %seen;

    push @mirrors, $result->{out} =~ m{^'(https?://[^']*/debian)/dists/}mg;
    return grep { !$seen{$_}++ } @mirrors;
}

sub _write
{
    my ($file, $text) = @_;

    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out or die "$file: $!\n";
}

# One attempt: the archive of the upstream source, or nothing.
sub _download
{
    my ($work, $mirror, $suite) = @_;

    remove_tree($work);
    make_path("$work/lists/partial", "$work/cache/archives/partial", "$work/source");
    _write("$work/sources.list", "deb-src $mirror $suite main\n");
    _write("$work/apt.conf", <<"    END" =~ s/^ {8}//gmr);
        Dir::Etc::sourcelist "$work/sources.list";
        Dir::Etc::sourceparts "-";
        Dir::State::lists "$work/lists";
        Dir::Cache "$work/cache";
        Acquire::Languages "none";
        Acquire::Retries "1";
        Acquire::http::Timeout "20";
        APT::Sandbox::User "";
    END
    local $ENV{APT_CONFIG} = "$work/apt.conf";
    for my $command (['apt-get', 'update'],
                     ['sh', '-c', 'cd "$0" && apt-get source --download-only mpich',
                      "$work/source"]) {
        my $result = Ept::Session::run_command($command, $TIMEOUT);
        print STDERR $result->{out}, $result->{err} if $ENV{EPT_VERBOSE};
        return undef if 0 != $result->{status} || $result->{timed_out};
    }
    return (glob "$work/source/mpich_*.orig.tar.*")[0];
}

# The tests only: a twentieth of the whole. apt's helper unpacks what tar alone may not be able to.
sub _unpack
{
    my ($archive, $folder) = @_;
    my $result = Ept::Session::run_command(
        ['sh', '-c', '"$0" cat-file "$1" | tar -x -C "$2" --wildcards "mpich*/test/mpi"',
         $APT_HELPER, $archive, $folder], $TIMEOUT);

    return 0 == $result->{status} && !$result->{timed_out};
}

# Returns the folder with the tests and MPICH's version; without the first, why there is none.
sub get
{
    my ($top, $build) = @_;
    my ($folder, $work) = ("$build/source", "$build/apt");

    if (!-d $folder) {
        return (undef, 'it takes apt to fetch MPICH\'s source') if !Ept::Build::on_path('apt-get');
        my @mirrors = _mirrors($top);
        return (undef, 'apt is set up with no Debian archive to fetch MPICH\'s source from: '
                       . 'add one to its sources, or put its address (http://HOST/debian) '
                       . 'into .ep/mirror')
            if !@mirrors;
        print STDERR "# fetching MPICH's source from Debian\n";
        ATTEMPT: for my $mirror (@mirrors) {
            for my $suite (@SUITES) {
                my $archive = _download($work, $mirror, $suite) // next;
                remove_tree("$folder.part");
                make_path("$folder.part");
                next if !_unpack($archive, "$folder.part");
                rename "$folder.part", $folder or die "$folder: $!\n";
                last ATTEMPT;
            }
        }
        remove_tree($work);
        return (undef, 'MPICH\'s source could not be fetched (no network?)') if !-d $folder;
    }
    my ($tests) = glob "$folder/mpich*/test/mpi";
    return (undef, "$folder does not look like MPICH's tests") if !defined $tests;
    return ($tests, $tests =~ m{/mpich-([^/]+)/test/mpi$});
}

1;
