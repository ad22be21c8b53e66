#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpirun and its guardian are killed at the same moment, so nobody is left who could end the job: the kernel ends the ranks,
# whatever they do then and however they were started. The job's directory is removed by the next job.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"

cat >rank.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
/* rank compute | sleep | stop | receive | probe | barriers | finalized MARK */
int main(int argc, char **argv)
{
    const char *what = argv[1];
    int rank, number = 0, flag;
    volatile int forever = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    setpriority(PRIO_PROCESS, 0, 19); /* those that never sleep leave the processors to the test */
    if (strcmp(what, "finalized") == 0)
        MPI_Finalize();
    puts("ready");
    fflush(stdout);
    if (strcmp(what, "receive") == 0)
        MPI_Recv(&number, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (strcmp(what, "compute") == 0 && forever)
        ;
    while (strcmp(what, "probe") == 0)
        MPI_Iprobe(1 - rank, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    while (strcmp(what, "barriers") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    for (;;)
        sleep(1000);
}
C
"$MPICC" -o rank rank.c || { echo "cannot build rank"; exit 1; }

# is_there: processes of the job, other than mpirun
is_there() { pgrep -f "^[^ ]*(rank|sleep|sh) .*$mark" | grep -qvx "$mpirun"; }
none_is_there() { ! is_there; }
both_ready() { [ "$(grep -c ready out)" = 2 ]; }

# together WHAT ARGUMENT...: kills mpirun and its guardian when both ranks are ready
together() {
    local what=$1 guardian
    : >out
    "$MPIRUN" -q -np 2 "${@:2}" >out 2>err </dev/null &
    mpirun=$!
    eventually "$what: both ranks are ready" both_ready
    guardian=$(pgrep -P "$mpirun" -x tern-guardian)
    is_there || complain "$what: this test does not find its ranks"
    # neither may do anything about the death of the other
    kill -STOP "$mpirun" "$guardian"
    kill -9 "$guardian" "$mpirun"
    wait "$mpirun" 2>/dev/null
    eventually "$what: no rank is left" none_is_there || pgrep -f "$mark" | grep -vx $$ | xargs kill -9
    [ -n "$(ls -A "$TMPDIR")" ] || complain "$what: this test wants a directory to be left"
    run -np 1 true
    tmp_is_empty || complain "$what: a dead job's directory stays: $(find "$TMPDIR")"
}

for btl in shm,self tcp,self; do
    for what in compute sleep receive probe barriers; do
        together "$what, $btl" --mca btl $btl ./rank $what "$mark"
    done
done
# what MPI_Finalize leaves is the process, which still is a rank
together "finalized" ./rank finalized "$mark"
together "a script" sh -c "./rank receive $mark; true"
together "a process group of its own in a script" bash -c "set -m; ./rank receive $mark; true"
together "finalized, in a process group of its own in a script" bash -c "set -m; ./rank finalized $mark; true"
together "descriptors are closed" bash -c "exec 64>&- 65>&- 66>&-; ./rank sleep $mark; true"
together "no MPI" sh -c "echo ready; exec sleep $mark"
together "no MPI, in a script" sh -c "echo ready; sleep $mark; true"
together "no MPI, descriptors are closed" bash -c "exec 64>&- 65>&- 66>&-; echo ready; exec sleep $mark"
if [ "$(id -u)" = 0 ]; then
    cp "$(command -v sleep)" rank-sleep
    chown nobody rank-sleep
    chmod 4755 rank-sleep
    chmod 755 "$scratch"
    together "a program with set-user-ID" sh -c "echo ready; exec ./rank-sleep $mark"
fi

# A program that stays after MPI_Finalize is not ended when mpirun hears the end of its report, which something forked keeps open.
cat >forks.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int ends[2];
    char byte;
    MPI_Init(&argc, &argv);
    if (pipe(ends) < 0)
        return 1;
    if (fork() == 0) {
        close(ends[1]);
        return read(ends[0], &byte, 1) != 0; /* until MPI_Finalize is over */
    }
    MPI_Finalize();
    close(ends[0]);
    close(ends[1]);
    usleep(200000);
    puts("well");
    return 0;
}
C
"$MPICC" -o forks forks.c || { echo "cannot build forks"; exit 1; }
run -q -np 2 ./forks
is "a fork that outlives MPI_Finalize" "$rc $(grep -c well out)" "0 2"

# The usual way to kill both: the guardian has a name of its own, so it is there to clean up.
: >out
"$MPIRUN" -q -np 2 sh -c "echo ready; exec sleep $mark" >out 2>err </dev/null &
mpirun=$!
eventually "both ranks are ready" both_ready
guardian=$(pgrep -P "$mpirun" -x tern-guardian)
is "the guardian's command line" "$(tr '\0' ' ' <"/proc/$guardian/cmdline" | tr -s ' ')" "tern-guardian "
kill -9 "$mpirun"
wait "$mpirun" 2>/dev/null
eventually "no rank is left" none_is_there
eventually "no file is left" tmp_is_empty
has "it is said" err '^mpirun: mpirun \(pid [0-9]+\) has ended unexpectedly; its job ends now$'
finish
