#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each procedure, in Fortran of the three kinds, with good arguments on two ranks: the generated programs compile, each call
# succeeds, and what it did is right. api/fortran_results.txt has the calls.
set -u
. "$TERN_SRCDIR/test/fortran/scratch.bash"

# complain WHAT FILE
complain() {
    echo "$1"
    grep -v '^ *$' "$2" | sort -u | head -n 30
    status=1
}

for how in mpif_h mpi mpi_f08; do
    flags=()
    [ $how = mpif_h ] && flags=(-fallow-argument-mismatch -w)
    if ! "$mpifort" "${flags[@]}" "$TERN_BUILDDIR/lib/generated/results_$how.f90" -o $how >out 2>&1; then
        complain "results_$how.f90 does not compile:" out
        continue
    fi
    for start in world thread; do
        if ! timeout -k 30 300 "$MPIRUN" -n 2 ./$how $start >out 2>&1 </dev/null || grep -q FAILED out ||
            ! grep -qE ' [3-9][0-9]{2} procedures called' out; then
            complain "results_$how, started by $start:" out
        fi
    done
    timeout -k 30 300 ./$how abort >out 2>&1 </dev/null
    rc=$?
    [ $rc = 7 ] || complain "results_$how: MPI_Abort with 7 gave exit status $rc" out
done
exit $status
