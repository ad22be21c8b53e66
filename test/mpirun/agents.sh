#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks on several hosts. The hosts are this machine under other names: a wrapper in place of ssh starts their agents. What only
# real hosts can show is tested in test/hosts.
. "$(dirname "$0")/check.bash"
here_cc=${CC:-cc}
# shellcheck disable=SC2086
$here_cc -o pmix_rank "$here/pmix_rank.c" $LIBPMIX_FLAGS || { echo "cannot build pmix_rank"; exit 1; }

# far-N are hosts; "deaf" answers never, "old" is of another version, "dead" refuses as ssh would.
cat >reach <<'END'
#!/bin/sh
host=$1
shift
echo "$host" >>"$REACHED"
case $host in
far* | me@far*) exec "$@" ;;
chatty) echo 'Welcome to chatty!'; echo 'no new mail' >&2; exec "$@" ;;
deaf) exec sleep "$DEAF" ;;
old) echo 'TERN-AGENT 0.0.9 pdp11'; exec cat >/dev/null ;;
dead) echo 'ssh: connect to host dead port 22: Connection refused' >&2; exit 255 ;;
forger) printf 'no\033[2J way\nmpirun: all is well\033]0;mine\007\n' >&2; exit 255 ;;
inner) [ "$(ps -o comm= $PPID)" = mpirun ] && tr '\0' ' ' <"/proc/$PPID/cmdline" | grep -q -- --agent && exit 255; exec "$@" ;;
bare) exec /nowhere/mpirun --agent ;;
held) "${PYTHON3:-python3}" hold.py | "$@" ;;
esac
END
chmod +x reach
export REACHED=$scratch/reached DEAF=7$mark OMPI_MCA_plm_rsh_agent=$scratch/reach
two=(--host 'far1:2,far2:2')
all=(sh -c 'echo $OMPI_COMM_WORLD_RANK')

run "${two[@]}" sh -c 'echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_SIZE'
is "where ranks are" "$rc $(sort out | tr '\n' ',')" "0 0 0 2 4,1 1 2 4,2 0 2 4,3 1 2 4,"
run -q --host 'localhost:1,far1:2' "${all[@]}"
is "here and there" "$rc $(sort out | tr '\n' ',')" "0 0,1,2,"
: >reached
run --host 'far1:2,far2:2,far3:2' -np 3 "${all[@]}"
is "hosts without ranks are not asked" "$rc $(sort reached | tr '\n' ',')" "0 far1,far2,"
run --host 'far1:2,far2:2,far3:2' -np 3 sh -c 'echo $OMPI_UNIVERSE_SIZE'
is "but their slots count" "$rc $(sort -u out)" "0 6"
run --host chatty:1 "${all[@]}"
is "a login shell that talks" "$rc $(cat out) $(wc -c <err)" "0 0 0"

# PMIx across hosts
run "${two[@]}" ./pmix_rank facts
is "facts" "$rc" 0
for r in 0 1; do
    is "facts of rank $r" "$(grep -c "^rank $r of 4, universe 4, max 4, local 2, peers 0,1, nodes 2, apps 1\$" out)" 1
done
for r in 2 3; do
    is "facts of rank $r" "$(grep -c "^rank $r of 4, universe 4, max 4, local 2, peers 2,3, nodes 2, apps 1\$" out)" 1
    is "rank $r as all see it" "$(grep -cE "^  $r: local $((r - 2)) node $((r - 2)) nodeid [01] app 0 host [^ ]+ locality [^ ]+\$" out)" 4
done
hasnt "session directory" out 'not right'
run --host 'localhost:2,far1:2,far2:2' --oversubscribe ./pmix_rank exchange
is "exchange" "$rc $(sort out | tr '\n' ',')" "0 from 0,from 1,from 2,from 3,from 4,from 5,"
run "${two[@]}" ./pmix_rank direct
is "without a fence" "$rc $(sort out | uniq -c | tr -s ' \n' ' ,')" "0  4 0 has from 0, 4 1 has from 1, 4 2 has from 2, 4 3 has from 3,"
run "${two[@]}" ./pmix_rank publish
is "publish and look up" "$rc $(tr '\n' ',' <out)" "0 here of 0,here of 0,here of 0,"
run "${two[@]}" ./pmix_rank event
reached='event of 0,event of 0,event of 0,'
# PMIx 4.0 does not hand events to mpirun, which would pass them on to other hosts.
case $(./pmix_rank version) in 4.0.* | *' 4.0.'*) reached='event of 0,' ;; esac
is "events" "$rc $(tr '\n' ',' <out)" "0 $reached"
run "${two[@]}" ./pmix_rank key tern.secret
is "PMIx does not know the secret" "$rc $(sort -u out)" "0 not found"
run "${two[@]}" ./pmix_rank key pmix.jobid
is "what PMIx knows" "$rc $(sort -u out)" "0 success"
run "${two[@]}" sh -c "cat /proc/\$PPID/environ /proc/\$PPID/cmdline /proc/self/environ | tr '\\0' '\\n'"
has "environments" out '^PATH='
hasnt "the secret is in none, and on no command line" out '[0-9a-f]{64}'

# ends
run "${two[@]}" sh -c 'exit $((OMPI_COMM_WORLD_RANK == 3 ? 7 : 0))'
is "exit code" "$rc" 7
has "exit code" err '^mpirun: rank 3 \(pid [0-9]+ on host .*\) exited with code 7$'
run "${two[@]}" ./pmix_rank abort 5
is "abort" "$rc" 5
run "${two[@]}" ./pmix_rank unfinished 6
is "without finalize" "$rc" 6
run "${two[@]}" sh -c '[ $OMPI_COMM_WORLD_RANK != 2 ] || kill -9 $$; sleep 1000'
is "killed" "$rc" 137
run "${two[@]}" ./pmix_rank skip 3
has "one skips MPI_Init" err 'rank 3 .* exited without calling MPI_Init'
for seconds in 3 30; do # where ranks need long to come so far
    run -q --timeout $seconds "${two[@]}" sh -c '[ $OMPI_COMM_WORLD_RANK = 1 ] && exec ./pmix_rank skip 0; exec sleep 1000'
    ! grep -q 'in a program with another MPI library' err || break
done
is "--timeout" "$rc $(grep -c ^mpirun: err)" "110 1"
has "which rank does what" err '^ +[23] ranks (sleep|compute) before MPI_Init(, .*)?: [0-3,-]+$'
has "which rank does what" err '^ +1 rank (sleeps|computes) in a program with another MPI library(, .*)?: 1 \(host '

# standard streams
run -q "${two[@]}" --tag-output sh -c 'echo o$OMPI_COMM_WORLD_RANK; echo e$OMPI_COMM_WORLD_RANK >&2'
is "tags" "$(sort out | tr '\n' ' ')$(sort err | tr '\n' ' ')" "[1,0]<stdout>:o0 [1,1]<stdout>:o1 [1,2]<stdout>:o2 [1,3]<stdout>:o3 [1,0]<stderr>:e0 [1,1]<stderr>:e1 [1,2]<stderr>:e2 [1,3]<stderr>:e3 "
run "${two[@]}" sh -c 'seq 1 20000 | sed "s/^/$OMPI_COMM_WORLD_RANK:/"'
is "no line is lost" "$rc $(wc -l <out) $(sort -u out | wc -l) $(grep -vcE '^[0-3]:[0-9]+$' out)" "0 80000 80000 0"
limit "$MPIRUN" "${two[@]}" sh -c 'seq 1 20000' 2>err | (sleep 1; wc -l) >out
is "a slow reader" "$(cat out)" 80000
limit "$MPIRUN" "${two[@]}" yes 2>err | head -n 3 >out
is "a reader that leaves" "$(wc -l <out)" 3
eventually "and the job with it" none_marked
seq 1 200000 >input
run "${two[@]}" wc -c <input
is "standard input goes to rank 0" "$rc $(sort -n out | tr '\n' ' ')" "0 0 0 0 $(wc -c <input) "
run --host 'localhost:1,far1:1,far2:2' --oversubscribe --stdin all cksum <input
is "standard input to all" "$rc $(uniq -c out | tr -s ' ')" "0  4 $(cksum <input)"
run "${two[@]}" --stdin 3 sh -c '[ $OMPI_COMM_WORLD_RANK != 3 ] || head -n 1' <input
is "one line is enough" "$(cat out)" 1
run "${two[@]}" --output-filename dir sh -c 'echo $OMPI_COMM_WORLD_RANK'
is "--output-filename" "$(cat dir/1/rank.*/stdout | sort | tr '\n' ' ')" "0 1 2 3 "

# environment and directories
GIVEN=given OMPI_MCA_coll_verbose=0 run -x GIVEN --mca pml_lanes 4 "${two[@]}" sh -c 'echo $GIVEN $OMPI_MCA_coll_verbose $OMPI_MCA_pml_lanes $PWD'
is "environment" "$rc $(sort -u out)" "0 given 0 4 $scratch"
run --host far1 --wdir nodir true
has "no such directory" err '^mpirun: host .*: there is no working directory .*/nodir$'
run --host far1 nosuchprogram
has "no such program" err '^mpirun: host .*: no program nosuchprogram'
is "no such program" "$rc $(wc -l <err)" "127 1"

# signals
: >out
"$MPIRUN" "${two[@]}" sh -c 'trap "echo got; exit 0" USR1; echo ready; while :; do sleep 0.02; done' >out 2>err </dev/null &
mpirun=$!
four_ready() { [ "$(grep -c ready out)" = 4 ]; }
eventually "all are ready" four_ready
kill -USR1 $mpirun
wait $mpirun
is "a signal" "$? $(grep -c got out)" "0 4"

# what goes wrong at the start, by name, and nothing is left
wrong_start() {
    local what=$1 regex=$2
    shift 2
    run --mca launch_timeout 5 "$@" sleep $mark
    [ "$rc" != 0 ] || complain "$what: exit status 0"
    has "$what" err "^mpirun: cannot start on host $regex"
    [ ! -s out ] || complain "$what: output"
    none_marked || complain "$what: ranks run"
}
wrong_start "no answer" 'deaf: no answer within 5 s \(launch_timeout\)' --host far1,deaf
wrong_start "refused" 'dead: ssh: connect to host dead port 22: Connection refused' --host far1,dead
wrong_start "another version" 'old: its mpirun .* is version 0.0.9 pdp11, but this one is version ' --host far1,old
wrong_start "no program" 'bare: .*/nowhere/mpirun' --host far1,bare
wrong_start "two of them" 'dead: ' --host dead,bare
is "both are named" "$(grep -c 'cannot start on host' err)" 2
pgrep -f "sleep $DEAF" >/dev/null && complain "what reached the deaf host is left"

# launch_missing=go_on: the job runs on the other hosts, and says who is left out
missing() { run -q --mca launch_timeout 5 --mca launch_missing go_on --oversubscribe "$@" sh -c 'echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE $TERN_LEFT_OUT'; }
missing --host far1,dead,deaf,far2
is "some are left out" "$rc $(sort out | tr '\n' ',')" "0 0 of 2,1 of 2,"
has "who refuses is named" err '^mpirun: host dead is left out \(launch_missing\): ssh: connect to host dead port 22: Connection refused$'
has "who is silent is named" err '^mpirun: host deaf is left out \(launch_missing\): no answer within 5 s \(launch_timeout\)$'
is "nothing else is said" "$(wc -l <err)" 2
missing --mca launch_width 1 --host far1,dead,far2,far3
is "hosts below one in the tree" "$rc $(sort out | tr '\n' ',') $(wc -l <err)" "0 0 of 3,1 of 3,2 of 3, 1"
missing --host dead,localhost
is "this host remains" "$rc $(cat out)" "0 0 of 1"
printf 'far1\ndead\nfar2\nfar1\n' >sequence
missing --hostfile sequence --map-by seq
is "left out of a sequence" "$rc $(sort out | tr '\n' ',')" "0 0 of 3,1 of 3,2 of 3,"
missing --host dead,bare
is "none is left" "$rc $(tail -n 1 err)" "1 mpirun: no host is left: nothing can be started on dead,bare"
run -q --mca launch_missing go_on --host far1,dead -np 2 true
is "too few slots are left" "$rc $(grep -c 'is left out' err) $(wc -l <err)" "1 1 2"
wrong_start "end is the default" 'dead: ssh: connect' --mca launch_missing end --host far1,dead

# a login name is for ssh
: >reached
run --host far1,me@far2 -np 2 true
is "a login name" "$rc $(sort reached | tr '\n' ',')" "0 far1,me@far2,"

# a tree
: >reached
run --mca launch_width 2 --oversubscribe --host far1,far2,far3,far4,far5,far6,far7 ./pmix_rank exchange
is "a tree of 7" "$rc $(sort out | tr '\n' ',')" "0 from 0,from 1,from 2,from 3,from 4,from 5,from 6,"
is "each host is reached once" "$(sort reached | uniq -c | grep -c ' 1 ')" 7
: >reached
run --mca launch_width 1 --host far1,inner,far3 "${all[@]}"
is "a host that only mpirun can reach" "$rc $(sort out | tr '\n' ',')" "0 0,1,2,"
is "it was tried twice" "$(grep -c inner reached)" 2
run --mca launch_width 1 --host far1,far2,far3 sh -c '[ $OMPI_COMM_WORLD_RANK != 2 ] || kill -9 $(ps -o ppid= $PPID); exec sleep 1000'
has "words from deep in the tree name their host" err '^mpirun: host far3: agent: the agent .* has ended unexpectedly; its job ends now$'
wrong_start "a dead leaf" 'dead: ssh: connect' --mca launch_width 1 --host far1,dead

wrong_start "ssh's words are not a terminal's" 'forger: mpirun: all is well.x1b]0;mine.x07$' --host forger
is "and make no line of ours" "$(tr -dc '\033\007' <err | wc -c) $(grep -c '^mpirun: all' err)" "0 0"

# a disk that is full elsewhere
(
    ulimit -f 12000
    run --host far1 --output-filename small:nocopy sh -c 'yes | head -c 13000000'
    echo "$rc" >status
)
is "a full disk: status" "$(cat status)" 1
has "a full disk" err 'cannot write the output file of rank 0: File too large; the output in files is not complete$'

# a signal has killed what carries the link
: >out
"$MPIRUN" --host far1 sh -c 'echo ready; exec sleep 1000' >out 2>err </dev/null &
mpirun=$!
one_ready() { grep -q ready out; }
eventually "it is ready" one_ready
kill -9 "$(pgrep -P $mpirun -f -- '--agent$')"
wait $mpirun
has "what killed it" err 'host .* is lost: its connection has ended: [^ ]*reach was killed by signal 9 \(Killed\); the job ends now$'

# whichever process is killed, nothing is left
for victim in mpirun agent inner-agent guardian agents-guardian agent-and-guardian rank; do
    : >out
    "$MPIRUN" --mca launch_width 1 --host localhost,far1,far2 sh -c "echo ready; sleep $mark & sleep $mark" >out 2>err </dev/null &
    mpirun=$!
    three_ready() { [ "$(grep -c ready out)" = 3 ]; }
    eventually "$victim: all are ready" three_ready || continue
    guardian=$(pgrep -P $mpirun -x tern-guardian)
    agent=$(pgrep -P $mpirun -f -- '--agent$' | head -n 1)
    inner=$(pgrep -P "$agent" -f -- '--agent$' | head -n 1)
    agents_guardian=$(pgrep -P "$agent" -x tern-guardian)
    case $victim in
    mpirun) kill -9 $mpirun ;;
    agent) kill -9 "$agent" ;;
    inner-agent) kill -9 "$inner" ;;
    guardian) kill -9 "$guardian" ;;
    agents-guardian) kill -9 "$agents_guardian" ;;
    agent-and-guardian)
        kill -STOP "$agent" "$agents_guardian"
        kill -9 "$agents_guardian" "$agent"
        ;;
    rank) pkill -9 -P "$agents_guardian" ;;
    esac
    wait $mpirun 2>/dev/null
    [ $? != 0 ] || complain "$victim: exit status 0"
    eventually "$victim: no rank is left" none_marked
    gone() { ! kill -0 "$agent" 2>/dev/null && ! kill -0 "$inner" 2>/dev/null && ! kill -0 "$agents_guardian" 2>/dev/null; }
    eventually "$victim: no agent is left" gone
    [ $victim != agent-and-guardian ] || limit "$MPIRUN" -np 1 true # the next job removes the directory of the agent's host
    eventually "$victim: no file is left" tmp_is_empty
done
: >out
"$MPIRUN" "${two[@]}" --mca heartbeat_timeout 3 sh -c "echo ready; sleep $mark" >out 2>err </dev/null &
mpirun=$!
eventually "all are ready" four_ready || finish
agent=$(pgrep -P $mpirun -f -- '--agent$' | head -n 1)
kill -STOP "$agent"
wait $mpirun
[ $? != 0 ] || complain "silence: exit status 0"
has "a host that has gone silent" err 'host .* is lost: it has been silent for 3 s \(heartbeat_timeout\)'
kill -9 "$agent" 2>/dev/null
eventually "silence: no rank is left" none_marked
eventually "silence: no file is left" tmp_is_empty

# slots
run --host far1:2,far2:1 -np 4 true
is "more ranks than slots" "$rc $(wc -l <err)" "1 4"
has "what was missing" err '^mpirun: 4 ranks on 3 slots, and --oversubscribe was not given$'
has "what each offers" err '^ +far1 +2$'
run --host far1:2,far2:1 -np 4 --oversubscribe "${all[@]}"
is "--oversubscribe" "$rc $(sort out | tr '\n' ',')" "0 0,1,2,3,"
printf 'far1 slots=1 max_slots=2\nfar2 slots=1 max-slots=1 # small\n' >hosts
run --hostfile hosts --oversubscribe -np 4 true
has "more than max_slots" err '^mpirun: the job has 4 ranks, but the hostfile allows at most 3$'
run --hostfile hosts --oversubscribe -np 3 "${all[@]}"
is "up to max_slots" "$rc $(sort out | tr '\n' ',')" "0 0,1,2,"
printf 'far1\nfar2\n' >hosts
run --hostfile hosts -N 1 --display-map true
is "-N 1" "$rc $(grep -c 'Num procs: 1$' out)" "0 2"
run --host far1:2,far2:2 --map-by node --display-map --do-not-launch true
is "--map-by node" "$rc $(grep -oE 'rank: [0-9]' out | tr -d '\n')" "0 rank: 0rank: 2rank: 1rank: 3"

# a signal that comes when all agents are there and no rank is yet: hands an agent its first frame, and nothing more
cat >hold.py <<'END'
import os, struct
def exactly(count):
    got = b""
    while len(got) < count:
        more = os.read(0, count - len(got))
        if not more:
            raise SystemExit
        got += more
    return got
head = exactly(32)
os.write(1, head + exactly(struct.unpack("I", head[:4])[0]))
exactly(32)
open("held", "w").close()
while os.read(0, 4096):
    pass
END
for signal in INT TERM HUP; do
    rm -f held
    env --default-signal=$signal "$MPIRUN" -q --host localhost:1,held:1 echo a rank >out 2>err </dev/null &
    mpirun=$!
    is_held() { [ -e held ]; }
    eventually "SIG$signal before the start: the agent is there" is_held
    kill -$signal $mpirun
    wait $mpirun
    is "SIG$signal before the start" "$? $(cat out)" "$((128 + $(kill -l $signal))) "
    has "SIG$signal before the start" err "^mpirun: mpirun received signal $(kill -l $signal) \(.*\) before it had started the ranks$"
done

finish
