#!/usr/bin/env bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# enter.sh SYSROOT TOP PATH FOLDER CMD...: run by sysroot.sh in a mount namespace of its own.
# Mounts what the sysroot needs and becomes CMD in it.  The machine's own folders, except those that
# a distribution fills, are there under their own names, so that paths mean the same inside.

set -eu
root=$1
top=$2
path=$3
folder=$4
shift 4

bind() {
    mkdir -p "$root$2"
    mount "--$1" "$2" "$root$2"
}

# The folder that holds the sysroot goes first: later it would carry the other mounts along.
first=${top#/}
first=/${first%%/*}
for dir in "$first" /*; do
    case $dir in
        /bin | /boot | /dev | /ep | /etc | /lib* | /lost+found | /proc | /run | /sbin | /sys | \
            /usr | /var) continue ;;
    esac
    if [ -d "$dir" ] && [ ! -L "$dir" ] && ! mountpoint -q "$root$dir"; then
        bind rbind "$dir"
    fi
done
# A project, or a current folder, within one of those left out; but nothing over what the Debian has itself:
# with / as the current folder that would be the machine's own system.
for dir in "$top" "$folder"; do
    if [ -d "$dir" ] && ! [ "$root$dir" -ef "$dir" ] && [ -z "$(ls -A "$root$dir" 2>/dev/null)" ]; then
        bind bind "$dir"
    fi
done
mkdir -p "$root/ep"
mount --bind "$top" "$root/ep"
for dir in /proc /sys /dev; do
    bind rbind "$dir"
done
for file in /etc/resolv.conf /etc/hosts; do
    [ ! -e "$file" ] || cmp -s "$file" "$root$file" || cp -L "$file" "$root$file"
done

# What the machine's own libraries and locales would need has no meaning inside.
unset LD_PRELOAD LD_LIBRARY_PATH LANGUAGE
export PATH=$path LC_ALL=C.UTF-8
exec chroot "$root" /bin/sh -c 'cd -- "$0" && exec "$@"' "$folder" "$@"
