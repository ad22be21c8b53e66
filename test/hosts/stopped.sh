#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A process that is stopped is not dead: when mpirun or an agent goes on, however late, so does the job. Ctrl-Z stops the ranks
# on all hosts. A host that dies while mpirun is stopped still ends the job there.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
"$MPICC" -O1 -o waits "$here/../hosts/waits.c" || { echo "cannot build it"; exit 1; }
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=1"; done >hosts

start_job() {
    : >out
    rm -f go
    # a shell stands between, for nsenter stops with its child
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- bash -c '"$@" & wait $!' job "$MPIRUN" --hostfile hosts \
        --mca launch_width 1 --mca heartbeat_timeout 3 ./waits "$mark" "$PWD/go" >out 2>err </dev/null &
    job=$!
    eventually "all are ready" all_ready
    mpirun=$(on 1 pgrep -o -f "^$MPIRUN --hostfile")
}
all_ready() { [ "$(grep -c ready out)" = "$HOSTS" ]; }
# ranks_are STATES: each one of the job's ranks is in one of these
ranks_are() { [ "$(pgrep -f '^./waits' | wc -l)" = "$HOSTS" ] && [ "$(pgrep -f '^./waits' -r "$1" | wc -l)" = "$HOSTS" ]; }
ends_well() {
    touch go
    wait $job
    is "$1" "$? $(grep -c 'went on' out)" "0 $HOSTS"
    eventually "$1: nothing is left" none_left || leftovers
}

start_job
on 1 kill -TSTP "$mpirun"
eventually "ranks stop with mpirun" ranks_are T
eventually "mpirun stops" on 1 pgrep -r T -f 'mpirun --hostfile' >/dev/null
sleep 5
ranks_are T || complain "ranks do not stay stopped"
on 1 kill -CONT "$mpirun"
eventually "ranks go on with mpirun" ranks_are R,S
ends_well "mpirun gets SIGTSTP and SIGCONT"

start_job
on 1 kill -STOP "$mpirun"
sleep 5
on 1 kill -CONT "$mpirun"
ends_well "mpirun gets SIGSTOP and SIGCONT"
is "and not a word" "$(cat err)" ""

start_job
for host in 2 4; do on $host pkill -STOP -f 'mpirun --agent'; done
said() { grep -q 'the agent on host n2 is silent, but the host answers' err; }
eventually "who is waited for" said
for host in 2 4; do on $host pkill -CONT -f 'mpirun --agent'; done
ends_well "agents, an inner one and a leaf, get SIGSTOP and SIGCONT"

start_job
on 1 kill -STOP "$mpirun"
sleep 5
lose_host 1
wait $job
elsewhere() { ! pgrep -f "$mark|^./waits" >/dev/null; }
eventually "mpirun's host dies while mpirun is stopped: nothing is left" elsewhere || leftovers
finish
