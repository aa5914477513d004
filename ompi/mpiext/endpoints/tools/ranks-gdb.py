#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# For gdb: global variables of ranks that are threads (epmpirun -ranks).  gdb takes a variable that the
# executable and a library define for one, the executable's, which is rank 0's.
#
#     gdb -x ranks-gdb.py ./app
#     (gdb) print $own("name")
#
# Tests: install/ranks_debug

import gdb


def main_of(objfile):
    """The address of main in a file, or None: it is no copy of the program, or has no debug information."""
    symbol = objfile and objfile.lookup_global_symbol("main")
    return int(symbol.value().address) if symbol else None


def distance():
    """From the executable to the copy of it that the selected frame is in, or was called from."""
    here = None
    frame = gdb.selected_frame()
    while frame and here is None:
        symtab = frame.find_sal().symtab
        here = main_of(symtab and symtab.objfile)
        frame = frame.older()
    if here is None:
        raise gdb.GdbError("no frame of a rank that was compiled with -g: select another thread or frame")
    return here - main_of(gdb.objfiles()[0])


class Own(gdb.Function):
    """$own("NAME"): the program's global variable NAME, as the rank of the selected thread has it."""

    def __init__(self):
        super().__init__("own")

    def invoke(self, name):
        name = name.string()
        symbol = gdb.lookup_global_symbol(name)
        if symbol is None:
            raise gdb.GdbError("no global variable " + name)
        address = int(symbol.value().address) + distance()
        return gdb.Value(address).cast(symbol.type.pointer()).dereference()


Own()
