# shellcheck shell=bash
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Does the machine's own Open MPI serve?  Otherwise: can a Debian be made to work in?

# What the machine lacks, as Debian packages: sets $lacks, empty if nothing; $direct, if its Open MPI
# calls its own functions directly and they cannot be entered; $unfit, if no package helps there.
find_lacks() {
    local mpicc folder found='' versions=${EP_OMPI:-([5-9]|[1-9][0-9])}
    lacks='' direct='' unfit=''
    lack() { case " $lacks " in *" $1 "*) ;; *) lacks="$lacks${lacks:+ }$1" ;; esac; }
    command -v gcc >/dev/null || command -v clang >/dev/null || lack gcc
    command -v make >/dev/null || lack make
    command -v autoconf >/dev/null || lack autoconf
    command -v automake >/dev/null || lack automake
    command -v libtoolize >/dev/null || lack libtool
    command -v pkg-config >/dev/null || lack pkgconf
    command -v prove >/dev/null || lack perl
    pkg-config --exists libfabric 2>/dev/null || lack libfabric-dev
    pkg-config --exists pmix 2>/dev/null || lack libpmix-dev
    pkg-config --exists hwloc 2>/dev/null || lack libhwloc-dev
    command -v mpirun.openmpi >/dev/null || command -v mpirun >/dev/null || lack openmpi-bin
    for mpicc in mpicc mpicc.openmpi; do
        $mpicc --showme:version 2>/dev/null | grep -Eq "Open MPI $versions\." || continue
        for folder in $($mpicc --showme:incdirs); do
            [ -f "$folder/ompi/mca/pml/pml.h" ] || [ -f "$folder/openmpi/ompi/mca/pml/pml.h" ] &&
                found=${found:-$mpicc}
        done
    done
    if [ -z "$found" ]; then
        lack libopenmpi-dev
    elif [ -n "$(calls_of "$found")" ]; then
        case $(uname -m) in
            aarch64) ;;
            x86_64) has_zydis || { direct=yes; lack libzydis-dev; } ;;
            *) direct=yes unfit=yes ;;
        esac
    fi
}

# calls_of MPICC: the library of its Open MPI that calls its own functions directly, if it does.
calls_of() {
    local folder libraries=()
    for folder in $("$1" --showme:libdirs); do
        libraries+=("$folder/libopen_mpi.so" "$folder/libmpi.so")
    done
    "$top/config/direct-calls" "${libraries[@]}" | sed -n 's/^directly //p'
}

# Is there the disassembler that says how to enter such functions, in version 4?
has_zydis() {
    printf '#include <Zydis/Zydis.h>\nZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];\n' |
        "$(command -v gcc || command -v clang)" -fsyntax-only -x c - 2>/dev/null
}

# Sets $mode: native or sysroot.
choose_mode() {
    local problem
    mode=${EP_MODE-}
    case $mode in
        sysroot) return ;;
        native | '') ;;
        *) die "EP_MODE is '$mode', but must be native or sysroot" ;;
    esac
    find_lacks
    problem="this machine lacks Open MPI ${EP_OMPI:-5} or something to build with it; $debian and"
    problem="$problem later: apt-get install $lacks"
    [ -z "$unfit" ] || problem="this machine's Open MPI is linked with -Bsymbolic-functions, for which \
there is no remedy on $(uname -m)"
    if [ -z "$lacks$unfit" ]; then
        mode=native
    elif [ "$mode" = native ]; then
        die "$problem"
    elif [ "$(id -u)" -ne 0 ]; then
        die "$problem; elsewhere: run ./ep as root, which makes a $debian of its own"
    elif ! command -v apt-get >/dev/null && ! command -v debootstrap >/dev/null; then
        die "$problem; elsewhere: install debootstrap, with which ./ep makes a $debian of its own"
    else
        mode=sysroot
        [ -z "$direct" ] || say "working in a $debian of its own: the machine's Open MPI calls its" \
            "own functions directly (-Bsymbolic-functions)${lacks:+, which takes $lacks here}"
    fi
}
