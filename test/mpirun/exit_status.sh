#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The first rank that fails decides: mpirun's exit status is its, one message names it, and the other ranks, which would run for
# hours, are ended.
. "$(dirname "$0")/check.bash"
here_cc=${CC:-cc}
# shellcheck disable=SC2086
$here_cc -o pmix_rank "$here/pmix_rank.c" $LIBPMIX_FLAGS || { echo "cannot build pmix_rank"; exit 1; }
hostname=$(hostname)

# fails WHAT STATUS REGEX: after a run: status, exactly one message, which matches, and nothing left
fails() {
    is "$1: status" "$rc" "$2"
    is "$1: messages" "$(grep -c '^mpirun: ' err)" 1
    has "$1" err "^mpirun: $3"
    none_marked || complain "$1: processes are left"
    tmp_is_empty || complain "$1: left behind: $(find "$TMPDIR")"
}

# exit codes
run -q -np 3 sh -c 'exit 0'
is "all well" "$rc [$(cat err)]" "0 []"
for code in 1 3 127 255; do
    run -q -np 3 sh -c "[ \$OMPI_COMM_WORLD_RANK = 2 ] && exit $code; sleep $mark"
    fails "exit $code" $code "rank 2 \(pid [0-9]+ on host $hostname\) exited with code $code\$"
done
run -q -np 2 --mca orte_abort_on_non_zero_status 0 sh -c 'sleep 0.$((2 * OMPI_COMM_WORLD_RANK)); echo $OMPI_COMM_WORLD_RANK; exit 4'
is "all run to their end" "$rc $(sort out | tr '\n' ' ')" "4 0 1 "

# signals
for signal in SEGV KILL TERM ABRT; do
    number=$(kill -l $signal)
    run -q -np 3 sh -c "ulimit -c 0; [ \$OMPI_COMM_WORLD_RANK = 1 ] && kill -$signal \$\$; sleep $mark"
    fails "$signal" $((128 + number)) "rank 1 \(pid [0-9]+ on host $hostname\) was killed by signal $number \("
done
# the guardian is the ranks' parent
run -q -np 2 sh -c "[ \$OMPI_COMM_WORLD_RANK = 1 ] && kill -9 \$(cut -d' ' -f4 /proc/\$\$/stat); sleep $mark"
fails "the guardian killed by a rank" 137 "the guardian process of this job \(pid [0-9]+\) was killed"

# ranks that ignore the request to end
run -q -np 3 sh -c "trap '' TERM; [ \$OMPI_COMM_WORLD_RANK = 0 ] && exit 5; sleep $mark; sleep $mark"
fails "deaf ranks" 5 "rank 0 .* exited with code 5"
# and those that are stopped
run -q -np 2 sh -c "[ \$OMPI_COMM_WORLD_RANK = 1 ] && kill -STOP \$\$; sleep 0.3; exit 6"
fails "stopped ranks" 6 "rank 0 .* exited with code 6"

# PMIx
run -q -np 4 ./pmix_rank exchange
is "in order" "$rc [$(cat err)]" "0 []"
for code in 1 42 255; do
    run -q -np 3 ./pmix_rank abort $code
    fails "abort $code" $code "rank 1 \(pid [0-9]+ on host $hostname\) called MPI_Abort with code $code: no way\$"
done
run -q -np 3 ./pmix_rank abort 256
fails "abort 256" 1 "rank 1 .* called MPI_Abort with code 256"
run -q -np 3 ./pmix_rank unfinished 0
fails "no finalize, code 0" 1 "rank 1 .* exited with code 0 without calling MPI_Finalize( or MPI_Session_finalize)?\$"
run -q -np 3 ./pmix_rank unfinished 9
fails "no finalize, code 9" 9 "rank 1 .* exited with code 9 without calling MPI_Finalize( or MPI_Session_finalize)?\$"
run -q -np 3 ./pmix_rank skip 1
fails "one rank skips init" 1 "rank 1 .* exited without calling MPI_Init"
run -q -np 3 ./pmix_rank never 0
is "no rank calls init" "$rc [$(cat err)]" "0 []"
run -q -np 2 ./pmix_rank signal 10
fails "job control" 138 "rank 1 .* was killed by signal 10 \(User"

# time
run --timeout 1 -np 1 sleep "$mark"
fails "--timeout" 110 "the job has run for 1 seconds"
MPIEXEC_TIMEOUT=1 run -np 1 sleep "$mark"
fails "MPIEXEC_TIMEOUT" 110 "the job has run for 1 seconds"
run --timeout 50 -np 1 true
is "--timeout not reached" "$rc [$(cat err)]" "0 []"

# the status of the first, not of those that end because of it
run -q -np 4 sh -c "trap 'exit 77' TERM; [ \$OMPI_COMM_WORLD_RANK = 3 ] && exit 8; sleep $mark & wait"
fails "consequences" 8 "rank 3 .* exited with code 8"
finish
