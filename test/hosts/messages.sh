#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs over four hosts with two ranks each, on hosts that also have networks which lead nowhere.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
for program in "$here/../../examples/"{hello,ring}.c "$here/../mpi/"{random_traffic,random_collectives,send_recv_all_pairs,comm_split_type_shared}.c; do
    "$MPICC" -O1 -I"$here/../mpi" -o "$(basename "$program" .c)" "$program" -lm || { echo "cannot build $program"; exit 1; }
done
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts

run --hostfile hosts ./hello
is "hello" "$rc $(sort out | cut -d, -f1 | tr '\n' ',')" "0 $(for rank in 0 1 2 3 4 5 6 7; do printf 'Hello from rank %d of 8 on n%d,' $rank $((rank / 2 + 1)); done)"
run --hostfile hosts ./ring
is "ring" "$rc $(cat out)" "0 The token passed 8 ranks and returned with 28"
run --hostfile hosts --map-by node ./ring
is "ring that leaves the host at every step" "$rc $(cat out)" "0 The token passed 8 ranks and returned with 28"
for program in send_recv_all_pairs random_traffic random_collectives comm_split_type_shared; do
    run --hostfile hosts ./$program
    is "$program" "$rc" 0
done
finish
