#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs over two hosts with two ranks each by libfabric, over providers that work on any network.
HOSTS=2
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$(dirname "$0")/hosts.bash"
for program in in_use killed side_effects; do "$MPICC" -O1 -o $program "$here/../ofi/$program.c" || exit 1; done
for program in "$here/../../examples/ring.c" "$here/../mpi/"{eager_limit,random_traffic,send_recv_all_pairs}.c; do
    "$MPICC" -O1 -I"$here/../mpi" -o "$(basename "$program" .c)" "$program" -lm || { echo "cannot build $program"; exit 1; }
done
printf 'n1 slots=2\nn2 slots=2\n' >hosts
net=net
! pkg-config --atleast-version=2 libfabric || net=tcp # libfabric's own name of it
for provider in $net "tcp;ofi_rxm"; do
    ofi=(--hostfile hosts --mca btl "ofi,self" --mca btl_ofi_provider "$provider" --mca btl_ofi_device eth0)
    run "${ofi[@]}" ./in_use
    is "$provider: ranks that use ofi" "$rc $(grep -c '^ofi is in use$' out) $(grep -c '^libfabric is mapped$' out)" "0 4 4"
    run "${ofi[@]}" --display fabric ./ring
    is "$provider: display fabric: one provider on each host" \
        "$rc $(grep -c "provider $provider (.*): chosen, with device eth0$" err) $(grep -c ': chosen, with' err)" "0 2 2"
    is "$provider: display fabric: what is used" "$(grep -c "fabric: used, by provider $provider and device eth0$" err)" 2
    is "$provider: display fabric: the others" "$(grep -c 'provider udp;ofi_rxd .*not chosen: btl_ofi_provider names another one' err)" 2
    for program in ring send_recv_all_pairs random_traffic; do
        run "${ofi[@]}" ./$program
        is "$provider: $program" "$rc" 0
    done
    # libfabric and what it loads take no signals from the program, and lanes do not take tens of MiB each
    run "${ofi[@]}" ./side_effects ${SAN:+signals}
    is "$provider: signals and memory" "$rc" 0
    # long messages to and from a rank that is killed: the job ends, and says which rank it was
    run "${ofi[@]}" ./killed
    [ "$rc" != 0 ] || complain "$provider: a killed rank is no failure"
    has "$provider: who was killed" err "rank 1 .*(signal 9|SIGKILL|Killed)"
    for host in 1 2; do eventually "host $host clean" is_clean $host; done
done
# most_memory: of a rank of in_use, in KiB, over tcp;ofi_rxm
most_memory() {
    run --hostfile hosts --mca btl "ofi,self" --mca btl_ofi_provider "tcp;ofi_rxm" --mca btl_ofi_device eth0 "$@" ./in_use
    sed -n 's/^own memory: \([0-9]*\) KiB$/\1/p' out | sort -n | tail -n 1
}
# ofi_rxm's own 4096 buffers for arriving messages take 64 MiB in each rank; a user who names the number gets it
buffers=4096
[ $net = net ] || buffers=1024 # libfabric 2 does not offer the provider with more
few=$(most_memory) many=$(most_memory -x FI_OFI_RXM_MSG_RX_SIZE=$buffers)
[ "${few:-0}" -gt 0 ] && [ "$((${many:-0} - few))" -gt $((buffers * 8 - 2000)) ] ||
    complain "memory over tcp;ofi_rxm: $few KiB, with $buffers buffers $many KiB"
# a rank whose device does not exist says so, and its messages go by tcp
run --hostfile hosts --mca btl ofi,tcp,self --mca btl_ofi_provider net --mca btl_ofi_device none0 ./ring
is "no such device: ring" "$rc $(cat out)" "0 The token passed 4 ranks and returned with 6"
# shellcheck disable=SC2016
is "no such device: said" "$(grep -c 'has no device `none0`' err)" 1
# if only one of two ranks has it, the other one hands its messages over to tcp, and still heeds pml_eager_limit
run --hostfile hosts --mca btl ofi,tcp,self --mca btl_ofi_provider net --mca pml_eager_limit 1000 \
    -n 1 --host n1 ./eager_limit : -n 1 --host n2 env OMPI_MCA_btl_ofi_device=none0 ./eager_limit
is "no such device at one rank: limit" "$rc" 0
# a provider that does not exist: what there is, is said
run --hostfile hosts --mca btl_ofi_provider nothing ./ring
is "no such provider: ring" "$rc" 0
# shellcheck disable=SC2016
is "no such provider: said" "$(grep -Ec 'no provider `nothing` .*it offers .*'$net err)" 1
# a provider that cannot carry messages: what it lacks, on both hosts
run --hostfile hosts --mca btl_ofi_provider udp --display fabric ./ring
is "a provider without FI_RMA: ring" "$rc" 0
is "a provider without FI_RMA: said" "$(grep -c 'fabric: not used: .*provider udp lacks .*FI_RMA' err)" 2
# without a provider's name and without such hardware, nobody loads libfabric
if [ -z "$(find /sys/class/infiniband /sys/class/cxi /sys/class/hfi1 -mindepth 1 2>/dev/null)" ]; then
    run --hostfile hosts ./in_use
    is "libfabric loaded for nothing" "$rc $(grep -c '^libfabric is not mapped$' out)" "0 4"
    run --hostfile hosts --display fabric ./ring
    is "display fabric without a device" "$rc $(grep -c 'fabric: devices in .*: none$' err) $(grep -c 'fabric: not used: this host has no' err)" "0 2 2"
fi
finish
