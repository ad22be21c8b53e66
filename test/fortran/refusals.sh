#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each procedure that takes a handle, in Fortran of the three kinds, with a null handle: the generated programs compile, each
# call comes back with an error, and no buffer was written.
set -u
. "$TERN_SRCDIR/test/fortran/scratch.bash"
for how in mpif_h mpi mpi_f08; do
    flags=()
    [ $how = mpif_h ] && flags=(-fallow-argument-mismatch -w)
    if ! "$mpifort" "${flags[@]}" "$TERN_BUILDDIR/lib/generated/calls_$how.f90" -o $how >out 2>&1; then
        echo "calls_$how.f90 does not compile:"
        head -n 30 out
        status=1
    elif ! timeout -k 30 300 ./$how >out 2>&1 </dev/null || grep -q FAILED out || ! grep -qE ' [2-9][0-9]{2} calls refused' out; then
        echo "calls_$how:"
        tail -n 20 out
        status=1
    fi
done
exit $status
