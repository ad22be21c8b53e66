/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/said.h"

#include "lib/settings/setting.h"
#include "lib/settings/value.h"
#include "lib/util/base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *said; /* lines; NULL: nothing was said yet, and the variable was not read */

bool tern_param_may_speak(void)
{
    const char *rank = getenv("PMIX_RANK");
    return !rank || strcmp(rank, "0") == 0;
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
    bool first = !tern_text_find_word(said, "\n", key, strlen(key));
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
    static const struct tern_setting nothing = {.choices = ",0,-1,none,default,false,no,off"};
    return tern_param_index_of_choice(&nothing, value) < 0;
}

bool tern_param_must_explain(const char *name, const char *value, char *text, size_t room)
{
    static const char tuned[] = "coll_tuned_";
    char used[64];
    if (strncmp(name, tuned, strlen(tuned)) == 0) {
        snprintf(text, room,
                 "coll_tuned_... parameters have no effect: collectives are chosen by their price; "
                 "`mpi_info --param coll all` lists what forces an algorithm");
        return tern_param_asks_something(value) && tern_param_must_say(tuned);
    }
    const struct tern_setting *param = tern_param_find(name);
    struct tern_param_pair pair = {.param = param};
    snprintf(pair.value, sizeof pair.value, "%s", value);
    if (!param)
        return false;
    do {
        if (pair.param && tern_param_former_choice(pair.param, pair.value, used, sizeof used))
            break;
        if (!param->pairs || !tern_param_next_pair(param, &value, &pair))
            return false;
    } while (true);
    snprintf(text, room, "%s: %s is no more; %s is used instead", name, pair.value, used);
    return tern_param_must_say(name);
}
