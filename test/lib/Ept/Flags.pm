#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The compiler's flags of a distribution: those that packaging/debian/rules asks dpkg-buildflags for.

package Ept::Flags;

use strict;
use warnings;

use POSIX ();

my %BRANCHES = (x86_64 => '-fcf-protection', aarch64 => '-mbranch-protection=standard');

# Debian 13's, for a machine without dpkg-dev: what dpkg-buildflags prints there, but for paths.
sub _known
{
    my $branches = $BRANCHES{ (POSIX::uname())[4] };

    return (qw(-g -O2 -Werror=implicit-function-declaration -fstack-protector-strong
               -fstack-clash-protection -Wformat -Werror=format-security),
            $branches // (), qw(-Wdate-time -D_FORTIFY_SOURCE=2));
}

# Warnings are errors, except with Open MPI 6: that Debian's compiler changes by itself.
sub distribution
{
    my $ask = 'DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get';
    my @flags = map { split } map { `$ask $_ 2>/dev/null` } qw(CFLAGS CPPFLAGS);

    return (@flags ? @flags : _known(), '6' eq ($ENV{EP_OMPI} // '') ? () : '-Werror');
}

1;
