#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# awk -v least=NUMBER -f wrappers.awk mpi.h mpiext_endpoints_c.h: for each function that these headers
# declare with a communicator by value, a definition in C, under its MPI_ and its PMPI_ name, that calls
# the next one of that name with what the communicator is in the calling thread (world.h); and the table
# of these (world_wrappers).  mpi.h is Open MPI's own or the MPI ABI's.  Fails if there are fewer than NUMBER
# functions: then the headers are not written as they were.
#
# Tests: world_c

BEGIN {
    print "#include \"world/world.h\""
    print "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\""
    # The first two are about the names themselves, the next two in world_special.c, and macros of MPI-1.
    split("MPI_Comm_c2f MPI_Comm_toint MPI_Attr_get MPI_Comm_get_attr MPI_Errhandler_get MPI_Errhandler_set",
          words, " ")
    for (i in words) {
        left_out[words[i]] = 1
    }
}

# The line without comments, texts and what the preprocessor takes.
function code(line,    out, at) {
    if (in_directive || (!in_comment && line ~ /^[ \t]*#/)) {
        in_directive = line ~ /\\$/
        return ""
    }
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    out = ""
    while (line != "") {
        at = index(line, in_comment ? "*/" : "/*")
        if (!in_comment) {
            out = out (at ? substr(line, 1, at - 1) " " : line)
        }
        if (!at) {
            break
        }
        line = substr(line, at + 2)
        in_comment = !in_comment
    }
    sub(/\/\/.*/, "", out)
    return out
}

# A declaration up to its semicolon: TYPE NAME(PARAMETERS) and what may follow.
function declaration(text,    name, type, rest, n, i, list, word, arguments, own, asks) {
    gsub(/[ \t]+/, " ", text)
    sub(/^.*[{}]/, "", text)
    if (!match(text, /[^A-Za-z0-9_]MPIX?_[A-Za-z0-9_]+ ?\(/)) {
        return
    }
    type = substr(text, 1, RSTART)
    name = substr(text, RSTART + 1, RLENGTH - 2)
    sub(/ $/, "", name)
    rest = substr(text, RSTART + RLENGTH)
    if (type ~ /[=(]|typedef/ || name in left_out || name in seen) {
        return
    }
    sub(/\).*/, "", rest)
    n = split(rest, list, ",")
    arguments = own = asks = ""
    for (i = 1; i <= n; ++i) {
        word = list[i]
        sub(/(\[[^]]*\])+ *$/, "", word)
        sub(/ +$/, "", word)
        if (!match(word, /[A-Za-z0-9_]+$/)) {
            return
        }
        word = substr(word, RSTART)
        arguments = arguments (i > 1 ? ", " : "") word
        if (list[i] ~ /^ *MPI_Comm [A-Za-z0-9_]+ *$/) {
            asks = asks (asks == "" ? "" : " || ") "world_is(" word ")"
            word = "world_of(" word ")"
        }
        own = own (i > 1 ? ", " : "") word
    }
    if (asks != "") {
        seen[name] = 1
        gsub(/OMPI_DECLSPEC|MPIX_ENDPOINTS_DECLSPEC|extern/, "", type)
        define(type, name, rest, arguments, asks, own)
        define(type, "P" name, rest, arguments, asks, own)
        ++count
    }
}

function define(type, name, parameters, arguments, asks, own) {
    names[++defined] = name
    gsub(/^ +| +$/, "", type)
    printf "WORLD_FUNCTION(%s, %s,\n    (%s),\n    (%s),\n    %s,\n    next_%s(%s))\n",
        type, name, parameters, arguments, asks, name, own
}

FNR == 1 {
    pending = ""
    in_comment = in_directive = 0
}

{
    pending = pending " " code($0)
    while ((at = index(pending, ";")) > 0) {
        declaration(substr(pending, 1, at - 1))
        pending = substr(pending, at + 1)
    }
}

END {
    if (count < least) {
        print "wrappers.awk: only " count + 0 " functions with a communicator, of " least " at least" >"/dev/stderr"
        exit 1
    }
    print "const world_next_t world_wrappers[] = {"
    for (i = 1; i <= defined; ++i) {
        print "    WORLD_ENTRY(" names[i] "),"
    }
    print "    {NULL, NULL}};"
}
