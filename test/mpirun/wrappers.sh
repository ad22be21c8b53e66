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
    if (*what && rank == 1)
        sleep(3); /* mpirun has taken the program for the rank by then; one that ends sooner may lose its code */
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
printf '#!/bin/bash\n{ while kill -0 $$ 2>/dev/null; do sleep 0.05; done; sleep 0.3; "$@"; } &\n' >later
chmod +x daemonize later

for wrapper in setsid ./daemonize ./later; do
    run -q --oversubscribe -n 3 $wrapper ./program
    is "$wrapper" "$rc $(sort out | tr '\n' ';') $(cat err)" "0 rank 0 of 3: 3;rank 1 of 3: 3;rank 2 of 3: 3; "
    run -q -n 1 $wrapper ./program
    is "$wrapper, one rank" "$rc $(cat out err)" "0 rank 0 of 1: 0"
    run -q --oversubscribe -n 3 $wrapper ./program code
    is "$wrapper: an exit code" "$rc" 7
    has "$wrapper: an exit code" err '^mpirun: rank 1 \(pid [0-9]+ on host .*\) exited with code 7$'
    run -q --oversubscribe -n 3 $wrapper ./program kill
    is "$wrapper: a signal" "$rc" 137
    run -q --oversubscribe -n 3 $wrapper ./program leave
    is "$wrapper: no MPI_Finalize" "$rc" 1
    has "$wrapper: no MPI_Finalize" err 'without calling MPI_Finalize'
    # signals reach the program
    : >out
    env --default-signal=TERM "$MPIRUN" -q --oversubscribe -n 3 $wrapper ./program wait >out 2>err </dev/null &
    mpirun=$!
    all_there() { [ "$(grep -c '^rank' out)" = 3 ]; }
    eventually "$wrapper: all are there" all_there
    kill -TERM $mpirun
    wait $mpirun
    is "$wrapper: SIGTERM" $? 143
    has "$wrapper: SIGTERM" err '^mpirun: mpirun received signal 15'
done

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
