#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpirun says where its ranks are: to SIGQUIT, to `mpirun --where PID`, at the end of --timeout, and by itself when nothing moves
# any more. The job goes on. Ranks that are stopped or loop outside MPI are seen, too. A job that computes is never called hung.
. "$(dirname "$0")/check.bash"
"$MPICC" -g -O1 -o hanging "$here/hanging.c" -lpthread || { echo "cannot build hanging.c"; exit 1; }

# start RANKS HOW [OPTION]...: a job that hangs so; its process is in $mpirun
start() {
    local ranks=$1 how=$2
    shift 2
    : >out
    "$MPIRUN" -np "$ranks" --oversubscribe "$@" ./hanging "$how" >out 2>err </dev/null &
    mpirun=$!
    eventually "$how: all ranks are ready" all_ready "$ranks"
}
all_ready() { [ "$(grep -c ready out)" -ge "$1" ]; }
is_gone() { ! kill -0 "$mpirun" 2>/dev/null; }
end() {
    kill -TERM "$mpirun"
    eventually "mpirun ends" is_gone || kill -KILL "$mpirun"
    wait "$mpirun" 2>/dev/null
}
# shows REGEX: `mpirun --where` has a line with it now
shows() {
    "$MPIRUN" --where "$mpirun" >table 2>table.err
    grep -qE -- "$1" table
}
# where WHAT REGEX: ... soon
where() { eventually "$1 ($2)" shows "$2" || cat table table.err; }

start 4 circle
where "a circle of receives" '^ +4 ranks wait in MPI_Recv, tag 7, MPI_COMM_WORLD, for different ranks, 16 bytes at most, for [0-9]+ (to [0-9]+ )?s: 0-3$'
where "the circle is named" '^    a circle of 4 ranks: rank 0 waits in MPI_Recv for rank 1, tag 7, MPI_COMM_WORLD; rank 1 waits .* for rank 2, .* rank 3 waits in MPI_Recv for rank 0, tag 7, MPI_COMM_WORLD$'
has "the job is named" table "^mpirun: job of 4 ranks, pid $mpirun$"
is "nothing on standard error" "$(cat table.err err)" ""
"$MPIRUN" --where="$mpirun" >table
has "--where=PID" table '^ +4 ranks wait in MPI_Recv'
kill -QUIT "$mpirun"
said() { grep -qE -- "$1" err; }
eventually "SIGQUIT prints the table" said '^    a circle of 4 ranks: '
has "SIGQUIT" err "^mpirun: job of 4 ranks, pid $mpirun$"
kill -0 "$mpirun" || complain "SIGQUIT ended the job"
end

start 3 sends
where "how much is sent" '^ +3 ranks wait in MPI_Send, .*, for different ranks, 4194304 bytes, '
where "a circle of sends" '^    a circle of 3 ranks: rank 0 waits in MPI_Send for rank 1, tag 8, MPI_COMM_WORLD; '
end
start 2 tag
where "a wrong tag" '^    rank 1 has not asked for a message that has arrived: from rank 0, tag 5, 8 bytes, MPI_COMM_WORLD; it waits for tag 6$'
end
start 3 strangers
where "a wrong communicator" '^    rank 1 has not asked for a message that has arrived: from rank 0, tag 5, .*, MPI_COMM_WORLD; it waits on ocean$'
where "a wrong source" '^    rank 2 has not asked for a message that has arrived: from rank 0, tag 5, .*, MPI_COMM_WORLD; it waits for rank 1$'
end
start 6 neighbors
where "a neighborhood collective" '^ +2 ranks wait in MPI_Neighbor_allgather, number 1 on ring \(2 of its 6 ranks\), .*: 0,2$'
where "the others have left it" '^ +3 ranks wait in MPI_Allreduce, .*: 3-5$'
hasnt "and are not missing there" table 'MPI_Neighbor_allgather, .* lacks'
end
start 4 name
where "a named communicator, several requests" '^ +2 ranks wait in MPI_Waitall \(2 requests\), the first of them, tag 1, ocean, '
where "a probe with wildcards" '^ +2 ranks wait in MPI_Probe, any tag, MPI_COMM_WORLD, for any rank, .*: 0,2$'
end
start 3 replace
where "MPI_Sendrecv_replace, a communicator without a name" \
    '^ +3 ranks wait in MPI_Sendrecv_replace, tag 1, a communicator of 3 ranks without a name \(id [0-9a-f]+\), for different ranks'
end
start 3 late
where "a rank before MPI_Init" '^ +1 rank sleeps before MPI_Init, in sleep: 1 \(host '
where "the others" '^ +2 ranks wait in MPI_Finalize, number [0-9]+ on MPI_COMM_WORLD \(2 of its 3 ranks\)'
end
start 3 any
where "any of several requests" '^ +3 ranks wait in MPI_Waitany \(2 requests\), the first of them, tag 1, MPI_COMM_WORLD, '
hasnt "any of several requests is no circle" table 'circle|in the end'
where "each of several requests is named" '^    rank 0 waits for any of: rank 1, tag 1; rank 2, tag 2$'
end
start 3 second
where "all requests of MPI_Waitall" '^    rank 0 waits for rank 2, tag 1; rank 1, tag 4$'
where "a circle through the second request" '^    a circle of 2 ranks: rank 0 waits in MPI_Waitall for rank 1, tag 4, MPI_COMM_WORLD; rank 1 waits in MPI_Waitall for rank 0, tag 4, '
end
start 3 many
where "more requests than are named" '^    rank 0 waits for rank 1, tag 0; rank 2, tag 1; rank 1, tag 2; rank 2, tag 3; and 2 more$'
end
start 6 rows
where "communicators with one name are two lines" '^ +2 ranks wait in MPI_Barrier, number [0-9]+ on row \(2 of its 3 ranks\), .*: 0,2$'
where "the other one" '^ +2 ranks wait in MPI_Barrier, number [0-9]+ on row \(2 of its 3 ranks\), .*: 3,5$'
where "the rank that the first one lacks" '^    MPI_Barrier, number [0-9]+ on row, lacks rank 4$'
where "the rank that the second one lacks" '^    MPI_Barrier, number [0-9]+ on row, lacks rank 1$'
end
start 6 inter
where "halves with one id" '^ +1 rank waits in MPI_Recv, tag 6, a communicator of 3 ranks without a name .*, for rank 2 \(1 there\), .*: 0 '
where "the other half" '^ +1 rank waits in MPI_Recv, tag 6, a communicator of 3 ranks without a name .*, for rank 3 \(1 there\), .*: 1 '
where "both sides of an intercommunicator" '^ +2 ranks wait in MPI_Barrier, number [0-9]+ on a communicator of 6 ranks without a name .* \(2 of its 6 ranks\), .*: 4,5$'
where "what it lacks" '^    MPI_Barrier, number [0-9]+ on .*, lacks ranks 0-3$'
end
start 3 partitions
where "a partitioned send" '^ +1 rank waits in MPI_Wait, 3 of 4 partitions lack its own MPI_Pready, tag 5, MPI_COMM_WORLD, for rank 1, .*: 0 '
where "a partitioned receive" '^ +1 rank waits in MPI_Wait, 3 of 4 partitions lack the sender.s MPI_Pready, or are on their way, tag 5, MPI_COMM_WORLD, for rank 0, .*: 1 '
where "a partitioned receive without a sender" '^ +1 rank waits in MPI_Wait, the sender has not called MPI_Psend_init, tag 5, MPI_COMM_WORLD, for rank 1, .*: 2 '
hasnt "the rank's own MPI_Pready is no circle" table 'circle'
end
start 2 jobs
where "ranks of another job" '^ +2 ranks wait in MPI_Recv, tag 3, .*, for different ranks, .*: 0,1$'
second=$(sed -n 's/.* own: mpirun --where //p' table)
across='^    a circle across jobs: rank 0 of job 1 waits in MPI_Recv for rank [01] of job 2, tag 3; rank [01] of job 2 waits in MPI_Recv for rank 0 of job 1, tag 3'
where "a circle across jobs" "$across|^    a circle across jobs: rank [01] of job 2 .* rank 0 of job 1"
mpirun=$second where "the other job's mpirun says so, too" 'a circle across jobs: rank '
mpirun=$second where "and the reverse" '^ +2 ranks wait in MPI_Recv, tag 3, MPI_COMM_PARENT, for rank 0 of job 1, .*: 0,1$'
end
start 1 jobs
where "a rank of another job, with its number" '^ +1 rank waits in MPI_Recv, tag 3, .*, for rank 1 of job 2, 4 bytes at most, .*: 0 '
end
start 3 finalize
where "MPI_Finalize waits for other jobs" '^ +3 ranks wait in MPI_Finalize, which waits for other jobs, number 1 on a communicator of 5 ranks .* \(3 of its 5 ranks\), .*: 0-2$'
where "and who of them is missing" 'for rank 0 of job 2$'
end
start 4 recv
where "a rank that is not in the collective" '^ +3 ranks wait in MPI_Allreduce, number 11 on MPI_COMM_WORLD \(3 of its 4 ranks\), .*: 0,2,3$'
where "but in a receive" '^ +1 rank waits in MPI_Recv, tag 7, MPI_COMM_WORLD, for rank 0, .*: 1 \(host [^ ]+, pid [0-9]+\)$'
end
start 3 window
where "a fence" '^ +2 ranks wait in MPI_Win_fence, number [0-9]+ on a window without a name \(id [0-9a-f]+\) \(2 of its 3 ranks\), .*: 1,2$'
end
start 3 nameless
where "a window without a name" '^ +1 rank waits in MPI_Win_fence, number [0-9]+ on a window without a name \(id [0-9a-f]+\) \(1 of its 3 ranks\), .*: 1 '
where "another one" '^ +1 rank waits in MPI_Win_fence, number [0-9]+ on a window without a name \(id [0-9a-f]+\) \(1 of its 3 ranks\), .*: 2 '
is "two ids" "$(grep -o '(id [0-9a-f]*)' table | sort -u | wc -l)" 2
end
start 3 ports
where "a port that nobody calls" '^ +1 rank waits in MPI_Comm_accept, port [0-9]+ of host [^ ]+, for [0-9]+ s: 2 '
where "a port that does not answer" '^ +1 rank waits in MPI_Comm_connect, port [0-9]+ of host [^ ]+, for [0-9]+ s: 1 '
# a connection has a limit of 3 s for its first step, and the wait goes on
where "a port that does not answer for long" '^ +1 rank waits in MPI_Comm_connect, port [0-9]+ of host [^ ]+, for ([5-9]|[1-9][0-9]+) s: 1 '
end
start 3 start
where "a window's name, and no tag of the library's own" '^ +2 ranks wait in MPI_Win_start, halo, for rank 0, for [0-9]+ (to [0-9]+ )?s: 1,2$'
end
start 5 lock
where "the lock of a window, and who has it" \
    "^ +1 rank waits in MPI_Win_lock, for a shared lock of rank 0's part of window counters, which rank 1 holds, exclusive, for [0-9]+ s: 2 "
where "a circle of locks" "^    a circle of 2 ranks: rank 3 waits in MPI_Win_lock, for an exclusive lock of rank 4's part of window counters, which \
rank 4 holds, exclusive; rank 4 waits .* rank 3's part of window counters, which rank 3 holds, exclusive\$"
kill -STOP "$mpirun"
"$MPIRUN" --where "$mpirun" >table 2>err
rc=$?
kill -CONT "$mpirun"
is "--where of a stopped mpirun" "$rc $(cat table)" "1 "
has "--where of a stopped mpirun" err "^mpirun: mpirun $mpirun is stopped, .* \`kill -CONT $mpirun\` lets it go on\$"
end
start 3 file
where "a file" '^ +2 ranks wait in MPI_File_write_all, the file hanging.data \(2 of its 3 ranks\), for .*: 1,2$'
where "the file's collective lacks rank 0" '^    MPI_File_write_all, the file hanging.data, lacks rank 0$'
where "who is waited for" '^    (a circle of 1 rank: rank 0 waits in MPI_Recv for rank 0|2 ranks wait in the end for rank 0)'
end
start 3 icoll
where "a nonblocking collective" '^ +2 ranks wait in MPI_Wait of MPI_Iallreduce, number 11 on MPI_COMM_WORLD \(2 of its 3 ranks\), .*: 1,2$'
end
if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -lt 3 ]; then
    in_spin=', in spin at hanging.c:[0-9]+ \(hanging\)'
else # nobody may look into processes here
    in_spin='.*'
fi
start 3 loop
where "an endless loop" "^ +1 rank computes outside MPI$in_spin, [0-9]+ % of a processor: 1 \(host "
where "who is waited for" '^    2 ranks wait in the end for rank 1, which computes outside MPI'
end
start 2 helper
where "a thread that waits beside one that computes" \
    "^ +2 ranks wait in MPI_Recv, tag 11, MPI_COMM_WORLD \(in a second thread; the first one computes$in_spin\), for different ranks, "
hasnt "is no circle" table 'circle'
end
start 3 stop
where "a stopped rank" '^ +1 rank is stopped by a signal, outside MPI: 1 \(host '
where "who is waited for" '^    2 ranks wait in the end for rank 1, which is stopped by a signal'
end
start 3 circle
where "before a stop" '^ +3 ranks wait in MPI_Recv'
victim=$(pgrep -P "$(pgrep -P "$mpirun" -x tern-guardian)" | sed -n 2p)
kill -STOP "$victim"
where "a rank that is stopped in MPI" '^ +1 rank is stopped by a signal, in MPI_Recv, tag 7, MPI_COMM_WORLD, .*: [0-2] \(host '
where "is still a part of the circle" '^    a circle of 3 ranks: '
kill -CONT "$victim"
where "and goes on" '^ +3 ranks wait in MPI_Recv'
end
start 3 sleep
where "a rank that sleeps" '^ +1 rank sleeps outside MPI, in sleep: 1 \(host '
end
start 3 test
where "a loop of tests" '^ +1 rank tests in vain in MPI_Test, tag 3, MPI_COMM_WORLD, for rank 0, 4 bytes at most, for [0-9]+ s: 1 \(host '
where "who is waited for" '^    2 ranks wait in the end for rank 1, which tests in vain in MPI_Test'
end
start 3 testall
where "a slow loop of tests" '^ +1 rank tests in vain in MPI_Testall \(3 requests\), the first of them, tag 0, MPI_COMM_WORLD, for rank 0, .*: 1 \(host '
where "all that it tests" '^    rank 1 tests for rank 0, tag 0; rank 0, tag 1; rank 0, tag 2$'
end
start 3 probe
where "a loop of probes" '^ +1 rank tests in vain in MPI_Iprobe, tag 6, MPI_COMM_WORLD, for any rank, .*: 1 \(host '
where "and a message with a wrong tag" '^    rank 1 has not asked for a message that has arrived: from rank 1, tag 5, 8 bytes, MPI_COMM_WORLD; it waits for tag 6$'
end
start 3 probe --mca progress_thread 1
where "a loop of probes, with a second thread" '^ +1 rank tests in vain in MPI_Iprobe, tag 6, .*: 1 \(host '
where "the wrong tag" 'has not asked for a message .* tag 5, .*; it waits for tag 6$'
end
start 3 work
sleep 2
where "tests while messages move" '^ +1 rank (sleeps|computes|is busy) .*: 1 \(host '
hasnt "are not in vain" table 'in vain'
end
start 3 tested
where "tests in vain" '^ +1 rank tests in vain in MPI_Test, '
where "that have ended" '^ +1 rank sleeps outside MPI, in sleep: 1 \(host '
end
start 64 circle
where "64 ranks are one line" '^ +64 ranks wait in MPI_Recv, .*: 0-63$'
[ "$(wc -l <table)" -le 8 ] || complain "64 ranks in one place take $(wc -l <table) lines"
end

# without shared memory
start 3 circle --mca btl tcp,self
where "by TCP" '^ +3 ranks wait in MPI_Recv, tag 7, MPI_COMM_WORLD, for different ranks, .*: 0-2$'
end

# two programs in one place, one after the other
cat >twice <<'END'
./hanging none >first.$OMPI_COMM_WORLD_RANK
exec ./hanging circle
END
: >out
"$MPIRUN" -np 2 --oversubscribe sh ./twice >out 2>err </dev/null &
mpirun=$!
eventually "the second program: all are ready" all_ready 2
where "the second program" '^ +2 ranks wait in MPI_Recv, tag 7'
end

# a program that is not MPI
"$MPIRUN" -np 2 --oversubscribe sh -c "echo ready; sleep $mark" >out 2>err </dev/null &
mpirun=$!
eventually "both are ready" all_ready 2
where "without MPI" '^ +2 ranks sleep without MPI, .*: 0,1$'
end

# the end of --timeout
for seconds in 5 50; do # where ranks need long to come so far
    run -np 2 --oversubscribe --timeout $seconds ./hanging circle
    ! said 'a circle of 2 ranks' || break
done
is "--timeout: status" "$rc" 110
has "--timeout: the circle" err '^    a circle of 2 ranks: rank 0 waits in MPI_Recv for rank 1, tag 7'
has "--timeout: as ever" err "^mpirun: the job has run for $seconds seconds, the limit of --timeout"

# by itself
start 3 circle --mca hang_report_s 1
eventually "nothing moves" said "^mpirun: nothing has moved for [0-9]+ s \(job of 3 ranks, pid $mpirun\); the job goes on, "
eventually "nothing moves: the circle" said '^    a circle of 3 ranks: '
sleep 3
is "it is said once" "$(grep -c 'nothing has moved' err)" 1
end
start 3 sleep --mca hang_report_s 1
eventually "a rank sleeps outside MPI" said '^mpirun: nothing has moved for'
end
start 2 jobs --mca hang_report_s 1
eventually "jobs that wait for each other" said '^mpirun: nothing has moved for'
said '^ +2 ranks wait in MPI_Recv, tag 3, ' || complain "jobs that wait for each other: no table: $(cat err)"
end
run -np 2 --oversubscribe --mca hang_report_s 1 ./hanging family
is "a job that the ranks have started computes: status" "$rc" 0
hasnt "a job that the ranks have started computes" err 'nothing has moved'
rm -f port
"$MPIRUN" -np 1 --mca hang_report_s 1 ./hanging server >out 2>err.server </dev/null &
mpirun=$!
eventually "a server has a port" test -s port
run --mca hang_report_s 1 -np 1 ./hanging client
is "a client: status" "$rc" 0
wait "$mpirun"
is "its server: status" $? 0
hasnt "a server whose client computes" err.server 'nothing has moved'
for how in compute serial child trickle others exchange give helped; do
    run -np 3 --oversubscribe --mca hang_report_s 1 ./hanging $how
    is "$how" "$rc" 0
    hasnt "$how: a job that computes is not called hung" err 'nothing has moved'
done
start 2 circle --mca hang_report_s 0
sleep 2
hasnt "hang_report_s 0" err 'nothing has moved'
end
mkfifo person
"$MPIRUN" -np 2 --oversubscribe --mca hang_report_s 1 ./hanging input >out 2>err <person &
mpirun=$!
exec 9>person
eventually "both are ready" all_ready 2
sleep 3
hasnt "a rank waits for a person" err 'nothing has moved'
end
exec 9>&-

# nobody reads mpirun's output: that is no hang of the job
mkfifo reader
exec 8<>reader
"$MPIRUN" -np 2 --oversubscribe --mca hang_report_s 1 ./hanging output >reader 2>err </dev/null &
mpirun=$!
where "output that nobody reads" "^    mpirun's standard output is full: what reads it has not read for [2-9][0-9]* s, so ranks that write there wait for it\$"
sleep 2
hasnt "it is not called a hang" err 'nothing has moved'
cat <&8 >/dev/null &
reader=$!
exec 8>&-
eventually "when it is read the job ends" is_gone
wait "$mpirun"
is "with its status" $? 0
kill "$reader" 2>/dev/null

# who cannot be asked
refused() {
    run --where "$1"
    is "--where $1: status" "$rc" 1
    has "--where $1" err "^mpirun: $2"
}
for pid in 0 99999999 123456789012345678901234567890; do
    refused "$pid" "there is no process $pid here; .*\$"
done
for pid in -3 abc '' '1 2'; do
    refused "$pid" '--where wants the process id of an mpirun, not "'
done
refused $$ "process $$ \([^)]+\) is no mpirun of Tern MPI; .*"
sh -c 'true & exec sleep 1000' &
keeper=$!
ended() { ended=$(ps -o pid=,stat= --ppid "$keeper" | awk '$2 ~ /^Z/ {print $1}') && [ -n "$ended" ]; }
eventually "a process that has ended" ended
refused "$ended" "process $ended \(.*\) has ended\$"
kill "$keeper"
start 2 sleep
rank=$(pgrep -P "$(pgrep -P "$mpirun" -x tern-guardian)" | head -n 1)
refused "$rank" "process $rank \(hanging\) is no mpirun, but belongs to the job of mpirun $mpirun; ask that one: mpirun --where $mpirun\$"
end
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    sleep 1000 &
    sleeper=$!
    eventually "a process sleeps" grep -qx sleep "/proc/$sleeper/comm"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$MPIRUN" --where "$sleeper" >table 2>err
    is "another user's process: status" $? 1
    has "another user's process" err "^mpirun: process $sleeper \(sleep\) belongs to user root \(id 0\); only this user and root may ask it\$"
    kill "$sleeper"
fi
# A process that only looks like an mpirun: what it answers is shown and does nothing to the terminal. One whose directory has another
# form is not asked at all.
cat >looks_like.py <<'END'
import os, socket, sys, time
folder = f"{os.getcwd()}/{sys.argv[1]}/{'0123456789abcdef' * 2}"
os.makedirs(folder, 0o700)
held = os.open(folder, os.O_RDONLY)
os.chdir(folder)
door = socket.socket(socket.AF_UNIX)
door.bind("where")
door.listen()
os.chdir("../..")
open(sys.argv[1] + ".ready", "w").close()
while sys.argv[2] == "silent":
    time.sleep(1)
while True:
    caller, _ = door.accept()
    caller.sendall(b"mpirun: job \x1b]0;evil\x07 of 1 rank\n    a rank \xc2\x9b2J waits\n\0")
    caller.close()
END
exists() { [ -e "$1" ]; }
(umask 077; exec "$PYTHON3" looks_like.py "tern-$(id -u)" speaks) &
stranger=$!
eventually "a process that looks like an mpirun" exists "tern-$(id -u).ready"
"$MPIRUN" --where "$stranger" >table 2>err
is "what it says" "$? $(cat table)" "0 mpirun: job \x1b]0;evil\x07 of 1 rank
    a rank \xc2\x9b2J waits"
kill "$stranger"
(umask 077; exec "$PYTHON3" looks_like.py tern-other silent) &
stranger=$!
eventually "a process with another directory" exists tern-other.ready
refused "$stranger" "process $stranger \(.*\) is no mpirun of Tern MPI; .*"
kill "$stranger"
run -np 1 --where $$ true
is "--where among other options" "$rc" 1
has "--where among other options" err 'it stands alone'
eventually "nothing is left" tmp_is_empty
finish
