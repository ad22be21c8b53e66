#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Processes start further processes (MPI_Comm_spawn), under mpirun and without a launcher: the groups reach each other, what the
# info says is done, who cannot be started is an error that says why, failures end the jobs that are connected, and whoever is
# killed, nothing is left.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
"$MPICC" -o spawning "$here/spawning.c" || exit 1

# Prints the mpiruns that have started these children.
spawned() {
    local pid
    for pid in $(pgrep -f "mpirun --spawned"); do
        ! grep -qz "^MARK=$mark\$" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
    done
}
no_spawned() { [ -z "$(spawned)" ]; }
export MARK=$mark

# alone ARGUMENT...: the program without a launcher; leaves rc, out and err as run does. The children's last output may come
# after its end.
alone() {
    limit "$PWD/spawning" "$@" >out 2>err
    rc=$?
    eventually "no launcher, $*: a mpirun is left" no_spawned
}

# both HOW ARGUMENT...: calls the function with what ran, for one rank of mpirun and for a program without a launcher
both() {
    local check=$1
    shift
    run -n 1 "$PWD/spawning" "$@"
    "$check" "mpirun, $*"
    alone "$@"
    "$check" "no launcher, $*"
}

# ---- the groups ----
four_children() {
    is "$1" $rc 0
    is "$1: children" "$(grep -c 'child [0-3] of 4: 1 there, [1-4] of 5, right' out)" 4
    has "$1" out 'parent 0 of 1: 4 there, 0 of 5, right'
    has "$1" out '^codes 0 0 0 0$'
}
both four_children start 4 ''
both four_children start 4 late
run --oversubscribe -n 3 "$PWD/spawning" start 2 ''
is "three parents" $rc 0
is "three parents" "$(grep -c 'parent [0-2] of 3: 2 there, [0-2] of 5, right' out)" 3
is "three parents: children" "$(grep -c 'child [01] of 2: 3 there, [34] of 5, right' out)" 2
rooted() {
    is "$1" "$rc $(cat out)" "0 codes 0 0 0"
}
both rooted rooted
run -q --oversubscribe -n 3 "$PWD/spawning" rooted
rooted "three parents, one root"
nested() {
    is "$1" $rc 0
    has "$1" out '^the last generation$'
}
both nested generation 3
# Each of two children starts a job of its own with mpirun, and that starts children, too.
export NESTED="$MPIRUN -q --oversubscribe -n 2 $PWD/spawning start 2 ''"
within() {
    is "$1" "$rc $(grep -c 'child [01] of 2: .*right' out) $(cat err)" "0 6 "
    is "$1" "$(grep -c 'parent [01] of 2: .*right' out) $(grep -c 'nested run' out)" "$2 0"
}
run -q --oversubscribe -n 2 "$PWD/spawning" start 2 nested
within "mpirun called by children" 6
alone start 2 nested
within "mpirun called by children, no launcher" 4

# ---- many ----
many() {
    is "$1" $rc 0
    is "$1" "$(grep -c 'child .* right' out)" 64
}
both many start 64 ''
times=${TERN_TEST_LONG:+1000}
[ -z "${SAN:-}" ] || times=20 # each mpirun looks for leaks when it ends, which takes a second on a busy machine
often() {
    is "$1" $rc 0
    has "$1" out "^${times:-30} times\$"
}
both often times "${times:-30}"
# A program without a launcher may end while its children still tell their mpirun that they have disconnected.
if [ -z "${SAN:-}" ]; then # a sanitizer wants to be loaded first
    cat >slow.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) /* slow if it is a short report to mpirun */
{
    if (message->msg_iovlen == 1 && message->msg_iov[0].iov_len == 8)
        usleep(100000);
    return syscall(SYS_sendmsg, fd, message, flags);
}
C
    ${CC:-cc} -shared -fPIC -o slow.so slow.c || exit 1
    alone start 1 show env LD_PRELOAD="$PWD/slow.so"
    is "reports are slow" "$rc $(grep -c '^child 0 of 1' out) $(cat err)" "0 1 "
fi

# ---- what the info says ----
shown() {
    is "$1" $rc 0
    has "$1" out "^child 1 of 4: app 0, universe [0-9]+, MPI_COMM_PARENT, in $PWD, VALUE=one, argument 'a'\$"
    has "$1" out "^child 3 of 4: app 1, universe [0-9]+, MPI_COMM_PARENT, in /, VALUE=[^ ]*, argument 'b\$"
    has "$1" out '^codes 0 0 0 0 spawn$'
}
both shown several
run --host localhost:64 -n 1 "$PWD/spawning" several
is "MPI_UNIVERSE_SIZE of children is their parents'" "$rc $(grep -c '^child [0-3] of 4: app [01], universe 64,' out)" "0 4"
soft() {
    is "$1" $rc 0
    has "$1" out '^codes 0 0 spawn$'
}
both soft start 3 quiet soft 2
run -n 1 "$PWD/spawning" start 700 quiet # what the jobs tell each other is longer than a record
is "700 children" "$rc $(grep -o ' 0' out | wc -l)" "0 700"
colons() {
    is "$1" "$rc $(sed -n "s/.*argument/argument/p" out)" "0 argument ':'"
}
alone start 1 show : ::
colons "alone: an argument is :"
printf '#!/bin/sh\nexec "%s" start 1 show : ::\n' "$PWD/spawning" >with_colons
chmod +x with_colons
run -n 1 "$PWD/with_colons"
colons "mpirun: an argument is :"
printf '# more\nenv=VALUE=of a file\n' >keys
run -n 1 -x VALUE=inherited "$PWD/spawning" start 1 show
has "-x is inherited" out 'VALUE=inherited,'
run -n 1 -x VALUE=inherited "$PWD/spawning" start 1 show file "$PWD/keys"
has "the info key file" out 'VALUE=of a file,'
run --tag-output -n 1 "$PWD/spawning" start 1 show
has "output has the number of the job" out '^\[2,0\]<stdout>:child 0 of 1'
# children are not bound to the processors of their parents
printf '#!/bin/sh\nexec grep Cpus_allowed_list /proc/self/status\n' >processors
chmod +x processors
run -n 1 --bind-to core "$PWD/processors"
bound=$(cat out)
run -n 1 "$PWD/spawning" foreign "$PWD/processors"
is "children are not bound" "$(grep Cpus out | sort -u)" "$(grep Cpus_allowed_list /proc/self/status)"
run -n 1 --bind-to core "$PWD/spawning" foreign "$PWD/processors"
is "--bind-to is inherited" "$(grep Cpus out | sort -n -t : -k 2 | head -n 1)" "$bound"
# where libraries are found: an absolute path to mpirun says it, and a program without a launcher has loaded one
printf '#!/bin/sh\necho "in $LD_LIBRARY_PATH" | cut -d: -f1\n' >where
chmod +x where
libraries() {
    has "$1: LD_LIBRARY_PATH" out "^in $("$MPICC" -showme:libdirs)\$"
}
libraries_before=${LD_LIBRARY_PATH:-}
unset LD_LIBRARY_PATH
both libraries foreign "$PWD/where"
run --noprefix -n 1 "$PWD/spawning" foreign "$PWD/where"
has "--noprefix is inherited" out '^in $'
[ -z "$libraries_before" ] || export LD_LIBRARY_PATH=$libraries_before
mkdir there
run --output-filename files -n 1 --wdir there "$PWD/spawning" start 1 show
[ -s files/2/rank.0/stdout ] || complain "no files/2/rank.0/stdout"

# ---- what cannot be started ----
refused() {
    is "$1" $rc 50
    has "$1" out '^class MPI_ERR_SPAWN$'
    has "$1" err "MPI_Comm_spawn: .*$words.*MPI_ERR_SPAWN"
    has "$1" out '^codes spawn spawn$'
}
words='cannot run .*/nowhere: No such file'
both refused foreign "$PWD/nowhere"
words='ended without calling MPI_Init'
both refused foreign /bin/true
# the advice that ranks share a core is no reason
one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
limit taskset -c "$one" "$MPIRUN" -n 1 "$PWD/spawning" foreign /bin/true >out 2>err
rc=$?
refused "mpirun, foreign /bin/true on one core"
words='exited with code 1'
both refused foreign /bin/false
wrong_info() {
    is "$1" $rc 0
    has "$1" out '^class MPI_ERR_SPAWN$'
    has "$1: MPI_Error_string" out "^MPI_ERR_SPAWN: .*$words"
}
words=$PWD/nowhere
both wrong_info start 1 quiet wdir "$PWD/nowhere"
words=nonsense
both wrong_info start 1 quiet map_by nonsense
words='ompi_non_mpi is true'
both wrong_info start 1 quiet ompi_non_mpi true

# ---- failures ----
run -n 1 "$PWD/spawning" start 2 exit3
is "a connected child exits with 3" $rc 3
has "a connected child exits with 3" err 'exited with code 3 without calling MPI_Finalize'
has "a connected child exits with 3" err 'job 2 \(.*spawning\) has failed, and this job is connected to it'
run -n 1 "$PWD/spawning" start 2 abort
is "a connected child aborts" $rc 9
run -n 1 "$PWD/spawning" start 2 later4
is "a child fails that has disconnected" $rc 4
hasnt "a child fails that has disconnected" err 'is connected to it'
run -n 1 "$PWD/spawning" siblings 0
is "a child fails that is connected to its sibling only" $rc 9
has "a child fails that is connected to its sibling only" out '^the parent goes on$'
has "a child fails that is connected to its sibling only" err 'job 2 \(.*spawning\) ends, because it is connected to job 3 \(.*spawning\)'
hasnt "a child fails that is connected to its sibling only" err 'this job is connected to it'
run -n 1 "$PWD/spawning" siblings 1
is "a child fails that is connected to a connected sibling" $rc 9
has "a child fails that is connected to a connected sibling" err 'job 3 \(.*spawning\) has failed, and this job is connected to it'

# ---- whoever is killed ----
# they have talked to their parent: who is killed before is a failed spawn
children() { [ "$(pgrep -cf "child stay sleep $mark")" = 2 ] && [ "$(grep -c '^child [01] of 2: .* right' out)" = 2 ]; }

# stay COMMAND...: starts two children, which wait until they are killed; `job` is the process
stay() {
    "$@" "$PWD/spawning" start 2 stay sleep "$mark" >out 2>err &
    job=$!
    eventually "two children of $* run" children
}
# gone WHAT: soon nothing is left
gone() {
    { wait "$job"; } 2>/dev/null
    rc=$?
    eventually "$1: processes are left" none_marked
    eventually "$1: a mpirun is left" no_spawned
    eventually "$1: files are left" tmp_is_empty
}

stay "$MPIRUN" -n 1
tables() { [ "$(grep -cE '^mpirun: job (2 )?of [12] ranks?, pid' err)" = 2 ]; }
child=$(spawned)
"$MPIRUN" --where "$job" >table
has "--where names the other job" table "^    job 2 \\(.*spawning\\) has an mpirun of its own: mpirun --where $child\$"
"$MPIRUN" --where "$child" >table
has "--where of the other job" table "^mpirun: job 2 of 2 ranks, pid $child\$"
kill -QUIT "$job"
eventually "SIGQUIT shows the ranks of both jobs" tables
kill -9 "$job"
gone "mpirun was killed"
stay "$MPIRUN" -n 1
kill -9 "$(spawned | head -n 1)"
gone "the children's mpirun was killed"
is "the children's mpirun was killed" $rc 137
has "the children's mpirun was killed" err 'the mpirun of job 2 .* was killed by signal 9'
stay "$MPIRUN" -n 1
kill -9 "$(pgrep -f "child stay sleep $mark" | head -n 1)"
gone "a child was killed"
is "a child was killed" $rc 137
has "a child was killed" err 'rank [01] .* was killed by signal 9'
stay "$MPIRUN" -n 1
kill -9 "$(pgrep -f "^[^ ]*spawning start 2 stay sleep $mark")"
gone "the parent was killed"
is "the parent was killed" $rc 137
has "the parent was killed" err 'rank 0 .* was killed by signal 9'
stay "$MPIRUN" -n 1
kill -TERM "$job"
gone "mpirun got SIGTERM"
is "mpirun got SIGTERM" $rc 143
# however many jobs end by a signal, one line says so
cat >many.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    for (int i = 0; parent == MPI_COMM_NULL && i < 8; i++)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    if (parent == MPI_COMM_NULL && puts("started") >= 0)
        fflush(stdout);
    for (;;)
        pause();
}
C
"$MPICC" -o many many.c || exit 1
for signal in INT:130 TERM:143 HUP:129; do
    rm -f out # else the line of the job before starts the next step
    env --default-signal=HUP "$MPIRUN" --oversubscribe -n 1 ./many >out 2>err & # also if the tests run under nohup
    job=$!
    eventually "8 jobs have started" grep -qs started out
    kill -"${signal%:*}" "$job"
    wait "$job"
    is "9 jobs got SIG${signal%:*}" "$? $(wc -l <err)" "${signal#*:} 1"
    has "9 jobs got SIG${signal%:*}" err '^mpirun: mpirun received signal '
    eventually "9 jobs are gone" no_spawned
done
stay env
kill -9 "$job"
gone "a program without a launcher was killed"
finish
