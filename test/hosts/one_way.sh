#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts of which only one can call the other: the one that cannot asks the other to call back. So messages arrive in both directions,
# whoever begins, and soon. Host n2 publishes its second address only, which n1 cannot use; n2 calls from its first.
HOSTS=3 NICS=2
. "$(dirname "$0")/hosts.bash"
job_limit_s=100
"$MPICC" -O1 -o apart "$here/../hosts/apart.c" || { echo "cannot build apart"; exit 1; }

# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'case $(hostname) in n2) nic=eth1 ;; *) nic=eth0 ;; esac' \
    'OMPI_MCA_btl_tcp_if_include=$nic exec "$@"' >nic
chmod +x nic
words=(recv any irecv probe barrier ibarrier allreduce alltoall often 'inter barrier')

# together WHAT: ranks 0 and 1 are on n1 and n2, then the other way round
together() {
    local order word
    for order in n1,n2 n2,n1 n1,n2,n3; do
        for word in "${words[@]}"; do
            # shellcheck disable=SC2086
            run -q --host $order ./nic ./apart $word
            is "$1, $order, $word: status" "$rc" 0
            hasnt "$1, $order, $word" out 'cannot connect|WRONG'
            has "$1, $order, $word" out '^rank 1 goes on after 0 errors'
        done
    done
}

on 1 ip route add unreachable 10.88.0.2/32
together "no route"
on 1 ip route del unreachable 10.88.0.2/32
on 1 ip address add 10.88.0.2/32 dev lo
together "refused"
# each further connection of a thread's lane likewise
run -q --host n1,n2 --mca pml_lanes 4 ./nic ./apart often
is "lanes: status" "$rc" 0
hasnt "lanes" out 'cannot connect|WRONG'
# several ranks on each host
run -q --host n1:3,n2:3 ./nic ./apart alltoall
is "several ranks: status" "$rc" 0
hasnt "several ranks" out 'cannot connect|WRONG'
for host in 1 2 3; do eventually "host $host clean" is_clean $host; done
finish
