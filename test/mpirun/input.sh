#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Standard input goes to rank 0, or to whom --stdin says, complete and unchanged; a job in the background leaves the terminal alone.
. "$(dirname "$0")/check.bash"

head -c 3000000 /dev/urandom >random
limit "$MPIRUN" -q -np 2 sh -c 'cat >got.$OMPI_COMM_WORLD_RANK' <random 2>err
cmp random got.0 || complain "a file to rank 0"
[ ! -s got.1 ] || complain "rank 1 got input"
cat random | limit "$MPIRUN" -np 1 cat 2>err | cmp random - || complain "a pipe through rank 0"
limit "$MPIRUN" -q -np 3 --stdin all sh -c 'cat >all.$OMPI_COMM_WORLD_RANK' <random 2>err
for r in 0 1 2; do cmp random all.$r || complain "--stdin all, rank $r"; done
# one reader that never reads does not stop the others' last bytes from arriving once it ends
limit "$MPIRUN" -q -np 2 --stdin all sh -c 'if [ $OMPI_COMM_WORLD_RANK = 0 ]; then sleep 0.3; else cat >slow.1; fi' <random 2>err
cmp random slow.1 || complain "--stdin all, beside a rank that does not read"
run -q -np 2 --stdin 1 --tag-output cat <<<hello
is "--stdin 1" "$rc $(cat out)" "0 [1,1]<stdout>:hello"
run -q -np 2 -stdin none cat <<<hello
is "--stdin none" "$rc [$(cat out)]" "0 []"

# A rank that ends, or closes its input, before all is read
run -np 1 head -n 1 < <(yes)
is "endless input" "$rc $(cat out)" "0 y"
run -np 1 sh -c 'exec <&-; sleep 0.2; echo closed' <random
is "closed by the rank" "$rc $(cat out)" "0 closed"
run -np 1 cat </dev/null
is "no input" "$rc [$(cat out)]" "0 []"
# input that does not end does not keep a finished job
mkfifo quiet
exec 7<>quiet
run -np 1 true <&7
is "input that never comes" "$rc" 0
exec 7>&-

# With a terminal: python plays the shell and its user.
cat >terminal.py <<'END'
import os, pty, select, signal, sys, time
mpirun = sys.argv[1]

def read_until(fd, word, seconds=30):
    text, end = b"", time.time() + seconds
    while word not in text and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                piece = os.read(fd, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
    return text

# in the foreground, a line typed at the terminal reaches rank 0
pid, fd = pty.fork()
if pid == 0:
    os.execl(mpirun, mpirun, "-q", "-np", "2", "sh", "-c",
             "[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 0; printf 'ready\\n'; read line; echo \"got <$line>\"")
text = read_until(fd, b"ready")
os.write(fd, b"typed\n")
text += read_until(fd, b"got <typed>")
assert b"got <typed>" in text, text
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

# in the background, it neither reads nor is stopped for reading; brought to the foreground, it reads
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execl(mpirun, mpirun, "-np", "1", "sh", "-c", "printf 'ready\\n'; read line; echo \"got <$line>\"")
    try:
        os.setpgid(job, job)
    except OSError:
        pass
    line = os.read(0, 100)              # ours, for we are in the foreground
    os.write(1, b"shell got " + line)
    assert os.waitpid(job, os.WNOHANG | os.WUNTRACED) == (0, 0), "the job in the background was stopped"
    os.tcsetpgrp(0, job)
    os.write(1, b"in front\n")
    status = os.waitpid(job, os.WUNTRACED)[1]
    os._exit(0 if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else 1)
text = read_until(fd, b"ready")
time.sleep(0.3)
os.write(fd, b"first\n")
text += read_until(fd, b"in front")
assert b"shell got first" in text, text
os.write(fd, b"second\n")
text += read_until(fd, b"got <second>")
assert b"got <second>" in text, text
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
print("ok")
END
: >err
limit "${PYTHON3:-python3}" terminal.py "$MPIRUN" >out 2>err
is "terminal" "$? $(cat out)" "0 ok"
finish
