/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/left_out.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "mpirun/tree/start_agents.h"

/* Names of hosts, separated by commas: no name has one, and this variable ends here. */
static const char variable[] = "TERN_LEFT_OUT";
static char *left_out; /* its value; NULL: no host has been left out yet */

static bool is_among(const char *name, const char *names)
{
    size_t length = strlen(name);
    for (; names; names = strchr(names, ',')) {
        names += *names == ',';
        if (strncmp(names, name, length) == 0 && strchr(",", names[length]))
            return true;
    }
    return false;
}

/* Removes the names from the order of --map-by seq. */
static void drop_from_sequence(struct tern_strings *sequence, const char *names)
{
    struct tern_strings kept = {0};
    for (int i = 0; i < sequence->count; i++)
        if (!is_among(sequence->items[i], names))
            tern_strings_add(&kept, sequence->items[i]);
    tern_strings_free(sequence);
    *sequence = kept;
}

const char *tern_left_out_read(struct tern_strings *sequence)
{
    const char *names = getenv(variable);
    if (names) {
        left_out = tern_must_copy(names);
        unsetenv(variable);
        drop_from_sequence(sequence, left_out);
    }
    return left_out;
}

bool tern_left_out_has(const char *host)
{
    return left_out && is_among(host, left_out);
}

void tern_left_out_begin_anew(const struct tern_host_list *list, char **argv)
{
    bool more = false;
    if (!tern_start_agents_goes_on())
        return;
    for (int host = 0; host < list->count; host++) {
        if (!tern_start_agents_has_failed(host))
            continue;
        char *names = left_out ? tern_must_format("%s,%s", left_out, list->items[host].name)
                               : tern_must_copy(list->items[host].name);
        free(left_out);
        left_out = names;
        more = true;
    }
    if (more && setenv(variable, left_out, 1) == 0) {
        signal(SIGPIPE, SIG_DFL); /* ignored while agents were started */
        execv("/proc/self/exe", argv);
        tern_log("cannot begin anew without the hosts that do not answer: %s", strerror(errno));
    }
}
