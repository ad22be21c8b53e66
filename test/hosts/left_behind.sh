#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What processes in the background of ranks on other hosts have to write is not lost when the job succeeds, mpirun says for whom it
# waits there and whom it ends, and nothing is left anywhere. The hosts start each other one by one.
# shellcheck disable=SC2016 # the ranks' shells expand what is in quotes
HOSTS=3
. "$(dirname "$0")/hosts.bash"
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts
cat >wait_for <<'END'
#!/bin/sh
while kill -0 "$1" 2>/dev/null; do sleep 0.02; done
sleep 0.5
END
cat >filtered <<'END'
#!/bin/bash
exec > >(./wait_for $$; sort | gzip >log.$OMPI_COMM_WORLD_RANK.gz)
for ((i = 0; i < 5000; i++)); do echo "line $i"; done
END
cat >writer <<'END'
#!/bin/bash
bash -c "./wait_for $$; echo saved >near.$OMPI_COMM_WORLD_RANK; seq 20000" &
setsid bash -c "./wait_for $$; echo saved >apart.$OMPI_COMM_WORLD_RANK" >/dev/null 2>&1 </dev/null &
END
chmod +x wait_for filtered writer

run --hostfile hosts --mca launch_width 1 ./filtered
is "sort | gzip" "$rc $(cat err)" "0 "
for rank in 0 1 2 3 4 5; do is "sort | gzip: lines of rank $rank" "$(zcat log.$rank.gz | wc -l)" 5000; done
run --hostfile hosts --mca launch_width 1 ./writer
is "writers" "$rc $(cat err) $(cat near.? | wc -l) $(cat apart.? | wc -l) $(wc -l <out)" "0  6 6 120000"
run --nolocal --hostfile hosts ./writer
is "writers, none here" "$rc $(cat err) $(wc -l <out)" "0  80000"

: >err
timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- env --default-signal=INT "$MPIRUN" --hostfile hosts \
    --mca launch_width 1 sh -c "[ \$OMPI_COMM_WORLD_RANK != 5 ] || { sleep $mark & } ; echo done" >out 2>err </dev/null &
job=$!
says() { grep -q "sleep $mark" err; }
eventually "mpirun says for whom it waits" says
on 1 pkill -INT -f 'mpirun --hostfile'
wait $job
is "a wait that is interrupted" "$? $(grep -c "done" out)" "130 6"
has "for whom" err "^mpirun:   process [0-9]+ of rank 5 on host n3: sleep $mark\$"
eventually "a wait that is interrupted: nothing is left" none_left || leftovers

# a wrapper that ends before its program, also one that has redirected all output; the exit code is the program's
cat >late.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return argc > 1 && rank == 3 ? 7 : 0;
}
END
"$MPICC" -o late late.c && "$MPICC" -o ring "$here/../../examples/ring.c" || exit 1
for code in '' 7; do
    run --hostfile hosts sh -c "./late $code >log.\$OMPI_COMM_WORLD_RANK 2>&1 </dev/null &"
    is "redirected, code ${code:-0}" "$rc" "${code:-0}"
    run --hostfile hosts setsid ./late $code
    is "setsid, code ${code:-0}" "$rc" "${code:-0}"
    [ -z "$code" ] || has "who has ended" err '^mpirun: rank 3 \(pid [0-9]+ on host n2\) exited with code 7$'
done
run --hostfile hosts --mca launch_width 1 setsid ./ring
is "setsid" "$rc $(grep -c 'passed 6 ranks' out) $(cat err)" "0 1 "

# ranks of all hosts that ignore a signal do not outlive it
: >out
timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- env --default-signal=TERM "$MPIRUN" --hostfile hosts \
    --mca leftover_grace_ms 300 --mca end_grace_ms 300 sh -c "trap '' TERM; echo ready; sleep $mark; sleep $mark" >out 2>err </dev/null &
job=$!
all_ready() { [ "$(grep -c ready out)" = 6 ]; }
eventually "all ranks are ready" all_ready
on 1 pkill -TERM -f 'mpirun --hostfile'
wait $job
is "SIGTERM, ignored" "$?" 143
has "SIGTERM, ignored" err '^mpirun: mpirun received signal 15 .* and passed it on, but 6 ranks had not ended 0.3 s later'
eventually "SIGTERM, ignored: nothing is left" none_left || leftovers

run --hostfile hosts --mca leftover_grace_ms 200 sh -c "(trap '' TERM; [ \$OMPI_COMM_WORLD_RANK != 3 ] || exec setsid sleep $mark >/dev/null 2>&1) & sleep 0.1"
is "a daemon" "$rc $(wc -l <err)" "0 4"
has "a daemon" err 'these get SIGTERM now'
has "a daemon" err "^mpirun:   process [0-9]+ of rank 3 on host n2: sleep $mark\$"
has "a daemon" err 'were killed; what they had not written is lost:$'
eventually "a daemon: nothing is left" none_left || leftovers
finish
