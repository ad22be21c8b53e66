# SPDX-License-Identifier: BSD-3-Clause
"""Parallel NetCDF-4 and PnetCDF, called through ctypes, in one job: run by netcdf.sh.
argv: "netcdf" or "pnetcdf", and the file of that library."""
import ctypes
import sys
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
ROWS, EACH = 12, 4  # of a dataset; columns of a rank
DOUBLE, INT, CLOBBER = 6, 4, 0


class Handle(ctypes.c_void_p):
    """MPI_Comm and MPI_Info are pointers in Open MPI's binary interface."""


def handle(thing):
    return Handle(ctypes.c_void_p.from_address(MPI._addressof(thing)).value)


class Library:
    """Calls functions whose result says what went wrong, 0 for nothing."""

    def __init__(self, name, prefix):
        self.library, self.prefix = ctypes.CDLL(name), prefix

    def __call__(self, function, *arguments):
        result = getattr(self.library, self.prefix + function)(*arguments)
        if result:
            text = getattr(self.library, self.prefix + "strerror")
            text.restype = ctypes.c_char_p
            raise AssertionError(f"{function}: {text(result).decode()}")


def value(row, column):
    return 100.0 * row + column


def numbers(kind, count, values=()):
    return (kind * count)(*values)


def out_int():
    return ctypes.byref(number := ctypes.c_int(-1)), number


def define(call, file, place):
    dimensions = numbers(ctypes.c_int, 2)
    for i, (name, length) in enumerate(((b"rows", ROWS), (b"columns", EACH * size))):
        at, number = out_int()
        call("def_dim", file, name, place(length), at)
        dimensions[i] = number.value
    variables = []
    for name, kind in ((b"a", DOUBLE), (b"b", INT)):
        at, number = out_int()
        call("def_var", file, name, kind, 2, dimensions, at)
        variables.append(number.value)
    call("put_att_text", file, -1, b"title", place(4), b"test")
    call("enddef", file)
    return variables


def check(got, first):
    """All rows of the columns of a rank, `first` the first of them."""
    wanted = [value(r, c) for r in range(ROWS) for c in range(first, first + EACH)]
    assert list(got) == wanted, (list(got)[:8], wanted[:8])


def netcdf():
    """Each rank's columns: "a" collectively, "b" by each rank itself. Read by the next rank."""
    call, place = Library(sys.argv[2], "nc_"), ctypes.c_size_t
    at, number = out_int()
    call("create_par", b"n.nc", CLOBBER | 0x1000, handle(world), handle(MPI.INFO_NULL), at)  # NC_NETCDF4
    file = number.value
    a, b = define(call, file, place)
    call("var_par_access", file, a, 1)
    call("var_par_access", file, b, 0)
    begin, count = numbers(place, 2, (0, EACH * rank)), numbers(place, 2, (ROWS, EACH))
    mine = [value(r, c) for r in range(ROWS) for c in range(EACH * rank, EACH * rank + EACH)]
    call("put_vara_double", file, a, begin, count, numbers(ctypes.c_double, ROWS * EACH, mine))
    call("put_vara_int", file, b, begin, count, numbers(ctypes.c_int, ROWS * EACH, map(int, mine)))
    call("close", file)
    at, number = out_int()
    call("open_par", b"n.nc", 0, handle(world), handle(MPI.INFO_NULL), at)
    file, first = number.value, EACH * ((rank + 1) % size)
    begin[1] = first
    for variable, kind, name in ((a, ctypes.c_double, "get_vara_double"), (b, ctypes.c_int, "get_vara_int")):
        call("var_par_access", file, variable, 1)
        got = numbers(kind, ROWS * EACH)
        call(name, file, variable, begin, count, got)
        check(got, first)
    call("close", file)


def pnetcdf():
    """"a" collectively; "b" dealt out column by column, in three nonblocking pieces. Read by the next rank."""
    call, place = Library(sys.argv[2], "ncmpi_"), ctypes.c_longlong
    info = MPI.Info.Create()
    info["nc_var_align_size"] = "1"  # so that blocks of the file system belong to both variables
    at, number = out_int()
    call("create", handle(world), b"p.nc", CLOBBER | 0x20, handle(info), at)  # NC_64BIT_DATA
    file = number.value
    a, b = define(call, file, place)
    begin, count = numbers(place, 2, (0, EACH * rank)), numbers(place, 2, (ROWS, EACH))
    mine = [value(r, c) for r in range(ROWS) for c in range(EACH * rank, EACH * rank + EACH)]
    call("put_vara_double_all", file, a, begin, count, numbers(ctypes.c_double, ROWS * EACH, mine))
    requests, states, kept = numbers(ctypes.c_int, 3), numbers(ctypes.c_int, 3), []
    for i in range(3):
        rows = range(4 * i, 4 * i + 4)
        piece = [int(value(r, c)) for r in rows for c in range(rank, EACH * size, size)]
        kept.append((numbers(ctypes.c_int, 4 * EACH, piece), numbers(place, 2, (4 * i, rank)),
                     numbers(place, 2, (4, EACH)), numbers(place, 2, (1, size))))
        data, start, lengths, stride = kept[-1]
        at, number = out_int()
        call("iput_vars_int", file, b, start, lengths, stride, data, at)
        requests[i] = number.value
    call("wait_all", file, 3, requests, states)
    assert list(states) == [0, 0, 0]
    call("close", file)
    at, number = out_int()
    call("open", handle(world), b"p.nc", 0, handle(MPI.INFO_NULL), at)
    file, first = number.value, EACH * ((rank + 1) % size)
    begin[1] = first
    for variable, kind, name in ((a, ctypes.c_double, "get_vara_double_all"), (b, ctypes.c_int, "get_vara_int_all")):
        got = numbers(kind, ROWS * EACH)
        call(name, file, variable, begin, count, got)
        check(got, first)
    call("close", file)
    info.Free()


{"netcdf": netcdf, "pnetcdf": pnetcdf}[sys.argv[1]]()
world.Barrier()
if rank == 0:
    print("all numbers are right")
