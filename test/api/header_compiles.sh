#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi.h and mpi-ext.h compile without a warning in every C and C++ a program may be written in; a removed procedure is
# refused with a word of what to use instead.
set -eu
include=$TERN_PREFIX/include
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
failures=0

cat >program.c <<'C'
#include <mpi.h>
#include <mpi-ext.h>
MPI_Comm comm = MPI_COMM_WORLD;
MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_C_BOOL};
void *place = MPI_IN_PLACE;
int *weights = MPI_UNWEIGHTED;
MPI_T_pvar_handle every = MPI_T_PVAR_ALL_HANDLES;
MPI_Comm_copy_attr_function *copy = MPI_COMM_DUP_FN;
MPI_Aint sum(MPI_Aint a, MPI_Aint b);
MPI_Aint sum(MPI_Aint a, MPI_Aint b)
{
    return MPI_Aint_diff(MPI_Aint_add(a, b), b);
}
C
cp program.c program.cpp
compile() {
    if ! "$@" >log 2>&1 || [ -s log ]; then
        echo "$*"
        head -5 log
        failures=$((failures + 1))
    fi
}
tried=0
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    tried=$((tried + 1))
    for std in gnu89 c99 c11 gnu17; do
        compile $cc -std=$std -pedantic -Wall -Wextra -Wstrict-prototypes -I"$include" -fsyntax-only program.c
    done
done
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || continue
    tried=$((tried + 1))
    for std in c++98 c++11 c++14 c++17 c++20; do
        compile $cxx -std=$std -pedantic -Wall -Wextra -I"$include" -fsyntax-only program.cpp
    done
done
[ $tried -ge 2 ] || { echo "neither a C nor a C++ compiler found"; exit 1; }

cat >removed.c <<'C'
#include <mpi.h>
void removed(void);
void removed(void)
{
    MPI_Aint address;
    int there;
    MPI_Address(&there, &address);
}
C
if cc -I"$include" -c removed.c -o removed.o 2>log; then
    echo "MPI_Address was not refused"
    failures=$((failures + 1))
fi
grep -q 'MPI_Get_address instead' log || { echo "no advice:"; cat log; failures=$((failures + 1)); }
[ $failures = 0 ]
