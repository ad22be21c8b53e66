#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./configure CC=mpicc of a project without a word about MPI in its compiler and library paths.
set -eu
command -v autoconf >/dev/null || { echo "autoconf is missing; as root: apt-get install autoconf"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$TERN_SRCDIR"/test/tools/autoconf/* "$TERN_SRCDIR/test/tools/rank_sum.c" .
# copies of a read-only tree
chmod u+w ./*

{ autoconf && ./configure CC="$MPICC" && make from_c; } >build.out 2>&1 || { cat build.out; exit 1; }
"$MPIRUN" -n 3 ./from_c | tee out
grep -qx 'sum of ranks: 3' out
