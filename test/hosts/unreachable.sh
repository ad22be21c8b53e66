#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts that cannot connect: packets are dropped, or one of them has no route. Whatever waits for the other end, on either side, ends
# with an error that names both ends and both hosts; a third host is not kept waiting. By the second network, as mpirun needs the first.
HOSTS=3 NICS=2
. "$(dirname "$0")/hosts.bash"
job_limit_s=100
"$MPICC" -O1 -o apart "$here/../hosts/apart.c" || { echo "cannot build apart"; exit 1; }

two=(-q --host n1,n2 --mca btl_tcp_if_include eth1)
three=(-q --host n1,n2,n3 --mca btl_tcp_if_include eth1)
ends='rank [01] on host n[12] cannot connect to rank [01] on host n[12]: 10\.88\.0\.[12]:[0-9]+ \(eth1\): [A-Z]'
# apart WHAT WORD ARGUMENT...: each rank of the pair tells of it once at least, and all ranks go on
apart() {
    local what=$1 word=$2 rank
    shift 2
    run "$@" ./apart "$word"
    is "$what: status" "$rc" 0
    for rank in 0 1; do has "$what: rank $rank" out "^rank $rank: .*$ends"; done
    hasnt "$what" out WRONG
    [[ $* != *n3* ]] || has "$what: rank 2" out '^rank 2 goes on'
    for rank in 0 1; do has "$what: rank $rank goes on" out "^rank $rank goes on after [1-9]"; done
}
calls=(barrier ibarrier barrier_init allreduce iallreduce alltoall)

# no route on one host: that one knows at once, the other one would wait
on 1 ip route add unreachable 10.88.0.2/32
some=(recv barrier) inters=('inter barrier')
[ -z "${TERN_TEST_LONG-}" ] || some=(recv any irecv probe "${calls[@]}") inters=('inter barrier' 'inter allreduce')
for word in "${some[@]}" 'inter barrier'; do
    apart "$word, two hosts" "$word" "${two[@]}"
done
[ -n "${TERN_TEST_LONG-}" ] || calls=(ibarrier allreduce)
for word in "${calls[@]}" "${inters[@]}"; do
    apart "$word, three hosts" "$word" "${three[@]}"
    apart "$word, three hosts with a full check" "$word" "${three[@]}" --mca check_level full
done
apart "three hosts, often" often "${three[@]}"
# a host's ranks share a board; those that can connect get right results or an error
four=(-q --host n1:2,n2:2 --map-by node --mca btl_tcp_if_include eth1)
apart "several ranks" allreduce "${four[@]}"
apart "several ranks, often" often "${four[@]}"
for word in dup split cart; do
    run "${four[@]}" ./apart $word
    is "$word: status" "$rc $(grep -c 'goes on' out)" "0 4"
    has "$word" out "$ends"
done
run "${three[@]}" ./apart barrier fatal
[ "$rc" != 0 ] || complain "the job goes on though an error is fatal"
has "fatal" err "$ends"
# no route on either
on 2 ip route add unreachable 10.88.0.1/32
apart "neither has a route" barrier "${two[@]}"
on 1 ip route del unreachable 10.88.0.2/32
apart "only the receiver has none" recv "${two[@]}"
on 2 ip route del unreachable 10.88.0.1/32

# what one host sends to the other is dropped; then in both directions
on 1 ip neigh replace 10.88.0.2 lladdr 02:00:00:00:00:99 dev eth1
apart "dropped one way" barrier "${three[@]}"
on 2 ip neigh replace 10.88.0.1 lladdr 02:00:00:00:00:99 dev eth1
apart "dropped both ways" allreduce "${two[@]}"
on 1 ip neigh del 10.88.0.2 dev eth1
apart "dropped the other way" recv "${two[@]}"
on 2 ip neigh del 10.88.0.1 dev eth1

run "${three[@]}" ./apart barrier
is "nothing in the way" "$rc $(sort out | tr '\n' ',')" "0 rank 0 goes on after 0 errors,rank 1 goes on after 0 errors,rank 2 goes on after 0 errors,"
for host in 1 2 3; do eventually "host $host clean" is_clean $host; done
finish
