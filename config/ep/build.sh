# shellcheck shell=bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Building into the folder build of $state, installing into install beside it, and running commands
# with the result.

# as_seen_inside FILE: a file of the project, under the path without odd characters by which
# build and tests know the project: autotools and MCA paths cannot do with others.
as_seen_inside() {
    printf '%s' "$(inner_top)${1#"$top"}"
}

# inner_state: likewise $state.
inner_state() {
    as_seen_inside "$state"
}

inner_top() {
    local link
    if [ -n "${EP_INSIDE-}" ]; then
        printf '%s' "$EP_INSIDE"
    elif [ "$mode" = sysroot ]; then
        printf /ep
    elif [[ $top =~ ^[[:alnum:]/._+@%-]+$ ]]; then
        printf '%s' "$top"
    else
        link=${XDG_CACHE_HOME:-$HOME/.cache}/openmpi-endpoints-$(printf '%s' "$top" | cksum |
            tr ' ' -)
        [[ $link =~ ^[[:alnum:]/._+@%-]+$ ]] ||
            die "neither $top nor $link is a path that autotools can work in"
        mkdir -p "${link%/*}" && ln -sfn "$top" "$link" && printf '%s\n' "$link" >"$top/.ep/link" ||
            die "cannot make the link $link"
        printf '%s' "$link"
    fi
}

# in_env CMD...: become CMD with our wrappers in PATH, in the current folder.
in_env() {
    in_env_at "$(pwd -P)" "$@"
}

# in_env_at FOLDER CMD...: likewise, in a folder as it is called inside.
in_env_at() {
    local inner folder=$1
    shift
    [ -z "${EP_INSIDE-}" ] || exec "$@"
    inner=$(inner_state) || exit
    EP_INSIDE=$(inner_top) || exit
    # EP_BUILD: where tests and benchmarks keep the programs that they compile.
    export EP_INSIDE EP_BUILD=$inner/programs EP_OMPI
    export PKG_CONFIG_PATH=$inner/install/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    export PYTHONPATH=$inner/install/lib/python${PYTHONPATH:+:$PYTHONPATH}
    if [ "$(id -u)" -eq 0 ]; then
        # Open MPI asks root to be sure; running ./ep as root is the answer.
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    if [ "$mode" = native ]; then
        cd -- "$folder" || exit
        PATH=$inner/install/bin:$PATH exec "$@"
    fi
    enter_sysroot "$inner/install/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin" \
        "$folder" "$@"
}

# has_newer STAMP [TEST...]: is a source of the installed files, for which find's TEST holds, newer?
has_newer() {
    local stamp=$1
    shift
    [ -f "$stamp" ] || return 0
    [ -n "$(cd "$top" && find configure.ac autogen.pl Makefile.am ./*/Makefile.am config ompi opal \
        \( -path config/generated -o -name Makefile.in \) -prune -o \
        "$@" -newer "$stamp" -print -quit)" ]
}

build_and_install() {
    local inner jobs options made_for generated force
    inner=$(inner_top) || exit
    options="--prefix=$(inner_state)/install --with-python-dir=$(inner_state)/install/lib/python"
    made_for="$mode $inner $options $(cat "$sysroot/etc/ep-packages" 2>/dev/null)"
    if [ "$(cat "$state/installed" 2>/dev/null)" = "$made_for" ] && ! has_newer "$state/installed"
    then
        return
    fi
    [ ! -f "$top/config.status" ] ||
        die "$top itself was configured; run make distclean there first"
    if [ "$(cat "$state/configured" 2>/dev/null)" != "$made_for" ]; then
        rm -rf "$state/build" "$state/install" "$state/configured" "$state/installed"
    fi
    mkdir -p "$state/build" || die "cannot write to $state"

    # Beside the sources, so for all states; a file says for which one it was generated.  Another
    # one may have used other versions of the tools: --force.
    generated=$top/.ep/generated
    if [ ! -x "$top/configure" ] ||
        has_newer "$generated" \( -name '*.am' -o -name '*.ac' -o -name '*.m4' \); then
        force=--force
        [ ! -x "$top/configure" ] || [ "$(cat "$generated" 2>/dev/null)" != "$made_for" ] || force=
        step "generating configure" in_env "$inner/autogen.pl" $force || exit
        printf '%s' "$made_for" >"$generated"
    fi
    # Older than what is about to be read, so that a change in the meantime is not missed.
    printf '%s' "$made_for" >"$state/installed.new"
    if [ ! -f "$state/configured" ] || [ ! -x "$state/build/config.status" ]; then
        # shellcheck disable=SC2086 # words
        step "configuring" in_build "$inner/configure" -q $options || exit
        printf '%s' "$made_for" >"$state/configured"
    fi
    jobs=$(nproc 2>/dev/null || echo 2)
    step "building" in_build make -s -j "$jobs" || exit
    step "installing" in_build make -s install || exit
    mv "$state/installed.new" "$state/installed"
}

in_build() {
    in_env_at "$(inner_state)/build" "$@"
}
