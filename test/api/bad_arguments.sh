#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every bad argument that the table knows of is refused with the right error class, through the error handler, with a
# message that names procedure and argument (api/bad_arguments.py).
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$MPICC" -w "$TERN_BUILDDIR/lib/generated/bad_arguments.c" -o "$scratch/bad_arguments"
for ranks in 1 2 3; do
    "$MPIRUN" -n $ranks "$scratch/bad_arguments" >"$scratch/out" || { cat "$scratch/out"; exit 1; }
    cat "$scratch/out"
    grep -qE '^[0-9]{3,} bad arguments, 0 failures$' "$scratch/out"
done
