# SPDX-License-Identifier: BSD-3-Clause
"""What h5py users do on parallel HDF5, in one job: run by h5py.sh."""
import os
import numpy
from mpi4py import MPI
import h5py

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
ROWS = 12


def opened(mode, info=None):
    return h5py.File("h5py.h5", mode, driver="mpio", comm=world, info=info or MPI.INFO_NULL)


def value(row, column):
    return 1000.0 * row + column


def whole(columns):
    return numpy.array([[value(r, c) for c in range(columns)] for r in range(ROWS)])


def written_in_columns():
    """Each rank has every size-th column: one dataset in one piece, one in chunks, one compressed."""
    columns = 5 * size
    info = MPI.Info.Create()
    info["cb_buffer_size"] = "65536"
    mine = whole(columns)[:, rank::size]
    with opened("w", info) as file:
        assert file.driver == "mpio"
        for name, options in (("plain", {}), ("chunks", {"chunks": (5, 3)}),
                              ("small", {"chunks": (4, 4), "compression": "gzip"})):
            data = file.create_dataset(name, (ROWS, columns), ">f8" if name == "plain" else "f8", **options)
            with data.collective:
                data[:, rank::size] = mine
        file.attrs["ranks"] = size
    info.Free()


def read_back():
    columns = 5 * size
    with opened("r") as file:
        assert file.attrs["ranks"] == size
        for name in ("plain", "chunks", "small"):
            data = file[name]
            with data.collective:
                part = data[1:, 5 * rank:5 * rank + 5]
            assert (part == whole(columns)[1:, 5 * rank:5 * rank + 5]).all(), name
            assert (data[...] == whole(columns)).all(), name  # each rank by itself
            assert data[rank, columns - 1] == value(rank, columns - 1)


def appended():
    """A dataset that grows, rows of each rank by itself; the others stay."""
    with opened("a") as file:
        data = file.create_dataset("grows", (size, 300), "i4", maxshape=(None, 300), chunks=(1, 300))
        data[rank] = numpy.arange(300) + rank
        data.resize((2 * size, 300))
        data[size + rank] = numpy.arange(300) - rank
    with opened("r") as file:
        data = file["grows"][...]
        for r in range(size):
            assert (data[r] == numpy.arange(300) + r).all() and (data[size + r] == numpy.arange(300) - r).all()
        assert sorted(file) == ["chunks", "grows", "plain", "small"]


def atomic():
    """In atomic mode what a rank has written is seen by the next one without more."""
    with h5py.File("atomic.h5", "w", driver="mpio", comm=world) as file:
        assert not file.atomic
        file.atomic = True
        assert file.atomic
        data = file.create_dataset("turns", (size + 1,), "i8")
        data[rank] = 0
        world.Barrier()
        if rank == 0:
            data[0] = 1
        for turn in range(size):
            if turn == rank:
                data[rank + 1] = data[rank] + 1
            world.Barrier()
        assert list(data[...]) == list(range(1, size + 2))


def several_open():
    """Files of one rank each beside a file of all, and a file that is not there."""
    with opened("r") as file, h5py.File(f"own.{rank}.h5", "w", driver="mpio", comm=MPI.COMM_SELF) as own:
        own["copy"] = file["plain"][...]
    with h5py.File(f"own.{rank}.h5", "r", driver="mpio", comm=MPI.COMM_SELF) as own:
        assert (own["copy"][...] == whole(5 * size)).all()
    try:
        h5py.File("none.h5", "r", driver="mpio", comm=world)
    except OSError as error:
        assert 'cannot open "none.h5" on host' in str(error)  # what MPI_Error_string says
    else:
        raise AssertionError("a file that does not exist was opened")


for part in (written_in_columns, read_back, appended, atomic, several_open):
    part()
    world.Barrier()
if rank == 0:
    print("all parts are right", sorted(os.listdir(".")))
