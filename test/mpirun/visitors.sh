#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strangers who know no secret cannot keep the ranks of a job from connecting, nor the agents that srun starts from calling
# mpirun: neither by connections that say nothing, however many, nor by a hello that they have recorded.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
cat >meet.c <<'C'
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
/* meet lazy PAUSE_US    rank 1 looks into MPI once in so many microseconds until a message of rank 0 has come
   meet evicted          no call of rank 0 ever gets through: each is closed, and its hello recorded; rank 1 calls rank 0 */
static int rank, evicted;

static void await(const char *file)
{
    while (access(file, F_OK))
        usleep(10000);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    if (!evicted || rank != 0 || length < 8 || memcmp(bytes, "TERNtcp\n", 8) != 0)
        return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
    FILE *file = access("hello", F_OK) ? fopen("hello.new", "w") : NULL;
    if (file && fwrite(bytes, length, 1, file) == 1 && fclose(file) == 0)
        rename("hello.new", "hello");
    errno = ECONNRESET;
    return -1;
}

static void be_lazy(int pause)
{
    int number = 42, flag = 0;
    if (rank == 0) {
        await("begun");
        MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        return;
    }
    while (!flag) {
        usleep(pause);
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(number == 42 ? "right" : "wrong");
}

static void call_back(void)
{
    int number = 42, got = 0, flag;
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        while (access("hello", F_OK))
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        await("begun");
        MPI_Recv(&got, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    while (access("begun", F_OK))
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(got == 42 ? "right" : "wrong");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    evicted = strcmp(argv[1], "evicted") == 0;
    if (rank == 1) {
        FILE *file = fopen("pid.new", "w");
        fprintf(file, "%d", getpid());
        fclose(file);
        rename("pid.new", "pid");
    }
    if (evicted)
        call_back();
    else
        be_lazy(atoi(argv[2]));
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -O1 -o meet meet.c || { echo "cannot compile meet.c"; exit 1; }

# meet ARGUMENT...: in the background, until rank 1 is there; leaves its port
meet() {
    rm -f begun end hello pid
    : >out
    limit "$MPIRUN" -q -n 2 --mca btl tcp,self ./meet "$@" >out 2>err &
    job=$!
    eventually "rank 1" test -e pid
    port=$(python3 "$here/strangers.py" --list "$(cat pid)")
}
# came_right WHAT: the job, and whoever else has come
came_right() {
    wait $job
    is "$1" "$? $(cat out)" "0 right"
    : >end
    wait
}

meet lazy 500000
python3 "$here/visitors.py" flood 127.0.0.1 "$port" begun end &
came_right "a flood of connections, and a rank that is seldom in MPI"
is "a flood: silence" "$(cat err)" ""

for copies in 1 300; do
    meet evicted
    eventually "a hello" test -e hello
    python3 "$here/visitors.py" hold $copies hello begun end >answered &
    came_right "$copies copies of a hello are held"
    is "$copies copies: answers" "$(cat answered)" 1
done

# mpirun's port for agents: an agent that has connected says nothing until 100 strangers have, and one of them says its hello.
cat >shy.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    static int calls;
    char name[64];
    int mine = length >= 8 && memcmp(bytes, "TERNagt\n", 8) == 0;
    snprintf(name, sizeof name, "hello.%s", mine ? getenv("SLURMD_NODENAME") : "");
    if (mine && calls++ == 0) {
        FILE *file = fopen("hello.new", "w");
        fwrite(bytes, length, 1, file);
        fclose(file);
        rename("hello.new", name);
        while (access("begun", F_OK))
            usleep(10000);
    }
    return ((ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send"))(fd, bytes, length, flags);
}
C
${CC:-cc} -shared -fPIC -o shy.so shy.c -ldl || { echo "cannot build shy.so"; exit 1; }
mkdir bin
cat >bin/srun <<'END'
#!/bin/bash
while [ "$1" != --agent ]; do
    program=$1
    shift
done
awk '!/^address / || !addresses++' >directions # one is enough to be kept from
SLURMD_NODENAME=far1 LD_PRELOAD=$PWD/shy.so "$program" --agent call <directions &
until [ -e hello.far1 ]; do sleep 0.05; done
port=$(sed -n 's/^port //p' directions)
address=$(sed -n 's/^address //p' directions | head -n 1)
python3 "$HERE/visitors.py" hold 100 hello.far1 held end >answered &
until [ -e held ]; do sleep 0.05; done
python3 "$HERE/visitors.py" fill 300 "$address" "$port" begun end &
wait
END
chmod +x bin/srun
if [ -n "$(ip -o address show scope global up 2>/dev/null)" ]; then
    rm -f begun end
    # shellcheck disable=SC2016 # for the ranks
    HERE=$here PATH=$PWD/bin:$PATH SLURM_JOB_ID=7 SLURM_JOB_NODELIST=far1 SLURM_TASKS_PER_NODE=2 \
        run -q --mca plm slurm sh -c ': >end; echo $OMPI_COMM_WORLD_RANK'
    : >end
    is "an agent among strangers" "$rc $(sort out | tr '\n' ',') $(cat err)" "0 0,1, "
    is "an agent among strangers: answers" "$(cat answered)" 1
fi
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
