#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank may be a wrapper that ends before the program that it has started, such as setsid: the program is the rank from then on,
# with its output, its exit status and the signals for it. One that never comes ends the job as before.
# shellcheck disable=SC2016 # the ranks' shells expand what is in quotes
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
cat >program.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d\n", rank, size, sum);
    fflush(stdout);
    if (!strcmp(what, "wait"))
        for (;;)
            sleep(1);
    if (!strcmp(what, "kill") && rank == 1)
        raise(SIGKILL);
    if (!strcmp(what, "leave") && rank == 1)
        exit(0);
    MPI_Finalize();
    return !strcmp(what, "code") && rank == 1 ? 7 : 0;
}
END
"$MPICC" -o program program.c || exit 1
printf '#!/bin/bash\n"$@" &\n' >daemonize
# comes later than its wrapper ends
printf '#!/bin/bash\n{ while kill -0 $$ 2>/dev/null; do sleep 0.05; done; "$@"; } &\n' >later
# holds nothing of its wrapper
printf '#!/bin/bash\n"$@" >log.$OMPI_COMM_WORLD_RANK 2>&1 </dev/null &\n' >redirect
printf '#!/bin/bash\nexec setsid -f "$@" >log.$OMPI_COMM_WORLD_RANK 2>&1 </dev/null\n' >detach
# another wrapper, which outlives the first one, takes the exit status from the kernel and hands it on
printf '#!/bin/bash\nsetsid bash -c '\''"$@"; exit $?'\'' bash "$@" >log.$OMPI_COMM_WORLD_RANK 2>&1 &\n' >layers
# a second wrapper ends while the program runs
printf '#!/bin/bash\nsetsid -f bash -c '\''"$@" & echo $$ >>second; while [ ! -e gone ]; do sleep 0.05; done'\'' bash "$@"\n' >chain
chmod +x daemonize later redirect detach layers chain

said() { cat out log.* 2>/dev/null | sort | tr '\n' ';'; }
wrapped() # words after `run -q`: those of mpirun, then wrapper and program
{
    rm -f log.*
    run -q --oversubscribe "$@"
}
for wrapper in setsid 'setsid -f' ./daemonize ./later ./redirect ./detach ./layers; do
    # shellcheck disable=SC2206 # a wrapper may be two words
    words=($wrapper)
    wrapped -n 3 "${words[@]}" ./program
    is "$wrapper" "$rc $(said) $(cat err)" "0 rank 0 of 3: 3;rank 1 of 3: 3;rank 2 of 3: 3; "
    wrapped -n 1 "${words[@]}" ./program
    is "$wrapper, one rank" "$rc $(said) $(cat err)" "0 rank 0 of 1: 0; "
    wrapped -n 3 "${words[@]}" ./program code
    is "$wrapper: an exit code" "$rc" 7
    has "$wrapper: an exit code" err '^mpirun: rank 1 \(pid [0-9]+ on host .*\) exited with code 7$'
    wrapped -n 3 "${words[@]}" ./program kill
    is "$wrapper: a signal" "$rc" 137
    wrapped -n 3 "${words[@]}" ./program leave
    is "$wrapper: no MPI_Finalize" "$rc" 1
    has "$wrapper: no MPI_Finalize" err 'without calling MPI_Finalize'
    # signals reach the program
    rm -f log.*
    : >out
    env --default-signal=TERM "$MPIRUN" -q --oversubscribe -n 3 "${words[@]}" ./program wait >out 2>err </dev/null &
    mpirun=$!
    all_there() { [ "$(cat out log.* 2>/dev/null | grep -c '^rank')" = 3 ]; }
    eventually "$wrapper: all are there" all_there
    kill -TERM $mpirun
    wait $mpirun
    is "$wrapper: SIGTERM" $? 143
    has "$wrapper: SIGTERM" err '^mpirun: mpirun received signal 15'
done

# the rank goes from the first wrapper to the second, and from that to the program
"$MPIRUN" -q --oversubscribe -n 2 ./chain ./program wait >out 2>err </dev/null &
mpirun=$!
both_there() { [ "$(grep -c '^rank' out)" = 2 ]; }
eventually "a chain: both are there" both_there
: >gone
# shellcheck disable=SC2046 # several numbers
second_ended() { ! kill -0 $(cat second) 2>/dev/null; }
eventually "a chain: the second wrapper has ended" second_ended
kill -TERM $mpirun
wait $mpirun
is "a chain: SIGTERM" $? 143

# mpirun sleeps while a program comes and goes, after its wrapper has ended; nothing is left when mpirun wakes up
cat >seven.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    fclose(fopen("over", "w"));
    return 7;
}
END
"$MPICC" -o seven seven.c || exit 1
"$MPIRUN" -q -n 1 sh -c '(echo there >came; while [ ! -e sleeps ]; do sleep 0.05; done; ./seven; exit $?) >log.0 2>&1 </dev/null &' >out 2>err </dev/null &
mpirun=$!
came() { [ -s came ]; }
eventually "the wrapper has run" came
is_asleep() { [ "$(sed 's/.*) //' "/proc/$mpirun/stat" | cut -c1)" = T ]; }
kill -STOP $mpirun
eventually "mpirun sleeps" is_asleep
: >sleeps
is_over() { [ -e over ]; }
eventually "the program is over" is_over
kill -CONT $mpirun
wait $mpirun
is "an end that mpirun has not seen" "$?" 7
has "an end that mpirun has not seen" err '^mpirun: rank 0 \(pid [0-9]+ on host .*\) exited with code 7$'

# a program that does not come
run -q --oversubscribe -n 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 0; exec ./program'
is "a rank without MPI_Init" "$rc" 1
has "a rank without MPI_Init" err '^mpirun: rank 1 .* exited without calling MPI_Init, but other ranks wait for it'
run -q --oversubscribe -n 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || { sleep 0.5 & exit 0; }; exec ./program'
is "a rank without MPI_Init, and a process in the background" "$rc" 1
has "a rank without MPI_Init, and a process in the background" err '^mpirun: rank 1 .* exited without calling MPI_Init'

# a limit on file sizes: mpirun says what it lacks
(
    ulimit -f 0
    exec "$MPIRUN" -n 1 --display-map true 2>&1 >limited
) | cat >said
is "ulimit -f 0" "${PIPESTATUS[0]}" 1
has "ulimit -f 0" said '^mpirun: (cannot write .*File too large|.*ulimit -f)'
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
