#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs over two hosts with two ranks each by libfabric, over providers that work on any network.
HOSTS=2
. "$(dirname "$0")/hosts.bash"
for program in in_use killed; do "$MPICC" -O1 -o $program "$here/../ofi/$program.c" || exit 1; done
for program in "$here/../../examples/ring.c" "$here/../mpi/"{random_traffic,send_recv_all_pairs}.c; do
    "$MPICC" -O1 -I"$here/../mpi" -o "$(basename "$program" .c)" "$program" -lm || { echo "cannot build $program"; exit 1; }
done
printf 'n1 slots=2\nn2 slots=2\n' >hosts
for provider in net "tcp;ofi_rxm"; do
    ofi=(--hostfile hosts --mca btl "ofi,self" --mca btl_ofi_provider "$provider" --mca btl_ofi_device eth0)
    run "${ofi[@]}" ./in_use
    is "$provider: ranks that use ofi" "$rc $(grep -c '^ofi is in use$' out) $(grep -c '^libfabric is mapped$' out)" "0 4 4"
    for program in ring send_recv_all_pairs random_traffic; do
        run "${ofi[@]}" ./$program
        is "$provider: $program" "$rc" 0
    done
    # long messages to and from a rank that is killed: the job ends, and says which rank it was
    run "${ofi[@]}" ./killed
    [ "$rc" != 0 ] || complain "$provider: a killed rank is no failure"
    has "$provider: who was killed" err "rank 1 .*(signal 9|SIGKILL|Killed)"
    for host in 1 2; do eventually "host $host clean" is_clean $host; done
done
# a rank whose device does not exist says so, and its messages go by tcp
run --hostfile hosts --mca btl ofi,tcp,self --mca btl_ofi_provider net --mca btl_ofi_device none0 ./ring
is "no such device: ring" "$rc $(cat out)" "0 The token passed 4 ranks and returned with 6"
# shellcheck disable=SC2016
is "no such device: said" "$(grep -c 'has no device `none0`' err)" 1
# a provider that does not exist: what there is, is said
run --hostfile hosts --mca btl_ofi_provider nothing ./ring
is "no such provider: ring" "$rc" 0
# shellcheck disable=SC2016
is "no such provider: said" "$(grep -Ec 'no provider `nothing` .*it offers .*net' err)" 1
# without a provider's name and without such hardware, nobody loads libfabric
if [ -z "$(find /sys/class/infiniband /sys/class/cxi /sys/class/hfi1 -mindepth 1 2>/dev/null)" ]; then
    run --hostfile hosts ./in_use
    is "libfabric loaded for nothing" "$rc $(grep -c '^libfabric is not mapped$' out)" "0 4"
fi
finish
