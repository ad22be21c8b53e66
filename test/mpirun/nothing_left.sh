#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whichever one process of a job is killed with SIGKILL, all the others end and nothing is left: no process, not even one that has
# left its session and its environment, no file in /tmp and none in /dev/shm.
. "$(dirname "$0")/check.bash"

# Each rank: itself, a child, a grandchild that is an orphan in a session of its own without any environment, and one in the
# background of a nested job.
cat >rank.sh <<END
(setsid env -i "$(command -v sleep)" $mark &)
sleep $mark &
[ \$OMPI_COMM_WORLD_RANK != 0 ] || "$MPIRUN" -q -np 2 sleep $mark &
echo ready \${TERN_SESSION_DIR##*/}
wait
END
both_ready() { [ "$(grep -c ready out)" = 2 ]; }
# 2 ranks with 2 sleeps each, and the nested job's mpirun and 2 ranks
all_sleep() { [ "$(pgrep -fc "sleep $mark")" -ge 7 ]; }
child_named() { pgrep -P "$1" -f "$2" | head -n 1; }

for victim in mpirun guardian rank child orphan; do
    : >out
    "$MPIRUN" -q -np 2 sh rank.sh >out 2>err </dev/null &
    mpirun=$!
    eventually "$victim: both ranks are ready" both_ready
    eventually "$victim: all processes are there" all_sleep
    guardian=$(pgrep -P "$mpirun")
    rank=$(child_named "$guardian" rank.sh)
    members=$(pgrep -f "sleep $mark" | tr '\n' ' ')
    case $victim in
    mpirun) kill -9 "$mpirun" ;;
    guardian) kill -9 "$guardian" ;;
    rank) kill -9 "$rank" ;;
    child) kill -9 "$(child_named "$rank" "^sleep")" ;; # no rank: the job goes on
    orphan) kill -9 "$(pgrep -P "$guardian" -f "^/.*sleep $mark" | head -n 1)" ;;
    esac
    if [ $victim = child ] || [ $victim = orphan ]; then
        sleep 0.3
        kill -0 "$mpirun" 2>/dev/null || complain "$victim: its end ended the job"
        kill -TERM "$mpirun"
    fi
    wait "$mpirun" 2>/dev/null
    [ $? != 0 ] || complain "$victim: exit status 0"
    eventually "$victim: no process is left of $members" none_marked
    gone() { ! kill -0 "$guardian" 2>/dev/null; }
    eventually "$victim: the guardian has ended" gone
    eventually "$victim: no file is left" tmp_is_empty
    token=$(sed -n 's/^ready //p' out | sort -u)
    is "$victim: the job's name" "${#token}" 32
    is "$victim: /dev/shm" "$(find /dev/shm -name "*${token:0:16}*")" ""
done

# Everybody at once (a machine that goes down): the directory that stays is removed by the next job.
: >out
"$MPIRUN" -q -np 1 sh -c "echo ready; sleep $mark" >out 2>err </dev/null &
mpirun=$!
one_ready() { grep -q ready out; }
eventually "ready" one_ready
guardian=$(pgrep -P "$mpirun")
kill -STOP "$mpirun"
kill -9 "$guardian" "$mpirun"
wait "$mpirun" 2>/dev/null
for pid in $(pgrep -f "sleep $mark"); do kill -9 "$pid"; done
[ -n "$(ls -A "$TMPDIR")" ] || complain "this test wants a directory to be left"
run -np 1 true
tmp_is_empty || complain "a dead job's directory stays: $(find "$TMPDIR")"
# ... but not that of a job which lives
: >out
"$MPIRUN" -q -np 1 sh -c 'echo ready; while [ ! -e go ]; do sleep 0.05; done; [ -d "$TERN_SESSION_DIR" ]' >out 2>err </dev/null &
mpirun=$!
eventually "ready" one_ready
limit "$MPIRUN" -np 1 true
touch go
wait "$mpirun"
is "a living job's directory" $? 0

# A process that mpirun did not start is not its business: children it was given by exec.
: >out
bash -c "sleep $mark & echo \$! >given; exec '$MPIRUN' -q -np 1 sh -c 'kill -9 \$(cut -d\" \" -f4 /proc/\$\$/stat)'" >out 2>err
kill -0 "$(cat given)" 2>/dev/null || complain "mpirun killed a process that is not its own"
kill -9 "$(cat given)"

# Directories in a place that others prepared are not used.
mkdir -m 777 "$TMPDIR/tern-$(id -u)"
run -np 1 sh -c 'echo "$TERN_SESSION_DIR"'
is "an open directory" "$rc $(grep -c "^$TMPDIR/tern-$(id -u)/" out)" "0 0"
rmdir "$TMPDIR/tern-$(id -u)"
run -np 1 sh -c 'stat -c %a "$TERN_SESSION_DIR" "$(dirname "$TERN_SESSION_DIR")"'
is "modes" "$(tr '\n' ' ' <out)" "700 700 "
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
