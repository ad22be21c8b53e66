#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# On one host as on several (hosts/away.sh): a rank may be away, that is compute or be stopped, for longer than btl_tcp_timeout,
# whatever waits for it in TCP connections.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
"$MPICC" -O1 -o away "$here/away.c" || { echo "cannot build away"; exit 1; }

# shellcheck disable=SC2317 # by eventually
said() { [ "$(grep -c "^$1 " out)" = "$2" ]; }

: >out
run -q -n 16 --oversubscribe --mca btl tcp,self --mca btl_tcp_timeout 3 ./away all &
eventually "all are away" said away 8
eventually "all have sent" said sent 8
stopped=$(awk '$1 == "away" && $2 == 11 { print $3 }' out)
kill -STOP "$stopped"
sleep 12
kill -CONT "$stopped"
touch come_back
wait $!
is "ranks that are away for 12 s" "$(grep -c ', 0 wrong$' out) $(cat err)" "8 "
rm come_back

# A rank that leaves while its messages wait does not end before they have arrived: the system would drop them some minutes later.
# To find out soon whether it waits for a fixed number of times, its short sleeps are none.
cat >hasty.c <<'C'
#include <sched.h>
int usleep(unsigned us) { (void)us; return sched_yield(); }
C
gcc -shared -fPIC -O1 -o hasty.so hasty.c || { echo "cannot build hasty.so"; exit 1; }
: >out
run -q -n 2 --mca btl tcp,self -x LD_PRELOAD="$PWD/hasty.so" ./away leave &
eventually "rank 1 is away" said away 1
eventually "rank 0 has sent" said sent 1
sleep 10
is "who leaves while its messages wait" "$(grep -c '^left' out) $(cat err)" "0 "
touch come_back
wait $!
is "what the rank that left has sent" "$(grep -E '^(left|rank)' out | sort | tr '\n' ',') $(cat err)" \
    "left 0,left 1,rank 1: 300 messages of 1000 bytes, 0 wrong, "
finish
