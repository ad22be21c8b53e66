#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A guardian that somebody has stopped (SIGSTOP) goes on at once: mpirun learns that ranks end, and ends the job when it is told to.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"

cat >rank.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
/* rank: rank 0 ends when the file `end` is there; rank 1 waits for it. */
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    puts("ready");
    fflush(stdout);
    while (rank == 0 && access("end", F_OK))
        usleep(10000);
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -o rank rank.c || { echo "cannot build rank"; exit 1; }
both_ready() { [ "$(grep -c ready out)" = 2 ]; }

# stopped WHAT STATUS COMMAND...: the job's exit status, when COMMAND follows the guardian's stop
stopped() {
    local what=$1 status=$2 mpirun rc
    rm -f end
    : >out
    "$MPIRUN" -q -np 2 ./rank >out 2>err </dev/null &
    mpirun=$!
    eventually "$what: both ranks are ready" both_ready
    guardian=$(pgrep -P "$mpirun" -x tern-guardian)
    kill -STOP "$guardian"
    "${@:3}"
    wait "$mpirun"
    rc=$?
    is "$what: status" "$rc" "$status"
    ! [ -e "/proc/$guardian" ] || complain "$what: the guardian is still there"
}
end() { : >end; }
crash() { kill -SEGV "$(pgrep -P "$guardian" -f rank | head -n 1)"; }
terminate() { kill -TERM "$mpirun"; }
interrupt() { kill -INT "$mpirun"; }
stopped "an end" 0 end
stopped "a crash" 139 crash
stopped "SIGTERM" 143 terminate
stopped "SIGINT" 130 interrupt
finish
