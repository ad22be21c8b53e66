#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# CMake's FindMPI finds this installation by its wrappers, for C, C++ and Fortran, and what it builds runs.
set -eu
command -v cmake >/dev/null || { echo "cmake is missing; as root: apt-get install cmake"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$TERN_SRCDIR/test/tools/cmake/CMakeLists.txt" "$TERN_SRCDIR"/test/tools/rank_sum.{c,f90} .
cp rank_sum.c rank_sum.cpp

# FindMPI takes directories and libraries from mpicc's link options, and no -fsanitize.
if [ -n "${SAN:-}" ]; then
    export CFLAGS=-fsanitize=$SAN CXXFLAGS=-fsanitize=$SAN FFLAGS=-fsanitize=$SAN
fi
PATH=$(dirname "$MPICC"):$PATH cmake -S . -B build >cmake.out 2>&1 || { cat cmake.out; exit 1; }
cmake --build build >build.out 2>&1 || { cat build.out; exit 1; }
library=$("$MPICC" -showme:libdirs)/libmpi.so
grep -q "MPI_mpi_LIBRARY:FILEPATH=$library\$" build/CMakeCache.txt || {
    echo "FindMPI did not take $library:"
    grep MPI_ build/CMakeCache.txt
    exit 1
}
for program in from_c from_cxx from_fortran; do
    "$MPIRUN" -n 3 build/$program | tee out
    grep -qx 'sum of ranks: 3' out
done
