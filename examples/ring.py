#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""As ring.c, with mpi4py: a token goes once around, and each rank adds its number.

    mpirun -n 4 python3 ring.py
"""
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
following, previous = (rank + 1) % size, (rank - 1) % size

if rank == 0:
    # with one rank alone the message goes to itself, so the receive is posted first
    request = world.irecv(source=previous)
    world.send(0, dest=following)
    token = request.wait()
    print(f"The token passed {size} ranks and returned with {token}")
    if token != size * (size - 1) // 2:
        sys.exit(1)
else:
    world.send(world.recv(source=previous) + rank, dest=following)
