#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The MPI programs of test/mpi with the byte mover strict (strict.c), which ends everything later, in any order, or not at all.
# Some of them; all with TERN_TEST_LONG. TERN_STRICT_SEED: other random decisions.
set -u
. "$TERN_SRCDIR/test/mpirun/check.bash"
library=$TERN_BUILDDIR/test/strict/.libs/libmpi.so.40
[ -e "$library" ] || { echo "no $library: make check builds it"; exit 1; }
mkdir lib
ln -s "$library" "$TERN_PREFIX"/lib/libmpi_{mpifh,usempif08,usempi_ignore_tkr}.so.40 lib # of one directory
export LD_LIBRARY_PATH=$PWD/lib OMPI_MCA_btl=strict,self
# an absolute path to mpirun would put its own library in front
printf '#!/bin/sh\nexec "%s" --noprefix "$@"\n' "$MPIRUN" >noprefix
chmod +x noprefix
export MPIRUN=$PWD/noprefix
"$MPICC" -o in_use "$TERN_SRCDIR/test/strict/in_use.c" || exit 1
beside_shm=(env "OMPI_MCA_btl=strict,shm,self" OMPI_MCA_btl_shm_single_copy=always)
run -n 2 ./in_use
is "ranks that use strict" "$(grep -c '^strict is in use$' out)" 2
limit "${beside_shm[@]}" "$MPIRUN" -n 3 ./in_use >out 2>err
is "ranks that use strict beside shm" "$(grep -c '^strict is in use$' out)" 3

programs=(bidirectional_big bsend_many bsend_room_comes_back cancel_everywhere cancel_send_completes coll_alltoall coll_nonblocking_many
    comm_freed_before_sends_go comm_freed_drops_messages finalize_flushes intercomm_p2p isend_many_outstanding late_sender
    match_by_tag_any_order mprobe_threads non_overtaking partitioned_matching persistent_restart random_traffic
    request_free_completes session_on_some_ranks ssend_waits_for_match thread_everything thread_lanes truncate_everywhere
    type_strided_rendezvous unexpected_bytes_flood waitsome_drains_all)
[ -z "${TERN_TEST_LONG:-}" ] || programs=()
"$PYTHON3" -B "$TERN_SRCDIR/test/mpi/run" --build programs "${programs[@]}" >runs 2>&1 || { cat runs; complain "some programs fail"; }
tail -n 1 runs
# packets by strict, transfers of some pairs of ranks by shm
"${beside_shm[@]}" "$PYTHON3" -B "$TERN_SRCDIR/test/mpi/run" --build programs bidirectional_big \
    cancel_everywhere random_traffic truncate_everywhere type_strided_rendezvous >runs 2>&1 || { cat runs; complain "some fail beside shm"; }
tail -n 1 runs
finish
