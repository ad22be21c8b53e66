/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/greeting.h"

#include "lib/btl/peer.h"
#include "lib/btl/tcp/framing.h"

#include <string.h>

const struct tern_service tern_tcp_service = {{'T', 'E', 'R', 'N', 't', 'c', 'p', '\n'}, 4};

_Static_assert(sizeof(struct tern_tcp_greeting) <= TERN_GREETING_BYTES, "a greeting fits");

/* Writes the last 63 bytes of the name: equal in both processes, however long the name is. */
static void short_name(const char *job, char ret_name[64])
{
    size_t length = strlen(job), skip = length > 63 ? length - 63 : 0;
    memset(ret_name, 0, 64);
    memcpy(ret_name, job + skip, length - skip);
}

void tern_tcp_greet(struct tern_hello *hello, struct tern_tcp_greeting greeting, const char *job)
{
    greeting.zero = 0;
    short_name(job, greeting.job);
    memset(hello->greeting, 0, sizeof hello->greeting);
    memcpy(hello->greeting, &greeting, sizeof greeting);
}

static bool is_sane(const struct tern_tcp_greeting *greeting)
{
    return greeting->zero == 0 && greeting->encrypt <= 1 && greeting->lane < TERN_LANES_MAX &&
           greeting->link < TERN_TCP_LINKS_MAX;
}

bool tern_tcp_greeting_read(const struct tern_hello *hello, const char *job, uint32_t job_size,
                            struct tern_tcp_greeting *ret_greeting)
{
    struct tern_tcp_greeting greeting;
    char name[64];
    memcpy(&greeting, hello->greeting, sizeof greeting);
    short_name(job, name);
    if (!is_sane(&greeting) || memcmp(name, greeting.job, sizeof name) != 0 ||
        greeting.from >= job_size || greeting.to >= job_size || greeting.from == greeting.to)
        return false;
    *ret_greeting = greeting;
    return true;
}

/* ---- between two jobs ---- */

/* What stands in place of a job's name. No name begins with the byte 1. */
struct two_jobs {
    char mark;
    struct tern_job_id from, to;
};
enum { MARK = 1 };

void tern_tcp_greet_far(struct tern_hello *hello, struct tern_tcp_greeting greeting,
                        struct tern_job_id from, struct tern_job_id to)
{
    struct two_jobs jobs = {MARK, from, to};
    greeting.zero = 0;
    memset(greeting.job, 0, sizeof greeting.job);
    memcpy(greeting.job, &jobs, sizeof jobs);
    memset(hello->greeting, 0, sizeof hello->greeting);
    memcpy(hello->greeting, &greeting, sizeof greeting);
}

bool tern_tcp_greeting_read_far(const struct tern_hello *hello,
                                struct tern_tcp_greeting *ret_greeting,
                                struct tern_job_id *ret_from, struct tern_job_id *ret_to)
{
    struct tern_tcp_greeting greeting;
    struct two_jobs jobs;
    memcpy(&greeting, hello->greeting, sizeof greeting);
    memcpy(&jobs, greeting.job, sizeof jobs);
    if (jobs.mark != MARK || !is_sane(&greeting))
        return false;
    *ret_greeting = greeting;
    *ret_from = jobs.from;
    *ret_to = jobs.to;
    return true;
}
