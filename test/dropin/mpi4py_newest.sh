#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The newest mpi4py compiles with our mpicc, as `pip install --no-binary mpi4py mpi4py` does it, and runs. Skipped where the
# package index cannot be reached.
. "$TERN_SRCDIR/test/dropin/prologue.sh"

# not optimised: compiling takes minutes otherwise
if ! PATH=$TERN_PREFIX/bin:$PATH MPICC=$TERN_PREFIX/bin/mpicc CFLAGS="${CFLAGS-} -O0 -g0" \
    install_from_index -v --no-cache-dir --no-binary mpi4py mpi4py; then
    ! grep -q 'Python\.h: No such file' pip.out || fail 'no Python.h; as root: apt-get install python3-dev'
    grep -E 'error:' pip.out | head -n 20
    fail 'mpi4py does not compile with our mpicc' pip.out
fi
grep 'Successfully installed' pip.out
module=$(echo env/lib/python3*/site-packages/mpi4py/MPI*.so)
[ -e "$module" ] || fail "mpi4py has no module MPI: $module" pip.out
uses_our_library "$module"
env/bin/python -c 'from mpi4py import MPI; assert MPI.Get_version() == (4, 1), MPI.Get_version()' || fail 'not built for MPI 4.1'

for ranks in 0 1 2 3 4; do
    mpi $ranks out env/bin/python "$TERN_SRCDIR/test/dropin/mpi4py_parts.py"
    grep -q 'all parts are right$' out || fail "mpi4py on $ranks ranks" out
done
