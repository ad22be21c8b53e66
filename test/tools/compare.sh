#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# bench/compare ended early shows what it has and says what is missing; what several runs saved is shown and judged as one.
# The libraries here are scripts: "compiling" writes a program that prints lines, one of which does not end.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
compare=$TERN_SRCDIR/bench/compare
fail() {
    echo "$*"
    tail -n 20 out err 2>/dev/null
    exit 1
}

# As compare calls it: -std=gnu11 -O2 DIRECTORY/NAME.c -o PROGRAM. A library takes ten times what its file speed-LIBRARY says.
for library in tern slow; do
    cat >cc-$library <<SH
#!/bin/sh
{
    echo '#!/bin/sh'
    case \$3 in
    */latency.c) echo 'for n in 0 1 2 4 8 16 32 64; do echo latency \$n \$(cat speed-$library)0 us; done' ;;
    *) echo 'echo ring 2 5 us; echo \$\$ >never; echo "half a"; exec sleep 1000' ;;
    esac
} >\$5
chmod +x \$5
SH
    chmod +x cc-$library
done
cat >run <<'SH'
#!/bin/sh
exec "$3"
SH
chmod +x run
measure=("$PYTHON3" "$compare" --no-default-peers --peer "tern=./cc-tern,./run" --peer "slow=./cc-slow,./run" --rounds 1)

# two pieces, one after the other; the second is the better one for us
echo 4 >speed-slow
echo 3 >speed-tern
"${measure[@]}" --only latency --save results >out 2>err || fail "exit status $?"
echo 1 >speed-tern
"${measure[@]}" --only latency --save results >out 2>err || fail "exit status $?"
"$PYTHON3" "$compare" --goals 1,8 --load results >out 2>err || fail "exit status $? of --load"
grep -Eq '^ +2 +latency +8 +us +20 +40 +0.50 \+' out || fail "no median of both pieces"
grep -Eq '^ +1 +latency, 0 to 64 B +0.50 \(latency [0-9]+\), mean 0.50 +<= 0.6 +reached' out || fail "not judged"
grep -Eq '^ +8 .*not measured' out || fail "what nobody has measured is not named"

# ended in the second benchmark: the first one's table, and what is missing; which library began it is drawn at random
"${measure[@]}" --only latency,crowd --ranks 2 --save results >out 2>err &
pid=$!
for _ in $(seq 600); do [ -s never ] && break; sleep 0.1; done
[ -s never ] || fail "the program that does not end was not started"
kill -TERM $pid
wait $pid
[ $? = 1 ] || fail "exit status $? of a run that was ended"
! kill -0 "$(cat never)" 2>/dev/null || fail "the program outlives it"
grep -Eq '^ +2 +latency +8 +us +10 +40 +0.25 \+' out || fail "no table of what was measured"
grep -Eq '^ +2 +ring +2 +us +(5 +-|- +5)' out || fail "the lines of the program that was ended are lost"
grep -q 'crowd on 2 ranks was ended by SIGTERM; last came ring 2 5 us' err || fail "no word about the program that was ended"
grep -Eq '^missing: crowd on 2 ranks, rounds made: (tern 1, slow 0|tern 0, slow 1)' err || fail "what is missing is not said"
! grep -q '^missing: latency' err || fail "nothing of the latency is missing"
grep -Eq '^(tern|slow) crowd 2 ring 2 5 us' results || fail "not saved"
exit 0
