#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# tree.t BUILD-FOLDER: Open MPI from its source, twice: linked with -Bsymbolic-functions, and then
# our components with it; and with our components in its tree (config/overlay), built by its own
# configure and make.  The short selection of the MPI tests runs on both.
#
# The source is Debian's, got by apt, or, if EPT_OMPI_SOURCE names a folder, what is in there, which
# is left as it is.  What building it wants (flex, tools to unpack it) is installed in an overlay
# over this system that nothing stays behind of.  docs/install.md says how long that takes.
#
# Guards: unlinked.c, wrap.c

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;

my $build = shift // die "usage: tree.t BUILD-FOLDER\n";
my $top = dirname(dirname(dirname(__FILE__)));
my $folder = "$build/tree";
my $source = $ENV{EPT_OMPI_SOURCE};
my $clean = 'env -u PKG_CONFIG_PATH -u TMPDIR PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

# As little as the tests want; the libraries are the system's.
my $configure = '--disable-mpi-fortran --disable-oshmem --disable-sphinx --disable-man-pages'
    . ' --disable-io-romio --without-ucx --with-libfabric --with-libevent=external'
    . ' --with-hwloc=external --with-pmix=external --with-devel-headers CFLAGS=-O2';

# Folders that are the same inside.
my @shared = grep { defined } $top, $folder, $source;
my $overlay = <<'SH';
set -e
mount -t tmpfs ept /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work ept /mnt/root
for dir in /proc /sys /dev; do mount --rbind $dir /mnt/root$dir; done
command=$1
shift
for dir; do mkdir -p "/mnt/root$dir"; mount --rbind "$dir" "/mnt/root$dir"; done
exec chroot /mnt/root sh -c "$command"
SH

sub works
{
    my ($what, $command) = @_;
    my $start = time;
    my $log = `( $command ) 2>&1`;
    my $seconds = time - $start;

    is($?, 0, "$what ($seconds s)") or diag(Ept::Build::last_lines($log, 60));
    done_testing(), exit if 0 != $?;
    return $log;
}

sub quoted
{
    return join ' ', map { "'" . s/'/'\\''/gr . "'" } @_;
}

# A command in the overlay.
sub inside
{
    my ($command) = @_;

    return "$clean unshare --mount --propagation unchanged sh -c "
        . quoted($overlay, 'sh', $command, @shared);
}

remove_tree($folder);
make_path($folder);
plan(skip_all => 'no right to mount an overlay')
    if 0 != system(inside('true') . ' >/dev/null 2>&1');

# One way in for all that builds: the packages are installed anew each time.
my $packages = 'flex xz-utils libevent-dev libfabric-dev libpmix-dev libhwloc-dev zlib1g-dev';
my $install = 'export DEBIAN_FRONTEND=noninteractive; { apt-get update && apt-get install -y'
    . " --no-install-recommends $packages; } >'$folder/apt.log' 2>&1"
    . " || { tail '$folder/apt.log'; exit 1; }";
my $fetch = defined $source
    ? "cp -a '$source' '$folder/src'"
    : "sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/ept.list;"
    . " apt-get update; cd '$folder';"
    . ' apt-get -o APT::Sandbox::User=root source --download-only openmpi;'
    . ' mkdir src; tar -xf openmpi_*.orig.tar.* --strip-components 1 -C src';
my $make = 'nice make -s -j "$(nproc)"';
my $sub = 'openpmix,hwloc,libevent';

sub ompi
{
    my ($what, $prefix, $first, $more) = @_;

    works("$what: Open MPI is built",
          inside("set -e; $install; $first; cd '$folder/src';"
              . ' (cd config && autom4te --language=m4sh opal_get_version.m4sh'
              . '  -o opal_get_version.sh);'
              . " ./autogen.pl --force --no-3rdparty $sub;"
              . " mkdir -p '$folder/build'; cd '$folder/build';"
              . " ../src/configure -q --prefix='$folder/$prefix' $configure $more;"
              . " $make; $make install"));
}

# Programs as the tests find them, and the short selection.
sub tests
{
    my ($what, $path, @options) = @_;
    my $log = works("$what: the tests pass",
                    "env -u EPT_RUN_TESTS EP_BUILD='$folder/programs' PATH='$path:$ENV{PATH}'"
                    . " '$top/test/run-tests' @options --quick --no-unit");

    diag(join "\n", grep { /^(?:Files|Result)/ } split /\n/, $log);
}

ompi('directly', 'direct', $fetch, "LDFLAGS='-Wl,-Bsymbolic-functions'");
works('directly: our components are built with it',
      "mkdir '$folder/ours'; cd '$folder/ours' && $clean '$top/configure'"
      . " --with-ompi='$folder/direct' --prefix='$folder/direct-ep' >log 2>&1"
      . " && $clean $make && $clean make -s install"
      . ' && grep "directly.*will be entered" log');
# (mpi4py is linked with the system's Open MPI.)
tests('directly', "$folder/direct-ep/bin:$folder/direct/bin", '--only',
      q('^(?!.*:direct|example/endpoints)'));

# The same build folder: what is the same is not compiled again.
ompi('in the tree', 'tree', "'$top/config/overlay' '$folder/src'", '');
tests('in the tree', "$folder/tree/bin", "--in '$folder/tree'");
done_testing();
