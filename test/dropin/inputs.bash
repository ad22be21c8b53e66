# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Small inputs for Debian's programs; sourced by the scripts here and by hosts/applications.sh.

# write_hpcc_input ROWS COLUMNS ORDER: one problem of that order in blocks of 32 on a grid of ROWS x COLUMNS processes
write_hpcc_input() {
    cat <<TEXT
HPLinpack input, read line by line: only the first word counts
small and quick
HPL.out      file for the output
8            8: into that file
1            number of problem sizes
$3          order
1            number of block sizes
32           block size
0            0: processes are placed by row
1            number of process grids
$1           rows
$2           columns
16.0         threshold of the residual
1            number of panel factorisations
1            0 left, 1 Crout, 2 right
1            number of stopping criteria
2            smallest block
1            number of panels per recursion
2            panels
1            number of recursive factorisations
2            0 left, 1 Crout, 2 right
1            number of broadcasts
3            0 ring, 1 ring modified, 2 two rings, 3 two rings modified, 4 long, 5 long modified
1            number of look-ahead depths
1            depth
2            swap: 0 binary exchange, 1 long, 2 mixed
32           swap threshold
0            L1 is transposed
0            U is transposed
1            equilibration
8            alignment in doubles
# matrix transpose
0            further orders
0
0            further block sizes
0
TEXT
}

# A Lennard-Jones liquid of 840 atoms, 80 steps
write_lammps_input() { cat "$TERN_SRCDIR/examples/liquid.lmp"; }
