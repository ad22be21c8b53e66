#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on hosts that reach each other by IPv6 alone, while their useless networks have IPv4 addresses.
HOSTS=4 FAMILY=6
. "$(dirname "$0")/hosts.bash"
for program in "$here/../../examples/ring.c" "$here/../mpi/random_traffic.c"; do
    "$MPICC" -O1 -I"$here/../mpi" -o "$(basename "$program" .c)" "$program" -lm || { echo "cannot build $program"; exit 1; }
done
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts

run -q --hostfile hosts --map-by node ./ring
is "ring" "$rc $(cat out) $(cat err)" "0 The token passed 8 ranks and returned with 28 "
run -q --hostfile hosts --mca launch_width 1 ./random_traffic
is "messages, with hosts that start each other" "$rc $(cat err)" "0 "
run -q --host '[fd77::2]:2,fd77::3' hostname
is "hosts by address" "$rc $(sort out | tr '\n' ',') $(cat err)" "0 n2,n2,n3, "
run -q --hostfile hosts --mca btl_tcp_if_include fd77::/16 ./ring
is "btl_tcp_if_include of a subnet" "$rc $(cat err)" "0 "
finish
