#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi.h of the standard interface is C, C++ and pedantic, its types have the sizes of MPI-5.0 chapter 20, each constant and
# handle has the value of api/faces/standard.txt, and each of the 664 functions links.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mpicc_abi=$TERN_PREFIX/bin/mpicc_abi
{
    cat <<'C'
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
static int wrong;
static void check(const char *name, long long got, long long expected)
{
    if (got != expected)
        wrong = printf("%s is %lld, expected %lld\n", name, got, expected);
}
int main(void)
{
    check("sizeof MPI_Status", sizeof(MPI_Status), 32);
    check("MPI_SOURCE", offsetof(MPI_Status, MPI_SOURCE), 0);
    check("MPI_TAG", offsetof(MPI_Status, MPI_TAG), 4);
    check("MPI_ERROR", offsetof(MPI_Status, MPI_ERROR), 8);
    check("MPI_Aint", sizeof(MPI_Aint), 8);
    check("MPI_Offset", sizeof(MPI_Offset), 8);
    check("MPI_Count", sizeof(MPI_Count), 8);
    check("MPI_Comm", sizeof(MPI_Comm), 8);
C
    sed -n 's/^\(MPI_[A-Z0-9_a-z]*\) *\([a-z]*\) *\(-\{0,1\}[0-9a-fx]*\)$/    check("\1", (long long)(intptr_t)\1, \3);/p' \
        "$TERN_SRCDIR/api/faces/standard.txt"
    echo '    return wrong != 0;'
    echo '}'
} >values.c
[ "$(grep -c 'check("MPI_' values.c)" -gt 360 ]
"$mpicc_abi" -std=c11 -Wall -Wextra -Werror -pedantic values.c -o values
./values
cp values.c values.cpp
if [ "$TERN_HAVE_CXX" = yes ]; then
    "$TERN_PREFIX/bin/mpicxx_abi" -Wall -Wextra -Werror -pedantic values.cpp -o values_cpp
    ./values_cpp
fi
# one program that mentions every function, under both names
sed -n 's/^[A-Za-z].*[ *]\(P\{0,1\}MPI_[A-Za-z_0-9]*\)(.*/\1/p' "$TERN_PREFIX/include/standard_abi/mpi.h" | grep -v '^MPI_ABI' | sort -u >names
[ "$(grep -c '^MPI_' names)" = 664 ] || { echo "$(grep -c '^MPI_' names) functions, expected 664"; exit 1; }
[ "$(grep -c '^PMPI_' names)" = 664 ]
{
    echo '#include <mpi.h>'
    echo 'void *all[] = {'
    sed 's/.*/(void *)&,/' names
    echo '}; int main(void) { return all[0] == 0; }'
} >all.c
"$mpicc_abi" -w all.c -o all
./all
# no other library is asked for by name
[ "$(readelf -d all | grep -c 'libmpi_abi\.so\.1')" = 1 ]
if readelf -d all | grep 'libmpi\.so'; then exit 1; fi
