#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts with two good networks each. Long messages go by both; when one of them is cut in the middle of a transfer, without a
# word to anybody, that is an error within btl_tcp_timeout which names the interface, and the job ends by itself.
HOSTS=2 NICS=2
. "$(dirname "$0")/hosts.bash"
job_limit_s=100
"$MPICC" -O1 -o losing "$here/losing.c" || { echo "cannot build losing"; exit 1; }

# shellcheck disable=SC2317 # by eventually
both_ready() { [ "$(grep -c ^ready out)" = 2 ]; }
sent_by() { on 1 awk -v "name=$1:" '$1 == name { print $10 }' /proc/net/dev; }
# shellcheck disable=SC2317 # by eventually
both_carry() { [ "$(sent_by eth0)" -gt 50000000 ] && [ "$(sent_by eth1)" -gt 50000000 ]; }

run -q --host n1:2,n2:1 --map-by node --mca btl_tcp_timeout 3 ./losing transfers &
job=$!
eventually "both ranks" both_ready
eventually "50 MB by each of the networks" both_carry
ip link set q2 down
wait $job
for rank in 0 1; do
    has "rank $rank" out "^rank $rank: .*the connection of rank $rank on host n$((rank + 1)) with rank $((1 - rank)) on host n$((2 - rank)) is lost \(eth1, 10.88.0.$((rank + 1)):[0-9]+ here and 10.88.0.$((2 - rank)):[0-9]+ there\): (its host no longer answers|[A-Z])"
done
is "who goes on" "$(grep 'goes on' out | sort | tr '\n' ',')" "rank 0 goes on,rank 1 goes on,rank 2 goes on,"
for host in 1 2; do eventually "host $host clean" is_clean $host; done
finish
