#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# EZTrace as Debian built it for Open MPI: a tool that is preloaded, wraps the MPI_ names and calls the PMPI_ ones. Its trace of
# a ring has each message once at both ends.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/eztrace eztrace
needs /usr/lib/x86_64-linux-gnu/libeztrace-openmpi.so libeztrace0
needs /usr/bin/otf2-print otf2-tools
needs /usr/bin/mpicc.openmpi libopenmpi-dev
uses_our_library /usr/lib/x86_64-linux-gnu/libeztrace-openmpi.so

mpicc.openmpi -O2 -o ring "$TERN_SRCDIR/examples/ring.c" || fail "examples/ring.c does not compile with mpicc.openmpi"
uses_our_library ./ring
for ranks in 2 3; do
    mpi $ranks out eztrace -t openmpi -o "$scratch/trace$ranks" ./ring
    grep -qx "The token passed $ranks ranks and returned with $((ranks * (ranks - 1) / 2))" out || fail "the ring is broken" out
    otf2-print "trace$ranks/ring_trace/eztrace_log.otf2" >trace 2>print.out || fail "the trace cannot be read" print.out
    [ "$(awk '$1 == "THREAD_BEGIN"' trace | wc -l)" = $ranks ] || fail "not every rank is in the trace" trace
    for rank in $(seq 0 $((ranks - 1))); do
        next=$(((rank + 1) % ranks))
        [ "$(grep -c "^MPI_SEND .*Receiver: $next .*Tag: 0, Length: 4" trace)" = 1 ] ||
            fail "the message from rank $rank to $next is not in the trace once" trace
    done
    # rank 0 receives with MPI_Irecv
    [ "$(grep -c '^MPI_RECV ' trace)" = $((ranks - 1)) ] || fail "not every receive is in the trace" trace
    [ "$(grep -c '^MPI_IRECV_REQUEST ' trace)" = 1 ] || fail "MPI_Irecv is not in the trace" trace
done
