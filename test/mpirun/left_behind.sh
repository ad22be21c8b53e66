#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job that succeeds loses nothing that processes in the background still have to write: mpirun waits for those that hold the
# ranks' output open, gives the others time, and says whom it ends. A job that fails gives them end_grace_ms.
# shellcheck disable=SC2016,SC2317 # the ranks' shells expand what is in quotes
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
both_ready() { [ "$(grep -c ready out)" = 2 ]; }
# ranks_over: mpirun knows that both ranks have ended
ranks_over() { "$MPIRUN" --where "$mpirun" 2>&1 | grep -q '2 ranks have ended: 0,1'; }

# wait_for PID: what a process in the background does first, so that it surely outlives its rank
cat >wait_for <<'END'
#!/bin/sh
while kill -0 "$1" 2>/dev/null; do sleep 0.02; done
sleep 0.5
END
# in_background [apart] COMMAND: leaves COMMAND in the background; `apart`: without the rank's output, in a session of its own
cat >in_background <<'END'
#!/bin/bash
if [ "$1" = apart ]; then
    setsid bash -c "./wait_for $$; $2" >/dev/null 2>&1 </dev/null &
else
    bash -c "./wait_for $$; $1" &
fi
[ ! -e fail ] || exit 5
END
# filters behind the output of a script
cat >filtered <<'END'
#!/bin/bash
exec > >(./wait_for $$; sort | gzip >"${2-log}.$OMPI_COMM_WORLD_RANK.gz")
for ((i = 0; i < 5000; i++)); do echo "line $i"; done
[ -z "${1-}" ] || "$1" child
END
cat >substituted <<'END'
#!/bin/bash
exec > >(./wait_for $$ >/dev/null 2>&1; while read -r line; do echo "$line"; done >plain.$OMPI_COMM_WORLD_RANK 2>/dev/null) 2>/dev/null
for ((i = 0; i < 2000; i++)); do echo "line $i"; done
END
chmod +x wait_for in_background filtered substituted

run --oversubscribe -n 4 ./filtered
is "sort | gzip" "$rc $(cat err)" "0 "
for rank in 0 1 2 3; do is "sort | gzip: lines of rank $rank" "$(zcat log.$rank.gz | wc -l)" 5000; done
run --oversubscribe -n 4 ./substituted
is "a log by process substitution" "$rc $(cat err)" "0 "
is "a log by process substitution: lines" "$(cat plain.* | wc -l)" 8000

# a writer of checkpoints that a rank has forked
run -n 2 --oversubscribe ./in_background 'echo saved >checkpoint.$OMPI_COMM_WORLD_RANK; echo late'
is "a writer" "$rc $(cat err) $(cat checkpoint.* | wc -l) $(grep -c late out)" "0  2 2"
run -n 2 --oversubscribe ./in_background apart 'echo saved >apart.$OMPI_COMM_WORLD_RANK'
is "a writer in a session of its own" "$rc $(cat err) $(cat apart.* | wc -l)" "0  2"
# ... of a job that fails: it has its time, but the job does not wait for ever
touch fail
run --mca end_grace_ms 100000 -n 1 ./in_background 'echo saved >failed'
is "a writer of a job that failed" "$rc $(cat failed)" "5 saved"
run --mca end_grace_ms 300 -n 1 ./in_background "exec sleep $mark"
is "a job that failed does not wait" "$rc" 5
hasnt "a job that failed does not wait" err 'in the background'
none_marked || complain "a job that failed leaves processes"
rm fail

# Python's resource tracker removes shared memory after its program, and does nothing with SIGTERM
if command -v python3 >/dev/null; then
    name=tern$mark
    cat >tracked.py <<END
from multiprocessing import shared_memory
shared_memory.SharedMemory(name="$name", create=True, size=4096)
END
    run -n 1 python3 tracked.py
    is "a resource tracker" "$rc $(find /dev/shm -name "$name")" "0 "
fi

# a job that a rank has started
cat >parent.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    char *words[] = {"./spawning", "child_log", NULL};
    MPI_Comm child;
    MPI_Init(&argc, &argv);
    MPI_Comm_spawn("./filtered", words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&child);
    MPI_Finalize();
    return 0;
}
END
cat >child.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -o parent parent.c && "$MPICC" -o spawning child.c || exit 1
run --oversubscribe -n 1 ./parent
is "a job that a rank has started" "$rc $(cat err) $(zcat child_log.0.gz child_log.1.gz | wc -l)" "0  10000"

# mpirun says for whom it waits, and an interrupt ends that
: >err
env --default-signal=INT "$MPIRUN" -n 2 --oversubscribe sh -c "sleep $mark & [ \$OMPI_COMM_WORLD_RANK = 1 ] || kill \$!; echo done" \
    >out 2>err </dev/null &
mpirun=$!
says() { grep -q "sleep $mark" err; }
eventually "mpirun says for whom it waits" says
kill -INT "$mpirun"
wait "$mpirun"
is "a wait that is interrupted" "$? $(grep -c "done" out)" "130 2"
has "for whom" err '^mpirun: all ranks have ended, but .* hold their output open; mpirun waits until these end \(Ctrl-C'
has "for whom" err "^mpirun:   process [0-9]+ of rank 1 on host .*: sleep $mark\$"
has "for whom" err '^mpirun: mpirun received signal 2 \(Interrupt\) while it waited for processes'
none_marked || complain "a wait that is interrupted leaves processes"
# ... and says whom it has killed, if they do not heed SIGTERM
for signal in INT TERM HUP; do
    for detached in '' '>/dev/null 2>&1'; do
        : >out
        env --default-signal=$signal "$MPIRUN" --mca end_grace_ms 200 --mca leftover_grace_ms 100000 --oversubscribe -n 2 \
            bash -c "(trap '' TERM; echo ready >&3; exec 3>&-; exec setsid sleep $mark) 3>&1 $detached &" >out 2>err </dev/null &
        mpirun=$!
        eventually "SIG$signal: both are ready" both_ready
        eventually "SIG$signal: the ranks have ended" ranks_over
        kill -s $signal $mpirun
        wait $mpirun
        is "SIG$signal to a wait" $? $((128 + $(kill -l $signal)))
        has "SIG$signal to a wait" err '^mpirun: processes that the ranks left in the background have not ended within 0.2 s after SIGTERM, and were killed'
        is "SIG$signal to a wait: who was killed" "$(grep -cE "^mpirun:   process [0-9]+ of rank [01] on host .*: sleep $mark\$" err)" 2
        none_marked || complain "SIG$signal to a wait leaves processes"
    done
done
run --timeout 2 -n 1 sh -c "sleep $mark & echo done"
is "--timeout ends the wait" "$rc $(cat out)" "110 done"
none_marked || complain "--timeout leaves processes"

# ranks that catch a signal, and end well, lose as little: the first Ctrl-C, too, leaves their children time
for signal in INT TERM HUP; do
    rm -f go caught.*
    : >out
    env --default-signal=$signal "$MPIRUN" --mca end_grace_ms 100 --mca leftover_grace_ms -1 --oversubscribe -n 2 bash -c "
        setsid bash -c 'trap \"\" $signal; echo ready >&3; exec 3>&-; while [ ! -e go ]; do sleep 0.05; done; echo saved >caught.\$PMIX_RANK' 3>&1 >/dev/null 2>&1 &
        trap 'exit 0' $signal
        while :; do sleep 0.05; done" >out 2>err </dev/null &
    mpirun=$!
    eventually "SIG$signal: the children are ready" both_ready
    kill -s $signal $mpirun
    eventually "SIG$signal: the ranks have ended" ranks_over
    sleep 1 # ten times end_grace_ms, which is for jobs that have failed
    : >go
    wait $mpirun
    is "SIG$signal, caught: what children save" "$? $(cat caught.* | wc -l)" "0 2"
done

# daemons get SIGTERM, and what does not heed it is killed
run --mca leftover_grace_ms 200 -n 1 sh -c "setsid sleep $mark >/dev/null 2>&1 & sleep 0.1"
is "a daemon" "$rc $(wc -l <err)" "0 2"
has "a daemon" err '^mpirun: all ranks have ended, but .* have not, within 0.2 s; these get SIGTERM now \(leftover_grace_ms'
has "a daemon" err "^mpirun:   process [0-9]+ of rank 0 on host .*: sleep $mark\$"
run --mca leftover_grace_ms 200 -n 1 sh -c "(trap '' TERM; exec setsid sleep $mark >/dev/null 2>&1) & sleep 0.1"
is "a daemon that heeds no SIGTERM" "$rc $(wc -l <err)" "0 4"
has "a daemon that heeds no SIGTERM" err '^mpirun: processes .* within 0.2 s after SIGTERM, and were killed; what they had not written is lost:$'
none_marked || complain "a daemon is left"
run --mca leftover_grace_ms -1 -n 1 ./in_background apart 'echo saved >unlimited'
is "no limit" "$rc $(cat err)$(cat unlimited)" "0 saved"
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
