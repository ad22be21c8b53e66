/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Publish_name, MPI_Unpublish_name and MPI_Lookup_name (MPI-4.1 section 11.9.4). mpirun keeps
 * the names of its job and of the jobs that were started from it. The parameter mpi_name_server
 * names another mpirun that keeps them, for several jobs.
 */

#include "lib/mpi/dynamic/meeting.h"
#include "lib/mpi/dynamic/comm_spawn.h"
#include "lib/mpi/procedures.h"
#include "lib/rte/report.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"
#include "lib/util/net/question.h"
#include "lib/util/base/text.h"

#include <stdlib.h>
#include <string.h>

/* Writes the question. The answer shall come to `port`; NULL: by the line that asks. */
static int describe(const char *what, const char *port, const char *service, const char *name,
                    struct tern_question *ret)
{
    *ret = (struct tern_question){0};
    tern_question_add(ret, "ask", what);
    if (port)
        tern_question_add(ret, "port", port);
    tern_question_add(ret, "service", service);
    if (name)
        tern_question_add(ret, "name", name);
    return ret->failed ? tern_error(TERN_ERR_NO_MEM, "no memory for the name of a service") : 0;
}

/* Asks the mpirun of this job. It answers at a port that is opened for this. */
static int ask_mpirun(const char *what, const char *service, const char *name,
                      struct tern_bridge_offer *ret_answer)
{
    struct tern_line_head nothing = {TERN_LINE_ANSWER, 0};
    struct tern_bridge_offer mine = {(char *)&nothing, sizeof nothing};
    char text[TERN_PORT_NAME_MOST];
    struct tern_question question;
    struct tern_port *port;
    if (!tern_report_is_open())
        return tern_error(strcmp(what, "lookup") == 0 ? TERN_ERR_NAME : TERN_ERR_SERVICE,
                          "nobody keeps names for this program: start it by Tern's mpirun, or let "
                          "the parameter mpi_name_server name the file of another mpirun's "
                          "--report-uri");
    int rc = tern_port_open(&port, text);
    if (rc)
        return rc;
    rc = describe(what, text, service, name, &question);
    if (!rc && !tern_report_ask(question.text))
        rc = tern_error(TERN_ERR_OTHER, "mpirun does not listen");
    if (!rc)
        rc = tern_port_accept(port, -1, &mine, ret_answer);
    tern_question_free(&question);
    tern_port_close(port);
    return rc;
}

/* Returns the name of the server's port, which the caller frees: `server` itself, or the first line
 * of a file. */
static char *read_server(const char *server)
{
    const char *why;
    if (strncmp(server, "file:", 5) != 0)
        return strdup(server);
    char *text = tern_read_text(server + 5, &why);
    if (text)
        text[strcspn(text, "\n")] = 0;
    else
        tern_error(TERN_ERR_OTHER, "cannot read %s, which mpi_name_server names: %s", server + 5,
                   why);
    return text;
}

static int ask_server(const char *server, const char *what, const char *service, const char *name,
                      struct tern_bridge_offer *ret_answer)
{
    struct tern_question question;
    char *port = read_server(server);
    if (!port)
        return TERN_ERR_OTHER;
    int rc = describe(what, NULL, service, name, &question);
    struct tern_line_head head = {TERN_LINE_QUESTION, 0};
    struct tern_bridge_offer mine = {NULL, sizeof head + question.length};
    if (!rc && !(mine.bytes = malloc(mine.length)))
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for the name of a service");
    if (!rc) {
        memcpy(mine.bytes, &head, sizeof head);
        memcpy(mine.bytes + sizeof head, question.text, question.length);
        rc = tern_port_connect(port, tern_param_int("mpi_connect_timeout"), &mine, ret_answer);
    }
    free(mine.bytes);
    free(port);
    tern_question_free(&question);
    return rc;
}

/* Asks about a service. Copies the answer's text, if any, into `ret_name`, which may be NULL. */
static int ask(const char *what, const char *service, const char *name, char *ret_name)
{
    struct tern_bridge_offer answer = {0};
    const char *server = tern_param_string("mpi_name_server");
    int rc = server && *server ? ask_server(server, what, service, name, &answer)
                               : ask_mpirun(what, service, name, &answer);
    if (!rc)
        rc = tern_spawn_refusal(&answer, TERN_ERR_OTHER);
    size_t length = rc ? 0 : answer.length - sizeof(struct tern_line_head);
    if (!rc && ret_name && length >= MPI_MAX_PORT_NAME)
        rc = tern_error(TERN_ERR_NAME, "service_name \"%s\" is published with a port_name of %zu "
                                       "characters; at most %d fit", service, length,
                        MPI_MAX_PORT_NAME - 1);
    if (!rc && ret_name) {
        memcpy(ret_name, answer.bytes + sizeof(struct tern_line_head), length);
        ret_name[length] = 0;
    }
    free(answer.bytes);
    return rc;
}

int tern_mpi_publish_name(const char *service_name, struct tern_info *info, const char *port_name)
{
    (void)info;
    if (strlen(port_name) >= MPI_MAX_PORT_NAME)
        return tern_error(TERN_ERR_PORT, "port_name has %zu characters; at most %d fit",
                          strlen(port_name), MPI_MAX_PORT_NAME - 1);
    return ask("publish", service_name, port_name, NULL);
}

int tern_mpi_unpublish_name(const char *service_name, struct tern_info *info,
                            const char *port_name)
{
    (void)info;
    return ask("unpublish", service_name, port_name, NULL);
}

int tern_mpi_lookup_name(const char *service_name, struct tern_info *info, char *port_name)
{
    (void)info;
    return ask("lookup", service_name, NULL, port_name);
}
