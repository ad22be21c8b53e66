#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NEURON's wheel, which opens the MPI library by dlopen, takes ours for Open MPI's and runs. Skipped where the package index
# cannot be reached or has no wheel for this system.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
if ! install_from_index --only-binary :all: neuron; then
    if grep -q 'No matching distribution found' pip.out; then
        echo 'SKIPPED: the package index has no wheel of NEURON for this system'
        exit 77
    fi
    fail 'pip cannot install NEURON' pip.out
fi
grep 'Successfully installed' pip.out
for ranks in 1 2 3; do
    mpi $ranks out env/bin/python "$TERN_SRCDIR/test/dropin/neuron_parts.py"
    for ((rank = 0; rank < ranks; rank++)); do
        grep -qx "rank $rank of $ranks" out || fail "NEURON on $ranks ranks: nothing of rank $rank" out
    done
    grep -q '^libraries .*libnrnmpi_ompi\.so' out || fail 'NEURON does not take the library for Open MPI' out
    grep -qF "$(readlink -f "$libdir/libmpi.so.40")" out || fail "NEURON does not load $libdir/libmpi.so.40" out
done
