#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# gfortran before 12, the default of most clusters, compiles the modules, and programs with them find right what they check.
set -u
. "$TERN_SRCDIR/test/needs.bash"
older=
for version in 11 10 9 8; do
    [ -n "$older" ] || ! command -v gfortran-$version >/dev/null || older=gfortran-$version
done
needs "$(command -v "${older:-gfortran-11}")" gfortran-11 gfortran-10
[ -z "$SAN" ] || { echo "SKIPPED: the sanitizers of two releases of gcc do not go together"; exit 77; }
mpifort=$(dirname "$MPICC")/mpifort
modules=$("$MPICC" -showme:libdirs)/fortran/$older
export OMPI_FC=$older
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$modules"' EXIT
cd "$scratch" || exit 1
"$(dirname "$MPICC")/tern-fortran-modules" "$older" >out 2>&1 || { cat out; exit 1; }
status=0
for source in "$TERN_SRCDIR"/test/fortran/{pack_external,use_mpi,use_mpi_f08,random_sections}.f90; do
    name=$(basename "$source")
    if ! "$mpifort" -O1 "$source" -o program >out 2>&1; then
        echo "$name does not compile with $older:"
        head -n 20 out
        status=1
    elif ! timeout -k 30 300 "$MPIRUN" -n 2 ./program >out 2>&1 </dev/null || grep -q FAILED out; then
        echo "$name, compiled with $older:"
        head -n 20 out
        status=1
    fi
done
exit $status
