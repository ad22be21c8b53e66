#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CuPy arrays in calls of mpi4py: they stay on the GPU, MPI gets their addresses there.

    mpirun -n 4 python3 device_sum.py

Before each call the stream that writes the array is awaited: MPI does not wait for it.
"""
import sys

from mpi4py import MPI

try:
    import cupy
    devices = cupy.cuda.runtime.getDeviceCount()
except Exception as missing:  # no CuPy, or no device
    if MPI.COMM_WORLD.rank == 0:
        print(f"device_sum: skipped, no GPU for CuPy here ({type(missing).__name__})")
    sys.exit(0)

world = MPI.COMM_WORLD
cupy.cuda.Device(world.rank % devices).use()
stream = cupy.cuda.get_current_stream()

mine = cupy.arange(1_000_000, dtype='float64') * (world.rank + 1)
all_of_them = cupy.empty_like(mine)
stream.synchronize()
world.Allreduce(mine, all_of_them, op=MPI.SUM)

columns = cupy.arange(64 * 64, dtype='int32').reshape(64, 64) + world.rank
received = cupy.zeros((64, 64), dtype='int32')
column = MPI.INT32_T.Create_vector(64, 1, 64).Commit()
stream.synchronize()
world.Sendrecv([columns, 1, column], (world.rank + 1) % world.size,
               recvbuf=[received, 1, column], source=(world.rank - 1) % world.size)
column.Free()

ranks = world.size * (world.size + 1) // 2
right = bool((all_of_them == cupy.arange(1_000_000) * ranks).all()) and bool(
    (received[:, 0] == cupy.arange(64) * 64 + (world.rank - 1) % world.size).all())
right = world.allreduce(right, op=MPI.LAND)
if world.rank == 0:
    print(f"device_sum: {'right' if right else 'wrong'}")
sys.exit(not right)
