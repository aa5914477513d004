#!/usr/bin/perl
#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# debian.t BUILD-FOLDER: the Debian packages: they build, lintian has nothing to say, and what they
# install runs, in an overlay over this system that nothing stays behind of.  Takes a minute or two.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;

my $build = shift // die "usage: debian.t BUILD-FOLDER\n";
my $top = dirname(dirname(dirname(__FILE__)));
my $tree = dirname(dirname($build)) . '/build';
my $folder = "$build/debian";

my @missing = grep { !Ept::Build::on_path($_) } qw(dpkg-buildpackage dh lintian);
plan(skip_all => "no @missing (Debian: debhelper, dpkg-dev, lintian)") if @missing;
plan(skip_all => 'no build tree') if !-f "$tree/config.status";

sub works
{
    my ($what, $command) = @_;
    my $log = `( $command ) 2>&1`;

    is($?, 0, $what) or diag($log =~ s/.*\n(?=(?:.*\n){40})//sr);
    return $log;
}

remove_tree($folder);
make_path($folder);
works('the source package', "'$top/packaging/debian-source' '$tree' '$folder'");
my ($source) = grep { -d } glob "$folder/openmpi-endpoints-*";
# No wrappers of the build that is being tested: what the package has is to be found.
my $path = 'PATH=/usr/sbin:/usr/bin:/sbin:/bin';
works('dpkg-buildpackage',
      "cd '$source' && env -u PKG_CONFIG_PATH $path DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc");
my @packages = glob "$folder/*.deb";
is(scalar(grep { !/-dbgsym_/ } @packages), 3, 'three packages');
is(works('lintian', "$path lintian --allow-root --fail-on error,warning '$folder'/*.changes"), '',
   'has nothing to say');

# The tests that the package has for autopkgtest, where it is installed.
SKIP: {
    my $overlay = <<'SH';
set -e
mount -t tmpfs ept /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work ept /mnt/root
for dir in /proc /sys /dev; do mount --rbind $dir /mnt/root$dir; done
cp -R "$0" /mnt/root/tmp/packages
exec chroot /mnt/root env -u PKG_CONFIG_PATH -u TMPDIR sh -c "$1"
SH
    my $inside = sub { "$path unshare --mount --propagation unchanged sh -c '$overlay' '$folder' '$_[0]'" };

    skip 'no right to mount an overlay', 2 if 0 != system($inside->('true') . ' >/dev/null 2>&1');
    for my $test (qw(hello ring)) {
        works("autopkgtest $test",
              $inside->('cd /tmp/packages && rm -f *dbgsym* && dpkg -i *.deb >/dev/null'
                  . " && cd openmpi-endpoints-*[0-9] && debian/tests/$test"));
    }
}

done_testing();
