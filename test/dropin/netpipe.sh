#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NetPIPE compares every byte it sends: blocking, nonblocking, from any source, synchronous, and both ways at once.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/NPopenmpi netpipe-openmpi
uses_our_library /usr/bin/NPopenmpi

for options in "" "-a" "-S" "-z" "-a -2"; do
    # shellcheck disable=SC2086 # options are words
    mpi 2 out NPopenmpi $options -i -n 5 -u 150000 -o np.out
    ! grep -q 'check failed' out || fail "wrong bytes with '$options'" out
    passed=$(grep -c 'Integrity check passed' out)
    [ "$passed" -ge 25 ] || fail "only $passed sizes were checked with '$options'" out
done

mpi 2 out NPopenmpi -n 5 -u 2000000 -o np.out
awk 'NF < 2 || $2 <= 0 { bad = 1 } END { exit bad || NR < 40 }' np.out || fail "incomplete measurements" np.out
