/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI-4.1 section 11.8). The root opens a port and asks
 * mpirun to start the processes, with the port's name. They connect to that port in their MPI_Init.
 * If mpirun cannot start them it connects itself, and says why.
 */

#include "lib/mpi/dynamic/comm_spawn.h"

#include "lib/mpi/dynamic/connected.h"
#include "lib/mpi/dynamic/meeting.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/procedures.h"
#include "lib/rte/beside.h"
#include "lib/rte/report.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"
#include "lib/util/net/question.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A program to start. */
struct program {
    const char *command;
    char **argv; /* may be NULL */
    int maxprocs;
    const struct tern_info *info; /* may be NULL */
    bool info_is_null; /* the handle is a NULL pointer, not MPI_INFO_NULL */
};

/* ---- the question to mpirun ---- */

static void describe_program(const struct program *program, struct tern_question *question)
{
    tern_question_add(question, "program", program->command);
    for (char **word = program->argv; word && *word; word++)
        tern_question_add(question, "arg", *word);
    tern_question_add_number(question, "np", program->maxprocs);
    for (int i = 0; program->info && i < program->info->count; i++) {
        tern_question_add(question, "key", program->info->pairs[i].key);
        tern_question_add(question, "value", program->info->pairs[i].value);
    }
}

static int describe(const struct program *programs, int count, const char *port,
                    struct tern_question *ret)
{
    char wdir[PATH_MAX];
    *ret = (struct tern_question){0};
    for (int i = 0; i < count; i++)
        if (!programs[i].command || programs[i].info_is_null)
            return tern_error(programs[i].command ? TERN_ERR_INFO : TERN_ERR_ARG,
                              "element %d of %s is a NULL pointer", i,
                              programs[i].command ? "array_of_info" : "array_of_commands");
    tern_question_add(ret, "ask", "spawn");
    tern_question_add(ret, "port", port);
    if (!tern_rte.managed)
        tern_question_add_number(ret, "beside", getpid());
    if (getcwd(wdir, sizeof wdir))
        tern_question_add(ret, "wdir", wdir);
    for (int i = 0; i < count; i++)
        describe_program(&programs[i], ret);
    return ret->failed ? tern_error(TERN_ERR_NO_MEM, "no memory to describe the processes") : 0;
}

/* Passes the question to whoever can start processes. *ret_starter is -1, or a descriptor that
 * hangs up when the starter ends. */
static int ask(const char *question, int *ret_starter)
{
    *ret_starter = -1;
    if (!tern_rte.managed)
        return tern_rte_start_beside(question, ret_starter);
    if (tern_report_ask(question))
        return 0;
    return tern_error(TERN_ERR_SPAWN,
                      "the launcher of this job cannot start further processes; start the job by "
                      "Tern's mpirun, which also runs in the allocations of batch systems");
}

int tern_spawn_refusal(const struct tern_bridge_offer *answer, int otherwise)
{
    struct tern_line_head head;
    if (answer->length < sizeof head)
        return tern_error(TERN_ERR_OTHER, "mpirun's answer is too short");
    memcpy(&head, answer->bytes, sizeof head);
    if (head.kind != TERN_LINE_REFUSAL)
        return 0;
    bool known = head.error > TERN_ERROR_BASE && head.error < TERN_ERROR_END;
    return tern_error(known ? head.error : otherwise, "%.*s", (int)(answer->length - sizeof head),
                      answer->bytes + sizeof head);
}

/* Starts the processes and exchanges offers with them. */
static int start(const struct program *programs, int count, const struct tern_bridge_offer *mine,
                 struct tern_bridge_offer *ret_theirs)
{
    char name[TERN_PORT_NAME_MOST];
    struct tern_port *port;
    struct tern_question question;
    int starter = -1, rc = tern_port_open(&port, name);
    if (rc)
        return rc;
    rc = describe(programs, count, name, &question);
    if (!rc)
        rc = ask(question.text, &starter);
    if (!rc)
        rc = tern_port_accept(port, starter, mine, ret_theirs);
    if (!rc)
        rc = tern_spawn_refusal(ret_theirs, TERN_ERR_SPAWN);
    if (starter >= 0)
        close(starter);
    tern_question_free(&question);
    tern_port_close(port);
    return rc;
}

/* ---- how many processes of each program there are ---- */

/* How many programs, and processes of each, the root has asked for. */
struct shape {
    int count;
    int *wanted;
};

/* Spreads the root's shape over `comm`. The caller frees ret->wanted. */
static int spread_shape(const struct program *programs, int count, int root,
                        struct tern_comm *comm, struct shape *ret)
{
    bool leads = comm->group->rank == root;
    int rc = tern_comm_bcast_bytes(comm, &count, sizeof count, root);
    if (rc)
        return rc;
    if (count < 1)
        return tern_error(TERN_ERR_COUNT, "count is %d; expected 1 or more", count);
    *ret = (struct shape){count, malloc((size_t)count * sizeof *ret->wanted)};
    if (!ret->wanted)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the numbers of %d programs", count);
    for (int i = 0; leads && i < count; i++)
        ret->wanted[i] = programs[i].maxprocs;
    rc = tern_comm_bcast_bytes(comm, ret->wanted, count * (int64_t)sizeof *ret->wanted, root);
    for (int i = 0; i < count && !rc; i++)
        if (ret->wanted[i] < 1)
            rc = tern_error(TERN_ERR_ARG, "maxprocs is %d; expected 1 or more", ret->wanted[i]);
    return rc;
}

/* Exchanges the numbers of processes that were started: the children's rank 0 knows them. `count`
 * is the number of programs, `own` the numbers of this job. */
static int exchange_numbers(struct tern_comm *inter, const int *own, int *ret_theirs, int count)
{
    return tern_comm_exchange(inter, own, count * (int64_t)sizeof *own, ret_theirs,
                              count * (int64_t)sizeof *ret_theirs);
}

static int learn_numbers(struct tern_comm *inter, int count, int **ret_started)
{
    int *both = calloc(2 * (size_t)count, sizeof *both);
    if (!both)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the numbers of %d programs", count);
    *ret_started = both;
    return exchange_numbers(inter, both + count, both, count);
}

/* Fills in the error codes: of each program, the first processes were started. `started` may be
 * NULL: none was. */
static void fill_codes(const struct shape *shape, const int *started, int codes[])
{
    for (int i = 0; codes != MPI_ERRCODES_IGNORE && i < shape->count; i++)
        for (int k = 0; k < shape->wanted[i]; k++)
            *codes++ = started && k < started[i] ? MPI_SUCCESS : MPI_ERR_SPAWN;
}

/* ---- the parents ---- */

static int start_and_connect(const struct program *programs, int count, int root,
                             struct tern_comm *comm, struct tern_comm **ret_inter)
{
    struct tern_bridge_offer mine, theirs = {0};
    int rc = tern_bridge_offer(comm, root, &mine);
    if (rc)
        return rc;
    if (comm->group->rank == root)
        rc = start(programs, count, &mine, &theirs);
    rc = tern_bridge_open(comm, root, rc, &mine, &theirs, ret_inter);
    free(mine.bytes);
    free(theirs.bytes);
    return rc;
}

static int spawn(const struct program *programs, int count, int root, struct tern_comm *comm,
                 struct tern_comm **ret_inter, int codes[])
{
    struct shape shape = {0};
    struct tern_comm *inter;
    int *started = NULL;
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_COMM,
                          "comm is an intercommunicator; expected an intracommunicator");
    if (root < 0 || root >= comm->group->size)
        return tern_error_index(TERN_ERR_ROOT, comm->group->size, "root is %d", root);
    int rc = spread_shape(programs, count, root, comm, &shape);
    if (!rc)
        rc = start_and_connect(programs, count, root, comm, &inter);
    if (!rc)
        rc = learn_numbers(inter, shape.count, &started);
    if (shape.wanted)
        fill_codes(&shape, rc ? NULL : started, codes);
    free(started);
    free(shape.wanted);
    if (rc)
        return rc;
    *ret_inter = inter;
    return tern_connected_add(inter);
}

int tern_mpi_comm_spawn(const char *command, char *argv[], int maxprocs, struct tern_info *info,
                        int root, struct tern_comm *comm, struct tern_comm **ret_intercomm,
                        int array_of_errcodes[])
{
    struct program program = {command, argv, maxprocs, info, false};
    return spawn(&program, 1, root, comm, ret_intercomm, array_of_errcodes);
}

int tern_mpi_comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                                 const int array_of_maxprocs[], const MPI_Info array_of_info[],
                                 int root, struct tern_comm *comm,
                                 struct tern_comm **ret_intercomm, int array_of_errcodes[])
{
    struct program *programs = NULL;
    bool leads = comm->group->rank == root;
    if (!leads)
        count = 0; /* significant at the root only */
    if (leads && count > 0) {
        programs = calloc((size_t)count, sizeof *programs);
        if (!programs)
            return tern_error(TERN_ERR_NO_MEM, "no memory for %d programs", count);
    }
    for (int i = 0; programs && i < count; i++)
        programs[i] = (struct program){
            array_of_commands[i], array_of_argv != MPI_ARGVS_NULL ? array_of_argv[i] : NULL,
            array_of_maxprocs[i],
            !array_of_info[i] || array_of_info[i] == MPI_INFO_NULL ? NULL
                                                                  : tern_info_of(array_of_info[i]),
            !array_of_info[i]};
    int rc = spawn(programs, count, root, comm, ret_intercomm, array_of_errcodes);
    free(programs);
    return rc;
}

/* ---- the children ---- */

/* Reads how many processes each program of this job has, which mpirun tells all of them. */
static int own_numbers(int **ret_numbers, int *ret_count)
{
    const char *text = getenv("OMPI_NUM_APP_CTX"), *at = getenv("OMPI_APP_CTX_NUM_PROCS");
    int count = text ? atoi(text) : 0;
    int *numbers = count > 0 && at ? calloc(2 * (size_t)count, sizeof *numbers) : NULL;
    if (!numbers)
        return tern_error(TERN_ERR_OTHER, "mpirun does not say how many processes it has started");
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = (int)strtol(at, &end, 10);
        at = end;
    }
    *ret_numbers = numbers;
    *ret_count = count;
    return 0;
}

int tern_spawn_meet_parent(void)
{
    struct tern_bridge_offer mine, theirs = {0};
    struct tern_comm *world = &tern_comm_world, *inter;
    const char *port = getenv(TERN_PARENT);
    int *numbers = NULL, count = 0;
    /* a script's second program was not started by the parent */
    if (!port || !*port || tern_rte_program() > 1)
        return 0;
    int rc = tern_bridge_offer(world, 0, &mine);
    if (rc)
        return rc;
    if (world->group->rank == 0)
        rc = tern_port_connect(port, tern_param_int("mpi_connect_timeout"), &mine, &theirs);
    unsetenv(TERN_PARENT); /* programs that this one starts are not the parent's children */
    rc = tern_bridge_open(world, 0, rc, &mine, &theirs, &inter);
    free(mine.bytes);
    free(theirs.bytes);
    if (!rc)
        rc = own_numbers(&numbers, &count);
    if (!rc)
        rc = exchange_numbers(inter, numbers, numbers + count, count);
    free(numbers);
    if (!rc)
        rc = tern_connected_add(inter);
    if (rc)
        return rc;
    snprintf(inter->name, sizeof inter->name, "MPI_COMM_PARENT");
    tern_connected_parent = inter;
    return 0;
}
