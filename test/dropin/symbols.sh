#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every symbol of ours that Debian's programs and libraries refer to is there, not only those that a run happens to call.
. "$TERN_SRCDIR/test/dropin/prologue.sh"

# complete PACKAGE FILE [ABSENT]: nothing is missing, or only names that begin with ABSENT
complete() {
    needs "$2" "$1"
    uses_our_library "$2"
    LD_BIND_NOW=1 LD_LIBRARY_PATH=$libdir ldd -r "$2" >symbols.out 2>&1
    if grep -E 'undefined symbol|symbol lookup error' symbols.out | grep -vE "undefined symbol: ${3:-nothing}" >missing.out; then
        fail "$2: missing symbols" missing.out
    fi
}

machine=$(gcc -print-multiarch)
complete hpcc /usr/bin/hpcc
complete netpipe-openmpi /usr/bin/NPopenmpi
# Files are not there yet; LAMMPS opens them through MPI only when its input asks for that.
complete lammps /usr/bin/lmp MPI_File_
complete gromacs /usr/bin/gmx_mpi_d
for library in "/usr/lib/$machine"/libgromacs_mpi_d.so.? "/usr/lib/$machine"/libboost_mpi.so.?.*; do
    complete "gromacs and libboost-mpi-dev" "$library"
done
