# SPDX-License-Identifier: BSD-3-Clause
"""Pools of processes by mpi4py.futures: mpi4py_futures.py POOLS. Each pool starts four workers by MPI_Comm_spawn."""
import os
import sys
import time

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor, MPIPoolExecutor


def square(x):
    return x * x


def where(_):
    time.sleep(0.01)
    return MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size(), MPI.Comm.Get_parent() != MPI.COMM_NULL


def descriptors():
    return len(os.listdir('/proc/self/fd'))


if __name__ == '__main__':
    after = []
    for pool in range(int(sys.argv[1])):
        began = time.time()
        with MPIPoolExecutor(4) as executor:
            assert executor.submit(square, 3).result() == 9
            first = time.time() - began
            assert list(executor.map(square, range(50))) == [x * x for x in range(50)]
            assert sum(executor.starmap(pow, [(2, 3), (3, 2)])) == 17
            places = set(executor.map(where, range(40)))
            assert places == {(rank, size, size == 4) for rank, size, parent in places}, places
            assert all(size == (4 if MPI.COMM_WORLD.Get_size() == 1 else 5) for rank, size, parent in places), places
        after.append(descriptors())
    assert after[-1] <= after[0] + 2, after
    if MPI.COMM_WORLD.Get_size() == 1:
        with MPICommExecutor(MPI.COMM_SELF) as executor:
            assert executor is not None
    print('%d pools are right' % len(after))
