#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What mpicheck must not trust: records that were cut, malformed or made to harm; disks that are full; options that change nothing.
# And signals: whatever ends it, the report is written and no file is left.
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
# says STATUS REGEX ARGUMENT...: mpicheck with them ends with the status and says this on standard error
says() {
    local status=$1 regex=$2
    shift 2
    "$mpicheck" "$@" >out 2>err
    local rc=$?
    [ $rc = "$status" ] || fail "$*: exit status $rc, wanted $status"
    grep -qE -- "^mpicheck: $regex" err || fail "$*: no '$regex'"
}

# ---- records ----
"$PYTHON3" -B "$here/mpicheck_records.py" 6 >whole
lines=$(wc -l <whole)
for ((line = 1; line < lines; line += line < 12 ? 1 : 37)); do
    head -n "$line" whole >cut
    says 3 "cut: records end early \(line $line\)" --from cut --out there
    { cat cut; sed -n "$((line + 1))p" whole | head -c 6; } >cut2
    says 3 "cut2: records end early \(line $((line + 1))\)" --from cut2
done
mkdir before
cp cut before/records.txt
says 3 "before/records.txt: records end early" --from whole --baseline before
[ ! -e there ] || fail "a folder without a report is left"
# malformed REGEX RECORD: after the first 3 records
malformed() {
    { sed -n 1,3p whole; printf '%b\n' "$2"; sed '1,3d' whole; } >odd
    says 3 "odd line 4: $1" --from odd
}
malformed 'malformed: @ host 5 gap; expected @ host I NAME' '@ host 5 gap'
malformed 'malformed: @ host 0 again; expected @ host I NAME' '@ host 0 again'
malformed 'malformed: @ bw 0 1 pairs nan 1; expected @ bw FROM TO' '@ bw 0 1 pairs nan 1'
malformed 'malformed: @ bw 0 1 pairs 7; expected @ bw FROM TO' '@ bw 0 1 pairs 7'
malformed 'malformed: @ other 0; expected a record' '@ other 0'
malformed 'malformed: no record; expected a record' 'no record'
malformed 'malformed: @ clock 0 \\x1b\[2J 0; expected @ clock I' '@ clock 0 \033[2J 0'
malformed 'expected text, found a byte 0' '@ fact 0 \0 1'
{ cat whole; echo "@ last 0 1"; } >odd
says 3 "odd line $((lines + 1)): malformed: @ last 0 1; expected nothing behind" --from odd
says 3 'cannot read /: ' --from /
{
    head -n -1 whole
    printf '@ %s\n' "gpu 0 0 10 10 100 0.99 A GPU" "gpupair 0 0 1 40 0.99 1" "dead 3 4 long timed out" "call 2 4 Connection timed out" \
        "broken 4 3 clock reset by peer" "gone 5 no answer at all" "together bisection 4000 3000" "together alltoall 4000 8192" \
        "together allreduce 20 0" "wrong 1 2 77 4096" "hang 0 3 bandwidth" "fact 2 system Debian GNU/Linux 12" "end done"
} >many
"$PYTHON3" -B "$here/mpicheck_hostile.py" "$mpicheck" many "${TERN_TEST_LONG:+3}300" >out 2>err || fail "hostile records"

# ---- hosts that print what they should not ----
mkdir -p hostile/bin
printf '#!/bin/sh\nexit 0\n' >hostile/bin/mpicc
cat >hostile/bin/mpirun <<'END'
#!/bin/sh
printf '@ host 0 another\n@ fact 0 hostname \033[2J\377here\n@ begin 7 x\n@ bw 0 1 pairs inf 1\n@ %s\0\n@ done 0\n' "$(seq -s, 4000)"
END
chmod +x hostile/bin/*
says 3 'ignored a malformed record: host 0 another' -H localhost --mpi hostile --host-only --out out.d
LC_ALL=C grep -q '[^ -~]' out err out.d/* && fail "what hosts print steers the terminal"
grep -q '^@ fact 0 hostname \\x1b\[2J\\xffhere$' out.d/records.txt || fail "a fact is lost"
grep -q '^@ host 0 another' out.d/records.txt && fail "a host has renamed another"

# ---- a disk that is full ----
for name in report.txt report.json report.html junit.xml bad.hosts; do
    rm -rf full
    mkdir full
    ln -s /dev/full "full/$name"
    says 3 "cannot write full/$name: No space left" --from whole --out full
    grep -q '^verdict: not reported (.*a file could not be written), exit 3' out || fail "$name: the page says that it is written"
    [ "$name" = report.txt ] || grep -q '^verdict: not reported' full/report.txt || fail "$name: report.txt is wrong"
done
rm -rf full
mkdir full
ln -s /dev/full full/records.txt
says 3 'cannot write full/records.txt: No space left' --made-up-hosts 2 --quick --out full
grep -q '^verdict: .*well' out && fail "the records are lost and all is well"
for words in --help --version "--from whole"; do
    # shellcheck disable=SC2086 # several words
    "$mpicheck" $words >/dev/full 2>err
    [ $? = 3 ] || fail "$words: not written, and well"
    grep -q '^mpicheck: cannot write to standard output: No space' err || fail "$words: no message"
done

# ---- options ----
says 3 "--out '': expected a name" --out '' -H n1
says 3 '--expect lat=3us: --expect stands before' --expect bw=1GB/s --expect lat=3us
says 3 '--expect bw=1GB/s,bw=2GB/s: expected figures' --expect bw=1GB/s,bw=2GB/s
says 3 '--from b: --from a stands before' --from a --from b
says 4 'warning: --quick has no effect with --from' --from many --quick
says 4 'warning: --mca has no effect with --from' --from many --mca btl_tcp_if_include eth0
says 3 'mpirun does not know which hosts to check' --hostfile nothing
says 3 'mpicheck --help lists the options' --made-up-hostz 3
says 3 'cannot read before2/records' --made-up-hosts 2 --baseline before2
"$mpicheck" --made-up-hosts 2 --quick --out two --mca btl_tcp_if_inclde eth0 >out 2>err
[ "$(grep -c 'there is no parameter btl_tcp_if_inclde' err)" = 1 ] || fail "a misspelt parameter is not told once"
[ -z "$(find . -maxdepth 1 -name 'mpicheck-2*')" ] || fail "a wrong command line leaves a folder"

# ---- signals ----
for signal in HUP TERM INT; do
    # SIGHUP also if the tests run under nohup
    env --default-signal=HUP "$mpicheck" --made-up-hosts 2 --quick --soak 5 --out "end$signal" >out 2>err &
    pid=$!
    for ((i = 0; i < 3000; i++)); do
        ! grep -qs ' soak ' "end$signal/records.txt" || break
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill -$signal $pid
    wait $pid
    rc=$?
    [ $rc = 130 ] || fail "SIG$signal: exit status $rc"
    grep -q '^verdict: interrupted' "end$signal/report.txt" || fail "SIG$signal: no report"
    [ "$(tail -n 1 "end$signal/records.txt")" = "@ end interrupted" ] || fail "SIG$signal: the records have no end"
    [ -z "$(ls -A tmp)" ] || fail "SIG$signal: $(ls -A tmp) is left"
done
"$mpicheck" --from endHUP/records.txt >out 2>err
[ $? = 130 ] || fail "what was interrupted is judged as a whole"
