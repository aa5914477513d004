#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# A test that runs on the nodes of lib/cluster, for test/schedulers: it starts itself there, and looks for what is
# left behind.

package Ept::Nodes;

use strict;
use warnings;

use Exporter qw(import);
use File::Temp;
use FindBin;
use Test::More;
use Time::HiRes qw(sleep);

our @EXPORT_OK = qw(on_nodes compile on_each expected_ranks left_of is_gone);

my $LIB = "$FindBin::Bin/../lib";
my $MARK = 'EPT_NODES_MARK';

# The processes that still have the mark in their environment.
sub _left
{
    my ($mark) = @_;
    my @left;

    for my $file (glob '/proc/[0-9]*/environ') {
        open my $in, '<', $file or next;
        my $text = do { local $/; <$in> } // '';
        my ($pid) = $file =~ m{/(\d+)/};
        push @left, $pid if $pid != $$ && $text =~ /(?:^|\0)\Q$mark\E\0/;
    }
    return @left;
}

# on_nodes LAYOUT, MISSING, COMMAND...: run the test that calls this on the first node, with COMMAND before it.
# Returns there only; a test is skipped where MISSING says why, or there can be no nodes.
sub on_nodes
{
    my ($layout, $missing, @command) = @_;

    return if defined $ENV{EPT_CLUSTER};
    chomp(my $words = qx($^X \Q$LIB/cluster\E --check 2>&1));
    plan(skip_all => "no right to make network namespaces: $words") if 0 != $?;
    plan(skip_all => $missing) if '' ne $missing;
    my $temp = File::Temp->newdir('ept-nodes-XXXXXX', TMPDIR => 1);
    local $ENV{TMPDIR} = $temp->dirname;
    local $ENV{$MARK}  = "$$";
    # (run-tests has Open MPI use the loopback; Debian's Open MPI 6 has it in its file of parameters.)
    delete local $ENV{OMPI_MCA_btl_tcp_if_include};
    local $ENV{OMPI_MCA_mca_base_param_files} = '/dev/null';
    # With numbers of their own, processes all end with the first of them, also those that have become daemons.  That
    # is a shell, which waits for the children of others, too: a daemon may wait until they are gone.
    open my $out, '-|', qw(unshare --pid --fork --kill-child --mount-proc --propagation unchanged),
        'sh', '-c', '"$@"; exit $?', 'sh', "$LIB/cluster", $layout, @command, $^X, "-I$LIB", $0, @ARGV
        or die "cluster: $!\n";
    print "    $_" while <$out>;
    close $out;
    is($?, 0, 'all is right on the nodes');
    my @left;
    for (1 .. 100) {
        last if !(@left = _left("$MARK=$$"));
        sleep 0.1;
    }
    is("@left", '', 'no process is left');
    is(join(' ', map { s{.*/}{}r } glob $temp->dirname . '/*'), '', 'no file is left');
    done_testing();
    exit 0;
}

# compile FOLDER, COMPILER, SOURCE, OPTION...: a program of the project's.  Returns its path.
sub compile
{
    my ($folder, $compiler, $source, @options) = @_;
    my ($name) = $source =~ m{([^/]+)\.c$};

    0 == system $compiler, '-O1', '-o', "$folder/$name", map({ "$FindBin::Bin/$_" } $source), @options
        or die "$compiler $source failed\n";
    return "$folder/$name";
}

# What a job that runs a program of this name has on the nodes, or has left there: processes, also of the launcher, the
# launcher's folders, files in shared memory.
sub left_of
{
    my ($program) = @_;
    my @processes = grep { m{/(?:\Q$program\E|prted|prterun)$} } map { readlink "$_/exe" // () } glob '/proc/[0-9]*';
    my @files = map { split ' ', qx($LIB/cluster-ssh $_ ls /dev/shm) } qw(ept-a ept-b ept-c);

    return join ' ', (map { s{.*/}{}r } @processes, glob "$ENV{TMPDIR}/prte*"), @files;
}

# is_gone PROGRAM, WHAT: such a job leaves nothing.  The launcher's daemons may end after the job.
sub is_gone
{
    my ($program, $what) = @_;
    my $left;

    for (1 .. 600) {
        last if '' eq ($left = left_of($program));
        sleep 0.1;
    }
    is($left, '', $what);
}

# What places.c prints with so many ranks on each host, of those that follow each other.
sub on_each
{
    my ($each, @hosts) = @_;
    my $size = $each * @hosts;

    return join "\n", sort map { "rank $_ of $size on $hosts[$_ / $each], sum $size" } 0 .. $size - 1;
}

# What examples/hello_endpoints.c prints.
sub expected_ranks
{
    my ($size) = @_;

    return join "\n", sort map { "Hello from rank $_ of $size" } 0 .. $size - 1;
}

1;
