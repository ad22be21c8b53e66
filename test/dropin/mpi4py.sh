#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py: point to point, collectives, datatypes, communicators, errors, topologies and threads as Python calls them.
# Python resolves every symbol at import, also those of windows, files and new processes that are not there yet: a
# preloaded library names them, and ends the program when one is called.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
module=$(echo /usr/lib/python3/dist-packages/mpi4py/MPI.cpython-*.so)
needs "$module" python3-mpi4py
uses_our_library "$module"

LD_LIBRARY_PATH=$libdir ldd -r "$module" 2>&1 | sed -n 's/^undefined symbol: \(MPI_[A-Za-z_0-9]*\).*/\1/p' | sort -u >absent
{
    echo 'void abort(void);'
    sed 's/.*/void &(void); void &(void) { abort(); }/' absent
} >absent.c
gcc -shared -fPIC -o absent.so absent.c || fail "absent.c does not compile" absent.c

for ranks in 0 1 2 3 4; do
    mpi $ranks out env LD_PRELOAD="$scratch/absent.so" /usr/bin/python3 "$TERN_SRCDIR/test/dropin/mpi4py_parts.py"
    grep -q 'all parts are right$' out || fail "mpi4py on $ranks ranks" out
done
