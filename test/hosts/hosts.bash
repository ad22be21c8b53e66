# SPDX-License-Identifier: BSD-3-Clause
# Builds hosts out of namespaces on this machine. A test sets HOSTS and sources this file:
#
#     outer namespaces: this script; all ends with it, whatever happens
#    ┌────────────────────────────────────────────────────────────────────┐
#    │       br0  10.77.0.254/24  fd77::fe/64        (br1, with NICS=2)   │
#    │         ┌───────────┬──┴────────┬───────────┐                      │
#    │        p1          p2          p3          p4      (ends of veths) │
#    │    ┌────┴────┐ ┌────┴────┐ ┌────┴────┐ ┌────┴────┐                 │
#    │    │  eth0   │ │  eth0   │ │  eth0   │ │  eth0   │ 10.77.0.N       │
#    │    │ (eth1)  │ │ (eth1)  │ │ (eth1)  │ │ (eth1)  │ 10.88.0.N       │
#    │    │   n1    │ │   n2    │ │   n3    │ │   n4    │ own name, sshd, │
#    │    │ docker0 │ │ docker0 │ │ docker0 │ │ docker0 │ processes, /tmp,│
#    │    │  lost0  │ │  lost0  │ │  lost0  │ │  lost0  │ /dev/shm,       │
#    │    │  idle0  │ │  idle0  │ │  idle0  │ │  idle0  │ /etc/hosts      │
#    │    └─────────┘ └─────────┘ └─────────┘ └─────────┘                 │
#    └────────────────────────────────────────────────────────────────────┘
#
# What hosts of the field have beside the network that works, and here before it, so that who takes the first that looks good
# is wrong: docker0, a bridge with the same address 172.17.0.1/16 on each; lost0, a second network that leads nowhere, with an
# address (10.99.0.1 or .2) that every other host has too; idle0, an interface that is down and keeps its address 10.78.0.N/24.
# mpirun is run on n1. The tests' files are visible on all hosts, as on a cluster with a shared file system.
# Port 22 of each host takes the tests' key, port 2201 wants a password. 10.77.0.99 swallows what is sent to it.
#
# NICS=2 gives each host a second good interface, eth1. FAMILY=6: eth0 has fd77::N/64 and no IPv4 address.

set -u
: "${HOSTS:?says how many hosts}"
NICS=${NICS:-1} FAMILY=${FAMILY:-4}

skip() {
    echo "SKIPPED: $*"
    exit 77
}

if [ "${1-}" != inside ]; then
    [ "$(id -u)" = 0 ] || skip "hosts are made of network namespaces, which needs root"
    unshare --mount --net --uts --ipc --pid --fork --mount-proc true 2>/dev/null || skip "this system permits no namespaces (unshare)"
    unshare --mount --net sh -c 'mount -t tmpfs none /mnt && ip link add br0 type bridge && ip link add v1 type veth peer name v2' \
        2>/dev/null || skip "this system permits no mounts, bridges or veth pairs in namespaces"
    for tool in /usr/sbin/sshd:openssh-server ssh:openssh-client ip:iproute2 nsenter:util-linux; do
        command -v "${tool%:*}" >/dev/null || {
            echo "there is no ${tool%:*}; install the package ${tool#*:}"
            exit 1
        }
    done
    exec unshare --mount --net --uts --pid --fork --kill-child --mount-proc "$BASH" "$0" inside
fi

# shellcheck source=test/mpirun/check.bash
. "$(dirname "${BASH_SOURCE[0]}")/../mpirun/check.bash"
unset TMPDIR
declare -a inits # process of each host that ends it all, as seen from here

# on N COMMAND...: runs it on host N
on() {
    local host=${inits[$1]}
    shift
    nsenter -t "$host" -m -n -u -i -p --wd="$PWD" -- "$@"
}

# What each host makes for itself: $1 its number, the rest directories below /tmp that stay visible.
cat >init.sh <<'END'
number=$1 scratch=$2
shift 2
hostname "n$number"
mkdir -p "$scratch/root$number"
mount -t tmpfs tmpfs "$scratch/root$number"
chmod 1777 "$scratch/root$number"
for keep in "$scratch" "$@"; do
    case $keep in /tmp/*) mkdir -p "$scratch/root$number/${keep#/tmp/}" && mount --bind "$keep" "$scratch/root$number/${keep#/tmp/}" ;; esac
done
mount --rbind "$scratch/root$number" /tmp
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mkdir -p /run/sshd
mount --bind "$scratch/etc-hosts" /etc/hosts
[ ! -e ~/.bashrc ] || mount --bind /dev/null ~/.bashrc # bash reads it where sshd starts it: what is there is not under test, and may take long
[ ! -e /etc/resolv.conf ] || mount --bind "$scratch/resolv.conf" /etc/resolv.conf
ip link set lo up
/usr/sbin/sshd -f "$scratch/sshd_config" -E "$scratch/sshd$number.log" -o PidFile=none
/usr/sbin/sshd -f "$scratch/sshd_config" -E "$scratch/sshd$number.log" -o PidFile=none -p 2201 -o PubkeyAuthentication=no -o PasswordAuthentication=yes
: >"$scratch/up$number"
sleep infinity &
wait # as the first process of a host should, bash buries orphans
END

write_files() {
    local host
    ssh-keygen -q -t ed25519 -N '' -f host_key
    ssh-keygen -q -t ed25519 -N '' -f user_key
    cp user_key.pub authorized_keys
    echo '127.0.0.1 localhost' >etc-hosts
    : >known_hosts
    : >resolv.conf
    for ((host = 1; host <= HOSTS; host++)); do
        echo "$network$host n$host" >>etc-hosts
        echo "n$host,$network$host $(cut -d' ' -f1,2 host_key.pub)" >>known_hosts
        echo "[n$host]:2201 $(cut -d' ' -f1,2 host_key.pub)" >>known_hosts
    done
    cat >sshd_config <<END
HostKey $scratch/host_key
AuthorizedKeysFile $scratch/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
ChallengeResponseAuthentication no
MaxStartups 200
${SAN:+SetEnv "ASAN_OPTIONS=${ASAN_OPTIONS:-}" "UBSAN_OPTIONS=${UBSAN_OPTIONS:-}" "LSAN_OPTIONS=${LSAN_OPTIONS:-}" "TSAN_OPTIONS=${TSAN_OPTIONS:-}"}
END
    cat >ssh_config <<END
IdentityFile $scratch/user_key
IdentitiesOnly yes
UserKnownHostsFile $scratch/known_hosts
GlobalKnownHostsFile none
StrictHostKeyChecking yes
LogLevel ERROR
END
}

build_host() {
    local host=$1 unshared first=
    unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc \
        bash init.sh "$host" "$scratch" "$TERN_PREFIX" "$TERN_BUILDDIR" "$TERN_SRCDIR" >"init$host.log" 2>&1 &
    unshared=$!
    until [ -n "$first" ]; do
        kill -0 $unshared 2>/dev/null || { cat "init$host.log"; exit 1; }
        read -r first _ <"/proc/$unshared/task/$unshared/children" # its end has no newline
    done
    inits[host]=$first
    # the namespaces are there when the process in them is
    until [ "$(readlink "/proc/${inits[host]}/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    nsenter -t "${inits[host]}" -n sh -ec "
        ip link add docker0 type bridge
        ip link add docked type veth peer name dockee
        ip link set docked master docker0 up
        ip link set dockee up
        ip addr add 172.17.0.1/16 dev docker0
        ip link set docker0 up
        ip link add lost0 type veth peer name lost1
        ip addr add 10.99.0.$((host % 2 + 1))/24 dev lost0
        ip link set lost0 up
        ip link set lost1 up
        ip link add idle0 type veth peer name idle1
        ip addr add 10.78.0.$host/24 dev idle0"
    ip link add "p$host" type veth peer name eth0 netns "${inits[host]}"
    ip link set "p$host" master br0 up
    nsenter -t "${inits[host]}" -n sh -ec "
        ip addr add $network$host$bits dev eth0
        ip link set eth0 up
        [ $FAMILY = 6 ] || ip neigh add 10.77.0.99 lladdr 02:00:00:00:00:99 dev eth0"
    [ "$NICS" = 2 ] || return 0
    ip link add "q$host" type veth peer name eth1 netns "${inits[host]}"
    ip link set "q$host" master br1 up
    nsenter -t "${inits[host]}" -n sh -ec "ip addr add 10.88.0.$host/24 dev eth1; ip link set eth1 up"
}

# bridge_runs N: the bridge of host N is a link that runs
bridge_runs() { nsenter -t "${inits[$1]}" -n ip -o link show dev docker0 | grep -q LOWER_UP; }

build_hosts() {
    local host
    network=10.77.0. bits=/24
    [ "$FAMILY" = 4 ] || network=fd77:: bits="/64 nodad"
    write_files
    ip link set lo up
    ip link add br0 type bridge
    ip addr add 10.77.0.254/24 dev br0
    ip addr add fd77::fe/64 dev br0
    ip link set br0 up
    [ "$NICS" = 1 ] || ip link add br1 up type bridge
    for ((host = 1; host <= HOSTS; host++)); do build_host "$host"; done
    for ((host = 1; host <= HOSTS; host++)); do
        eventually "host $host comes up" test -e "up$host" || { cat "init$host.log"; exit 1; }
        # the kernel tells later that a link runs, much later on a busy machine
        eventually "docker0 of host $host runs" bridge_runs "$host" || exit 1
    done
}

# The host is gone at once, and everybody sees it: all its processes are killed.
kill_host() { kill -9 "${inits[$1]}"; }
# The host is gone and nobody is told: first its link goes down.
lose_host() {
    ip link set "p$1" down
    kill -9 "${inits[$1]}"
}

# run ARGUMENT...: mpirun with them on n1, as in check.bash
run() {
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$MPIRUN" "$@" >out 2>err
    # shellcheck disable=SC2034 # for the script that reads this
    rc=$?
}

# What is left of this script's jobs on any host: processes and files.
leftovers() {
    local host file
    pgrep -af -- "$mark|$MPIRUN"
    pgrep -a -x tern-guardian
    pgrep -a -x ssh
    for ((host = 1; host <= HOSTS; host++)); do
        for file in "/proc/${inits[host]}/root/tmp/"* "/proc/${inits[host]}/root/dev/shm/"*; do
            grep -qxF "${file##*/}" "clean$host" || [[ $file = *'*' ]] || echo "n$host: $file"
        done
    done
}
none_left() { [ -z "$(leftovers)" ]; }

# Nothing of a job is left on host N: no process but those of the host itself, no file.
is_clean() {
    ! on "$1" pgrep -f "bin/mpirun|tern-guardian|sleep $mark" >/dev/null && [ "$(on "$1" ls -A /tmp /dev/shm)" = "$(cat "clean$1")" ]
}

# sent N CARD: bytes that the card of host N has sent
sent() { on "$1" awk -v card="$2:" '$1 == card {print $10}' /proc/net/dev; }
# Both cards of host 2 have sent much since `by_before`, neither more than ten times what the other has. Sets `by`, the bytes by eth0 and eth1.
both_carry() {
    by=($(($(sent 2 eth0) - by_before[0])) $(($(sent 2 eth1) - by_before[1])))
    [ "${by[0]}" -gt 8000000 ] && [ "${by[1]}" -gt 8000000 ] && [ $((by[0] * 10)) -gt "${by[1]}" ] && [ $((by[1] * 10)) -gt "${by[0]}" ]
}
# by_both_cards WHAT COMMAND...: COMMAND sends long messages by both cards until the file `end` is there. The provider takes its time
# to connect the second card, and messages go by the first one until it has.
by_both_cards() {
    local what=$1 job
    shift
    rm -f end
    by_before=("$(sent 2 eth0)" "$(sent 2 eth1)") by=()
    (
        "$@"
        exit "$rc"
    ) &
    job=$!
    eventually "$what: both cards carry bytes" both_carry
    : >end
    wait $job || { complain "$what: the job failed"; cat out err; }
    rm -f end
    echo "$what: bytes by eth0 and eth1: ${by[*]}"
}

# Processor time so far, in ticks: of all processes of this machine; of this script and its hosts, which counts what has ended.
ticks_of_all() { awk '/^cpu /{print $2 + $3 + $4 + $9}' /proc/stat; }
ticks_of_test() { awk '{sub(/.*\) /, ""); sum += $12 + $13 + $14 + $15} END {print sum}' "/proc/$$/stat" "${inits[@]/%//stat}"; }
# From here on it is counted who uses the processors; others_are_busy: since then, others used more than a quarter of them.
watch_others() { watched=("$(ticks_of_all)" "$(cd /proc && ticks_of_test)" "$(date +%s%N)"); }
others_are_busy() {
    local ms=$((($(date +%s%N) - watched[2]) / 1000000 + 1))
    others=$((($(ticks_of_all) - watched[0] - $(cd /proc && ticks_of_test) + watched[1]) * 100000 / $(getconf CLK_TCK) / ms / $(nproc)))
    [ $others -gt 25 ]
}

export OMPI_MCA_plm_rsh_args="-F $scratch/ssh_config"
build_hosts
for ((host = 1; host <= HOSTS; host++)); do on "$host" ls -A /tmp /dev/shm >"clean$host"; done
