#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# HPC Challenge: LINPACK, matrix transpose, random access, FFT, DGEMM, STREAM, latency and bandwidth; it checks its own
# results.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/hpcc hpcc
uses_our_library /usr/bin/hpcc

# write_input ROWS COLUMNS: one problem of order 128 in blocks of 32 on a grid of ROWS x COLUMNS processes
write_input() {
    cat <<TEXT
HPLinpack input, read line by line: only the first word counts
small and quick
HPL.out      file for the output
8            8: into that file
1            number of problem sizes
128          order
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

for grid in 1x1 1x2 2x2; do
    rows=${grid%x*} columns=${grid#*x}
    ranks=$((rows * columns))
    rm -f hpccoutf.txt
    write_input "$rows" "$columns" >hpccinf.txt
    mpi $ranks out hpcc
    [ -s hpccoutf.txt ] || fail "no hpccoutf.txt on $ranks ranks" out
    for line in Success=1 CommWorldProcs=$ranks MPIRandomAccess_ErrorsFraction=0; do
        grep -qx "$line" hpccoutf.txt || fail "no line $line on $ranks ranks" hpccoutf.txt
    done
    ! grep -q 'FAILED' hpccoutf.txt || fail "a check failed on $ranks ranks" <(grep -B 5 FAILED hpccoutf.txt)
    close_to "$(sed -n 's/^MPIFFT_maxErr=//p' hpccoutf.txt)" 0 1e-10 "error of the FFT on $ranks ranks"
done
