/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/said.h"

#include "lib/util/base/log.h"
#include "lib/settings/files.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/setting.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *said; /* lines; NULL: nothing was said yet, and the variable was not read */

/* Returns true if a line of `lines` is `key`. */
static bool has_line(const char *lines, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = lines; at && *at; at += *at == '\n') {
        size_t line = strcspn(at, "\n");
        if (line == length && strncmp(at, key, length) == 0)
            return true;
        at += line;
    }
    return false;
}

/* Adds a line to `said`. If there is no memory, the fault may be said again. */
static void add_line(const char *key)
{
    size_t before = said ? strlen(said) : 0;
    char *more = realloc(said, before + strlen(key) + 2);
    if (!more)
        return;
    snprintf(more + before, strlen(key) + 2, "%s%s", before ? "\n" : "", key);
    said = more;
}

bool tern_param_must_say(const char *key)
{
    if (!tern_param_may_speak())
        return false;
    pthread_mutex_lock(&mutex);
    const char *before = said ? NULL : getenv(TERN_PARAMS_SAID);
    if (before)
        said = strdup(before);
    bool first = !has_line(said, key);
    if (first)
        add_line(key);
    pthread_mutex_unlock(&mutex);
    return first;
}

const char *tern_param_said(void)
{
    return said;
}

bool tern_param_asks_something(const char *value)
{
    static const char *const nothing[] = {"", "0", "-1", "none", "default", "false", "no", "off"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (strcasecmp(value, nothing[i]) == 0)
            return false;
    return true;
}

bool tern_param_is_tuned(const char *name, const char *value)
{
    return strncmp(name, TERN_PARAM_TUNED, strlen(TERN_PARAM_TUNED)) == 0 &&
           tern_param_asks_something(value);
}

const char tern_param_tuned_text[] =
    "coll_tuned_... parameters have no effect: collectives are chosen by their price; `mpi_info "
    "--param coll all` lists what forces an algorithm";

static void say_tuned(const char *name, const char *value)
{
    if (tern_param_is_tuned(name, value) && tern_param_must_say(TERN_PARAM_TUNED))
        tern_log("warning: %s", tern_param_tuned_text);
}

/* Names outside our tables are many: those of other releases, and of launchers. So in the
 * environment only a name that is near to one of ours counts as misspelt. */
static void say_variable(const char *name, const char *value)
{
    say_tuned(name, value);
    if (tern_param_find(name) || tern_open_mpi_accepted(name))
        return;
    const char *nearest = tern_param_nearest(name);
    if (nearest && tern_param_must_say(name))
        tern_log("warning: there is no parameter %s, which the environment sets; did you mean %s?",
                 name, nearest);
}

void tern_param_say_useless(void)
{
    static const char variable[] = "OMPI_MCA_";
    if (!tern_param_may_speak())
        return;
    for (char **entry = environ; entry && *entry; entry++) {
        char name[256];
        const char *equals = strchr(*entry, '=');
        if (strncmp(*entry, variable, strlen(variable)) || !equals)
            continue;
        const char *begin = *entry + strlen(variable);
        if (equals - begin < (long)sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)(equals - begin), begin);
            say_variable(name, equals + 1);
        }
    }
    const struct tern_param_setting *setting = tern_param_file_settings();
    for (; setting; setting = setting->next)
        say_tuned(setting->name, setting->value);
}
