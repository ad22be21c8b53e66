#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The pkg-config files by Open MPI's names: their options compile, link and start a program. --define-prefix, because a
# staged installation does not lie where configure was told.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
PKG_CONFIG_PATH=$("$MPICC" -showme:libdirs)/pkgconfig
export PKG_CONFIG_PATH

for name in ompi-fort ompi-f77 ompi-f90; do
    # shellcheck disable=SC2046 # options are words
    gfortran "$TERN_SRCDIR/test/tools/rank_sum.f90" -o program $(pkg-config --define-prefix --cflags --libs $name)
    "$MPIRUN" -n 2 ./program | tee out
    grep -qx 'sum of ranks: 1' out
done

for name in ompi ompi-c ompi-cxx; do
    compiler=gcc
    [ $name != ompi-cxx ] || compiler="g++ -x c++"
    # shellcheck disable=SC2046,SC2086 # options are words
    $compiler "$TERN_SRCDIR/test/tools/rank_sum.c" -x none -o program $(pkg-config --define-prefix --cflags --libs $name)
    "$MPIRUN" -n 2 ./program | tee out
    grep -qx 'sum of ranks: 1' out
    [ "$(pkg-config --modversion $name)" = 5.0.7 ]
done
