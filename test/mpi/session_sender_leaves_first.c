/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; env: OMPI_MCA_mpi_comm_synchronize=0; needs: MPI_Session_init */
/* What was sent arrives when its receiver comes at all: the sender may have left MPI, and its process may have ended, long before the
 * receiver starts its session. With the argument `connect` (for byte movers that need both ends to connect) no rank sends to one
 * that has not been there yet. The ranks tell each other by files how far they are. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>

enum { SHORT = 8, LONG = 12000, MANY = 20, FLOOD = 3000, LARGE = 300000, POSTS = 12, TAG = 3 };
static int me, ranks;
static MPI_Session session;
static MPI_Comm comm;

static void name_file(char name[64], const char *what, int round, int who)
{
    snprintf(name, 64, "%s.%d.%d", what, round, who);
}

static void say(const char *what, int round)
{
    char name[64];
    name_file(name, what, round, me);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0);
    CHECK_INT(dprintf(fd, "%d\n", (int)getpid()) > 0, 1);
    close(fd);
}

static void await(const char *what, int round, int who)
{
    char name[64];
    name_file(name, what, round, who);
    while (access(name, F_OK) != 0)
        usleep(1000);
}

static void await_others(const char *what, int round)
{
    for (int other = 0; other < ranks; other++)
        if (other != me)
            await(what, round, other);
}

/* Its process has ended. */
static void await_end(int round, int who)
{
    char name[64], state = 0;
    int pid = 0;
    name_file(name, "left", round, who);
    while (pid == 0) {
        FILE *file = fopen(name, "r");
        if (file && fscanf(file, "%d", &pid) != 1)
            pid = 0;
        if (file)
            fclose(file);
    }
    while (kill(pid, 0) == 0 && state != 'Z') {
        snprintf(name, sizeof name, "/proc/%d/stat", pid);
        FILE *file = fopen(name, "r");
        if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (file)
            fclose(file);
        usleep(1000);
    }
}

/* A communicator of all in which `first` is rank 0, so that it needs no message of the others to make it. */
static void enter(int first)
{
    MPI_Group all, group;
    int order[64];
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_rank(all, &rank));
    for (int i = 0; i < ranks; i++)
        order[i] = (first + i) % ranks;
    CHECK_OK(MPI_Group_incl(all, ranks, order, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&all));
}

static void leave(void)
{
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

static void send_short(int round)
{
    static unsigned char out[LONG];
    for (int to = 1; to < ranks; to++)
        for (int i = 0; i < MANY; i++) {
            fill(out, sizeof out, (unsigned)(round + to + i));
            CHECK_OK(MPI_Send(out, i % 5 ? SHORT : LONG, MPI_BYTE, to, TAG, comm));
        }
}

static void receive_short(int round)
{
    static unsigned char in[LONG];
    int to;
    CHECK_OK(MPI_Comm_rank(comm, &to));
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Recv(in, LONG, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE));
        CHECK_FILLED(in, i % 5 ? SHORT : LONG, (unsigned)(round + to + i));
    }
}

/* So many broadcasts that a board is used. */
static void broadcast(int round)
{
    int number, to;
    CHECK_OK(MPI_Comm_rank(comm, &to));
    for (int i = 0; i < POSTS; i++) {
        number = to ? -1 : round + i;
        CHECK_OK(MPI_Bcast(&number, 1, MPI_INT, 0, comm));
        CHECK_INT(number, round + i);
    }
}

/* More than the credit for eager messages, and long ones: the sender keeps what the receiver has not taken yet, and so cannot leave. */
static void send_much(int round)
{
    static unsigned char out[1000], large[64][LARGE];
    MPI_Request request;
    for (int to = 1; to < ranks; to++) {
        fill(large[to], LARGE, (unsigned)(round + to));
        CHECK_OK(MPI_Isend(large[to], LARGE, MPI_BYTE, to, TAG + 1, comm, &request));
        CHECK_OK(MPI_Request_free(&request));
        for (int i = 0; i < FLOOD; i++) {
            fill(out, sizeof out, (unsigned)(round + i));
            CHECK_OK(MPI_Send(out, sizeof out, MPI_BYTE, to, TAG, comm));
        }
    }
}

static void receive_much(int round)
{
    static unsigned char in[1000], large[LARGE];
    int to;
    CHECK_OK(MPI_Comm_rank(comm, &to));
    for (int i = 0; i < FLOOD; i++)
        CHECK_OK(MPI_Recv(in, sizeof in, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE));
    CHECK_FILLED(in, sizeof in, (unsigned)(round + FLOOD - 1));
    CHECK_OK(MPI_Recv(large, LARGE, MPI_BYTE, 0, TAG + 1, comm, MPI_STATUS_IGNORE));
    CHECK_FILLED(large, LARGE, (unsigned)(round + to));
}

/* The sender leaves; then the others come. */
static void send_and_leave(int round, int sender, void send(int), void receive(int), int ends)
{
    if (me == sender) {
        enter(sender);
        send(round);
        leave();
        say("left", round);
        return;
    }
    await("left", round, sender);
    if (ends)
        await_end(round, sender);
    enter(sender);
    receive(round);
    leave();
    say("received", round);
}

/* The sender cannot leave before the others have come, but they come later than it wants to. */
static void want_to_leave(int round, int sender)
{
    if (me == sender) {
        enter(sender);
        say("sends", round);
        send_much(round);
        say("wants to leave", round);
        leave();
        return;
    }
    await("sends", round, sender);
    enter(sender);
    receive_much(round);
    leave();
}

/* All are in MPI, talk, and leave. */
static void meet(int round)
{
    int sum = 0, one = 1;
    enter(round % ranks);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, ranks);
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < i; j++) { /* each pair is connected */
            int right, tag = TAG + 2;
            CHECK_OK(MPI_Comm_rank(comm, &right));
            if (right == i || right == j)
                CHECK_OK(MPI_Sendrecv(&one, 1, MPI_INT, i + j - right, tag, &sum, 1, MPI_INT, i + j - right, tag, comm,
                                      MPI_STATUS_IGNORE));
        }
    leave();
    say("met", round);
    await_others("met", round);
}

int main(int argc, char **argv)
{
    int round = 0;
    (void)argv;
    me = rank = atoi(getenv("PMIX_RANK"));
    ranks = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
    if (argc > 1)
        meet(round++);
    for (int sender = 0; sender < 2; sender++) {
        send_and_leave(round++, sender, send_short, receive_short, 0);
        if (me == sender)
            await_others("received", round - 1); /* the next round is another first one */
        send_and_leave(round++, sender, broadcast, broadcast, 0);
        want_to_leave(round++, 1 - sender);
        meet(round++);
        send_and_leave(round++, 1 - sender, send_short, receive_short, 0);
        meet(round++);
    }
    send_and_leave(round, 0, send_short, receive_short, 1);
    return 0;
}
