/* SPDX-License-Identifier: BSD-3-Clause */
/* spawning WHAT ...: a program that starts others by MPI_Comm_spawn, for spawn.sh and the test of hosts. The processes that it
 * starts run the same program, with the word child. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* Returns 1 if all collectives between the groups give what they should. The root is rank 0 of the group that is not `high`. */
static int collectives_are_right(MPI_Comm inter, int high, int remote)
{
    int root = high ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, back = high ? 0 : root, right = 1, value = high ? -1 : 42, sum = -1;
    int *many = malloc((size_t)(remote + size) * sizeof *many), *more = malloc((size_t)(remote + size) * sizeof *more);
    int mine = 100 * high + rank, theirs = 100 * !high;
    MPI_Bcast(&value, 1, MPI_INT, root, inter);
    right &= value == 42;
    MPI_Allgather(&mine, 1, MPI_INT, many, 1, MPI_INT, inter);
    for (int i = 0; i < remote; i++)
        right &= many[i] == theirs + i;
    for (int i = 0; i < remote; i++)
        many[i] = 1000 * mine + i;
    MPI_Alltoall(many, 1, MPI_INT, more, 1, MPI_INT, inter);
    for (int i = 0; i < remote; i++)
        right &= more[i] == 1000 * (theirs + i) + rank;
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, back, inter);
    right &= back != MPI_ROOT || sum == remote * (remote - 1) / 2;
    MPI_Gather(&mine, 1, MPI_INT, many, 1, MPI_INT, back, inter);
    for (int i = 0; back == MPI_ROOT && i < remote; i++)
        right &= many[i] == 100 + i;
    MPI_Scatter(many, 1, MPI_INT, &value, 1, MPI_INT, back, inter);
    right &= !high || value == mine;
    free(many);
    free(more);
    return right;
}

/* Returns 1 if `got` has, for each rank i of the other group, `more` + i + 1 times what that rank says. */
static int are_pieces_of(const int *got, int remote, int more, int theirs)
{
    int right = 1, at = 0;
    for (int i = 0; i < remote; i++)
        for (int k = 0; k < more + i + 1; k++)
            right &= got[at++] == theirs + i;
    return right;
}

/* The same as collectives_are_right for those whose pieces have different lengths, and the reductions that scatter. */
static int vector_collectives_are_right(MPI_Comm inter, int high, int remote)
{
    enum { MOST = 4096, RANKS = 64 };
    static int out[MOST], in[MOST], counts[RANKS], starts[RANKS], offsets[RANKS];
    static MPI_Datatype types[RANKS];
    int mine = 100 * high + rank, theirs = 100 * !high, total = 0, right = 1;
    int root = high ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL; /* rank 0 of the group that is not `high` */
    if (remote > RANKS || (remote + size) * (remote + size) > MOST)
        return 1;
    for (int i = 0; i < MOST; i++)
        out[i] = mine;
    for (int i = 0; i < remote; total += counts[i++]) {
        counts[i] = i + 1;
        starts[i] = total;
    }
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, starts, MPI_INT, inter);
    right &= are_pieces_of(in, remote, 0, theirs);
    memset(in, 0, sizeof in);
    MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, starts, MPI_INT, root, inter);
    right &= root != MPI_ROOT || are_pieces_of(in, remote, 0, theirs);
    MPI_Scatterv(out, counts, starts, MPI_INT, in, rank + 1, MPI_INT, root, inter);
    for (int k = 0; high && k < rank + 1; k++)
        right &= in[k] == 0;
    total = 0;
    for (int i = 0; i < remote; total += counts[i++]) { /* what two ranks send each other has one length */
        counts[i] = rank + i + 1;
        starts[i] = total;
        offsets[i] = total * (int)sizeof *in;
        types[i] = MPI_INT;
    }
    MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, inter);
    right &= are_pieces_of(in, remote, rank, theirs);
    memset(in, 0, sizeof in);
    MPI_Alltoallw(out, counts, offsets, types, in, counts, offsets, types, inter);
    right &= are_pieces_of(in, remote, rank, theirs);
    for (int i = 0; i < size; i++)
        counts[i] = remote; /* so both groups have equally many elements */
    for (int block = 0; block < 2; block++) {
        memset(in, 0, sizeof in);
        if (block)
            MPI_Reduce_scatter_block(out, in, remote, MPI_INT, MPI_SUM, inter);
        else
            MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, inter);
        for (int k = 0; k < remote; k++)
            right &= in[k] == remote * theirs + remote * (remote - 1) / 2;
    }
    return right;
}

/* Returns 1 if the processes of both jobs reach each other's windows, and messages in partitions and of megabytes arrive. */
static int transfers_are_right(MPI_Comm intra, int me, int total)
{
    enum { BYTES = 3000000 };
    int *base, right = 1, parts[4] = {me, me, me, me}, got[4], next = (me + 1) % total, before = (me + total - 1) % total;
    char *big = malloc(BYTES), *came = malloc(BYTES);
    MPI_Request both[2];
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)(total * (int)sizeof *base), sizeof *base, MPI_INFO_NULL, intra, &base, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < total; i++)
        MPI_Put(&me, 1, MPI_INT, i, me, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < total; i++)
        right &= base[i] == i;
    MPI_Win_free(&win);
    MPI_Precv_init(got, 4, 1, MPI_INT, before, 3, intra, MPI_INFO_NULL, &both[0]);
    MPI_Psend_init(parts, 4, 1, MPI_INT, next, 3, intra, MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both);
    MPI_Pready_range(0, 3, both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    right &= got[0] == before && got[3] == before;
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&both[i]);
    memset(big, me, BYTES);
    MPI_Sendrecv(big, BYTES, MPI_CHAR, next, 4, came, BYTES, MPI_CHAR, before, 4, intra, MPI_STATUS_IGNORE);
    right &= came[0] == (char)before && came[BYTES - 1] == (char)before;
    free(big);
    free(came);
    return right;
}

/* Says which process of which group this is, and what the collectives between the groups give. */
static void talk(MPI_Comm inter, int high, const char *name)
{
    MPI_Comm intra, twin, half;
    int remote, me, total, sum, theirs, last, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_dup(inter, &twin);
    MPI_Allreduce(&rank, &theirs, 1, MPI_INT, MPI_SUM, twin); /* the sum of the other group's ranks */
    MPI_Barrier(twin);
    MPI_Intercomm_merge(twin, high, &intra);
    MPI_Comm_rank(intra, &me);
    MPI_Comm_size(intra, &total);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, intra);
    MPI_Comm_split(intra, me % 2, 0, &half);
    MPI_Allreduce(&me, &last, 1, MPI_INT, MPI_MAX, half);
    MPI_Get_processor_name(host, &length);
    int right = sum == total * (total - 1) / 2 && theirs == remote * (remote - 1) / 2 && last == (total - 1 - me % 2) / 2 * 2 + me % 2;
    right &= collectives_are_right(inter, high, remote);
    right &= vector_collectives_are_right(inter, high, remote);
    right &= total > 10 || transfers_are_right(intra, me, total);
    printf("%s %d of %d: %d there, %d of %d, %s, on %s\n", name, rank, size, remote, me, total, right ? "right" : "WRONG", host);
    MPI_Comm_free(&half);
    MPI_Comm_free(&intra);
    MPI_Comm_free(&twin);
}

static int attribute(int key)
{
    int *value, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    return flag ? *value : -1;
}

/* The end of a child: `how` says which. */
static int end_child(MPI_Comm *parent, const char *how)
{
    if (strcmp(how, "exit3") == 0)
        exit(3);
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(how, "stay") == 0)
        for (;;)
            pause();
    if (strcmp(how, "late") != 0)
        MPI_Comm_disconnect(parent);
    MPI_Finalize();
    return strcmp(how, "later4") == 0 ? 4 : 0;
}

/* A child that connects to a sibling: "offers" opens a port and tells its parent, "calls" connects to the port that the parent
 * tells it. The parent parts from both, or keeps the one that offers. Then the one that calls fails. */
static void meet_sibling(MPI_Comm *parent, const char *how, int kept)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm sibling;
    int pid = (int)getpid(), offers = strcmp(how, "offers") == 0;
    if (offers) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, *parent);
        MPI_Send(&pid, 1, MPI_INT, 0, 2, *parent);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &sibling);
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, *parent, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &sibling);
    }
    if (!offers || !kept)
        MPI_Comm_disconnect(parent);
    if (!offers) { /* the other one's report, that it is connected, may come late: it sends its word behind that */
        MPI_Recv(&pid, 1, MPI_INT, 0, 3, sibling, MPI_STATUS_IGNORE);
        usleep(500000); /* the parent may still be on its way out of MPI_Comm_disconnect, which this process has left */
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
    MPI_Send(&pid, 1, MPI_INT, 0, 3, sibling);
    for (;;)
        pause();
}

static int child(MPI_Comm parent, int argc, char **argv)
{
    char wdir[4096], name[MPI_MAX_OBJECT_NAME];
    int length;
    const char *how = argc > 2 ? argv[2] : "";
    MPI_Comm_get_name(parent, name, &length);
    if (strcmp(how, "quiet") != 0 && strcmp(how, "show") != 0 && strcmp(how, "offers") != 0 && strcmp(how, "calls") != 0)
        talk(parent, 1, "child");
    if (strcmp(how, "show") == 0)
        printf("child %d of %d: app %d, universe %d, %s, in %s, VALUE=%s, argument '%s'\n", rank, size, attribute(MPI_APPNUM),
               attribute(MPI_UNIVERSE_SIZE), name, getcwd(wdir, sizeof wdir), getenv("VALUE"), argc > 3 ? argv[3] : "");
    fflush(stdout);
    if (strcmp(how, "nested") == 0 && system(getenv("NESTED")) != 0)
        printf("the nested run fails\n");
    if (strcmp(how, "offers") == 0 || strcmp(how, "calls") == 0)
        meet_sibling(&parent, how, atoi(argv[3]));
    return end_child(&parent, how);
}

static void print_codes(const int *codes, int count)
{
    if (rank != size - 1)
        return;
    printf("codes");
    for (int i = 0; i < count; i++)
        printf(" %s", codes[i] == MPI_SUCCESS ? "0" : codes[i] == MPI_ERR_SPAWN ? "spawn" : "?");
    printf("\n");
}

/* spawning start N HOW [KEY VALUE]...: N children that end so. They get the first key and value as arguments. */
static void start(const char *program, int argc, char **argv)
{
    MPI_Comm inter;
    MPI_Info info;
    int count = atoi(argv[2]), *codes = malloc((size_t)count * sizeof *codes);
    MPI_Info_create(&info);
    for (int i = 4; i + 1 < argc; i += 2)
        MPI_Info_set(info, argv[i], argv[i + 1]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_spawn(program, (char *[]){"child", argv[3], argc > 5 ? argv[4] : "two words", argc > 5 ? argv[5] : NULL, NULL}, count, info, size - 1, MPI_COMM_WORLD, &inter,
                            codes);
    MPI_Info_free(&info);
    if (rc) {
        char text[MPI_MAX_ERROR_STRING];
        int length, class;
        MPI_Error_class(rc, &class);
        MPI_Error_string(rc, text, &length);
        printf("class %s\n%s\n", class == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" : text, text);
        print_codes(codes, count);
        free(codes);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    if (strcmp(argv[3], "quiet") != 0 && strcmp(argv[3], "show") != 0)
        talk(inter, 0, "parent");
    print_codes(codes, count);
    free(codes);
    fflush(stdout);
    if (strcmp(argv[3], "late") != 0)
        MPI_Comm_disconnect(&inter);
}

/* spawning several [HOSTS HOSTS]: two programs with an info each */
static void start_several(const char *program, char **hosts)
{
    MPI_Comm inter;
    MPI_Info infos[2];
    int codes[5];
    char *commands[] = {(char *)program, (char *)program};
    char *how = *hosts ? "" : "show", *first[] = {"child", how, "a", NULL}, *second[] = {"child", how, "b\nc", NULL}, **argvs[] = {first, second};
    for (int i = 0; i < 2; i++)
        MPI_Info_create(&infos[i]);
    MPI_Info_set(infos[0], "env", "VALUE=one\nOTHER=2");
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Info_set(infos[1], "soft", "0:2:2,1");
    for (int i = 0; i < 2 && hosts[i]; i++)
        MPI_Info_set(infos[i], "host", hosts[i]);
    MPI_Comm_spawn_multiple(2, commands, argvs, (int[]){2, 3}, infos, 0, MPI_COMM_WORLD, &inter, codes);
    for (int i = 0; i < 2; i++)
        MPI_Info_free(&infos[i]);
    if (*hosts)
        talk(inter, 0, "parent");
    print_codes(codes, 5);
    MPI_Comm_disconnect(&inter);
}

/* spawning rooted: what only the root says is wrong everywhere else; commands without arguments. */
static void start_from_root(const char *program)
{
    MPI_Comm inter;
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    char *commands[] = {(char *)program, (char *)program};
    int codes[3], here = rank == size - 1;
    MPI_Comm_spawn_multiple(here ? 2 : -1, here ? commands : NULL, here ? MPI_ARGVS_NULL : (char ***)-1, here ? (int[]){1, 2} : NULL,
                            here ? infos : NULL, size - 1, MPI_COMM_WORLD, &inter, codes);
    print_codes(codes, 3);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_spawn(here ? program : NULL, here ? MPI_ARGV_NULL : (char **)-1, here ? 1 : -1, here ? MPI_INFO_NULL : (MPI_Info)-1,
                   size - 1, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&inter);
}

/* spawning times N: so many children, one after the other */
static void start_often(const char *program, int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Comm inter;
        MPI_Comm_spawn(program, (char *[]){"child", "quiet", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&inter);
    }
    if (rank == 0)
        printf("%d times\n", times);
}

/* spawning foreign PROGRAM: one that never calls MPI_Init, or does not exist. The error ends this program the second time. */
static void start_foreign(const char *program)
{
    MPI_Comm inter;
    int codes[2] = {-1, -1}, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    MPI_Error_class(rc, &class);
    printf("class %s\n", class == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" : "?");
    print_codes(codes, 2);
    fflush(stdout);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
}

/* spawning grandchildren DEPTH: each generation starts the next one */
static void descend(const char *program, int depth)
{
    MPI_Comm inter;
    char text[12];
    if (depth == 0) {
        printf("the last generation\n");
        return;
    }
    snprintf(text, sizeof text, "%d", depth - 1);
    MPI_Comm_spawn(program, (char *[]){"generation", text, NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&inter);
}

/* spawning siblings KEPT: two children that connect to each other, of which one fails; see meet_sibling. Says that this program
 * goes on when the other one has ended, too. */
static void start_siblings(const char *program, const char *kept)
{
    MPI_Comm inter[2];
    char port[MPI_MAX_PORT_NAME], *how[] = {"offers", "calls"};
    int pid;
    for (int i = 0; i < 2; i++)
        MPI_Comm_spawn(program, (char *[]){"child", how[i], (char *)kept, NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter[i],
                       MPI_ERRCODES_IGNORE);
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, inter[0], MPI_STATUS_IGNORE);
    MPI_Recv(&pid, 1, MPI_INT, 0, 2, inter[0], MPI_STATUS_IGNORE);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, inter[1]);
    MPI_Comm_disconnect(&inter[1]);
    if (atoi(kept) == 0)
        MPI_Comm_disconnect(&inter[0]);
    while (kill(pid, 0) == 0)
        usleep(10000);
    if (atoi(kept))
        for (;;)
            pause();
    printf("the parent goes on\n");
}

/* spawning accept|connect FILE: two jobs that meet by the port whose name is in the file. */
static void meet(int accepts, const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "", other[4096];
    MPI_Comm inter;
    snprintf(other, sizeof other, "%s.new", path);
    if (rank == 0 && accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        FILE *file = fopen(other, "w");
        fputs(port, file);
        fclose(file);
        rename(other, path);
    } else if (rank == 0) {
        FILE *file;
        while (!(file = fopen(path, "r")))
            usleep(10000);
        if (!fgets(port, sizeof port, file))
            exit(1);
        fclose(file);
    }
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, !accepts, accepts ? "accept" : "connect");
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "child") == 0)
        return child(parent, argc, argv);
    if (argc == 1 && parent != MPI_COMM_NULL)
        return end_child(&parent, "");
    if (strcmp(what, "start") == 0)
        start(argv[0], argc, argv);
    else if (strcmp(what, "accept") == 0 || strcmp(what, "connect") == 0)
        meet(strcmp(what, "accept") == 0, argv[2]);
    else if (strcmp(what, "several") == 0)
        start_several(argv[0], argv + 2);
    else if (strcmp(what, "rooted") == 0)
        start_from_root(argv[0]);
    else if (strcmp(what, "siblings") == 0)
        start_siblings(argv[0], argv[2]);
    else if (strcmp(what, "times") == 0)
        start_often(argv[0], atoi(argv[2]));
    else if (strcmp(what, "foreign") == 0)
        start_foreign(argv[2]);
    else if (strcmp(what, "generation") == 0)
        descend(argv[0], atoi(argv[2]));
    if (strcmp(what, "generation") == 0 && parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}
