/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/jobs/services.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/fresh_file.h"
#include "lib/util/net/port.h"
#include "mpirun/base/door.h"
#include "mpirun/base/strings.h"

/* ---- the names ---- */

static struct tern_strings names; /* SERVICE, then the name of its port */

/* Returns the index of a service in `names`, or -1. */
static int find(const char *service)
{
    for (int i = 0; i < names.count; i += 2)
        if (strcmp(names.items[i], service) == 0)
            return i;
    return -1;
}

static struct tern_answer_text refuse(int error, const char *format, const char *service)
{
    char *text;
    if (asprintf(&text, format, service) < 0)
        text = NULL;
    return (struct tern_answer_text){TERN_LINE_REFUSAL, error, text};
}

static struct tern_answer_text publish(const char *service, const char *port)
{
    if (find(service) >= 0)
        return refuse(TERN_ERR_SERVICE, "service_name \"%s\" is published already; unpublish it "
                                        "first, or use another name", service);
    tern_strings_add(&names, service);
    tern_strings_add(&names, port);
    return (struct tern_answer_text){.kind = TERN_LINE_ANSWER};
}

static struct tern_answer_text unpublish(const char *service, const char *port)
{
    int at = find(service);
    if (at < 0)
        return refuse(TERN_ERR_SERVICE, "service_name \"%s\" is not published", service);
    if (strcmp(names.items[at + 1], port) != 0)
        return refuse(TERN_ERR_SERVICE, "service_name \"%s\" is published with another port_name; "
                                        "look it up, or pass the one that was published", service);
    free(names.items[at]);
    free(names.items[at + 1]);
    memmove(&names.items[at], &names.items[at + 2],
            (size_t)(names.count - at - 1) * sizeof *names.items);
    names.count -= 2;
    return (struct tern_answer_text){.kind = TERN_LINE_ANSWER};
}

static struct tern_answer_text look_up(const char *service)
{
    int at = find(service);
    if (at < 0)
        return refuse(TERN_ERR_NAME, "service_name \"%s\" is not published here; names are kept by "
                                     "the mpirun of each job, unless --ompi-server names another "
                                     "one", service);
    return (struct tern_answer_text){TERN_LINE_ANSWER, 0, tern_must_copy(names.items[at + 1])};
}

struct tern_answer_text tern_services_answer(const char *question)
{
    char *what = tern_question_find(question, "ask");
    char *service = tern_question_find(question, "service");
    char *port = tern_question_find(question, "name");
    struct tern_answer_text answer;
    if (what && service && port && strcmp(what, "publish") == 0)
        answer = publish(service, port);
    else if (what && service && port && strcmp(what, "unpublish") == 0)
        answer = unpublish(service, port);
    else if (what && service && strcmp(what, "lookup") == 0)
        answer = look_up(service);
    else
        answer = refuse(TERN_ERR_OTHER, "mpirun does not understand the question%s", "");
    free(what);
    free(service);
    free(port);
    return answer;
}

/* ---- the port for other jobs ---- */

/* A connection to the port. */
struct visit {
    struct tern_visit base; /* first: callbacks get its address */
    struct tern_line line;
    bool answered; /* the question has its answer */
};

static struct {
    struct tern_door door;
    unsigned char token[TERN_SECRET_BYTES];
    const char *file;
} port;

static void end_visit(struct tern_visit *visit)
{
    tern_visit_end(visit);
    tern_line_close(&((struct visit *)visit)->line);
    free(visit);
}

/* Answers the question that has arrived. */
static void answer(struct visit *visit)
{
    struct tern_line_head head;
    size_t length, size = visit->line.received_bytes;
    visit->answered = true;
    visit->line.received[size] = 0; /* there is room for it */
    if (size >= sizeof head)
        memcpy(&head, visit->line.received, sizeof head);
    struct tern_answer_text text =
        size >= sizeof head && head.kind == TERN_LINE_QUESTION
            ? tern_services_answer((const char *)visit->line.received + sizeof head)
            : refuse(TERN_ERR_OTHER, "mpirun expects a question%s", "");
    char *bytes = tern_answer_pack(&text, &length);
    tern_line_say(&visit->line, bytes, length);
    free(bytes);
    free(text.text);
}

/* Answers a hello that holds. A copy of another visitor's hello gets no answer. */
static void heed_hello(struct visit *visit)
{
    if (tern_visit_has_copy(&visit->base)) {
        visit->line.step = TERN_LINE_FAILED;
        return;
    }
    tern_line_answer(&visit->line);
    tern_visit_renew(&visit->base);
}

/* Reads what has arrived. Returns false if the visit is over. */
static bool hear(struct tern_visit *base)
{
    struct visit *visit = (struct visit *)base;
    struct tern_line *line = &visit->line;
    bool moved = true;
    while (moved && !tern_line_is_over(line)) {
        moved = tern_line_go_on(line);
        if (line->step == TERN_LINE_CALLED) {
            heed_hello(visit);
        } else if (!visit->answered && line->received && line->step == TERN_LINE_EXCHANGING &&
                   line->received_bytes == line->expected) {
            answer(visit);
            moved = true;
        }
    }
    if (tern_line_is_over(line)) {
        end_visit(base);
        return false;
    }
    tern_loop_watch(&base->watch, tern_line_events(line) & POLLOUT ? EPOLLIN | EPOLLOUT : EPOLLIN);
    return true;
}

static struct tern_visit *receive(int fd)
{
    struct visit *visit = tern_must_alloc(sizeof *visit);
    tern_line_take(&visit->line, fd, false, port.token);
    return &visit->base;
}

static enum tern_standing standing(const struct tern_visit *visit)
{
    return tern_line_standing(&((const struct visit *)visit)->line);
}

static const struct tern_hello *hello_of(const struct tern_visit *visit)
{
    return &((const struct visit *)visit)->line.hello;
}

static const struct tern_door_keeper keeper = {receive, standing, hello_of, hear, end_visit};

static bool write_line(int fd, const char *line)
{
    return fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
}

/* Writes a file that only its owner can read, because the port's name lets jobs in. */
static bool write_file(const char *path, const char *line)
{
    struct tern_fresh_file fresh;
    return tern_fresh_file_begin(&fresh, path, 0600) == 0 &&
           tern_fresh_file_end(&fresh, write_line(fresh.fd, line)) == 0;
}

/* Writes the port's name. */
static int write_name(const char *file, const char *name)
{
    bool std = strcmp(file, "-") == 0 || strcmp(file, "+") == 0;
    char *line = tern_must_format("%s\n", name);
    bool written = std ? write_line(*file == '-' ? 1 : 2, line) : write_file(file, line);
    int rc = written ? 0 : tern_error(TERN_ERR_OTHER, "--report-uri: cannot write %s: %s", file,
                                      strerror(errno));
    if (written && !std)
        port.file = file;
    free(line);
    return rc;
}

int tern_services_open(const char *file)
{
    struct tern_port_name name = {.count = 0};
    struct tern_tcp_address all[TERN_TCP_ADDRESSES_MAX];
    char text[TERN_PORT_NAME_MOST];
    uint16_t number;
    bool only_four, cut;
    int rc = tern_random(port.token, sizeof port.token);
    if (rc)
        return rc;
    enum { STRANGERS_MOST = 64 };
    port.door = (struct tern_door){.keeper = &keeper, .strangers = STRANGERS_MOST};
    int fd = tern_port_listen(0, 0, &number, &only_four);
    if (fd < 0 || tern_door_open(&port.door, fd) < 0)
        return tern_error(TERN_ERR_OTHER, "--report-uri: cannot open a port: %s", strerror(errno));
    gethostname(name.host, sizeof name.host - 1);
    memcpy(name.token, port.token, sizeof name.token);
    int count = tern_tcp_list_addresses(all, &cut);
    for (int i = 0; i < count; i++) {
        if (all[i].family == 6 && only_four)
            continue;
        name.addresses[name.count] = all[i];
        name.addresses[name.count++].port = number;
    }
    tern_port_name_write(&name, text);
    return write_name(file, text);
}

void tern_services_close(void)
{
    if (port.file)
        unlink(port.file);
}
