# shellcheck shell=bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What git knows and tests ask for: there is no git where they run.

# write_diff COMMIT: into $state/since.diff, what has changed since, with files that git does not know yet.
write_diff() {
    local file=$state/since.diff
    git -C "$top" rev-parse --quiet --verify "$1^{commit}" >/dev/null ||
        die "check --since: $1 is no commit of this project"
    git -C "$top" diff -U0 --no-ext-diff --no-color --src-prefix=a/ --dst-prefix=b/ "$1" >"$file" ||
        die "git cannot compare with $1"
    git -C "$top" ls-files --others --exclude-standard | sed 's|^|+++ b/|' >>"$file"
}

# with_since OPTION...: sets $options to them, with the name of a commit after --since replaced by the
# diff; exports EP_COMMIT, the name of the commit that is checked out.
with_since() {
    EP_COMMIT=$(git -C "$top" describe --always --dirty 2>/dev/null)
    export EP_COMMIT
    options=()
    while [ $# -gt 0 ]; do
        case $1 in
            --since)
                [ $# -ge 2 ] || die "check --since needs a commit"
                write_diff "$2"
                options+=(--diff "$(as_seen_inside "$state/since.diff")")
                shift ;;
            --since=*)
                write_diff "${1#*=}"
                options+=(--diff "$(as_seen_inside "$state/since.diff")") ;;
            *)
                options+=("$1") ;;
        esac
        shift
    done
}
