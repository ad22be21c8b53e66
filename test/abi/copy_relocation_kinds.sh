#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# copy_relocation.c as position-independent executable, as plain executable, and without COPY relocations.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# check NAME COPIES FLAGS...: built so, the program has COPY relocations or not, and runs with and without launcher
check() {
    local name=$1 copies=$2 found=no
    shift 2
    "$MPICC" -O1 -Wall -Wextra "$@" "$TERN_SRCDIR/test/abi/copy_relocation.c" -o "$scratch/$name" -ldl
    if readelf -rW "$scratch/$name" | grep -q 'COPY.*ompi_mpi_comm_world'; then
        found=yes
    fi
    if [ $found != "$copies" ]; then
        echo "$name: COPY relocation of ompi_mpi_comm_world: $found, but $copies was wanted; the test shows nothing"
        exit 1
    fi
    "$scratch/$name" || { echo "$name fails without a launcher"; exit 1; }
    "$MPIRUN" -n 2 "$scratch/$name" || { echo "$name fails under mpirun"; exit 1; }
}

check pie yes -fPIE -pie
check plain yes -fno-pie -no-pie
check pic no -fPIC
