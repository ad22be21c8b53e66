#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Parallel HDF5 as h5py gives it to Python: collective and own accesses, chunks and compression, growing datasets, atomic
# mode. The files are then read by HDF5 without MPI, and nothing lies beside them.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
module=$(echo /usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi/h5fd.cpython-*.so)
needs "$module" python3-h5py-mpi
uses_our_library "$module"
cp "$TERN_SRCDIR/test/dropin/h5py_parts.py" parts.py
mkdir data
cd data || exit 1
for ranks in 1 2 4; do
    rm -f ./*.h5
    mpi $ranks ../out /usr/bin/python3 ../parts.py
    grep -q 'all parts are right' ../out || fail "h5py on $ranks ranks" ../out
    [ "$(find . -not -name '*.h5' -not -name .)" = "" ] || fail "files beside the data: $(ls -A)"
    /usr/bin/python3 -c "
import h5py
with h5py.File('h5py.h5') as f:
    assert f.driver != 'mpio' and all(f[n][7, 4] == 7004 for n in ('plain', 'chunks', 'small'))" || fail "HDF5 without MPI does not read it"
done
