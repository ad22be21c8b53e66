#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# HPC Challenge: LINPACK, matrix transpose, random access, FFT, DGEMM, STREAM, latency and bandwidth; it checks its own
# results.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
. "$TERN_SRCDIR/test/dropin/inputs.bash"
needs /usr/bin/hpcc hpcc
uses_our_library /usr/bin/hpcc

for grid in 1x1 1x2 2x2; do
    rows=${grid%x*} columns=${grid#*x}
    ranks=$((rows * columns))
    rm -f hpccoutf.txt
    write_hpcc_input "$rows" "$columns" 128 >hpccinf.txt
    mpi $ranks out hpcc
    [ -s hpccoutf.txt ] || fail "no hpccoutf.txt on $ranks ranks" out
    for line in Success=1 CommWorldProcs=$ranks MPIRandomAccess_ErrorsFraction=0; do
        grep -qx "$line" hpccoutf.txt || fail "no line $line on $ranks ranks" hpccoutf.txt
    done
    ! grep -q 'FAILED' hpccoutf.txt || fail "a check failed on $ranks ranks" <(grep -B 5 FAILED hpccoutf.txt)
    close_to "$(sed -n 's/^MPIFFT_maxErr=//p' hpccoutf.txt)" 0 1e-10 "error of the FFT on $ranks ranks"
done
