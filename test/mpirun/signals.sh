#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals to mpirun are passed on to all ranks and the processes they started; a second interrupt kills the job.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"

# start ARGUMENT...: mpirun in the background, its process in $mpirun, when each of two ranks has written "ready". Also where
# these tests run under nohup themselves.
start() {
    : >out
    env --default-signal=HUP "$MPIRUN" -q -np 2 "$@" >out 2>err </dev/null &
    mpirun=$!
    eventually "both ranks are ready" both_ready
}
both_ready() { [ "$(grep -c ready out)" = 2 ]; }
is_gone() { ! kill -0 "$mpirun" 2>/dev/null; }
ended() {
    eventually "mpirun ends" is_gone || kill -KILL "$mpirun"
    wait "$mpirun"
    rc=$?
}

for signal in USR1 USR2 ALRM XCPU URG WINCH; do
    start sh -c "trap 'echo got $signal; exit 0' $signal; echo ready; while :; do sleep 0.05; done"
    kill -$signal "$mpirun"
    ended
    is "$signal" "$rc $(grep -c "got $signal" out)" "0 2"
done

# those that end programs: by default, and caught
for signal in INT TERM HUP; do
    number=$(kill -l $signal)
    start sh -c "ulimit -c 0; echo ready; sleep $mark"
    kill -$signal "$mpirun"
    ended
    is "$signal" "$rc" $((128 + number))
    has "$signal" err "^mpirun: mpirun received signal $number \(.*passed it on"
    start sh -c "trap 'echo caught; exit 0' $signal; echo ready; while :; do sleep 0.05; done"
    kill -$signal "$mpirun"
    ended
    is "$signal caught" "$rc $(grep -c caught out)" "0 2"
done

# those that change nothing by default, and one that ends programs
start sh -c "trap 'exit 0' USR1; echo ready; while :; do sleep 0.05; done"
kill -URG "$mpirun"
kill -WINCH "$mpirun"
sleep 0.2
kill -0 "$mpirun" 2>/dev/null || complain "SIGURG or SIGWINCH ended the job"
kill -USR1 "$mpirun"
ended
is "SIGURG and SIGWINCH" "$rc" 0
start sh -c "echo ready; sleep $mark"
kill -ALRM "$mpirun"
ended
is "SIGALRM, not caught" "$rc" $((128 + $(kill -l ALRM)))
has "SIGALRM, not caught" err "^mpirun: rank [01] \(pid .*\) was killed by signal 14 \(Alarm clock\), which mpirun received and passed on to the ranks$"

# the time from SIGTERM to SIGKILL after a failure: enough for a rank that takes two seconds to write what it has, or none
slow='trap "sleep 2; echo saved; exit 0" TERM; echo ready; while :; do sleep 0.05; done'
for parameter in "end_grace_ms 20000" "odls_base_sigkill_timeout 20" "end_grace_ms 0"; do
    # shellcheck disable=SC2086,SC2016  # words; expanded by the ranks' shells
    start --mca $parameter sh -c '[ "$PMIX_RANK" = 0 ] || { '"$slow"'; }; echo ready; while [ ! -e fail ]; do sleep 0.05; done; exit 5'
    touch fail
    ended
    rm fail
    is "$parameter" "$rc $(grep -c saved out)" "5 $([ "${parameter#*ms }" = 0 ] && echo 0 || echo 1)"
done

# ranks that ignore such a signal, or catch it and go on, get SIGTERM and SIGKILL after a time
for signal in INT TERM HUP; do
    number=$(kill -l $signal)
    for reaction in '' 'echo caught'; do
        start --mca leftover_grace_ms 300 --mca end_grace_ms 300 sh -c "trap '$reaction' INT TERM HUP; echo ready; while :; do sleep 0.05; done"
        kill -$signal "$mpirun"
        ended
        is "$signal, ignored ($reaction)" "$rc" $((128 + number))
        has "$signal, ignored ($reaction)" err "^mpirun: mpirun received signal $number .* and passed it on, but 2 ranks had not ended 0.3 s later \(leftover_grace_ms\); mpirun ended rank 0 \(pid [0-9]+ on host .*\), rank 1 \(pid [0-9]+ on host .*\)$"
    done
done
start --mca leftover_grace_ms 300 --mca end_grace_ms 300 sh -c "[ \$OMPI_COMM_WORLD_RANK = 0 ] || trap '' TERM; trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done"
kill -TERM "$mpirun"
ended
is "SIGTERM, ignored by one" "$rc" 143

# programs whose handler ends them in MPI, and a wrapper that ends its program: the signal is the reason
cat >quits.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void quit(int number)
{
    (void)number;
    _exit(0);
}
int main(int argc, char **argv)
{
    if (argc > 1) {
        signal(SIGINT, quit);
        signal(SIGTERM, quit);
        signal(SIGHUP, quit);
    }
    MPI_Init(&argc, &argv);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
C
"$MPICC" -o quits quits.c || exit 1
# shellcheck disable=SC2016 # the ranks' shells expand it
ends_quits='for signal in INT TERM HUP; do trap "kill -9 \$child; wait \$child; ended=yes" $signal; done; ./quits & child=$!; while [ -z "$ended" ]; do wait; done; sleep 300'
for signal in INT TERM HUP; do
    number=$(kill -l $signal)
    start ./quits handles
    kill -$signal "$mpirun"
    ended
    is "$signal, a handler that ends the program" "$rc" $((128 + number))
    has "$signal, a handler that ends the program" err "^mpirun: mpirun received signal $number .*, passed it on to the ranks, and ended the job$"
    start bash -c "$ends_quits"
    kill -$signal "$mpirun"
    ended
    is "$signal, a wrapper that kills the program" "$rc" $((128 + number))
    has "$signal, a wrapper that kills the program" err "^mpirun: mpirun received signal $number .*, passed it on to the ranks, and ended the job$"
done

# a second interrupt kills ranks that ignore the first
start --mca leftover_grace_ms -1 sh -c "trap '' INT; echo ready; sleep $mark; sleep $mark"
kill -INT "$mpirun"
# two signals of a kind that come together are one for the kernel
no_interrupt_waits() { [ $((0x$(awk '$1 == "ShdPnd:" { print $2 }' "/proc/$mpirun/status") & 2)) = 0 ]; }
eventually "mpirun has taken the first interrupt" no_interrupt_waits
sleep 0.3
kill -0 "$mpirun" 2>/dev/null || complain "the first interrupt ended ranks that ignore it"
kill -INT "$mpirun"
ended
is "a second interrupt" "$rc" 130
none_marked || complain "a second interrupt leaves processes"

# nohup
: >out
nohup "$MPIRUN" -q -np 2 sh -c 'echo ready; while [ ! -e go ]; do sleep 0.05; done; echo survived' >out 2>err </dev/null &
mpirun=$!
eventually "ready under nohup" both_ready
kill -HUP "$mpirun"
sleep 0.3
touch go
ended
is "nohup" "$rc $(grep -c survived out)" "0 2"

# stop and continue: ranks stop with mpirun, and go on with it
start sh -c 'echo ready; i=0; while [ ! -e stop ]; do i=$((i + 1)); echo $i >count.$OMPI_COMM_WORLD_RANK; sleep 0.02; done'
state_of() { sed 's/.*) //' "/proc/$1/stat" | cut -c1; }
is_stopped() { [ "$(state_of "$mpirun")" = T ]; }
runs() { [ "$(state_of "$mpirun")" != T ]; }
# ranks_stop: both ranks, which the guardian has started and stops
ranks_stop() { [ "$(pgrep -P "$(pgrep -P "$mpirun" -x tern-guardian)" -r T | wc -l)" = 2 ]; }
kill -TSTP "$mpirun"
eventually "mpirun is stopped" is_stopped
eventually "ranks stop with it" ranks_stop
before=$(cat count.0 count.1)
sleep 0.3
is "ranks are stopped" "$(cat count.0 count.1)" "$before"
kill -CONT "$mpirun"
eventually "mpirun goes on" runs
counts_on() { [ "$(cat count.0 count.1)" != "$before" ]; }
eventually "ranks go on" counts_on
touch stop
ended
is "stopped and continued" "$rc" 0

# a group, not only the rank itself
rm -f inner.*
start sh -c "sh -c 'trap \"echo inner; exit\" USR1; : >inner.\$OMPI_COMM_WORLD_RANK; while :; do sleep 0.05; done' &
    trap '' USR1; until [ -e inner.\$OMPI_COMM_WORLD_RANK ]; do sleep 0.05; done; echo ready; wait"
kill -USR1 "$mpirun"
ended
is "the rank's children" "$(grep -c inner out)" 2
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
