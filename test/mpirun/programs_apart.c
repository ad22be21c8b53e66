/* SPDX-License-Identifier: BSD-3-Clause */
/* programs_apart HOW: ranks that are scripts of several MPI programs, and not equally quick. What a program sends is for the others'
 * program of the same number, however late that comes, and never for a later one: neither what is received nor what is left
 * unreceived. For programs.sh. */
#include "../mpi/check.h"

#include <fcntl.h>
#include <sys/wait.h>

enum { PROGRAMS = 5, TAG = 3, LEFT = 4 };
static int me, ranks;

static void say(const char *what, int number)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%d.%d", what, number, me);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0);
    close(fd);
}

static void await(const char *what, int number, int who)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%d.%d", what, number, who);
    while (access(name, F_OK) != 0)
        usleep(1000);
}

static MPI_Session session;

/* A communicator of these ranks. */
static MPI_Comm enter(int first, int last)
{
    MPI_Group all, group;
    MPI_Comm comm;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_range_incl(all, 1, (int[][3]){{first, last, 1}}, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "apart", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&all));
    return comm;
}

static void leave(MPI_Comm comm)
{
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
}

/* Rank 0 runs ahead of the others: they begin program n when rank 0 has ended it, and number 1 when it has ended number 2. */
static void run_ahead(int number)
{
    if (me)
        await("ended", number == 1 ? 2 : number, 0);
    MPI_Comm comm = enter(0, ranks - 1);
    int text[2] = {number, 0};
    MPI_Status status;
    for (int to = 1; me == 0 && to < ranks; to++) {
        CHECK_OK(MPI_Send(text, 1, MPI_INT, to, TAG, comm));
        CHECK_OK(MPI_Send(text, 2, MPI_INT, to, LEFT, comm)); /* is never received */
    }
    if (me) {
        CHECK_OK(MPI_Recv(text, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        CHECK_INT(text[0], number);
        CHECK_INT(status.MPI_TAG, TAG);
    }
    leave(comm);
}

/* Rank 0 has nothing to do with the others in program 1, and is in MPI_Init of program 2 before they begin program 1. */
static void work_apart(int number)
{
    if (number == 2) {
        CHECK_OK(MPI_Init(NULL, NULL));
        say("initialized", number);
        int sum = 0;
        CHECK_OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(sum, ranks * (ranks - 1) / 2);
        CHECK_OK(MPI_Finalize());
        return;
    }
    if (me)
        await("initialized", 2, 0);
    int sum = 0;
    MPI_Comm comm = me ? enter(1, ranks - 1) : enter(0, 0);
    CHECK_OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, me ? ranks * (ranks - 1) / 2 : 0);
    leave(comm);
}

/* Rank 0 alone uses MPI; the processes of the others have ended, or soon will. */
static void work_alone(int number)
{
    (void)number;
    if (me == 0)
        leave(enter(0, 0));
}

static void meet(int number)
{
    CHECK_OK(MPI_Init(NULL, NULL));
    say("initialized", number);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Finalize());
}

static void run_programs(char *self, const char *what, int count)
{
    for (int number = 1; number <= count; number++) {
        char text[16];
        int status = -1;
        snprintf(text, sizeof text, "%d", number);
        pid_t pid = fork();
        if (pid == 0) {
            execl(self, self, what, text, (char *)NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
        CHECK_INT(status, 0);
        say("ended", number);
    }
}

int main(int argc, char **argv)
{
    me = rank = atoi(getenv("PMIX_RANK"));
    ranks = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
    int number = argc > 2 ? atoi(argv[2]) : 0;
    if (argc == 2)
        run_programs(argv[0], argv[1], strcmp(argv[1], "apart") == 0 ? 2 : me && strcmp(argv[1], "alone") == 0 ? 0 : PROGRAMS);
    else if (strcmp(argv[1], "ahead") == 0)
        run_ahead(number);
    else if (strcmp(argv[1], "apart") == 0)
        work_apart(number);
    else if (strcmp(argv[1], "world") == 0)
        meet(number);
    else
        work_alone(number);
    return 0;
}
