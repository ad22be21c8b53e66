#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every wrong call that the table knows of is refused with the right error class, through the error handler, with a message
# that names procedure and argument (api/bad_arguments.py); at check_level full some more are. What is tested by hand instead
# is really in the program that the table names.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong=0
"$MPICC" -Werror=int-conversion -Werror=incompatible-pointer-types \
    "$TERN_BUILDDIR/lib/generated/bad_arguments.c" -o "$scratch/bad_arguments" || exit 1
for ranks in 1 2 3; do
    for level in basic full; do
        "$MPIRUN" --oversubscribe -n $ranks --mca check_level $level "$scratch/bad_arguments" >"$scratch/out" 2>&1
        grep -vE '^[0-9]+ (wrong calls|pairs)' "$scratch/out" | head -n 60
        grep -E '^[0-9]+ wrong calls, ' "$scratch/out"
        grep -qE '^[0-9]{4,} wrong calls, 0 failures$' "$scratch/out" || wrong=1
    done
done
grep -E '^[0-9]+ pairs' "$scratch/out"

while read -r procedure class program; do
    if ! grep -q "$procedure" "$TERN_SRCDIR/test/mpi/$program.c" || ! grep -q "MPI_ERR_$class" "$TERN_SRCDIR/test/mpi/$program.c"; then
        echo "test/mpi/$program.c does not test that $procedure raises MPI_ERR_$class, as api/procedures.txt says"
        wrong=1
    fi
done < <("$PYTHON3" -B "$TERN_SRCDIR/api/bad_arguments.py")
exit $wrong
