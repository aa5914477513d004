# shellcheck shell=bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# A second build, of a commit of this project, for ./ep bench --against.  It is in the folder against
# of $state: the commit's files in source, build, install, and in commit the name of the one there.

# make_against COMMIT: sets $against, where it is installed, as seen inside.
make_against() {
    local name commit folder=$state/against inner
    name=$(git -C "$top" rev-parse --quiet --verify "$1^{commit}") ||
        die "bench --against: $1 is no commit of this project"
    commit="$name $(cat "$state/configured")"
    inner=$(as_seen_inside "$folder") || exit
    against=$inner/install
    [ "$(cat "$folder/commit" 2>/dev/null)" != "$commit" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder/source" "$folder/build" || die "cannot write to $folder"
    git -C "$top" archive "$name" | tar -x -C "$folder/source" || die "cannot take $1 out of git"
    step "generating configure of $1" in_env "$inner/source/autogen.pl" || exit
    step "configuring $1" in_env_at "$inner/build" \
        "$inner/source/configure" -q --prefix="$against" || exit
    step "building $1" in_env_at "$inner/build" make -s -j "$(nproc 2>/dev/null || echo 2)" || exit
    step "installing $1" in_env_at "$inner/build" make -s install || exit
    printf '%s' "$commit" >"$folder/commit"
}

# with_against OPTION...: sets $options to them, with the name of a commit after --against replaced by
# the folder where it is installed.
with_against() {
    options=()
    while [ $# -gt 0 ]; do
        case $1 in
            --against)
                [ $# -ge 2 ] || die "bench --against needs a commit"
                make_against "$2"
                options+=(--against "$against")
                shift ;;
            --against=*)
                make_against "${1#*=}"
                options+=(--against "$against") ;;
            *)
                options+=("$1") ;;
        esac
        shift
    done
}
