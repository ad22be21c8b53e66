#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks on two hosts that reach each other by libfabric alone, and wait for each other. A rank or its host dies, or the host's
# link is cut: the job ends within 2.5 s, or heartbeat_timeout where nobody sees it, and says who it was. A rank that waits
# sleeps most of the time: how long a nap's system calls take is the machine's.
HOSTS=2
. "$(dirname "$0")/hosts.bash"
"$MPICC" -O1 -o exchanges "$here/../ofi/exchanges.c" || { echo "cannot build exchanges"; exit 1; }
printf 'n1 slots=1\nn2 slots=1\n' >hosts
provider=
HEARTBEAT=3 # seconds; one more question may be on its way

# shellcheck disable=SC2317 # by eventually
all_ready() { [ "$(grep -c ready out)" = 2 ]; }
# dies HOW MODE MS REGEX COMMAND...: COMMAND ends rank 1 while the ranks exchange or wait; REGEX says who it was
dies() {
    local how="$provider, $2: $1" ms=$3 who=$4 begin took
    local mode=$2
    shift 4
    : >out
    (
        run --hostfile hosts --mca btl ofi,self --mca btl_ofi_provider "$provider" --mca btl_ofi_device eth0 \
            --mca heartbeat_timeout $HEARTBEAT ./exchanges "$mode"
        exit "$rc"
    ) &
    job=$!
    eventually "$how: ready" all_ready
    sleep 0.3 # long messages are under way
    begin=$(date +%s%N)
    "$@"
    wait $job && complain "$how: exit status 0"
    took=$((($(date +%s%N) - begin) / 1000000))
    [ $took -le "$ms" ] || complain "$how: the job ended after $took ms, wanted at most $ms"
    has "$how: who" err "$who"
    echo "$how: $took ms: $(head -n 1 err)"
}
kill_rank() { on "$1" kill -9 "$(on "$1" pgrep -x exchanges)"; }
cut_link() { ip link set "p$1" down; }
mend_link() { ip link set "p$1" up; }

for provider in net "tcp;ofi_rxm"; do
    run --hostfile hosts --mca btl ofi,self --mca btl_ofi_provider "$provider" --mca btl_ofi_device eth0 ./exchanges idle
    limit=100
    [ "$provider" != net ] || limit=300 # its descriptor cannot sleep: docs/network.md
    is "$provider: idle" "$rc" 0
    awk -v limit=$limit '/^idle/ { if ($2 > limit) bad = 1; n++ } END { exit bad || n != 2 }' out ||
        complain "$provider: an idle rank used more than $limit thousandths of a processor"
    echo "$provider: $(tr '\n' ' ' <out)"
    for mode in long short silent; do
        dies "a rank is killed" $mode 2500 'rank 1 .*(signal 9|SIGKILL|Killed)' kill_rank 2
        dies "a link is cut" $mode $((HEARTBEAT * 1000 + 2500)) 'n2' cut_link 2
        mend_link 2
        eventually "host 2 clean" is_clean 2
    done
done
provider="tcp;ofi_rxm"
dies "a host is killed" long 2500 'n2' kill_host 2
finish
