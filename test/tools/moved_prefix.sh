#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An installation that was copied elsewhere compiles and runs there, and its programs load the copy's library.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -a "$TERN_PREFIX" "$scratch/moved here"
bin="$scratch/moved here/bin"

"$bin/mpicc" "$TERN_SRCDIR/test/tools/rank_sum.c" -o "$scratch/program"
ldd "$scratch/program" | grep -F "libmpi.so.40 => $scratch/moved here/"
"$bin/mpirun" -n 2 "$scratch/program" | tee "$scratch/out"
grep -qx 'sum of ranks: 1' "$scratch/out"
"$bin/mpi_info" --parsable --path all | grep -qx "path:prefix:$scratch/moved here"
if [ "$(nproc)" -gt 1 ]; then # its ranks run a program of the copy, with the copy's library
    HOME=$scratch XDG_CONFIG_HOME='' "$bin/mpi_info" --measure >"$scratch/out" 2>&1 ||
        grep -q 'cannot believe.*nothing is stored' "$scratch/out"
fi
