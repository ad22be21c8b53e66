#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpicheck on four hosts: healthy ones are never accused; a planted fault is named, and nothing else is.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
# shellcheck source=test/hosts/mpicheck.bash
. "$here/../hosts/mpicheck.bash"
all=(-H "n1,n2,n3,n4")
network=("${all[@]}" --network-only)

expects "healthy" 0 -- "${all[@]}"
has "healthy" out '^mpicheck .* 4 hosts asked, 4 answer'
has "healthy" out '^ok +path +tcp eth0 10\.77\.0\.[1-4] -> 10\.77\.0\.[1-4], MTU '
if [ $measured = 1 ]; then
    has "healthy" out '^ok +pairs +6 of 6: .*data right$'
    "$PYTHON3" -B "$here/../hosts/mpicheck_report.py" report n1 n2 n3 n4 || complain "healthy: reports"
fi
if in_long; then # mpicheck_faults.sh asks all of a host then; make check's other tests keep the cores busy anyway
    for ((i = 0; i < 2; i++)); do (while :; do :; done) & busy[i]=$!; done
    TRIES=1 expects "two busy cores" 0 -- "${network[@]}"
    kill "${busy[@]}"
fi

# a card that is slow in one direction
on 2 tc qdisc add dev eth0 root tbf rate 160mbit burst 200kb latency 50ms
expects "slow card" 2 '^FAIL  n2 +sends at [0-9.]+ MB/s, others at [0-9.]+ .B/s; also alone' -- "${network[@]}"
hasnt "slow card: good.hosts" report/good.hosts n2
if [ $measured = 1 ]; then
    is "slow card: bad.hosts" "$(cat report/bad.hosts)" n2
    # hosts that were too busy to be measured are neither good nor bad
    grep -q '^BUSY' out || is "slow card: good.hosts" "$(tr '\n' ' ' <report/good.hosts)" "n1 n3 n4 "
fi
on 2 tc qdisc del dev eth0 root

# nothing passes between two of the hosts
on 2 ip neigh replace 10.77.0.3 lladdr 02:00:00:00:00:99 nud permanent dev eth0
expects "a bad pair" 2 '^FAIL  n2 <-> n3 +no connection' -- "${network[@]}"
[ $measured = 0 ] || has "a bad pair" out '^ok +pairs +5 of 6: '
# the report can be made again from the records, without hosts
said=$rc
rm -rf again
"$TERN_PREFIX/bin/mpicheck" --from report/records.txt --out again >again.out 2>err
is "from records: status" "$?" "$said"
is "from records" "$(grep -v '^mpicheck\|^report' again.out)" "$(grep -v '^mpicheck\|^report' out)"
on 2 ip neigh del 10.77.0.3 dev eth0

# two names lead to one host: the second is named, and not measured; also of the host that mpicheck runs on
printf '%s\n' "10.77.0.3 third" "10.77.0.1 first" >>etc-hosts
check -H n1,n2,n3,third --network-only
has "two names, one host" out '^FAIL  third +left out: two names, one host: it is n3'
has "two names, one host" out '^mpicheck .* 4 hosts asked, 3 answered'
[ "$rc" != 0 ] || complain "two names, one host: well"
check -H n1,n2,first --network-only
has "two names of this host" out '^FAIL  first +left out: two names, one host: it is n1'

# the end by Ctrl-C writes what is known
rm -rf report
nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$TERN_PREFIX/bin/mpicheck" --out report "${network[@]}" --soak 5 >out 2>err &
checking=$!
for ((i = 0; i < 3000; i++)); do
    ! grep -qs ' soak ' report/records.txt || break
    kill -0 $checking 2>/dev/null || break
    sleep 0.1
done
grep -qs ' soak ' report/records.txt || complain "the soak does not run"
on 1 pkill -INT -x mpicheck
wait $checking
is "interrupted: status" "$?" 130
has "interrupted" out '^verdict: interrupted'
[ -s report/report.html ] || complain "interrupted: no report"
eventually "interrupted: nothing is left" none_left || leftovers

# a host that does not answer is left out
kill_host 4
unset 'inits[4]'
expects "a missing host" 2 '^FAIL  n4 +left out: ' -- "${network[@]}"
has "a missing host" out '^mpicheck .* 4 hosts asked, 3 answer'
[ $measured = 0 ] || has "a missing host" out '^ok +pairs +3 of 3: '
check -H n4,nobody
is "nobody answers: status" "$rc" 3
for ((host = 1; host <= 3; host++)); do eventually "host $host clean" is_clean $host; done
finish
