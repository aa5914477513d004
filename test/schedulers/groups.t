#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# groups.t: control groups, as containers and batch systems make them: a job that is granted one core's time, or may
# use one core, knows that.  Where groups of neither version can be made here, it is skipped.
#
# Guards: pml_epml_cores.h, ompi/mpiext/endpoints/tools/epmpirun.in

use strict;
use warnings;

use Test::More;

$ENV{OMPI_MCA_btl_tcp_if_include} = 'lo';

sub write_file
{
    my ($file, $text) = @_;

    open my $out, '>', $file or return 0;
    print $out $text;
    return close $out;
}

sub content
{
    my ($file) = @_;

    open my $in, '<', $file or return '';
    local $/;
    return <$in> // '';
}

# The folder of this process's group that has a controller: of version 1, or of version 2.
sub own_folder
{
    my ($controller) = @_;

    for my $line (split /\n/, content('/proc/self/cgroup')) {
        my ($list, $group) = $line =~ /^\d+:([^:]*):(.*)/ or next;
        for my $mount ('' eq $list ? ('/sys/fs/cgroup', '/sys/fs/cgroup/unified') : "/sys/fs/cgroup/$list") {
            my $folder = "$mount$group" =~ s{/$}{}r;
            return $folder if '' eq $list ? content("$folder/cgroup.subtree_control") =~ /\b$controller\b/
                                          : $list =~ /(?:^|,)$controller(?:,|$)/ && -d $folder;
        }
    }
    return undef;
}

my @made;

END { rmdir for @made }

# make CONTROLLER, FILE => TEXT...: a group with these limits, of those files that it has.  Returns its folder, or undef.
sub make
{
    my ($controller, @files) = @_;
    my $own = own_folder($controller) // return undef;
    my $group = "$own/ept-$$-$controller";

    mkdir $group or return undef;
    push @made, $group;
    while (my ($file, $text) = splice @files, 0, 2) {
        next if !-e "$group/$file";
        write_file("$group/$file", $text eq 'as above' ? content("$own/$file") : $text) or return undef;
    }
    return $group;
}

# What a command prints in a group.
sub in_group
{
    my ($group, $command) = @_;

    return scalar qx(sh -c 'echo \$\$ >"\$0/cgroup.procs" && exec $command' $group 2>&1);
}

chomp(my $all = qx(nproc));
plan(skip_all => 'this machine has one core') if 2 > $all;
my $time = make('cpu', 'cpu.max' => '100000 100000', 'cpu.cfs_period_us' => 100000, 'cpu.cfs_quota_us' => 100000);
my $set = make('cpuset', 'cpuset.mems' => 'as above', 'cpuset.cpus' => 0);
plan(skip_all => 'no right to make control groups') if !defined $time && !defined $set;

my $info = 'epmpirun --oversubscribe -n 1 epinfo --ep 2';
unlike(scalar qx($info 2>&1), qr/^  cores +1 for this process/m, 'without a group: more than one core');
SKIP: {
    skip 'no right to limit the time of cores', 1 if !defined $time;
    like(in_group($time, $info), qr/^  cores +1 for this process, 1 of the node/m, 'the time of one core');
}
SKIP: {
    skip 'no right to limit which cores are used', 2 if !defined $set;
    like(in_group($set, $info), qr/^  cores +1 for this process, 1 of the node/m, 'one core');
    is(in_group($set, 'epmpirun --oversubscribe -n 2 grep Cpus_allowed_list /proc/self/status') =~ s/\s+/ /gr,
       'Cpus_allowed_list: 0 Cpus_allowed_list: 0 ', 'processes are bound to no other one');
}

done_testing();
