# shellcheck shell=bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# A Debian inside the project folder, made with debootstrap and entered with chroot: Debian 13, that
# has Open MPI 5, or sid, which has Open MPI 6.  Everything is mounted in mount namespaces that end
# with their processes, so nothing is left behind.

packages=(
    # to build
    autoconf automake gcc gfortran libc6-dev libtool m4 make perl pkgconf
    # to build against
    libopenmpi-dev openmpi-bin libfabric-dev libpmix-dev libhwloc-dev libzydis-dev
)
# Installed as well when they are first needed: to test, and to compare with.
packages_for_tests=(
    clang cmake g++ gdb libclang-rt-dev libtbb-dev python3-mpi4py valgrind
    libfabric-bin libmpich-dev mpich gnuplot-nox
)
packages_for_html=(python3-sphinx python3-myst-parser mandoc)
# For tests of schedulers and launchers (--long=schedulers); systemd-standalone-sysusers in place of systemd.
packages_for_schedulers=(
    munge openssh-client openssh-server slurm-client slurmctld slurmd systemd-standalone-sysusers
)

# choose_debian: which one, and in which folder.
choose_debian() {
    sysroot=$state/sysroot
    case ${EP_OMPI-} in
        6) suite=sid debian="Debian sid" ;;
        *) suite=trixie debian="Debian 13" ;;
    esac
}

# lacking FOLDER PACKAGE...: those that have not been installed in the Debian in this folder, in $lacking; all,
# if it is none, or an unfinished or another one.
lacking() {
    local package have=
    [ ! -f "$1/etc/ep-packages" ] ||
        have=" $(cat "$1/etc/ep-packages" "$1/etc/ep-packages-added" 2>/dev/null | tr '\n' ' ')"
    shift
    [[ $have = " $suite "* ]] || have=
    lacking=()
    for package; do
        [[ $have = *" $package "* ]] || lacking+=("$package")
    done
}

is_complete() {
    local lacking
    lacking "$1" "${packages[@]}"
    [ ${#lacking[@]} -eq 0 ]
}

# make_sysroot PACKAGE...: once, and what it lacks of these packages; again if the list of those that it must
# have has changed, or after an interruption.
make_sysroot() {
    local lacking
    if ! is_complete "$sysroot"; then
        make_debian || exit
    fi
    lacking "$sysroot" "$@"
    [ ${#lacking[@]} -eq 0 ] ||
        step "installing ${#lacking[@]} more packages in ${sysroot#"$top/"}: compilers, debuggers, MPICH (a minute)" \
            add_packages "$sysroot" "${lacking[@]}" || die "run ./ep again to try again"
}

make_debian() {
    local mirror
    [ "$(id -u)" -eq 0 ] || die "only root can make a $debian to work in"
    unshare --mount true 2>/dev/null || die "this machine does not let root mount anything (a" \
        "container?), which a $debian to work in needs; install Open MPI ${EP_OMPI:-5} instead"
    if in_mountinfo "$state"; then
        die "something is mounted in $state: see findmnt, unmount it, then try again"
    fi
    if is_complete "$sysroot.part"; then
        # What an earlier ./ep started went on to its end after that was killed.
        rm -rf "$sysroot" && mv "$sysroot.part" "$sysroot" && return
    fi
    step "removing an unfinished or older Debian" rm -rf "$sysroot" "$sysroot.part" ||
        die "could not remove it"
    command -v debootstrap >/dev/null ||
        step "installing debootstrap on this machine, the only thing outside .ep" install_debootstrap ||
        die "cannot make a $debian without debootstrap"
    step "looking for a mirror" find_mirror || die "no mirror"
    mirror=$(cat "$state/mirror")
    step "making a $debian in ${sysroot#"$top/"} (a minute)" bootstrap "$mirror" ||
        die "no $debian; run ./ep again to try again"
    mv "$sysroot.part" "$sysroot" || die "could not rename $sysroot.part"
}

install_debootstrap() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends debootstrap && return
    apt-get update && apt-get install -y --no-install-recommends debootstrap
}

# The mirror that apt is set up with and that has our suite, into .ep/mirror; nothing, which means
# debootstrap's own default, if there is none.  apt itself is asked, since its settings can be
# written in many ways, and fetches, since it knows about proxies.
find_mirror() {
    local uri file=$state/InRelease
    : >"$state/mirror"
    while read -r uri; do
        rm -f "$file"
        if /usr/lib/apt/apt-helper download-file "$uri/dists/$suite/InRelease" "$file" &&
            grep -q '^Origin: Debian$' "$file"; then
            printf '%s\n' "$uri" >"$state/mirror"
            break
        fi
    done < <(apt-get --print-uris update 2>/dev/null |
             sed -nE "s|^'(https?://[^']*)/dists/.*|\1|p" | sort -u)
    rm -f "$file"
}

# What the machine's apt fetches through, for programs that do not ask it.
export_proxy() {
    local proxy=
    eval "$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null)"
    [ -z "$proxy" ] || export http_proxy=$proxy
}

# What nobody reads in there is left out, and nothing is forced to the disk: it can be made again.
dpkg_options=(force-unsafe-io path-exclude=/usr/share/{doc,info,locale,man}/\*)

# bootstrap MIRROR: into $sysroot.part.  It is mounted on /mnt, out of the sight of others, because
# debootstrap cannot do with odd characters in a path, and mounts /proc in there for a while.  Most packages
# are left to apt, which takes half the time.
bootstrap() {
    local root=$sysroot.part options=$sysroot.part/etc/dpkg/dpkg.cfg.d/ep
    export_proxy
    mkdir -p "${options%/*}" && printf '%s\n' "${dpkg_options[@]}" >"$options" || return
    if ! LC_ALL=C.UTF-8 unshare --mount --propagation private bash -c '
            mount --bind "$0" /mnt && cd / && exec "$@"' "$root" \
            debootstrap --variant=minbase "$suite" /mnt ${1:+"$1"}; then
        tail -n 5 "$root/debootstrap/debootstrap.log" 2>/dev/null
        return 1
    fi
    rm "$options"       # packages of ours that are tried in there have all their files
    # A mirror may be one of https.
    [ ! -f /etc/ssl/certs/ca-certificates.crt ] || [ -e "$root/etc/ssl/certs/ca-certificates.crt" ] ||
        install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" || return
    add_packages "$root" "${packages[@]}" && rm "$root/etc/ep-packages-added" &&
        printf '%s\n' "$suite ${packages[*]}" >"$root/etc/ep-packages"
}

# add_packages FOLDER PACKAGE...: to the Debian in there; also after an interruption.  A mirror may have stood
# still for long, which debootstrap does not mind either.
add_packages() {
    local root=$1 options="-q -oAPT::Sandbox::User=root -oAcquire::Check-Date=false"
    shift
    options="$options -oAcquire::Check-Valid-Until=false ${dpkg_options[*]/#/-oDPkg::Options::=--}"
    export_proxy
    (enter "$root" /usr/sbin:/usr/bin:/sbin:/bin "$top" sh -ec '
        options=$1
        shift
        export DEBIAN_FRONTEND=noninteractive
        # No package starts its daemon.
        printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d
        chmod 755 /usr/sbin/policy-rc.d
        dpkg --configure -a
        apt-get update $options
        apt-get install -y --no-install-recommends $options "$@"
        apt-get clean' - "$options" "$@") &&
        printf '%s\n' "$@" >>"$root/etc/ep-packages-added"
}

# enter_sysroot PATH FOLDER CMD...: become CMD in that Debian, in that folder, with that PATH.
# The project is there under its own path, and under /ep, a path without odd characters.
enter_sysroot() {
    enter "$sysroot" "$@"
}

# enter ROOT PATH FOLDER CMD...: likewise, in the Debian of that folder.
enter() {
    local root=$1
    shift
    exec unshare --mount --propagation private bash "$top/config/ep/enter.sh" "$root" "$top" "$@"
}
