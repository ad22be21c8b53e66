#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on four hosts by ssh: ranks run where the hostfile says, what goes wrong is said by name, and nothing is left anywhere.
HOSTS=4
. "$(dirname "$0")/hosts.bash"

printf 'n1 slots=2\nn2 slots=2\nn3 slots=2\nn4 slots=2\n' >hosts
run --oversubscribe --hostfile hosts sh -c 'echo $OMPI_COMM_WORLD_RANK on $(hostname)'
is "8 ranks on 4 hosts" "$rc $(sort out | tr '\n' ',')" "0 0 on n1,1 on n1,2 on n2,3 on n2,4 on n3,5 on n3,6 on n4,7 on n4,"
is "and not a word" "$(cat err)" ""
run --hostfile hosts --nolocal -np 3 --map-by node hostname
is "--nolocal --map-by node" "$rc $(sort out | tr '\n' ',')" "0 n2,n3,n4,"
run --host 10.77.0.3,n1 hostname
is "by address" "$rc $(sort out | tr '\n' ',')" "0 n1,n3,"
run --hostfile hosts --mca launch_width 1 hostname
is "one starts the next" "$rc $(sort out | uniq -c | tr -s ' \n' ' ,')" "0  2 n1, 2 n2, 2 n3, 2 n4,"
run --hostfile hosts sh -c 'exit $((OMPI_COMM_WORLD_RANK == 5 ? 9 : 0))'
is "exit code" "$rc" 9
has "exit code" err '^mpirun: rank 5 \(pid [0-9]+ on host n3\) exited with code 9$'
run -q --host n2,n3 sh -c 'ip -o link show eth0 >/dev/null && cat /proc/net/tcp /proc/net/tcp6 | grep -c " 0A "'
is "agents open no port but PMIx's on the loopback interface" "$rc $(sort -u out)" "0 $(($(on 2 sh -c 'cat /proc/net/tcp /proc/net/tcp6 | grep -c " 0A "') + 1))"

# a host that dies, loudly or silently; what becomes of single processes is nothing_left.sh's
start_job() {
    : >out
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$MPIRUN" --hostfile hosts "$@" \
        sh -c "(setsid sleep $mark &); echo ready; sleep $mark" >out 2>err </dev/null &
    job=$!
    eventually "all are ready" all_ready
}
all_ready() { [ "$(grep -c ready out)" = 8 ]; }
all_clean() {
    local host
    for host; do is_clean "$host" || return 1; done
}
start_job
kill_host 4
wait $job
[ $? != 0 ] || complain "a host dies: exit status 0"
has "a host dies" err '^mpirun: host n4 is lost: '
eventually "a host dies: nothing is left" all_clean 1 2 3

sed -i /n4/d hosts
all_ready() { [ "$(grep -c ready out)" = 6 ]; }
start_job --mca heartbeat_timeout 2
ip link set p3 down # it lives, and knows as little of us as we of it
wait $job
[ $? != 0 ] || complain "a host goes silent: exit status 0"
has "a host goes silent" err '^mpirun: host n3 is lost: it has been silent for 2 s \(heartbeat_timeout\)'
eventually "a host goes silent: nothing is left, there neither" all_clean 1 2 3
ip link set p3 up
start_job --mca heartbeat_timeout 2
lose_host 3
wait $job
[ $? != 0 ] || complain "a host is switched off: exit status 0"
has "a host is switched off" err '^mpirun: host n3 is lost: '
eventually "a host is switched off: nothing is left" all_clean 1 2

finish
