#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py: point to point, collectives, datatypes, communicators, errors, topologies and threads as Python calls them.
# Python resolves every symbol at import, also those of windows, files and new processes that are not there yet.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
module=$(echo /usr/lib/python3/dist-packages/mpi4py/MPI.cpython-*.so)
needs "$module" python3-mpi4py
uses_our_library "$module"

for ranks in 0 1 2 3 4; do
    mpi $ranks out /usr/bin/python3 "$TERN_SRCDIR/test/dropin/mpi4py_parts.py"
    grep -q 'all parts are right$' out || fail "mpi4py on $ranks ranks" out
done
