# shellcheck shell=bash
#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# A Debian inside the project folder, made with debootstrap and entered with chroot: Debian 13, that
# has Open MPI 5, or sid, which has Open MPI 6.  Everything is mounted in mount namespaces that end
# with their processes, so nothing is left behind.

packages=(
    # to build
    autoconf automake gcc libc6-dev libtool m4 make pkgconf
    # to build against
    libopenmpi-dev openmpi-bin libfabric-dev libpmix-dev libhwloc-dev libzydis-dev
    # to test, and to compare with
    clang cmake g++ gdb gfortran libclang-rt-dev libtbb-dev perl python3-mpi4py valgrind
    libmpich-dev mpich gnuplot-nox
)

# choose_debian: which one, and in which folder.
choose_debian() {
    sysroot=$state/sysroot
    case ${EP_OMPI-} in
        6) suite=sid debian="Debian sid" ;;
        *) suite=trixie debian="Debian 13" ;;
    esac
}

# Is the Debian in this folder complete, and with all that is wanted today?
is_complete() {
    [ "$(cat "$1/etc/ep-packages" 2>/dev/null)" = "$suite ${packages[*]}" ]
}

# make_sysroot: once; again if the list of packages has changed, or after an interruption.
make_sysroot() {
    local mirror
    is_complete "$sysroot" && return
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
    command -v debootstrap >/dev/null || step "installing debootstrap" install_debootstrap ||
        die "cannot make a $debian without debootstrap"
    step "looking for a mirror" find_mirror || die "no mirror"
    mirror=$(cat "$state/mirror")
    step "making a $debian in ${sysroot#"$top/"} (a minute or two)" bootstrap "$mirror" ||
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

# bootstrap MIRROR: into $sysroot.part.  It is mounted on /mnt, out of the sight of others, because
# debootstrap cannot do with odd characters in a path, and mounts /proc in there for a while.
bootstrap() {
    local include
    include=$(IFS=,; printf '%s' "${packages[*]}")
    export_proxy
    mkdir -p "$sysroot.part"
    if ! LC_ALL=C.UTF-8 unshare --mount --propagation private bash -c '
            mount --bind "$0" /mnt && cd / && exec "$@"' "$sysroot.part" \
            debootstrap --variant=minbase --include="$include" "$suite" /mnt ${1:+"$1"}; then
        tail -n 5 "$sysroot.part/debootstrap/debootstrap.log" 2>/dev/null
        return 1
    fi
    rm -f "$sysroot.part"/var/cache/apt/archives/*.deb
    printf '%s\n' "$suite ${packages[*]}" >"$sysroot.part/etc/ep-packages"
}

# enter_sysroot PATH FOLDER CMD...: become CMD in that Debian, in that folder, with that PATH.
# The project is there under its own path, and under /ep, a path without odd characters.
enter_sysroot() {
    exec unshare --mount --propagation private bash "$top/config/ep/enter.sh" \
        "$sysroot" "$top" "$@"
}
