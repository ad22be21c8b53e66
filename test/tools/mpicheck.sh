#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpicheck without other hosts: its command line, ranks that stand for hosts, and the reports of 4 and 250 hosts, in the long run
# 1,000, from recorded data; their page in a browser.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mpicheck=$TERN_PREFIX/bin/mpicheck
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset "${!OMPI_@}" "${!PMIX_@}"
mkdir tmp
export TMPDIR=$scratch/tmp
fail() {
    echo "$*"
    tail -n 25 out err 2>/dev/null
    exit 1
}

# ---- the command line ----
"$mpicheck" --help | grep -q '^Usage: mpicheck' || fail "--help"
"$mpicheck" --version | grep -q '^mpicheck (' || fail "--version"
# refused REGEX ARGUMENT...
refused() {
    local regex=$1
    shift
    "$mpicheck" "$@" >out 2>err
    [ $? = 3 ] || fail "$*: accepted"
    grep -qE -- "^mpicheck: $regex" err || fail "$*: no '$regex'"
}
refused '--quick and --full exclude' --quick --full
refused '--soak x: expected a number' --soak x
refused '--expect bw=3: expected figures' --expect bw=3
refused '--fail-on rain: expected warning or fault' --fail-on rain
refused 'n1: expected options only' n1
refused '--per core: expected host, nic or gpu' --per core
refused '--per gpu: host .* has no GPU' --per gpu --out there
refused '--per nic and --per gpu need a network; they do not go with' --per nic --host-only
refused '--host-only measures no network' --host-only --soak 5
refused 'cannot read nothing: .*expected the records' --from nothing
refused 'cannot make the directory /nowhere/x: ' --out /nowhere/x -H n1
refused 'mpirun does not know which hosts to check: ' --hostfile nothing --out there
"$mpicheck" --bogus >out 2>err
[ $? = 3 ] || fail "--bogus: accepted"

# ---- this host, and ranks that stand for hosts ----
"$mpicheck" --host-only >out 2>err
case $? in [03]) ;; *) fail "this host is accused" ;; esac
grep -q '^ok *nodes *1 host: ' out || fail "this host is not measured"
[ -z "$(find . -name 'mpicheck-2*')" ] || fail "--host-only makes a folder"
"$mpicheck" --made-up-hosts 6 --out six >out 2>err
case $? in [03]) ;; *) fail "made-up hosts are accused" ;; esac
grep -q '^ok *pairs *15 of 15: .*data right' out || fail "not all pairs are measured"
grep -q '^ok *together *bisection' out || fail "nothing is measured together"
"$mpicheck" --made-up-hosts 6 --baseline six --quick >out 2>err
# they share processors, so they may be slower than before; then it says than what
case $? in [03]) ;; 2) ! grep '^FAIL' out | grep -qv ', before [0-9]' ;; *) false ;; esac || fail "made-up hosts are accused"
[ ! -e six/model.conf ] || fail "made-up hosts have a network"
ls mpicheck-2*/report.html >/dev/null || fail "no new folder"
"$mpicheck" --made-up-hosts 2 --expect bw=1000GB/s --out two >out 2>err
case $? in 2) grep -q '^FAIL .*others' out ;; *) [ $? = 3 ] ;; esac || fail "nobody reaches 1000 GB/s"
refused '--baseline six is about other hosts' --made-up-hosts 4 --baseline six --out four
[ -z "$(find tmp -name 'mpicheck-*')" ] || fail "files are left"

# ---- recorded data ----
browser=$(command -v chromium-headless-shell || command -v chromium || command -v google-chrome)
[ -n "$browser" ] || fail "there is no browser to look at the page; install the package chromium-headless-shell"
for count in 4 250 ${TERN_TEST_LONG:+1000}; do
    "$PYTHON3" -B "$here/mpicheck_records.py" $count >records
    "$PYTHON3" -B - "$mpicheck" "${SAN:-none}" >out 2>err <<'END' || fail "$count hosts"
import resource, subprocess, sys
code = subprocess.call([sys.argv[1], "--from", "records", "--out", "recorded"])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
print(f"exit status {code}, {seconds:.1f} s, {memory:.0f} MB")
small = seconds < 60 and memory < 100 or sys.argv[2] != "none"  # sanitizers take more
sys.exit(not (code == 2 and small))
END
    [ "$(grep -c '^FAIL' out)" = 2 ] || fail "$count hosts: two faults"
    grep -q '^FAIL  n0003 *sends at' out || fail "$count hosts: n0003 sends slowly"
    grep -q "^FAIL  n0002 <-> n$(printf %04d $count) *no connection" out || fail "$count hosts: the dead pair"
    [ "$(wc -l <out)" -le 25 ] || fail "$count hosts: more than 25 lines"
    # the figures of the network, as collectives take them: 2.6 to 2.9 us without twice the overhead, 10.4 to 11.5 GB/s
    grep -q '^ok *collectives *coll_network_latency [0-9]* ns, ' out || fail "$count hosts: no figures of the network"
    OMPI_MCA_coll_model_file=$PWD/recorded/model.conf "$TERN_PREFIX/bin/mpi_info" --model >model || fail "$count hosts: model.conf"
    figure() { sed -n "s/^ *$1 = \([0-9]*\).*/\1/p" model; }
    { [ "$(figure coll_network_latency)" -ge 1400 ] && [ "$(figure coll_network_latency)" -le 1800 ] &&
        [ "$(figure coll_network_gap)" -ge 86 ] && [ "$(figure coll_network_gap)" -le 97 ]; } || fail "$count hosts: wrong figures: $(grep network model)"
    "$PYTHON3" -B "$here/mpicheck_page.py" "$browser" recorded/report.html $count || fail "$count hosts: the page"
done
