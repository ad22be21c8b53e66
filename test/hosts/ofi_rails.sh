#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts with two network cards each, which ranks use together by libfabric: long messages go by both. A card dies while
# messages are under way: the job goes on by the other one, without a wrong byte, and says which card it has left out.
HOSTS=2 NICS=2
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$(dirname "$0")/hosts.bash"
for program in rails in_use; do "$MPICC" -O1 -o $program "$here/../ofi/$program.c" || exit 1; done
for program in send_recv_all_pairs random_traffic; do
    "$MPICC" -O1 -I"$here/../mpi" -o $program "$here/../mpi/$program.c" -lm || exit 1
done
export FI_PROVIDER_PATH=$TERN_BUILDDIR/test/ofi/.libs
printf 'n1 slots=1\nn2 slots=1\n' >hosts

# shellcheck disable=SC2317 # by eventually
all_ready() { [ "$(grep -c ready out)" = 2 ]; }
# shellcheck disable=SC2317 # by eventually
left_out() { grep -q 'leaves out the network card eth1: ' err; }
# goes_on HOW DEVICES MODE COMMAND...: COMMAND ends the card eth1 of host 2 while messages are exchanged, which they are until it is left out
goes_on() {
    local how="$provider, $3 messages: $1" devices=$2 mode=$3
    shift 3
    rm -f end
    : >out
    (
        run --hostfile hosts --mca btl ofi,self --mca btl_ofi_provider "$provider" --mca btl_ofi_device "$devices" -x FI_PROVIDER_PATH ./rails "$PWD/end" "$mode"
        exit "$rc"
    ) &
    job=$!
    eventually "$how: ready" all_ready
    sleep 0.5
    "$@"
    eventually "$how: said" left_out
    : >end
    wait $job || { complain "$how: the job failed"; cat out err; }
    is "$how: ends" "$(grep -c '^done' out)" 2
    echo "$how: $(grep '^done' out | tr '\n' ' ')"
    ip link set q2 up
    eventually "host 2 clean" is_clean 2
}

net=net
! pkg-config --atleast-version=2 libfabric || net=tcp # libfabric's own name of it
for provider in $net "tcp;ofi_rxm" strict; do
    ofi=(--hostfile hosts --mca btl ofi,self --mca btl_ofi_provider "$provider" --mca btl_ofi_device "eth0,eth1" -x FI_PROVIDER_PATH)
    by_both_cards "$provider" run "${ofi[@]}" ./rails "$PWD/end" long
    is "$provider: rails" "$(grep -c '^done' out)" 2
    for program in send_recv_all_pairs random_traffic; do
        run "${ofi[@]}" -np 4 --oversubscribe --map-by node ./$program
        is "$provider: $program" "$rc" 0
    done
    run "${ofi[@]}" --display fabric ./in_use
    is "$provider: what is used" "$rc $(grep -c "fabric: used, by provider $provider and device.* eth0, eth1$" err)" "0 2"
    for mode in long short; do
        goes_on "the second card dies" eth0,eth1 $mode ip link set q2 down
        goes_on "the first card dies" eth1,eth0 $mode ip link set q2 down
    done
done
finish
