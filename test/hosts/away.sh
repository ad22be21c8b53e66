#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank may be away, that is compute or be stopped, for longer than btl_tcp_timeout, whatever waits for it: its host is there, so its
# connections are. A host that is really gone is noticed all the same: where nothing was sent, and where the window of a rank that
# is away has been shut for long, so that the system has almost ceased to ask for room.
HOSTS=2 NICS=2
. "$(dirname "$0")/hosts.bash"
"$MPICC" -O1 -o away "$here/../mpirun/away.c" || { echo "cannot build away"; exit 1; }
job=(-q --host 'n1:8,n2:8' --map-by node --mca btl 'tcp,self' --mca btl_tcp_if_include eth1 --mca btl_tcp_timeout 3)

# shellcheck disable=SC2317 # by eventually
said() { [ "$(grep -c "^$1 " out)" = "$2" ]; }
# The system asks rank 1 for room, in persist mode (the 04), and has been answered. Either rank may have called the other; a connection
# that was accepted stands in tcp6, for the port is of both families.
# shellcheck disable=SC2317 # by eventually
window_is_shut() { on 1 grep -qh ' 04:[0-9A-F]* 00000000 ' /proc/self/net/tcp /proc/self/net/tcp6; }

# the system must not give up a link that waits, either: here it would after a few seconds
on 1 sh -c 'echo 3 >/proc/sys/net/ipv4/tcp_retries2'
: >out
run "${job[@]}" -n 16 ./away all &
eventually "all are away" said away 8
eventually "all have sent" said sent 8
eventually "a window is shut" window_is_shut
stopped=$(awk '$1 == "away" && $2 == 11 { print $3 }' out)
on 2 kill -STOP "$stopped"
sleep 12
on 2 kill -CONT "$stopped"
touch come_back
wait $!
is "ranks that are away for 12 s" "$(grep -c ', 0 wrong$' out) $(cat err)" "8 "
rm come_back
on 1 sh -c 'echo 15 >/proc/sys/net/ipv4/tcp_retries2'

: >out
run "${job[@]}" -n 4 ./away cut &
eventually "both are away" said away 2
eventually "both wait" said sent 2
eventually "the window is shut" window_is_shut
sleep 7 # after which the system asks every 6 s, and less and less often
is "nobody is lost yet" "$(grep -c '^rank' out) $(cat err)" "0 "
ip link set q2 down
wait $!
for rank in 0 2; do
    has "rank $rank" out "^rank $rank: .*the connection of rank $rank on host n1 with rank $((rank + 1)) on host n2 is lost \(eth1, 10.88.0.1:[0-9]+ here and 10.88.0.2:[0-9]+ there\): (its host no longer answers|[A-Z])"
    has "rank $rank is told once" out "^rank $rank: told"
done
for host in 1 2; do eventually "host $host clean" is_clean $host; done
finish
