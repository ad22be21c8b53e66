#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where ranks are, on three hosts: a circle over all of them, a rank that loops, one that is stopped, and a host that does not
# answer. SIGQUIT, --where, --timeout and the watch for a job that hangs find out. A message that a broken link holds up is no
# deadlock.
HOSTS=3 NICS=2
. "$(dirname "$0")/hosts.bash"
"$MPICC" -g -O1 -o hanging "$here/../mpirun/hanging.c" -lpthread || { echo "cannot build it"; exit 1; }
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts

# start HOW [OPTION]...: a job of six ranks that hangs so; mpirun's process on n1 is in $mpirun
start() {
    local how=$1
    shift
    : >out
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$MPIRUN" --hostfile hosts --mca launch_width 1 "$@" \
        ./hanging "$how" >out 2>err </dev/null &
    job=$!
    eventually "$how: all ranks are ready" all_ready
    mpirun=$(on 1 pgrep -o -f "^$MPIRUN --hostfile")
}
all_ready() { [ "$(grep -c ready out)" = 6 ]; }
end() {
    on 1 kill -TERM "$mpirun"
    wait $job
    eventually "nothing is left" none_left || leftovers
}
shows() {
    on 1 "$MPIRUN" --where "$mpirun" >table 2>table.err
    grep -qE -- "$1" table
}
where() { eventually "$1 ($2)" shows "$2" || cat table table.err; }
said() { grep -qE -- "$1" err; }

start circle --mca hang_report_s 1
where "a circle over three hosts" '^ +6 ranks wait in MPI_Recv, tag 7, MPI_COMM_WORLD, for different ranks, .*: 0-5$'
where "a circle over three hosts" '^    a circle of 6 ranks: rank 0 waits in MPI_Recv for rank 1, tag 7, MPI_COMM_WORLD; '
on 1 kill -QUIT "$mpirun"
eventually "SIGQUIT" said "^mpirun: job of 6 ranks, pid $mpirun"
eventually "nothing moves" said '^mpirun: nothing has moved for [0-9]+ s \(job of 6 ranks'
end

start loop
where "a rank of another host loops" '^ +1 rank (computes outside MPI, in spin at hanging.c:[0-9]+ \(hanging\), [0-9]+ % of a processor|sleeps .*): 1 \(host n[123], pid [0-9]+\)'
where "the others wait" '^ +5 ranks wait in MPI_Allreduce, number 11 on MPI_COMM_WORLD \(5 of its 6 ranks\)'
on 3 pkill -STOP -f 'mpirun --agent'
where "a host that does not answer" '^ +2 ranks are not seen: host n3 has not answered: 4,5'
on 3 pkill -CONT -f 'mpirun --agent'
where "and answers again" '^ +5 ranks wait in MPI_Allreduce'
end

start circle
where "before a stop" '^ +6 ranks wait in MPI_Recv'
on 2 pkill -STOP -o -f '^./hanging'
where "a rank of another host is stopped" '^ +1 rank is stopped by a signal, in MPI_Recv, tag 7, .*: [23] \(host n2, pid [0-9]+\)'
on 2 pkill -CONT -o -f '^./hanging'
end

for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=1"; done >one_each
# in_time RANKS HOSTFILE: --timeout ends a circle of so many ranks; again with more time if they have not come so far
in_time() {
    local seconds
    for seconds in 5 50; do
        run --hostfile "$2" --timeout $seconds ./hanging circle
        ! said "^    a circle of $1 ranks: " || break
    done
    is "--timeout of $1 ranks" "$rc" 110
    has "--timeout of $1 ranks" err "^    a circle of $1 ranks: "
}
in_time 3 one_each
in_time 6 hosts
eventually "nothing is left" none_left || leftovers

printf 'n1 slots=1\nn2 slots=1\n' >hosts
all_ready() { [ "$(grep -c ready out)" = 2 ]; }
start pingpong --mca btl_tcp_if_include eth1 --mca hang_report_s 4
ip link set q2 down # ssh's network is another one
where "bytes that nobody acknowledges" '^    [1-9][0-9]* bytes from rank ([01]) have not been acknowledged by the host of rank [01] \(n[12]\) for [0-9]+ s: does the network between them work\?$'
hasnt "a broken link is no circle" table 'circle'
eventually "nothing moves" said 'nothing has moved for'
eventually "the watch says so" said '^    [1-9][0-9]* bytes from rank [01] have not been acknowledged'
hasnt "the watch: a broken link is no circle" err 'circle'
end
finish
