#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# debian.t BUILD-FOLDER: the Debian packages: they build with what they say that they need, lintian
# has nothing to say, and autopkgtest installs and runs them.  All in an overlay over this system,
# with the tools from its own mirror, that nothing stays behind of.  Takes some minutes.
#
# Guards: packaging/debian

use strict;
use warnings;

use File::Basename qw(basename dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;

my $build = shift // die "usage: debian.t BUILD-FOLDER\n";
my $top = dirname(dirname(dirname(__FILE__)));
my $state = dirname(dirname($build));
my $tree = "$state/build";
my $folder = "$build/debian";
my @tools = qw(autopkgtest debhelper dpkg-dev lintian);
# No wrappers of the build that is being tested: what the package has is to be found.
my $clean = 'env -u PKG_CONFIG_PATH -u TMPDIR PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 '
    . 'DEBIAN_FRONTEND=noninteractive';
my $apt = "$clean apt-get -qq -y --no-install-recommends";

sub works
{
    my ($what, $command) = @_;
    my $log = `( $command ) 2>&1`;

    is($?, 0, $what) or diag(Ept::Build::last_lines($log, 40));
    return $log;
}

# Become COMMAND in an overlay over this system, in which the project is where it is here.
sub in_overlay
{
    my ($command) = @_;
    # In a chroot, where that cannot be asked for, nothing is shared with others.
    my $private = system('unshare --mount --propagation private true 2>/dev/null');
    my $propagation = 0 == $private ? 'private' : 'unchanged';

    return ('unshare', '--mount', '--propagation', $propagation, 'sh', '-c', <<'SH',
set -e
mount -t tmpfs ept /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work ept /mnt/root
for folder in /proc /sys /dev "$@"; do
    mkdir -p "/mnt/root$folder"
    mount --rbind "$folder" "/mnt/root$folder"
done
exec chroot /mnt/root sh -c "$0"
SH
            $command, $top, $state);
}

if (!$ENV{EPT_OVERLAY}) {
    system("command -v apt-get >/dev/null") and plan(skip_all => 'no Debian');
    system(in_overlay('true')) and plan(skip_all => 'no right to mount an overlay');
    plan(skip_all => 'no build tree') if !-f "$tree/config.status";
    $ENV{EPT_OVERLAY} = 1;
    exec in_overlay("exec perl '-I$top/test/lib' '" . __FILE__ . "' '$build'") or die;
}

my $log = `( $apt update && $apt install @tools ) 2>&1`;
plan(skip_all => "no mirror that has @tools") if 0 != $?;

remove_tree($folder);
make_path($folder);
works('the source package', "'$top/packaging/debian-source' '$tree' '$folder'");
my ($source) = grep { -d } glob "$folder/openmpi-endpoints-*";
works('what it says that it needs can be had', "cd / && $apt build-dep '$source'");
works('dpkg-buildpackage',
      "cd '$source' && $clean DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc");
my @packages = grep { !/-dbgsym_/ } glob "$folder/*.deb";
is(scalar(@packages), 4, 'four packages');
is(works('lintian', "$clean lintian --allow-root --fail-on error,warning '$folder'/*.changes"), '',
   'has nothing to say');
SKIP: {
    my ($library) = grep { /libmpix-endpoints0_/ } @packages;

    skip 'not on amd64', 1 if !defined $library || $library !~ /_amd64/;
    like(`$clean dpkg-deb -f '$library' Recommends`, qr/\blibzydis\d/,
         'the disassembler is recommended');
}
works("autopkgtest", "$clean autopkgtest -q @packages '$source' -- null") if @packages;

done_testing();
