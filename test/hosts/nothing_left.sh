#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whichever one process of a job on four hosts is killed with signal 9, no process and no file of the job is left on any host. Where
# mpirun, or an agent, is killed together with its guardian, no rank is left, only what a rank has put into a session of its own there; the next job removes the
# directory.
# The hosts start each other one by one, so that n2 is an inner one of the tree and n4 a leaf.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
"$MPICC" -O1 -o waits "$here/../hosts/waits.c" || { echo "cannot build it"; exit 1; }
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts

start_job() {
    : >out
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$MPIRUN" --hostfile hosts --mca launch_width 1 \
        ./waits "$mark" >out 2>err </dev/null &
    job=$!
    eventually "all are ready" all_ready
}
all_ready() { [ "$(grep -c ready out)" = 8 ]; }

slowest=0
# dies HOST PGREP-OPTION...: the first such process there
dies() {
    local host=$1 victim begin took
    shift
    start_job
    victim=$(on "$host" pgrep -o "$@")
    [ -n "$victim" ] || { complain "there is no $* on n$host"; finish; }
    begin=$(date +%s%N)
    on "$host" kill -9 "$victim"
    eventually "$* on n$host is killed: nothing is left" none_left || leftovers
    took=$((($(date +%s%N) - begin) / 1000000))
    [ "$took" -le "$slowest" ] || slowest=$took
    wait $job
    [ $? != 0 ] || complain "$* on n$host is killed: exit status 0"
    has "$* on n$host is killed: a word why" err '^mpirun: '
    echo "$* on n$host: $took ms: $(head -n 1 err)"
}

dies 1 -f 'mpirun --hostfile'
for host in 1 2 4; do
    dies "$host" -f '^./waits'
    dies "$host" -x tern-guardian
done
for host in 2 4; do
    dies "$host" -f 'mpirun --agent'
    dies "$host" -f 'sshd(-session)?: root@'
done
dies 1 -x ssh
dies 2 -x ssh
# together HOST REGEX: the process that REGEX names there, and its guardian, neither of which sees the other's death
together() {
    local victim guardian
    start_job
    victim=$(on "$1" pgrep -o -f "$2")
    guardian=$(on "$1" pgrep -o -x tern-guardian)
    on "$1" kill -STOP "$victim" "$guardian"
    on "$1" kill -9 "$guardian" "$victim"
    kill -CONT "$(pgrep -P "$job")" # nsenter stops with what it waits for
    eventually "$2 and its guardian on n$1 are killed: no rank is left" no_rank_left || leftovers
    wait $job
    [ $? != 0 ] || complain "$2 and its guardian on n$1 are killed: exit status 0"
    [ -n "$(leftovers)" ] || complain "this test wants a directory to be left"
    pgrep -f "^sleep $mark" | xargs -r kill -9 # those sessions
    run --hostfile hosts true
    is "the next job" "$rc" 0
    eventually "$2 and its guardian on n$1 are killed: the next job leaves nothing" none_left || leftovers
}
# What leftovers says is kept first: a grep that runs beside it has the mark on its own command line and would be counted.
no_rank_left() {
    local left
    left=$(leftovers)
    ! grep -qv "^\$\|^n[0-9]*: /\|^[0-9]* sleep $mark\$" <<<"$left"
}

together 1 'mpirun --hostfile'
for host in 2 4; do together $host 'mpirun --agent'; done
echo "at most after $slowest ms"
finish
