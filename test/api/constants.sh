#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every constant and type that MPI-4.1 names is there in C and in the three ways of Fortran, with the value of the binary
# interface, and each error class has a text. Then the same programs are made from lists with a fault, which must be found.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
list=$TERN_SRCDIR/test/api/mpi-4.1-constants.txt
mpifort=$(dirname "$MPICC")/mpifort
make=$TERN_SRCDIR/test/api/make_constants.py
# a constant of another type is a mistake; a library with a sanitizer wants its programs built alike
flags=(-Werror)
[ -z "$SAN" ] || read -ra flags <<<"$SAN -Werror"
status=0

# right LIST HOW: the program for HOW compiles and finds all values of LIST
right() {
    local source=constants.f90 compiler=$mpifort
    if [ "$2" = c ]; then
        source=constants.c compiler=$MPICC
    fi
    "$PYTHON3" -B "$make" "$1" "$2" >"$source" || exit 1
    "$compiler" "${flags[@]}" "$source" -o program >out 2>&1 || return 1
    timeout -k 30 300 "$MPIRUN" -n 1 ./program >out 2>&1 </dev/null && grep -qx "all right in $2" out
}

for how in c mpif.h mpi mpi_f08; do
    right "$list" $how || {
        echo "$how:"
        grep -iE 'error|expected|no address|text of' out | head -n 20
        status=1
    }
done
[ $status = 0 ] || exit 1

# finds HOW CHANGE: the change of the list is noticed
finds() {
    sed "$2" "$list" >changed.txt
    if cmp -s "$list" changed.txt; then
        echo "nothing to change by $2"
        status=1
    elif right changed.txt "$1"; then
        echo "$1: not noticed: $2"
        status=1
    fi
}
for change in 's/^MPI_ANY_TAG int all -1/MPI_ANY_TAG int all -2/' 's/^MPI_ERR_COUNT /MPI_ERR_COUNTS /' \
    's/^MPI_SEEK_SET /MPI_SEEK_SETS /' 's/^MPI_INT handle:MPI_Datatype all .*/MPI_INT handle:MPI_Datatype all 3/' \
    's/^MPI_MAX_PORT_NAME length all 1024/MPI_MAX_PORT_NAME length all 1025/' 's/^\(MPI_UNWEIGHTED .*\) 2/\1 5/'; do
    finds c "$change"
done
for change in 's/^MPI_Aint /MPI_Bint /' 's/^MPI_Copy_function /MPI_Copier_function /' 's/^MPI_WIN_DUP_FN /MPI_WIN_DUPE_FN /' \
    's/^\(MPI_T_SOURCE_ORDERED .*\) 0/\1 1/' 's/^\(MPI_UNWEIGHTED address:\)int\*/\1MPI_Win/'; do
    finds c "$change"
done
for how in mpif.h mpi mpi_f08; do
    finds $how 's/^MPI_ANY_TAG int all -1/MPI_ANY_TAG int all -2/'
    finds $how 's/^MPI_BOTTOM /MPI_TOP /'
    other=$how
    [ $how != mpi_f08 ] || other=mpi
    finds $how "s/^\(MPI_SUBARRAYS_SUPPORTED .*\) mpi_f08/\1 $other/"
done
finds mpi_f08 's/^MPI_User_function /MPI_Users_function /'
exit $status
