#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""As heat.c, with mpi4py and NumPy: heat in a square plate whose upper edge is hot, on a grid of ranks.

    mpirun -n 4 python3 heat.py [picture.pgm]
"""
import sys

import numpy as np
from mpi4py import MPI

SIZE, STEPS = 240, 400

world = MPI.COMM_WORLD
dims = MPI.Compute_dims(world.size, 2)
grid = world.Create_cart(dims, periods=[False, False], reorder=True)
row, column = grid.coords
up, down = grid.Shift(0, 1)
left, right = grid.Shift(1, 1)

# the points of this rank: the first ones, and behind the last ones; around them a border (halo) of one point
row0, row1 = SIZE * row // dims[0], SIZE * (row + 1) // dims[0]
column0, column1 = SIZE * column // dims[1], SIZE * (column + 1) // dims[1]
t = np.zeros((row1 - row0 + 2, column1 - column0 + 2))
if row == 0:
    t[0, :] = 100
new = t.copy()

# a column does not lie together in memory: it is a vector type
column_type = MPI.DOUBLE.Create_vector(row1 - row0, 1, t.shape[1]).Commit()


def exchange_borders():
    """Each border is the neighbour's outermost row or column. At the edge of the plate the neighbour is PROC_NULL."""
    grid.Sendrecv(t[1, 1:-1], up, 0, t[-1, 1:-1], down, 0)
    grid.Sendrecv(t[-2, 1:-1], down, 1, t[0, 1:-1], up, 1)
    width = t.shape[1]
    flat = t.reshape(-1)
    grid.Sendrecv([flat[width + 1:], 1, column_type], left, 2, [flat[2 * width - 1:], 1, column_type], right, 2)
    grid.Sendrecv([flat[2 * width - 2:], 1, column_type], right, 3, [flat[width:], 1, column_type], left, 3)


begin = MPI.Wtime()
for step in range(STEPS):
    exchange_borders()
    new[1:-1, 1:-1] = (t[:-2, 1:-1] + t[2:, 1:-1] + t[1:-1, :-2] + t[1:-1, 2:]) / 4
    t, new = new, t

heat = grid.reduce(t[1:-1, 1:-1].sum(), MPI.SUM)
change = grid.reduce(abs(t - new)[1:-1, 1:-1].max(), MPI.MAX)
if grid.rank == 0:
    print(f"After {STEPS} steps the mean is {heat / SIZE / SIZE:.6f} degrees, "
          f"and the last step changed {change:.6f} at most")
    print(f"{dims[0]} x {dims[1]} ranks, {(MPI.Wtime() - begin) * 1e3 / STEPS:.3f} ms a step", file=sys.stderr)

# all ranks write their blocks into one file
if len(sys.argv) > 1:
    header = f"P5 {SIZE} {SIZE} 255\n".encode()
    grey = (t[1:-1, 1:-1] * 2.55).astype(np.uint8)
    block = MPI.BYTE.Create_subarray([SIZE, SIZE], grey.shape, [row0, column0]).Commit()
    file = MPI.File.Open(grid, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Set_size(0)
    if grid.rank == 0:
        file.Write_at(0, header)
    file.Set_view(len(header), MPI.BYTE, block)
    file.Write_all(grey)
    file.Close()
