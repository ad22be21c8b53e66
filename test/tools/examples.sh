#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The examples, by their own makefile, without a warning, say what they should.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$TERN_SRCDIR"/examples/* .
chmod u+w ./*
make MPICC="$MPICC" CFLAGS="-O2 -Wall -Wextra -Werror" >build.out 2>&1 || { cat build.out; exit 1; }

"$MPIRUN" -n 3 ./hello | tee out
[ "$(sort -u out | grep -c '^Hello from rank [0-2] of 3 on .')" = 3 ]
for ranks in 1 2 5; do
    "$MPIRUN" -n $ranks ./ring | tee out
    grep -qx "The token passed $ranks ranks and returned with $((ranks * (ranks - 1) / 2))" out
done
"$MPIRUN" -n 3 ./pi 300000 | tee out
grep -q '^pi is about 3\.14159265[0-9]*, off by .* on 3 ranks$' out
! "$MPIRUN" -n 2 ./pi none
"$MPIRUN" -n 1 --mca coll_bcast_algorithm chain ./tool >out
grep -qx '  coll_bcast_algorithm = chain' out
grep -q '^  pml_unexpected_length: ' out
"$MPIRUN" -n 3 ./tool 50 | tee out
# messages of the closing barrier may wait, too
grep -qE '^100 messages came early, 100 are waiting, at most 10[0-9] waited$' out
grep -qx 'after receiving: 0 are waiting' out
