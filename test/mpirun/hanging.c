/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that hang as the first argument says; each writes "ready" first. For where.sh, hang_report.sh
 * and hosts/where.sh. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size, value[4];
static char *large;
enum { LARGE = 4 << 20 };

/* An endless loop without MPI; `seconds`: it ends all the same. */
static __attribute__((noinline)) void spin(time_t seconds)
{
    volatile unsigned long turns = 0;
    for (time_t end = time(NULL) + seconds; seconds == 0 || time(NULL) < end;)
        for (int i = 0; i < 1000000; i++)
            turns++; /* the loop */
}

static void test_forever(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Irecv(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* Looks at three requests now and then. */
static void test_slowly(void)
{
    MPI_Request requests[3];
    int done = 0;
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&value[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    while (!done) {
        MPI_Testall(3, requests, &done, MPI_STATUSES_IGNORE);
        usleep(5000);
    }
}

/* Looks for a message with another tag than the one that has come. */
static void probe_forever(void)
{
    int found = 0;
    MPI_Send(value, 2, MPI_INT, rank, 5, MPI_COMM_WORLD);
    while (!found) {
        MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

/* Tests in vain, but sends and receives meanwhile; then ends the tests and sleeps. */
static void test_and_work(int works)
{
    MPI_Request request;
    int done = 0;
    MPI_Irecv(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    for (int i = 0; works || i < 1000; i++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (works)
            MPI_Sendrecv(&value[1], 1, MPI_INT, rank, 8, &value[2], 1, MPI_INT, rank, 8,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    sleep(1000);
}

/* Writes a little, again and again, as a program does that waits for what it writes to. */
static void trickle(void)
{
    FILE *file = fopen("trickle", "w");
    for (int i = 0; file && i < 60; i++) {
        fprintf(file, "%d\n", i);
        fflush(file);
        usleep(100000);
    }
}

/* Starts a program again and again, each of which sleeps. */
static void start_others(void)
{
    for (int i = 0; i < 12; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            usleep(400000);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
}

/* Does what one rank does in place of what all others do. */
static void odd_one_out(const char *how)
{
    if (strcmp(how, "loop") == 0)
        spin(0);
    else if (strcmp(how, "stop") == 0)
        raise(SIGSTOP);
    else if (strcmp(how, "sleep") == 0)
        sleep(1000);
    else if (strcmp(how, "test") == 0)
        test_forever();
    else if (strcmp(how, "testall") == 0)
        test_slowly();
    else if (strcmp(how, "probe") == 0)
        probe_forever();
    else if (strcmp(how, "work") == 0 || strcmp(how, "tested") == 0)
        test_and_work(strcmp(how, "work") == 0);
    else if (strcmp(how, "output") == 0)
        for (int i = 0; i < 100000; i++)
            printf("a line of output that nobody reads, number %d\n", i);
    else if (strcmp(how, "input") == 0)
        getchar();
    else if (strcmp(how, "child") == 0 && fork() == 0) {
        spin(6);
        _exit(0);
    } else if (strcmp(how, "child") == 0)
        wait(NULL);
    else if (strcmp(how, "serial") == 0)
        spin(6);
    else if (strcmp(how, "others") == 0)
        start_others();
    else if (strcmp(how, "trickle") == 0)
        trickle();
    else if (strcmp(how, "recv") == 0)
        MPI_Recv(value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Sends a message there and back for ever, which hangs when the network does. */
static void ping_pong(void)
{
    for (;;) {
        if (rank == 0)
            MPI_Send(value, 2, MPI_INT, 1, 4, MPI_COMM_WORLD);
        MPI_Recv(value, 2, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(1000);
        if (rank == 1)
            MPI_Send(value, 2, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
}

static void *receive_late(void *tag)
{
    MPI_Recv(&value[3], 1, MPI_INT, rank, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Works slowly, for some seconds and mostly asleep, with sleeps and waits too short for a record. */
static void work_slowly(const char *how)
{
    pthread_t thread;
    int tag = 11;
    bool helped = strcmp(how, "helped") == 0, helps = strcmp(how, "helper") == 0;
    if (helped || helps)
        pthread_create(&thread, NULL, receive_late, &tag);
    for (int i = 0; i < 150; i++) {
        if (strcmp(how, "exchange") == 0 && rank == 0) {
            MPI_Send(value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
            MPI_Recv(value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (strcmp(how, "exchange") == 0 && rank == 1) {
            MPI_Recv(value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (strcmp(how, "give") == 0 && rank == 0)
            MPI_Send(value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
        if (rank == (strcmp(how, "exchange") ? 0 : 1) || helps)
            usleep(30000);
        if (strcmp(how, "exchange") == 0 && rank == 1)
            MPI_Send(value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
    if (helps)
        spin(0); /* the helper waits on */
    if (helped) {
        MPI_Send(value, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; strcmp(how, "give") == 0 && rank == 1 && i < 150; i++)
        MPI_Recv(value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void hang_in_messages(const char *how)
{
    MPI_Comm ocean;
    MPI_Request requests[2];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    if (strcmp(how, "circle") == 0) {
        MPI_Recv(value, 4, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "sends") == 0) {
        MPI_Send(large, LARGE, MPI_CHAR, next, 8, MPI_COMM_WORLD);
    } else if (strcmp(how, "tag") == 0 && rank == 0) {
        MPI_Send(value, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Recv(value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "tag") == 0) {
        MPI_Recv(value, 2, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "strangers") == 0) { /* 1 at another communicator, 2 for another rank */
        MPI_Comm_dup(MPI_COMM_WORLD, &ocean);
        MPI_Comm_set_name(ocean, "ocean");
        if (rank == 0)
            for (int to = 1; to < 3; to++)
                MPI_Send(value, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
        else
            MPI_Recv(value, 1, MPI_INT, rank - 1, 5, rank == 1 ? ocean : MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else if (strcmp(how, "neighbors") == 0) { /* all but 1, 0 and 2 have what they need */
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ocean);
        MPI_Comm_set_name(ocean, "ring");
        if (rank != 1)
            MPI_Neighbor_allgather(value, 1, MPI_INT, large, 1, MPI_INT, ocean);
        else
            sleep(1000);
    } else if (strcmp(how, "name") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &ocean);
        MPI_Comm_set_name(ocean, "ocean");
        MPI_Irecv(&value[0], 1, MPI_INT, last, 1, ocean, &requests[0]);
        MPI_Irecv(&value[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, ocean, &requests[1]);
        if (rank % 2)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        else
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "replace") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &ocean);
        MPI_Sendrecv_replace(value, 1, MPI_INT, next, 2, next, 1, ocean, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "any") == 0) {
        MPI_Irecv(&value[0], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&value[1], 1, MPI_INT, last, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitany(2, requests, &value[2], MPI_STATUS_IGNORE);
    } else if (strcmp(how, "icoll") == 0 && rank > 0) {
        MPI_Iallreduce(&value[0], &value[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (strcmp(how, "icoll") == 0) {
        MPI_Recv(value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Hangs on several requests, on communicators of some ranks, and in partitioned communication. */
static void hang_in_several(const char *how)
{
    MPI_Comm some;
    MPI_Request requests[6];
    if (strcmp(how, "second") == 0 && rank < 2) { /* the circle goes through the second request */
        MPI_Irecv(&value[0], 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&value[1], 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(how, "second") == 0) {
        sleep(1000);
    } else if (strcmp(how, "many") == 0 && rank == 0) {
        for (int i = 0; i < 6; i++)
            MPI_Irecv(&large[i], 1, MPI_CHAR, 1 + i % 2, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(how, "rows") == 0) { /* ranks 1 and 4 do not come */
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &some);
        MPI_Comm_set_name(some, "row");
        if (rank != 1 && rank != 4)
            MPI_Barrier(some);
        else
            sleep(1000);
    } else if (strcmp(how, "inter") == 0) { /* 0 and 1 at the halves, 4 and 5 at the whole */
        MPI_Comm whole;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &some);
        MPI_Intercomm_create(some, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &whole);
        if (rank < 2)
            MPI_Recv(value, 1, MPI_INT, 1, 6, some, MPI_STATUS_IGNORE);
        else if (rank > 3)
            MPI_Barrier(whole);
        else
            sleep(1000);
    } else if (strcmp(how, "partitions") == 0) {
        MPI_Request *request = &requests[0];
        if (rank == 0)
            MPI_Psend_init(large, 4, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request);
        else
            MPI_Precv_init(large, 2, 16, MPI_CHAR, rank == 1 ? 0 : 1, 5, MPI_COMM_WORLD,
                           MPI_INFO_NULL, request);
        MPI_Start(request);
        if (rank == 0)
            MPI_Pready(2, *request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

/* Starts two processes. A rank of this job and one of theirs wait for each other. */
static void hang_across_jobs(char *program, const char *how)
{
    MPI_Comm parent, others;
    char *arguments[] = {(char *)how, NULL};
    bool slow = strcmp(how, "family") == 0; /* theirs computes, and then sends the message */
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                       MPI_ERRCODES_IGNORE);
    if (strcmp(how, "finalize") == 0) {
        if (parent != MPI_COMM_NULL && rank == 0)
            sleep(1000);
        MPI_Finalize();
        exit(0);
    }
    if (parent == MPI_COMM_NULL)
        MPI_Recv(value, 1, MPI_INT, 1 - rank % 2, 3, others, MPI_STATUS_IGNORE);
    else if (!slow)
        MPI_Recv(value, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
    if (parent != MPI_COMM_NULL && slow)
        spin(6);
    if (parent != MPI_COMM_NULL && slow)
        MPI_Send(value, 1, MPI_INT, 1 - rank, 3, parent);
}

/* One of two jobs that a user has started computes, and the other one waits for it. */
static void wait_for_another(const char *how)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (strcmp(how, "server") == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        FILE *file = fopen("port", "w");
        fputs(port, file);
        fclose(file);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Recv(value, 1, MPI_INT, 0, 3, other, MPI_STATUS_IGNORE);
    } else {
        FILE *file = fopen("port", "r");
        if (!file || !fgets(port, sizeof port, file))
            exit(1);
        fclose(file);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        spin(6);
        MPI_Send(value, 1, MPI_INT, 0, 3, other);
    }
    MPI_Comm_disconnect(&other);
}

/* Rank 0 opens a port and does not accept, rank 1 connects to it; rank 2 accepts, and nobody comes. */
static void hang_at_ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (rank == 0 || rank == 2)
        MPI_Open_port(MPI_INFO_NULL, port);
    if (rank == 2)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    else if (rank == 0)
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    sleep(1000);
}

/* All ranks but 0 are in a collective of a window or a file. */
static void hang_in_parts(const char *how)
{
    MPI_Win window;
    MPI_File file;
    if (strcmp(how, "window") == 0) {
        MPI_Win_create(value, sizeof value, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        if (rank > 0)
            MPI_Put(value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        for (int i = 0; i < 2 && rank > 0; i++)
            MPI_Win_fence(0, window);
    } else if (strcmp(how, "start") == 0) {
        MPI_Group all, first;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 1, (int[]){0}, &first);
        MPI_Win_create(value, sizeof value, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_set_name(window, "halo");
        if (rank > 0)
            MPI_Win_start(first, 0, window);
    } else if (strcmp(how, "lock") == 0) { /* rank 1 has what rank 2 wants; 3 and 4 have what the other one wants */
        int *base, kept = rank == 1 ? 0 : rank;
        MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
        MPI_Win_set_name(window, "counters");
        if (rank == 1 || rank > 2)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kept, 0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 1)
            MPI_Win_lock(rank == 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, rank == 2 ? 0 : 7 - rank, 0, window);
    } else if (strcmp(how, "nameless") == 0) { /* ranks 1 and 2 are at different windows */
        MPI_Win windows[2];
        for (int i = 0; i < 2; i++)
            MPI_Win_create(value, sizeof value, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
        if (rank > 0)
            MPI_Win_fence(0, windows[rank % 2]);
    } else if (strcmp(how, "file") == 0) {
        MPI_File_open(MPI_COMM_WORLD, "./hanging.data",
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file);
        if (rank > 0)
            MPI_File_write_all(file, value, 4, MPI_INT, MPI_STATUS_IGNORE);
    } else {
        return;
    }
    MPI_Recv(value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void say_ready(void)
{
    printf("ready\n");
    fflush(stdout);
}

/* Rank 1 does not come to MPI_Init; the others are in MPI_Finalize. */
static void wait_for_the_late(int *argc, char ***argv)
{
    const char *place = getenv("OMPI_COMM_WORLD_RANK");
    say_ready();
    if (place && strcmp(place, "1") == 0)
        sleep(1000);
    MPI_Init(argc, argv);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    if (strcmp(argv[1], "late") == 0) {
        wait_for_the_late(&argc, &argv);
        return 0;
    }
    int level;
    MPI_Init_thread(&argc, &argv,
                    strncmp(argv[1], "help", 4) ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    large = calloc(1, LARGE);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&rank, &value[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say_ready();
    if (strcmp(argv[1], "pingpong") == 0 && rank < 2)
        ping_pong();
    if (strstr("exchange give helped helper", argv[1]))
        work_slowly(argv[1]);
    hang_in_messages(argv[1]);
    hang_in_several(argv[1]);
    if (strcmp(argv[1], "server") == 0 || strcmp(argv[1], "client") == 0)
        wait_for_another(argv[1]);
    if (strstr("jobs family finalize", argv[1]))
        hang_across_jobs(argv[0], argv[1]);
    if (strcmp(argv[1], "ports") == 0)
        hang_at_ports();
    hang_in_parts(argv[1]);
    if (strcmp(argv[1], "compute") == 0)
        spin(6);
    if (rank == (strcmp(argv[1], "input") ? 1 % size : 0)) /* rank 0 has the standard input */
        odd_one_out(argv[1]);
    MPI_Allreduce(&rank, &value[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    free(large);
    return 0;
}
