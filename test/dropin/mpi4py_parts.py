# SPDX-License-Identifier: BSD-3-Clause
"""What mpi4py users do, in one job: run by mpi4py.sh and mpi4py_newest.sh."""
import mpi4py
mpi4py.rc.thread_level = "multiple"
from array import array
import os
import threading
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size


def ints(*values):
    return array("i", values)


def pickled_objects():
    thing = {"rank": rank, "list": list(range(1000)), "text": "x" * 5000}
    got = world.sendrecv(thing, right, source=left)
    assert got["rank"] == left and got["list"][-1] == 999
    assert world.bcast(thing, 0)["rank"] == 0
    assert [t["rank"] for t in world.allgather(thing)] == list(range(size))
    assert world.allreduce({rank}, op=lambda a, b: a | b) == set(range(size))
    assert world.scan([rank]) == list(range(rank + 1))
    assert world.alltoall([(rank, r) for r in range(size)]) == [(r, rank) for r in range(size)]
    assert world.scatter([r * r for r in range(size)] if rank == 0 else None) == rank * rank


def buffers():
    got, status = ints(*[-1] * 5), MPI.Status()
    world.Sendrecv(ints(*range(rank, rank + 5)), right, 3, got, left, MPI.ANY_TAG, status)
    assert list(got) == list(range(left, left + 5))
    assert (status.source, status.tag, status.Get_count(MPI.INT)) == (left, 3, 5)
    big, sent = array("d", [0]) * 300000, array("d", [rank]) * 300000
    MPI.Request.Waitall([world.Irecv(big, left), world.Isend(sent, right)])
    assert big[0] == big[-1] == left
    total = ints(0)
    world.Allreduce(ints(rank), total)
    assert total[0] == size * (size - 1) // 2
    everybody = ints(*[-1] * size)
    everybody[rank] = rank
    world.Allgather(MPI.IN_PLACE, [everybody, 1, MPI.INT])
    assert list(everybody) == list(range(size))
    counts = [r + 1 for r in range(size)]
    parts = ints(*[-1] * sum(counts))
    world.Allgatherv(ints(*[rank] * (rank + 1)), [parts, counts])
    assert list(parts) == [r for r in range(size) for _ in range(r + 1)]
    requests = [world.Send_init(ints(rank), right, 9), world.Recv_init(got, left, 9)]
    for _ in range(3):
        got[0] = -1
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        assert got[0] == left
    for request in requests:
        request.Free()


def datatypes():
    column = MPI.INT.Create_vector(4, 1, 4).Create_resized(0, 4).Commit()
    matrix, turned = ints(*range(16)), ints(*[0] * 16)
    MPI.COMM_SELF.Sendrecv([matrix, 4, column], 0, 0, turned, 0, 0)
    assert list(turned) == [4 * i + j for j in range(4) for i in range(4)]
    packed = bytearray(MPI.INT.Pack_external_size("external32", 4))
    MPI.INT.Pack_external("external32", ints(1, 2, 3, 4), packed, 0)
    assert packed == b"".join(v.to_bytes(4, "big") for v in (1, 2, 3, 4))
    assert column.Get_envelope()[-1] == MPI.COMBINER_RESIZED
    column.Free()


def communicators():
    half = world.Split(rank % 2, -rank)
    assert half.size == (size + 1 - rank % 2) // 2
    twin, request = world.Idup()
    request.Wait()
    assert MPI.Comm.Compare(world, twin) == MPI.CONGRUENT and twin.allreduce(1) == size
    key = MPI.Comm.Create_keyval(copy_fn=lambda comm, key, value: value + 1)
    twin.Set_attr(key, 41)
    again = twin.Dup()
    assert again.Get_attr(key) == 42
    info = MPI.Info.Create()
    info["a"] = "b"
    again.Set_info(info)
    assert dict(info.items()) == {"a": "b"}
    group = world.group.Incl([0])
    assert (world.Create(group) == MPI.COMM_NULL) == (rank > 0)
    if size > 1:
        between = half.Create_intercomm(half.size - 1, world, 1 - rank % 2, 5)
        assert between.remote_size == size - half.size
        assert between.allgather(rank) == sorted(range(1 - rank % 2, size, 2), reverse=True)
        assert between.Merge(rank % 2 == 1).size == size
    ring = world.Create_cart([size], [True])
    assert ring.neighbor_allgather(rank) == [left, right]


def files():
    name = f"mpi4py.{world.bcast(os.getpid(), 0)}.data"
    file = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE)
    assert file.amode & MPI.MODE_RDWR and file.size == 0 and file.group.size == size
    assert file.info["cb_buffer_size"].isdigit()
    every = MPI.INT.Create_vector(1, 1, 1).Create_resized(0, 4 * size).Commit()
    file.Set_view(4 * rank, MPI.INT, every)
    assert file.Get_view()[0] == 4 * rank and file.Get_byte_offset(2) == 4 * (rank + 2 * size)
    file.Write_at_all(0, ints(*range(rank, 10 * size, size)))
    file.Sync()
    file.Set_view(0, MPI.INT, MPI.INT)
    got, status = ints(*[-1] * 10 * size), MPI.Status()
    file.Iread_at(0, got).Wait(status)
    assert list(got) == list(range(10 * size)) and status.Get_count(MPI.INT) == 10 * size
    file.Seek_shared(0)
    file.Write_ordered(ints(*[rank] * (rank + 1)))
    assert file.Get_position_shared() == size * (size + 1) // 2
    file.Seek(0)
    file.Read_all_begin(got)
    file.Read_all_end(got)
    assert size < 2 or list(got[:3]) == [0, 1, 1]
    file.Set_view(0, MPI.INT, MPI.INT, "external32")
    file.Write_at_all(rank, ints(rank + 1))
    file.Set_view(0, MPI.BYTE, MPI.BYTE)
    big = bytearray(4)
    file.Read_at_all(4 * rank, big)
    assert big == (rank + 1).to_bytes(4, "big")
    file.Preallocate(1000)
    file.Set_size(500)
    assert file.Get_size() == 500
    file.Set_atomicity(True)
    assert file.Get_atomicity()
    file.Close()
    try:
        MPI.File.Open(world, name, MPI.MODE_RDONLY)
    except MPI.Exception as error:
        assert error.Get_error_class() == MPI.ERR_NO_SUCH_FILE and name in error.Get_error_string()
    else:
        raise AssertionError("the file was not deleted")
    world.Barrier()
    every.Free()


def windows():
    window = MPI.Win.Allocate(8 * size, 8, comm=world)
    own = memoryview(window.tomemory()).cast("B").cast("q")
    for r in range(size):
        own[r] = -1
    window.Fence()
    window.Put(array("q", [rank]), right, [rank, 1, MPI.INT64_T])
    window.Fence()
    assert own[left] == left and list(own).count(-1) == size - 1
    got = array("q", [-1])
    window.Lock(right, MPI.LOCK_SHARED)
    window.Get([got, MPI.INT64_T], right, [rank, 1, MPI.INT64_T])
    window.Unlock(right)
    assert got[0] == rank
    window.Fence()
    own[0] = 0
    window.Fence()
    window.Accumulate(array("q", [rank + 1]), 0, [0, 1, MPI.INT64_T], MPI.SUM)
    window.Fence()
    assert rank > 0 or own[0] == size * (size + 1) // 2
    del own
    window.Free()
    shared = MPI.Win.Allocate_shared(4 if rank == 0 else 0, 4, comm=world)
    memory, unit = shared.Shared_query(0)
    if rank == 0:
        memoryview(memory).cast("B").cast("i")[0] = 2026
    shared.Fence()
    assert unit == 4 and memoryview(memory).cast("B").cast("i")[0] == 2026
    shared.Free()


def errors():
    try:
        world.Send(ints(1), size)
    except MPI.Exception as error:
        assert error.Get_error_class() == MPI.ERR_RANK
    else:
        raise AssertionError("a wrong rank was taken")
    world.Set_errhandler(MPI.ERRORS_ARE_FATAL)
    world.Set_errhandler(MPI.ERRORS_RETURN)


def threads():
    comms = [world.Dup() for _ in range(3)]
    wrong = []

    def talk(comm, number):
        for i in range(50):
            got = ints(-1)
            comm.Sendrecv(ints(rank * number + i), right, i, got, left, i)
            if got[0] != left * number + i:
                wrong.append(i)
    workers = [threading.Thread(target=talk, args=(c, n)) for n, c in enumerate(comms, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def generalized_requests():
    said = []
    request = MPI.Grequest.Start(lambda status: said.append("query"), lambda: said.append("free"),
                                 lambda completed: said.append("cancel"))
    assert not request.Test()
    request.Complete()
    request.Wait()
    assert said == ["query", "free"]


for part in (pickled_objects, buffers, datatypes, communicators, files, windows, errors, threads, generalized_requests):
    part()
    world.Barrier()
if rank == 0:
    print("all parts are right")
