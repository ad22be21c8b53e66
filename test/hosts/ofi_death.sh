#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks on two hosts that reach each other by libfabric alone, and wait for each other. A rank or its host dies, or the host's
# link is cut: the job ends, where nobody sees it by heartbeat_timeout, and says who it was. A rank that waits sleeps half of the time
# at least: it naps for much more, but how long a nap's system calls take is the machine's.
HOSTS=2
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$(dirname "$0")/hosts.bash"
"$MPICC" -O1 -o exchanges "$here/../ofi/exchanges.c" || { echo "cannot build exchanges"; exit 1; }
printf 'n1 slots=1\nn2 slots=1\n' >hosts
provider=

# shellcheck disable=SC2317 # by eventually
all_ready() { [ "$(grep -c ready out)" = 2 ]; }
# dies HOW MODE REGEX COMMAND...: COMMAND ends rank 1 while the ranks exchange or wait; REGEX says who it was
dies() {
    local how="$provider, $2: $1" mode=$2 who=$3 begin
    shift 3
    : >out
    (
        run --hostfile hosts --mca btl ofi,self --mca btl_ofi_provider "$provider" --mca btl_ofi_device eth0 \
            --mca heartbeat_timeout 3 ./exchanges "$mode"
        exit "$rc"
    ) &
    job=$!
    eventually "$how: ready" all_ready
    sleep 0.3 # long messages are under way
    begin=$(date +%s%N)
    "$@"
    wait $job && complain "$how: exit status 0"
    has "$how: who" err "$who"
    echo "$how: $((($(date +%s%N) - begin) / 1000000)) ms: $(head -n 1 err)"
}
kill_rank() { on "$1" kill -9 "$(on "$1" pgrep -x exchanges)"; }
cut_link() { ip link set "p$1" down; }
mend_link() { ip link set "p$1" up; }

for provider in net "tcp;ofi_rxm"; do
    run --hostfile hosts --mca btl ofi,self --mca btl_ofi_provider "$provider" --mca btl_ofi_device eth0 ./exchanges idle
    is "$provider: idle" "$rc" 0
    awk '/^idle/ { if ($2 > 500) bad = 1; n++ } END { exit bad || n != 2 }' out || complain "$provider: an idle rank spins"
    echo "$provider: $(tr '\n' ' ' <out)"
    for mode in long short silent; do
        dies "a rank is killed" $mode 'rank 1 .*(signal 9|SIGKILL|Killed)' kill_rank 2
        dies "a link is cut" $mode 'n2' cut_link 2
        mend_link 2
        eventually "host 2 clean" is_clean 2
    done
done
provider="tcp;ofi_rxm"
dies "a host is killed" long 'n2' kill_host 2
finish
