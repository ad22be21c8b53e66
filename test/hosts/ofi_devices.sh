#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages between device memory of two hosts with two network cards each, over the provider strict (../ofi/strict.h), whose
# cards reach the memory of the tests' CUDA driver: by both cards, also when one of them dies; through the host where the
# provider refuses; a rank that is killed.
HOSTS=2 NICS=2
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$(dirname "$0")/hosts.bash"
export FAKE_CUDA=$TERN_BUILDDIR/test/device/.libs/libcuda.so.1 FI_PROVIDER_PATH=$TERN_BUILDDIR/test/ofi/.libs
for program in ofi/devices ofi/device_traffic device/shared; do
    "$MPICC" -w -o "${program#*/}" "$here/../$program.c" -ldl || exit 1
done
printf 'n1 slots=1\nn2 slots=1\n' >hosts
refusal='messages between device memory of different hosts go through the hosts. memory'

# goes WISH DEVICES ARGUMENTS...: runs with STRICT_HMEM=WISH by the cards DEVICES
goes() {
    local wish=$1 devices=$2
    shift 2
    rm -f report
    run --hostfile hosts --mca btl ofi,self --mca btl_ofi_provider strict --mca btl_ofi_device "$devices" \
        --mca btl_ofi_hmem always -x FI_PROVIDER_PATH -x FAKE_CUDA -x STRICT_REPORT="$PWD/report" -x STRICT_HMEM="$wish" "$@"
}
count() { awk -v word="$1" '{for (i = 1; i < NF; i += 2) if ($i == word) sum += $(i + 1)} END {print sum + 0}' report; }
# shellcheck disable=SC2317 # by eventually
left_out() { grep -q 'leaves out the network card eth1: ' err; }
# shellcheck disable=SC2317 # by eventually
all_ready() { [ "$(grep -c ready out)" = 2 ]; }

goes yes eth0 ./devices direct
is "direct" "$rc $(cat err)" "0 "
[ "$(count device_reads)" -ge 50 ] || complain "direct: $(count device_reads) reads of device memory"
goes yes eth0 -x FAKE_CUDA_REUSE=1 ./shared staged
is "many buffers, freed and got again" "$rc $(cat err)" "0 "
goes refuses eth0 ./devices staged
is "refused" "$rc $(grep -c "$refusal" err) $(wc -l <err) $(count device_reads)" "0 1 1 0"
goes "" eth0 ./devices staged
is "not offered" "$rc $(cat err) $(count device_reads)" "0  0"
goes yes eth0 --display paths ./devices direct
is "paths" "$(grep -c 'device memory: directly (FI_HMEM)$' err)" 2

by_both_cards "two cards" goes yes eth0,eth1 ./device_traffic "$PWD/end"
is "two cards" "$(grep -c '^done' out) $(cat err)" "2 "
goes yes eth0,eth1 ./devices direct
is "two cards, all kinds" "$rc $(cat err)" "0 "

# a GPU whose switch has the card eth1: only this card moves its bytes. Each host shows such a bus in place of its own; device 0 of
# the tests' driver has the address 0000:1a:00.0.
cat >bus.sh <<'END'
bus=/run/pci0000:15/0000:15:01.0 other=/run/pci0000:97/0000:97:01.0
mkdir -p $bus/0000:1a:00.0 $bus/0000:1b:00.0 $other/0000:98:00.0
mount -t tmpfs tmpfs /sys/bus && mkdir -p /sys/bus/pci/devices && ln -s $bus/0000:1a:00.0 /sys/bus/pci/devices/
mount -t tmpfs tmpfs /sys/class/net && mkdir /sys/class/net/eth0 /sys/class/net/eth1
ln -s $other/0000:98:00.0 /sys/class/net/eth0/device && ln -s $bus/0000:1b:00.0 /sys/class/net/eth1/device
END
for host in 1 2; do on $host sh bus.sh || complain "host $host shows no bus"; done
before=("$(sent 2 eth0)" "$(sent 2 eth1)")
goes yes eth0,eth1 ./device_traffic
is "near card" "$rc $(grep -c '^done' out) $(cat err)" "0 2 "
by=($(($(sent 2 eth0) - before[0])) $(($(sent 2 eth1) - before[1])))
echo "bytes by eth0 and eth1, which is near: ${by[*]}"
[ $((by[0] * 10)) -lt "${by[1]}" ] || complain "the far card has carried too much: ${by[*]}"

: >out
(
    goes yes eth0,eth1 ./device_traffic "$PWD/end"
    exit "$rc"
) &
job=$!
eventually "a card dies: ready" all_ready
ip link set q2 down
eventually "a card dies: said" left_out
: >end
wait $job || { complain "a card dies: the job failed"; cat out err; }
is "a card dies: ends" "$(grep -c '^done' out)" 2
ip link set q2 up

goes yes eth0 ./device_traffic kill
[ "$rc" != 0 ] || complain "a killed rank is no failure"
has "who was killed" err "rank 1 .*(signal 9|SIGKILL|Killed)"
for host in 1 2; do eventually "host $host clean" is_clean $host; done
finish
