#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MUMPS, Fortran with mpif.h: a system of five equations in four arithmetics, whose solution is 1 to 5.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/lib/mumps/dsimpletest mumps-test
uses_our_library /usr/lib/mumps/dsimpletest

for kind in s d c z; do
    input=/usr/lib/mumps/input_simpletest_real
    case $kind in c | z) input=/usr/lib/mumps/input_simpletest_cmplx ;; esac
    LD_LIBRARY_PATH=$libdir timeout -k 30 300 "$MPIRUN" -n 3 /usr/lib/mumps/${kind}simpletest <$input >out 2>&1 ||
        fail "exit status $? of ${kind}simpletest" out
    # real: x1 x2 ...; complex: (x1,0) (x2,0) ...
    read -r -a x < <(tr -s ' (),\n' ' ' <out | sed -n 's/.*Solution is *//p')
    step=1
    case $kind in c | z) step=2 ;; esac
    for i in 0 1 2 3 4; do
        close_to "${x[$((i * step))]-}" $((i + 1)) 1e-4 "x($((i + 1))) of ${kind}simpletest"
    done
done
