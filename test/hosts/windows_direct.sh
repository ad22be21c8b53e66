#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Windows over two hosts with two ranks each, by libfabric: the network copies puts and gets of one run straight to and from the
# target's memory, and all agrees with what messages and ranks of the same host do. With rma_direct and without; the library
# counts the copies. udp;ofi_rxd is never trusted with them (lib/btl/ofi/fabric/provider.c).
HOSTS=2
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$(dirname "$0")/hosts.bash"
for program in win_random win_counter win_lock_turns win_passive_target win_misuse win_threads; do
    "$MPICC" -O1 -D_GNU_SOURCE -I"$here/../mpi" -o $program "$here/../mpi/$program.c" || { echo "cannot build $program"; exit 1; }
done
printf 'n1 slots=2\nn2 slots=2\n' >hosts
rounds=40
[ -z "${TERN_TEST_LONG:-}" ] || rounds=400
direct() { awk '$1 == "direct" {print $2}' out; }

"$MPICC" -O1 -D_GNU_SOURCE -I"$here/../mpi" -o direct_windows "$here/../ofi/direct_windows.c" || exit 1

for provider in net "tcp;ofi_rxm"; do
    for btl in ofi,shm,self ofi,self; do
        ofi=(--hostfile hosts --mca btl $btl --mca btl_ofi_provider "$provider" --mca btl_ofi_device eth0)
        run "${ofi[@]}" ./win_random $rounds
        is "$provider, $btl: random operations" "$rc" 0
        [ "$(direct)" -gt 0 ] || complain "$provider, $btl: the network copied nothing: $(cat out)"
        echo "$provider, $btl: $(tr '\n' ' ' <out)"
    done
    run "${ofi[@]}" ./direct_windows
    is "$provider: all lengths" "$rc" 0
    [ "$(direct)" -gt 1000 ] || complain "$provider: the network copied too little: $(cat out)"
    echo "$provider: all lengths: $(cat out)"
    # a rank that is killed while others put to it: the job ends, and says which rank it was
    run "${ofi[@]}" ./direct_windows 1 killed
    [ "$rc" != 0 ] || complain "$provider: a killed rank is no failure"
    has "$provider: who was killed" err "rank 1 .*(signal 9|SIGKILL|Killed)"
    for host in 1 2; do eventually "host $host clean" is_clean $host; done
    run "${ofi[@]}" --mca rma_direct no ./win_random 20
    is "$provider: random operations by messages" "$rc $(direct)" "0 0"
    for program in "win_counter 100" "win_lock_turns 50" win_passive_target win_misuse; do
        # shellcheck disable=SC2086 # a program and its argument
        run "${ofi[@]}" ./$program
        is "$provider: $program" "$rc" 0
    done
    run "${ofi[@]}" --map-by node -n 2 ./win_threads
    is "$provider: win_threads" "$rc" 0
done
run --hostfile hosts --mca btl ofi,self --mca btl_ofi_provider "udp;ofi_rxd" --mca btl_ofi_device eth0 --mca rma_direct yes \
    ./win_random 10
is "udp;ofi_rxd: random operations" "$rc $(direct)" "0 0"
finish
