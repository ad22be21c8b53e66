#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpicheck on four hosts: healthy ones are never accused; a planted fault is named, and nothing else is. A busy machine may keep it
# from measuring (BUSY), which accuses nobody.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
all=n1,n2,n3,n4

# check ARGUMENT...: mpicheck with them on n1; leaves rc, the page in out, and the reports in the folder report
check() {
    rm -rf report
    timeout -k 5 120 nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$TERN_PREFIX/bin/mpicheck" --out report "$@" >out 2>err
    rc=$?
}

# accuses WHAT [LINE]: there is one accusation, which matches, or none; and the page is short
accuses() {
    local what=$1 wanted=${2-}
    if [ -z "$wanted" ]; then
        hasnt "$what" out '^(FAIL|WARN|DATA)'
        [[ $rc = [03] ]] || complain "$what: exit status $rc, wanted 0 or 3"
    else
        is "$what: number of accusations" "$(grep -cE '^(FAIL|WARN|DATA)' out)" 1
        has "$what" out "$wanted"
        is "$what: status" "$rc" 2
    fi
    [ "$(wc -l <out)" -le 25 ] || complain "$what: more than 25 lines"
    [ ! -s err ] || complain "$what: messages"
}

check -H $all
accuses "healthy"
has "healthy" out '^mpicheck .* 4 hosts asked, 4 answer'
has "healthy" out '^ok +pairs +6 of 6: .*data right$'
has "healthy" out '^ok +path +tcp eth0 10\.77\.0\.[1-4] -> 10\.77\.0\.[1-4], MTU '
"$PYTHON3" -B "$here/../hosts/mpicheck_report.py" report n1 n2 n3 n4 || complain "healthy: reports"
for ((i = 0; i < 2; i++)); do (while :; do :; done) & busy[i]=$!; done
check -H $all --network-only
accuses "two busy cores"
kill "${busy[@]}"

# a card that is slow in one direction
on 2 tc qdisc add dev eth0 root tbf rate 160mbit burst 200kb latency 50ms
check -H $all --network-only
accuses "slow card" '^FAIL  n2 +sends at [0-9.]+ MB/s, others at [0-9.]+ .B/s; also alone'
is "slow card: bad.hosts" "$(cat report/bad.hosts)" n2
busy=$(grep -c '^BUSY' out) || true # hosts that were too busy to be measured are neither good nor bad
[ "$busy" -gt 0 ] || is "slow card: good.hosts" "$(tr '\n' ' ' <report/good.hosts)" "n1 n3 n4 "
hasnt "slow card: good.hosts" report/good.hosts n2
on 2 tc qdisc del dev eth0 root

# nothing passes between two of the hosts
on 2 ip neigh replace 10.77.0.3 lladdr 02:00:00:00:00:99 nud permanent dev eth0
check -H $all --network-only
accuses "a bad pair" '^FAIL  n2 <-> n3 +no connection'
has "a bad pair" out '^ok +pairs +5 of 6: '
# the report can be made again from the records, without hosts
rm -rf again
"$TERN_PREFIX/bin/mpicheck" --from report/records.txt --out again >again.out 2>err
is "from records: status" "$?" 2
is "from records" "$(grep -v '^mpicheck\|^report' again.out)" "$(grep -v '^mpicheck\|^report' out)"
on 2 ip neigh del 10.77.0.3 dev eth0

# the end by Ctrl-C writes what is known
rm -rf report
nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$TERN_PREFIX/bin/mpicheck" --out report -H $all --network-only --soak 5 >out 2>err &
for ((i = 0; i < 1000; i++)); do
    ! grep -qs ' soak ' report/records.txt || break
    sleep 0.1
done
[ $i -lt 1000 ] || complain "the soak does not run"
on 1 pkill -INT -x mpicheck
wait $!
is "interrupted: status" "$?" 130
has "interrupted" out '^verdict: interrupted'
[ -s report/report.html ] || complain "interrupted: no report"
eventually "interrupted: nothing is left" none_left || leftovers

# a host that does not answer is left out
kill_host 4
check -H $all --network-only --mca launch_timeout 3
accuses "a missing host" '^FAIL  n4 +left out: '
has "a missing host" out '^mpicheck .* 4 hosts asked, 3 answer'
has "a missing host" out '^ok +pairs +3 of 3: '
check -H n4,nobody --mca launch_timeout 3
is "nobody answers: status" "$rc" 3
for ((host = 1; host <= 3; host++)); do eventually "host $host clean" is_clean $host; done
finish
