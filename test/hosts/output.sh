#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Output, input, signals, exit statuses and --timeout on four hosts are as on one: 64 ranks on them lose no line, and none is torn.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
${CC:-cc} -O1 -o lines "$here/../hosts/lines.c" || { echo "cannot build it"; exit 1; }
"$MPICC" -O1 -o waits "$here/../hosts/waits.c" || { echo "cannot build it"; exit 1; }
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=16"; done >many
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=1"; done >hosts

lines=2000
[ -z "${TERN_TEST_LONG-}" ] || lines=100000
run -q --hostfile many ./lines $lines
awk -v lines=$lines 'NF == 4 && $1 == "line" && $3 == "of" && $4 + 0 < 64 && $2 < lines { count[$4]++; sum[$4] += $2 }
    END { for (rank in count) good += count[rank] == lines && sum[rank] == lines * (lines - 1) / 2; print NR, good }' out >counted
is "64 ranks with $lines lines each" "$rc $(cat counted)" "0 $((64 * lines)) 64"

run --hostfile hosts --tag-output ./lines 3
is "--tag-output" "$rc $(sort out | head -n 4 | tr '\n' ';')" \
    "0 [1,0]<stdout>:line 0 of 0;[1,0]<stdout>:line 1 of 0;[1,0]<stdout>:line 2 of 0;[1,1]<stdout>:line 0 of 1;"
run --hostfile hosts --timestamp-output ./lines 3
is "--timestamp-output" "$rc $(grep -cE '^[A-Z][a-z]{2} [A-Z][a-z]{2} .*[0-9]:[0-9]{2}.*<stdout>:line [0-2] of [0-3]$' out)" "0 12"
run --hostfile hosts --output-filename "$PWD/files" ./lines 3
is "--output-filename" "$rc $(find files -type f -name stdout -exec cat {} + | sort | uniq | wc -l) $(find files -name stdout | wc -l)" "0 12 4"
seq 200000 >numbers
run --nolocal --hostfile hosts -n 3 sh -c 'cksum' <numbers
is "standard input goes to rank 0 on another host" "$rc $(grep -cxF "$(cksum <numbers)" out) $(grep -cxF "$(cksum </dev/null)" out)" "0 1 2"

run --hostfile hosts sh -c 'kill -USR1 $$'
is "a rank dies by a signal" "$rc" $((128 + $(kill -l USR1)))
has "a rank dies by a signal" err '^mpirun: rank [0-3] \(pid [0-9]+ on host n[1-4]\) was killed by signal 10 \(User defined signal 1\)$'
run --hostfile hosts --timeout 1 ./waits "$mark"
is "--timeout" "$rc" 110
has "--timeout" err '^mpirun: the job has run for 1 seconds'
has "--timeout" err '^ +[0-9] ranks? .*: [0-3]'

: >out # of the job before, whose ranks said ready, too
timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$MPIRUN" --hostfile hosts \
    sh -c 'trap "echo got it; exit 0" USR2; echo ready; while :; do sleep 0.1; done' >out 2>err </dev/null &
job=$!
all_ready() { [ "$(grep -c ready out)" = "$HOSTS" ]; }
eventually "all are ready" all_ready
on 1 pkill -USR2 -f 'mpirun --hostfile'
wait $job
is "a signal is passed on to all hosts" "$? $(grep -c 'got it' out)" "0 $HOSTS"

cat >abort.c <<'TEXT'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 3)
        MPI_Abort(MPI_COMM_WORLD, 23);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
TEXT
"$MPICC" -o abort abort.c || { echo "cannot build it"; exit 1; }
run --hostfile hosts ./abort
is "MPI_Abort" "$rc" 23
has "MPI_Abort" err '^mpirun: rank 3 \(pid [0-9]+ on host n4\) called MPI_Abort with code 23'
eventually "nothing is left" none_left || leftovers
finish
