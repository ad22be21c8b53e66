#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpicheck names faults that are planted on four hosts with two networks: wrong bytes, a wrong clock, another kernel, another
# interface, a wrong MTU, a firewall in one direction, an address that two hosts have, a quota of processors. In the long run lost packets too, each alone and
# several times, and healthy hosts 20 times. What this kernel cannot do (tc) is left out with a line.
HOSTS=4 NICS=2
. "$(dirname "$0")/hosts.bash"
# shellcheck source=test/hosts/mpicheck.bash
. "$here/../hosts/mpicheck.bash"
hosts=(-H "n1,n2,n3,n4")
eth0=("${hosts[@]}" --network-only --mca btl_tcp_if_include eth0)
eth1=("${hosts[@]}" --network-only --mca btl_tcp_if_include eth1)
long=0 repeat=1
[ -z "${TERN_TEST_LONG-}" ] || long=1 repeat=5

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

kernel() {
    echo 6.1.0-99 >osrelease
    on 2 mount --bind osrelease /proc/sys/kernel/osrelease
}
kernel_said='^WARN  n2 +kernel 6\.1\.0-99; 3 others: '
clock_said='^WARN  n4 +its clock is [12]\.[0-9]+ s ahead of that of most hosts'
flip_said='^DATA  n3 +wrong bytes in what it receives'
if [ $long = 0 ]; then
    kernel
    with_probe 3 "$preload" SHIM_FLIP=1
    with_probe 4 "$preload" SHIM_CLOCK_S=2
    expects "three faults" 4 "$kernel_said" "$clock_said" "$flip_said" -- "${eth0[@]}" --full
    on 2 umount /proc/sys/kernel/osrelease
    as_before 3
    as_before 4
fi
for ((round = 0; round < repeat && long; round++)); do
    kernel
    expects "another kernel" 1 "$kernel_said" -- "${eth0[@]}"
    on 2 umount /proc/sys/kernel/osrelease
    with_probe 3 "$preload" SHIM_FLIP=1
    expects "wrong bytes" 4 "$flip_said" -- "${eth0[@]}" --full
    as_before 3
    with_probe 4 "$preload" SHIM_CLOCK_S=2
    expects "a wrong clock" 1 "$clock_said" -- "${eth0[@]}"
    as_before 4
done

for ((round = 0; round < repeat; round++)); do
    # a network that some would prefer
    with_probe 3 OMPI_MCA_btl_tcp_if_include=eth1
    expects "another interface" 1 '^WARN  n3 +100 % of its connections go by eth1; of those of most hosts' -- "${hosts[@]}" --network-only
    as_before 3

    # lost packets: what a random number chooses is sent into a link that leads nowhere. Whom chance spares is not named, so that
    # this is asked in the long run alone
    if [ $long = 1 ]; then
        on 3 tc qdisc add dev eth0 clsact
        if on 3 tc filter add dev eth0 egress bpf bytecode '4,32 0 0 4294963256,37 1 0 130000000,6 0 0 4294967295,6 0 0 0' \
            action mirred egress redirect dev lost1 2>err; then
            expects "lost packets" 2 '^FAIL  n3 +(.* of the segments that .* are sent again|sends at .* of the segments are lost and sent again)' -- "${eth0[@]}"
        else
            echo "no lost packets: this kernel cannot ($(cat err))"
        fi
        on 3 tc qdisc del dev eth0 clsact
    fi

    # a firewall in one direction: n3 drops what n2 sends it to open connections (SYN without ACK)
    on 3 tc qdisc add dev eth0 clsact
    if on 3 tc filter add dev eth0 ingress protocol ip bpf bytecode '9,32 0 0 4293918732,21 0 6 172818434,48 0 0 4293918729,21 0 4 6,48 0 0 4293918753,84 0 0 18,21 0 1 2,6 0 0 4294967295,6 0 0 0' \
        action mirred egress redirect dev lost1 2>err; then
        expects "a firewall in one direction" 1 '^WARN  n2 -> n3 +calls are not answered \(Connection timed out\), the other way they are' -- "${eth0[@]}"
    else
        echo "no firewall: this kernel cannot ($(cat err))"
    fi
    on 3 tc qdisc del dev eth0 clsact

    # two hosts with one address
    on 4 ip address add 10.88.0.3/24 dev eth1
    expects "an address twice" 2 '^FAIL  n\[3-4\] +all have the address 10\.88\.0\.3' -- "${eth1[@]}"
    on 4 ip address del 10.88.0.3/24 dev eth1
done

# one of two cards is slow: by each interface alone
on 2 tc qdisc add dev eth1 root tbf rate 160mbit burst 200kb latency 50ms
expects "by each interface" 2 '^FAIL  n2 +sends at [0-9.]+ MB/s' -- "${hosts[@]}" --network-only --per nic
is "by each interface: those that connect hosts" "$(grep '^interface ' out | sort | tr '\n' ' ')" "interface eth0 interface eth1 "
is "by each interface: reports" "$(cd report && echo *)" "eth0 eth1"
if [ "$measured" = 1 ]; then
    is "by each interface: eth0 is well" "$(cat report/eth0/bad.hosts)" ""
    is "by each interface: eth1 is not" "$(cat report/eth1/bad.hosts)" n2
fi
on 2 tc qdisc del dev eth1 root

# a quota of processors, by a control group of the host's processes; only version 1 of control groups, where tests may make some
group=/sys/fs/cgroup/cpu/tern-test-$$
if mkdir "$group" 2>/dev/null && echo 10000 >"$group/cpu.cfs_quota_us"; then
    pgrep --ns "${inits[3]}" --nslist pid . | while read -r pid; do echo "$pid" >"$group/cgroup.procs"; done
    for ((round = 0; round < repeat; round++)); do
        expects "a quota" 2 '^FAIL  n3 +the system stopped the test for [0-9]+ ms: its group may use 0\.10 of' -- "${hosts[@]}" --host-only
    done
    pgrep --ns "${inits[3]}" --nslist pid . | while read -r pid; do echo "$pid" >"$group/../cgroup.procs"; done
    rmdir "$group"
else
    echo "no quota: no control group can be made here"
fi

for ((round = 0; round < 4 * repeat && long; round++)); do
    expects "healthy hosts, round $round" 0 -- "${hosts[@]}"
done

# packets of full size are lost on their way to one host; last, because the kernel remembers it
for host in 1 2 3 4; do on $host ip link set eth1 gso_max_segs 1; done
ip link set q3 mtu 1000
expects "a wrong MTU" 2 '^FAIL  n3 +with 3 of 3 hosts: short messages arrive, those of 32 KiB do not' -- "${eth1[@]}"
for ((host = 1; host <= 4; host++)); do eventually "host $host clean" is_clean $host; done
finish
