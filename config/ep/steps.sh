# shellcheck shell=bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Saying what is going on.  All of it goes to stderr: stdout belongs to the command that is run.

say() {
    printf 'ep: %s\n' "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# step TEXT CMD...: run CMD, its output into .ep/log.  Once it has taken longer than a moment,
# show that it goes on, and the last line of its output; at its end, how long it took.
# Returns CMD's status; when that is not 0, the end of the log has been shown.
step() {
    local text=$1 start=$SECONDS log=$state/log next=2 pid rc took last
    shift
    # A process group of its own, so that an interrupt can end all of it.
    set -m
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    set +m
    trap 'kill -TERM -- -'$pid' 2>/dev/null; exit 130' INT TERM HUP
    while kill -0 $pid 2>/dev/null; do
        sleep 0.1
        took=$((SECONDS - start))
        [ $took -ge $next ] || continue
        last=$(tail -n 1 "$log" 2>/dev/null | tr -cd '[:print:]' | cut -c 1-50)
        if [ -t 2 ]; then
            printf '\r\033[Kep: %s, %d s  %s' "$text" $took "$last" >&2
            next=$((took + 1))
        else
            say "$text, $took s  $last"
            next=$((took + 15))
        fi
    done
    wait $pid
    rc=$?
    trap - INT TERM HUP
    took=$((SECONDS - start))
    if [ -t 2 ] && [ $next -gt 2 ]; then
        printf '\r\033[K' >&2
    fi
    if [ $rc -ne 0 ]; then
        say "$text: failed; the end of $log:"
        tail -n 25 "$log" >&2
    elif [ $took -ge 2 ]; then
        say "$text: done, $took s"
    fi
    return $rc
}

# Is a folder, or anything in it, a mount point?  The kernel's list writes odd characters in octal.
in_mountinfo() {
    local folder=$1 point
    while read -r _ _ _ _ point _; do
        printf -v point '%b' "${point//\\/\\0}"
        case $point/ in "$folder"/*) return 0 ;; esac
    done </proc/self/mountinfo
    return 1
}
