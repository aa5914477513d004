#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# awk -v make=WHAT -f bindings.awk mpiext_endpoints_c.h calls.txt: what Fortran has, of the constants of
# the one and the calls of the other.  WHAT is
#
#   c          the functions that Fortran's calls lead to, in C: c/fortran/fortran.h has their names
#   mpifh      what mpif-ext.h says, for fixed and free form
#   usempi     the interfaces of module mpix_endpoints
#   usempif08  those of mpix_endpoints_f08
#   names      the names of the calls
#   man        the calls as manual pages show them (-v only=NAME: this one alone)
#
# In all of them an INTEGER or LOGICAL is passed as its address, a handle as that of its INTEGER (all that
# a handle of mpi_f08 has), an array as that of its first element, and an ierror that is absent as NULL
# (configure has tried that).  So one function in C serves the three.
#
# Tests: install/fortran, fortran_calls

function hex(text,    value, i) {
    for (i = 3; i <= length(text); ++i) {
        value = 16 * value + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
    }
    return value
}

# Sets name, result ("" for a subroutine), target, n, and arg, type, out, count: of each argument.
function parse(    i, first, parts) {
    name = $1
    result = "->" == $2 ? $3 : ""
    target = "=" == $2 ? $3 : "P" name
    first = "" != result || "=" == $2 ? 4 : 2
    n = 0
    for (i = first; i <= NF; ++i) {
        split($i, parts, ":")
        arg[++n] = parts[1]
        type[n] = parts[2]
        out[n] = parts[3]
        count[n] = ""
        if (match(type[n], /\(.*\)$/)) {
            count[n] = substr(type[n], RSTART + 1, RLENGTH - 2)
            type[n] = substr(type[n], 1, RSTART - 1)
        }
        if (!(type[n] in in_c)) {
            print FILENAME ":" FNR ": " name " has an argument of no type: " $i >"/dev/stderr"
            failed = 1
            exit 1
        }
    }
}

function is_handle(t) {
    return t in f2c
}

function joined(    i, text) {
    for (i = 1; i <= n; ++i) {
        text = text arg[i] ", "
    }
    return text
}

# ---- C -------------------------------------------------------------------------------------------

function parameters(    i, text) {
    for (i = 1; i <= n; ++i) {
        text = text ("address" == type[i] ? "MPI_Aint *" : "MPI_Fint *") arg[i] ", "
    }
    return text "MPI_Fint *ierror"
}

# What C gets, made before the call.
function declared(i) {
    if ("" != count[i]) {
        return in_c[type[i]] " *c_" arg[i] " = mpix_endpoints_fortran_array(*" count[i] ", sizeof(*c_" \
            arg[i] "));"
    }
    if (is_handle(type[i])) {
        return in_c[type[i]] " c_" arg[i] " = " ("out" == out[i] ? "0" : f2c[type[i]] "(*" arg[i] ")") ";"
    }
    return in_c[type[i]] " c_" arg[i] " = (" in_c[type[i]] ") *" arg[i] ";"
}

# What Fortran gets, after it.
function returned(i,    from) {
    from = "c_" arg[i]
    if ("" != count[i]) {
        return "for (MPI_Fint i = 0; i < *" count[i] "; ++i) {\n            " arg[i] "[i] = " \
            c2f[type[i]] "(" from "[i]);\n        }"
    }
    if (is_handle(type[i])) {
        return "*" arg[i] " = " c2f[type[i]] "(" from ");"
    }
    if ("logical" == type[i]) {
        return "*" arg[i] " = mpix_endpoints_fortran_logical(" from ");"
    }
    return "*" arg[i] " = (" ("address" == type[i] ? "MPI_Aint" : "MPI_Fint") ") " from ";"
}

function subroutine_in_c(    i, lower, call, text) {
    lower = tolower(name)
    printf "\nstatic void %s_c(%s)\n{\n", lower, parameters()
    for (i = 1; i <= n; ++i) {
        print "    " declared(i)
        if ("" != count[i] && "" == out[i]) {
            printf "    for (MPI_Fint i = 0; NULL != c_%s && i < *%s; ++i) {\n        c_%s[i] = %s(%s[i]);\n    }\n", \
                arg[i], count[i], arg[i], f2c[type[i]], arg[i]
        }
    }
    for (i = 1; i <= n; ++i) {
        call = call (1 < i ? ", " : "") ("" != out[i] && "" == count[i] ? "&" : "") "c_" arg[i]
    }
    printf "    int code = %s(%s);\n\n", target, call
    for (i = 1; i <= n; ++i) {
        if ("" != out[i]) {
            text = text "        " returned(i) "\n"
        }
    }
    if ("" != text) {
        printf "    if (MPI_SUCCESS == code) {\n%s    }\n", text
    }
    for (i = 1; i <= n; ++i) {
        if ("" != count[i]) {
            print "    mpix_endpoints_fortran_free(c_" arg[i] ");"
        }
    }
    print "    mpix_endpoints_fortran_end(ierror, code);\n}"
    names_in_c(lower "_c", 1)
}

function function_in_c(    lower, value) {
    lower = tolower(name)
    value = is_handle(result) ? c2f[result] "(" target "())" : target "()"
    printf "\nstatic MPI_Fint %s_c(void)\n{\n    return %s;\n}\n", lower, value
    names_in_c(lower "_c", !is_handle(result))
    if (is_handle(result)) {
        printf "\nstatic mpix_endpoints_fortran_handle_t %s_struct(void)\n{\n", lower
        printf "    return (mpix_endpoints_fortran_handle_t){.MPI_VAL = %s_c()};\n}\n", lower
        printf "MPIX_ENDPOINTS_FORTRAN_NAME(%s_f08, %s_struct);\n", short_name(), lower
    }
}

function short_name() {
    return substr(tolower(name), 6)
}

function names_in_c(of, has_f08) {
    printf "MPIX_ENDPOINTS_FORTRAN_NAMES(%s, %s, %s);\n", short_name(), toupper(short_name()), of
    if (has_f08) {
        printf "MPIX_ENDPOINTS_FORTRAN_NAMES(%s_f08, %s_F08, %s);\n", short_name(), \
            toupper(short_name()), of
    }
}

# ---- Fortran -------------------------------------------------------------------------------------

function declaration(t, f08) {
    if ("logical" == t) {
        return "logical"
    }
    if ("address" == t) {
        return "integer(kind=MPI_ADDRESS_KIND)"
    }
    return f08 && is_handle(t) ? "type(" f08_type[t] ")" : "integer"
}

# The types that an interface takes from elsewhere.
function imports(f08, indent,    i, t, seen, text) {
    for (i = 0; i <= n; ++i) {
        t = 0 == i ? result : type[i]
        t = "address" == t ? "MPI_ADDRESS_KIND" : f08 && is_handle(t) ? f08_type[t] : ""
        if ("" != t && !(t in seen)) {
            seen[t] = 1
            text = text ("" == text ? "" : ", ") t
        }
    }
    return "" == text ? "" : indent "import :: " text "\n"
}

function one_argument(i, f08) {
    return declaration(type[i], f08) ", intent(" ("" == out[i] ? "in" : out[i]) ") :: " arg[i] \
        ("" == count[i] ? "" : f08 ? "(" count[i] ")" : "(*)")
}

# An interface, generic name and all.
function interface(generic, f08,    i, own) {
    own = f08 ? generic "_f08" : generic
    print "\n  interface " generic
    if ("" != result) {
        printf "    function %s()%s result(it)\n", own, \
            f08 && is_handle(result) ? " bind(C, name=\"" tolower(own) "\")" : ""
        printf "%s      implicit none\n      %s :: it\n    end function %s\n", imports(f08, "      "), \
            declaration(result, f08), own
    } else {
        printf "    subroutine %s(%sierror)\n%s      implicit none\n", own, joined(), imports(f08, "      ")
        for (i = 1; i <= n; ++i) {
            print "      " one_argument(i, f08)
        }
        printf "      integer, %sintent(out) :: ierror\n    end subroutine %s\n", f08 ? "optional, " : "", own
    }
    print "  end interface " generic
}

function mpifh(own) {
    print "      external " own
    if ("" != result) {
        print "      " declaration(result, 0) " " own
    }
}

# ---- manual pages --------------------------------------------------------------------------------

# One after another of the same kind are in one line.
function man(f08,    i, text) {
    if ("" != result) {
        print declaration(result, f08) " function " name "()"
        return
    }
    print "call " name "(" joined() "ierror)"
    for (i = 1; i <= n; ++i) {
        text = one_argument(i, f08)
        while (i < n && "" count[i] count[i + 1] == "" && type[i] == type[i + 1] && out[i] == out[i + 1]) {
            text = text ", " arg[++i]
        }
        print "    " text
    }
    print "    integer, " (f08 ? "optional, " : "") "intent(out) :: ierror"
}

# ---- all -----------------------------------------------------------------------------------------

BEGIN {
    in_c["int"] = in_c["logical"] = "int"
    in_c["address"] = "MPI_Aint"
    split("comm MPI_Comm group MPI_Group info MPI_Info request MPI_Request endpoint MPIX_Endpoint", t, " ")
    for (i = 1; i in t; i += 2) {
        in_c[t[i]] = f08_type[t[i]] = t[i + 1]
        f2c[t[i]] = "P" t[i + 1] "_f2c"
        c2f[t[i]] = "P" t[i + 1] "_c2f"
    }
    c2f["int"] = "" # of an array
    about = "Made of calls.txt and mpiext_endpoints_c.h by bindings.awk."
    if ("c" == make) {
        print "/* " about " */\n\n#include \"ompi/mpiext/endpoints/c/fortran/fortran.h\""
    } else if ("usempi" == make || "usempif08" == make) {
        print "! " about "\n"
    }
}

# The constants: those of the header that have a value.
/^#define MPIX_[A-Z_]+ 0x[0-9a-f]+$/ {
    if ("mpifh" == make) {
        printf "      integer %s\n      parameter (%s=%d)\n", $2, $2, hex($3)
    } else if ("usempi" == make || "usempif08" == make) {
        printf "  integer, parameter :: %s = %d\n", $2, hex($3)
    }
}

FILENAME !~ /calls\.txt$/ || /^#/ || /^[ \t]*$/ { next }

{
    parse()
    if ("c" == make) {
        if ("" != result) {
            function_in_c()
        } else {
            subroutine_in_c()
        }
    } else if ("mpifh" == make) {
        mpifh(name)
        mpifh("P" name)
    } else if ("usempi" == make || "usempif08" == make) {
        interface(name, "usempif08" == make)
        interface("P" name, "usempif08" == make)
    } else if ("names" == make) {
        print name
    } else if ("man" == make && ("" == only || only == name)) {
        man(1)
    }
}

END { exit failed }
