#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Fortran programs of the three kinds compile with mpifort and find right what they check, on 1 to 4 ranks.
set -u
. "$TERN_SRCDIR/test/fortran/scratch.bash"
for source in "$TERN_SRCDIR"/test/fortran/*.f "$TERN_SRCDIR"/test/fortran/*.f90; do
    name=$(basename "$source")
    # mpif.h declares no interfaces: arguments of several types for one procedure are what its programs do
    flags=()
    [ "${name##*.}" = f ] && flags=(-fallow-argument-mismatch -Wno-argument-mismatch)
    if ! "$mpifort" -O2 -g "${flags[@]}" "$source" -o "${name%.*}" >compile.out 2>&1; then
        echo "$name does not compile:"
        cat compile.out
        status=1
        continue
    fi
    for ranks in 1 2 4; do
        if ! timeout -k 30 300 "$MPIRUN" -n $ranks "./${name%.*}" >run.out 2>&1 </dev/null || grep -q FAILED run.out; then
            echo "$name on $ranks ranks:"
            tail -n 20 run.out
            status=1
        fi
    done
done
exit $status
