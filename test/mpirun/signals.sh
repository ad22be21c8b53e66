#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals to mpirun are passed on to all ranks and the processes they started; a second interrupt kills the job.
. "$(dirname "$0")/check.bash"

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
        has "$signal, ignored ($reaction)" err "^mpirun: mpirun received signal $number .* and passed it on, but 2 ranks had not ended 0.3 s later"
    done
done
start --mca leftover_grace_ms 300 --mca end_grace_ms 300 sh -c "[ \$OMPI_COMM_WORLD_RANK = 0 ] || trap '' TERM; trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done"
kill -TERM "$mpirun"
ended
is "SIGTERM, ignored by one" "$rc" 143

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
