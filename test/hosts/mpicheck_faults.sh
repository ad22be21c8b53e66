#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpicheck names faults that are planted on four hosts with two networks, and accuses nobody else.
#
# The long run plants each of the twelve faults alone MPICHECK_ROUNDS times (default 5), and asks healthy hosts as often, quiet and
# with two busy cores. MPICHECK_FAULTS is a list of faults, the functions below, to plant only these:
#     TERN_TEST_LONG=1 MPICHECK_ROUNDS=20 MPICHECK_FAULTS="slow_card quota" make check TESTS=hosts/mpicheck_faults.sh
# What this kernel cannot do (tc) is left out with a line. The short run plants three at once, and leaves out those of mpicheck.sh.
# shellcheck disable=SC2317 # the functions are called by their names in a list
HOSTS=4 NICS=2
. "$(dirname "$0")/hosts.bash"
# shellcheck source=test/hosts/mpicheck.bash
. "$here/../hosts/mpicheck.bash"
hosts=(-H "n1,n2,n3,n4")
eth0=("${hosts[@]}" --network-only --mca btl_tcp_if_include eth0)
eth1=("${hosts[@]}" --network-only --mca btl_tcp_if_include eth1)
all=(slow_card bad_pair dead_host firewall lost_packets wrong_mtu address_twice quota wrong_clock other_kernel other_interface
    wrong_bytes healthy busy)
rounds=1
faults=(three_at_once other_interface firewall address_twice per_interface missing_interface hidden_network two_switches per_gpu slow_gpu quota wrong_mtu)
if [ -n "${TERN_TEST_LONG-}" ]; then
    rounds=${MPICHECK_ROUNDS:-5}
    read -ra faults <<<"${MPICHECK_FAULTS:-per_interface missing_interface hidden_network two_switches per_gpu slow_gpu ${all[*]}}"
fi

# The measuring program of one host with a library before it, or with another environment.
probe=$(find "$TERN_PREFIX/" -name mpicheck-probe)
cp "$probe" real-probe
"$MPICC" -shared -fPIC -O1 -o shim.so "$here/../hosts/mpicheck_shim.c" -ldl || { echo "cannot build shim.so"; exit 1; }
# with_probe HOST ASSIGNMENT...; as_before HOST
with_probe() {
    local host=$1
    shift
    printf '#!/bin/sh\nexec env %s %s/real-probe "$@"\n' "$*" "$PWD" >"probe$host"
    chmod +x "probe$host"
    on "$host" mount --bind "probe$host" "$probe"
}
as_before() { on "$1" umount "$probe"; }
preload="LD_PRELOAD=$PWD/shim.so"

# ---- hosts that are well ----
healthy() { expects "healthy" 0 -- "${hosts[@]}"; }
busy() {
    local busy=() i
    for ((i = 0; i < 2; i++)); do (while :; do :; done) & busy[i]=$!; done
    TRIES=1 expects "two busy cores" 0 -- "${hosts[@]}"
    kill "${busy[@]}"
    { wait "${busy[@]}"; } 2>/dev/null
}

# ---- a host, its programs and its clock ----
plant_kernel() {
    echo 6.1.0-99 >osrelease
    on 2 mount --bind osrelease /proc/sys/kernel/osrelease
}
kernel_said='^WARN  n2 +kernel 6\.1\.0-99; 3 others: '
clock_said='^WARN  n4 +its clock is [12]\.[0-9]+ s ahead of that of most hosts'
flip_said='^DATA  n3 +wrong bytes in what it receives'
three_at_once() {
    plant_kernel
    with_probe 3 "$preload" SHIM_FLIP=1
    with_probe 4 "$preload" SHIM_CLOCK_S=2
    expects "three faults" 4 "$kernel_said" "$clock_said" "$flip_said" -- "${eth0[@]}" --full
    on 2 umount /proc/sys/kernel/osrelease
    as_before 3
    as_before 4
}
other_kernel() {
    plant_kernel
    expects "another kernel" 1 "$kernel_said" -- "${eth0[@]}"
    on 2 umount /proc/sys/kernel/osrelease
}
wrong_bytes() {
    with_probe 3 "$preload" SHIM_FLIP=1
    expects "wrong bytes" 4 "$flip_said" -- "${eth0[@]}" --full
    as_before 3
}
wrong_clock() {
    with_probe 4 "$preload" SHIM_CLOCK_S=2
    expects "a wrong clock" 1 "$clock_said" -- "${eth0[@]}"
    as_before 4
}
dead_host() {
    on 4 ip link set eth0 down
    expects "a dead host" 2 '^FAIL  n4 +left out: ' -- "${eth0[@]}"
    on 4 ip link set eth0 up
}
# by a control group of the host's processes; only version 1 of control groups, where tests may make some
quota() {
    local group=/sys/fs/cgroup/cpu/tern-test-$$
    if mkdir "$group" 2>/dev/null && echo 10000 >"$group/cpu.cfs_quota_us"; then
        pgrep --ns "${inits[3]}" --nslist pid . | while read -r pid; do echo "$pid" >"$group/cgroup.procs"; done
        expects "a quota" 2 '^FAIL  n3 +the system stopped the test for [0-9]+ ms: its group may use 0\.10 of' -- "${hosts[@]}" --host-only
        pgrep --ns "${inits[3]}" --nslist pid . | while read -r pid; do echo "$pid" >"$group/../cgroup.procs"; done
        rmdir "$group"
    else
        echo "no quota: no control group can be made here"
    fi
}

# GPUs of a driver that has none (test/device); the second of one host is slow
# with_gpus [HOST]: HOST has the slow one
with_gpus() {
    local host slow
    for host in 1 2 3 4; do
        slow=9
        [ "$host" != "${1-}" ] || slow=1
        with_probe "$host" LD_LIBRARY_PATH="$TERN_BUILDDIR/test/device/.libs:\$LD_LIBRARY_PATH" CUDA_VISIBLE_DEVICES=0,1 FAKE_CUDA_SLOW="$slow"
    done
}
without_gpus() {
    local host
    for host in 1 2 3 4; do as_before "$host"; done
}
slow_gpu() {
    with_gpus 3
    expects "a slow GPU" 2 '^FAIL  n3 +GPU 1 \(Fake-GPU-1\): copies .* at 0\.[0-9] GB/s, others at' -- "${hosts[@]}" --host-only
    without_gpus
}
per_gpu() {
    with_gpus
    expects "by each GPU" 0 -- "${eth0[@]}" --full --per gpu
    is "by each GPU: pages" "$(grep '^GPU ' out | tr '\n' ' ')" "GPU gpu0 GPU gpu1 "
    is "by each GPU: reports" "$(cd report && echo *)" "gpu0 gpu1"
    without_gpus
}

# ---- the network ----
slow_card() {
    on 2 tc qdisc add dev eth0 root tbf rate 160mbit burst 200kb latency 50ms
    expects "a slow card" 2 '^FAIL  n2 +sends at [0-9.]+ MB/s, others at [0-9.]+ .B/s; also alone' -- "${eth0[@]}"
    on 2 tc qdisc del dev eth0 root
}
# n1 and n2 behind one switch, n3 and n4 behind another one, and a slow link between them: the median of all pairs is slow
two_switches() {
    local link
    ip link add br2 type bridge
    ip link add up1 type veth peer name up2
    for link in up1:br0 up2:br2 p3:br2 p4:br2; do ip link set "${link%:*}" master "${link#*:}"; done
    for link in br2 up1 up2; do ip link set "$link" up; done
    for link in up1 up2; do tc qdisc add dev "$link" root tbf rate 80mbit burst 100kb latency 50ms; done
    expects "two switches" 2 '^FAIL  n\[1-2\] <-> n\[3-4\] [0-9.]+ MB/s at most between these groups, .* inside; also alone' -- "${eth0[@]}"
    for link in p3 p4; do ip link set "$link" master br0; done
    ip link del up1
    ip link del br2
}
bad_pair() {
    on 2 ip neigh replace 10.77.0.3 lladdr 02:00:00:00:00:99 nud permanent dev eth0
    expects "a bad pair" 2 '^FAIL  n2 <-> n3 +no connection' -- "${eth0[@]}"
    on 2 ip neigh del 10.77.0.3 dev eth0
}
# a network that some would prefer
other_interface() {
    with_probe 3 OMPI_MCA_btl_tcp_if_include=eth1
    expects "another interface" 1 '^WARN  n3 +100 % of its connections go by eth1; of those of most hosts' -- "${hosts[@]}" --network-only
    as_before 3
}
# dropping DIRECTION PROTOCOL PROGRAM COMMAND...: runs the command while eth0 (or $eth) of n3 loses the packets that a BPF program chooses: they
# are sent into a link that leads nowhere
dropping() {
    local direction=$1 protocol=$2 program=$3 nic=${eth-eth0}
    shift 3
    on 3 tc qdisc add dev "$nic" clsact
    if on 3 tc filter add dev "$nic" "$direction" protocol "$protocol" bpf bytecode "$program" action mirred egress redirect dev lost1 2>err; then
        "$@"
    else
        echo "nothing is dropped: this kernel cannot ($(cat err))"
    fi
    on 3 tc qdisc del dev "$nic" clsact
}
# The packets are chosen by a random number. Whom chance spares is not named, so that this is asked in the long run alone.
lost_packets() {
    dropping egress all '4,32 0 0 4294963256,37 1 0 130000000,6 0 0 4294967295,6 0 0 0' \
        expects "lost packets" 2 '^FAIL  n3 +(.* of the segments that .* are sent again|(sends|receives) at .* of the segments are lost and sent again)' -- "${eth0[@]}"
}
# n3 drops what n2 sends it to open connections (SYN without ACK)
firewall() {
    dropping ingress ip '9,32 0 0 4293918732,21 0 6 172818434,48 0 0 4293918729,21 0 4 6,48 0 0 4293918753,84 0 0 18,21 0 1 2,6 0 0 4294967295,6 0 0 0' \
        expects "a firewall in one direction" 1 '^WARN  n2 -> n3 +calls are not answered \(Connection timed out\), the other way they are' -- "${eth0[@]}"
}
address_twice() {
    on 4 ip address add 10.88.0.3/24 dev eth1
    expects "an address twice" 2 '^FAIL  n\[3-4\] +all have the address 10\.88\.0\.3' -- "${eth1[@]}"
    on 4 ip address del 10.88.0.3/24 dev eth1
    for host in 1 2 3; do on "$host" ip neigh flush dev eth1; done
}
# one of two cards is slow: by each interface alone
per_interface() {
    on 2 tc qdisc add dev eth1 root tbf rate 160mbit burst 200kb latency 50ms
    expects "by each interface" 2 '^FAIL  n2 +sends at [0-9.]+ MB/s' -- "${hosts[@]}" --network-only --per nic
    is "by each interface: those that connect hosts" "$(grep '^interface ' out | sort | tr '\n' ' ')" "interface eth0 interface eth1 "
    is "by each interface: reports" "$(cd report && echo *)" "eth0 eth1"
    if [ "$measured" = 1 ]; then
        is "by each interface: eth0 is well" "$(cat report/eth0/bad.hosts)" ""
        is "by each interface: eth1 is not" "$(cat report/eth1/bad.hosts)" n2
    fi
    on 2 tc qdisc del dev eth1 root
}
# one of two cards is slow, or drops calls, and messages go by the other one
hidden_network() {
    on 2 tc qdisc add dev eth1 root tbf rate 160mbit burst 200kb latency 50ms
    expects "a slow second card" 1 '^WARN  n2 +its eth1 sends at [0-9]+ MB/s, that of other hosts at [0-9]+' -- "${hosts[@]}" --network-only
    on 2 tc qdisc del dev eth1 root
    eth=eth1 dropping ingress ip '7,48 0 0 4293918729,21 0 4 6,48 0 0 4293918753,84 0 0 18,21 0 1 2,6 0 0 4294967295,6 0 0 0' \
        expects "a second network without calls" 1 '^WARN  n3 +calls to its eth1 are not answered' -- "${hosts[@]}" --network-only
}
# one host's second card is down
missing_interface() {
    on 3 ip link set eth1 down
    expects "a missing interface" 2 '^FAIL  n3 +left out: its eth1 does not run; that of 3 other hosts' \
        '^WARN  n3 +eth1 running no; 3 others: yes' -- "${hosts[@]}" --network-only --per nic
    [ "$measured" = 0 ] || is "a missing interface: bad hosts" "$(cat report/eth0/bad.hosts)/$(cat report/eth1/bad.hosts)" "/n3"
    on 3 ip link set eth1 up
}
# packets of full size are lost on their way to one host
wrong_mtu() {
    for host in 1 2 3 4; do on "$host" ip link set eth1 gso_max_segs 1; done
    ip link set q3 mtu 1000
    expects "a wrong MTU" 2 '^FAIL  n3 +with 3 of 3 hosts: short messages arrive, those of 32 KiB do not' -- "${eth1[@]}"
    ip link set q3 mtu 1500
    for host in 1 2 3 4; do
        on "$host" ip link set eth1 gso_max_segs 65535
        on "$host" ip tcp_metrics flush all # what the kernel remembers of it
    done
}

for ((round = 0; round < rounds; round++)); do
    for fault in "${faults[@]}"; do
        before=$wrong
        "$fault"
        [ "$rounds" = 1 ] || echo "round $round: $fault: measured $measured, wrong $((wrong - before))"
    done
done
for ((host = 1; host <= HOSTS; host++)); do eventually "host $host clean" is_clean $host; done
finish
