# shellcheck shell=bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The newest peers, for ./ep bench --coll, --rma and --renew: MPICH and Open MPI of a Debian sid, the one
# that --ompi 6 works in.  Where it cannot be had, the comparison does without, and says so.

# want_peers OPTION...: do these options of bench ask for them?  With --against there are peers only
# if they are named.
want_peers() {
    local option all='' named='' against=''
    for option; do
        case $option in
            --coll | --rma | --renew) all=yes ;;
            *threadcomm-new* | *mpich-new* | *xhc* | *acoll*) named=yes ;;
            --against | --against=*) against=yes ;;
            --from | --from=* | -h | --help) return 1 ;;
        esac
    done
    [ -n "$named" ] || { [ -n "$all" ] && [ -z "$against" ]; }
}

# make_peers: that Debian; others may make it at the same time.
make_peers() (
    EP_OMPI=6
    state=$top/.ep/ompi6
    choose_debian
    mkdir -p "$state" || die "cannot write to $top"
    exec 9>"$top/.ep/lock"
    flock 9
    make_sysroot "${packages_for_tests[@]}"
)

# with_peers OPTION...: sets and exports $EP_PEERS, where that Debian is as seen inside.
with_peers() {
    [ -z "${EP_INSIDE-}" ] || return 0      # by a command of ./ep exec: what is there already
    want_peers "$@" || return 0
    if ! make_peers; then
        say "no newer MPICH and Open MPI to compare with than there are already"
        return 0
    fi
    EP_PEERS=$(as_seen_inside "$top/.ep/ompi6/sysroot") || exit
    export EP_PEERS
}
