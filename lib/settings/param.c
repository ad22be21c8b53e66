/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Parameters: the source of a value, and its reading. Only the contents of the files are kept; they
 * are read when the first value is needed.
 *
 * A value that its parameter does not allow ends mpirun, or the start of MPI
 * (tern_param_check_all).
 */

#include "lib/settings/param.h"

#include "lib/util/base/error.h"
#include "lib/settings/figure_table.h"
#include "lib/util/base/log.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/places.h"
#include "lib/settings/said.h"
#include "lib/settings/setting.h"
#include "lib/settings/value.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tern_setting *expect(const char *name)
{
    const struct tern_setting *param = tern_param_at(tern_param_index(name), NULL);
    if (!param) {
        tern_log("parameter %s stands in no table (lib/settings/setting.c)", name);
        abort();
    }
    return param;
}

/* ---- choices ---- */

int tern_param_find_choice(const char *name, const char *text)
{
    const struct tern_setting *param = tern_param_find(name);
    return param ? tern_param_index_of_choice(param, text) : -1;
}

int tern_param_choice(const char *name)
{
    const char *text = tern_param_string(name);
    return tern_param_find_choice(name, text ? text : "");
}

/* ---- values written by a tool ---- */

/* The values. Neither these nor the texts are ever freed, because a reader may still use one. */
static struct written {
    struct written *next;
    const struct tern_setting *param;
    const char *text;
} * written;
static unsigned changes;

/* Returns the value that was written for a parameter, or NULL. Acquire pairs with the release of
 * tern_param_set. */
static struct written *find_written(const struct tern_setting *param)
{
    struct written *at = __atomic_load_n(&written, __ATOMIC_ACQUIRE);
    while (at && at->param != param)
        at = at->next;
    return at;
}

/* Returns a copy of a text: one for each text, however often it is written. NULL if there is no
 * memory. */
static const char *keep_text(const char *text)
{
    static struct kept {
        struct kept *next;
        char text[];
    } * all;
    for (struct kept *kept = all; kept; kept = kept->next)
        if (strcmp(kept->text, text) == 0)
            return kept->text;
    size_t bytes = strlen(text) + 1;
    struct kept *kept = malloc(sizeof *kept + bytes);
    if (!kept)
        return NULL;
    memcpy(kept->text, text, bytes);
    kept->next = all;
    all = kept;
    return kept->text;
}

static int check_value(const struct tern_setting *param, const char *name, const char *text,
                       const char *where);

int tern_param_set(const struct tern_setting *param, const char *name, const char *text,
                   const char *where)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int error = check_value(param, name, text, where);
    if (error || !param)
        return error;
    pthread_mutex_lock(&mutex);
    const char *kept = keep_text(text);
    struct written *value = find_written(param);
    struct written *more = kept && !value ? malloc(sizeof *more) : NULL;
    if (more) {
        *more = (struct written){.next = written, .param = param, .text = kept};
        __atomic_store_n(&written, more, __ATOMIC_RELEASE);
    } else if (kept && value) {
        __atomic_store_n(&value->text, kept, __ATOMIC_RELEASE);
    }
    bool done = kept && (value || more);
    __atomic_fetch_add(&changes, done, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
    return done ? 0 : TERN_ERR_NO_MEM;
}

int tern_param_write(const char *name, const char *text)
{
    const struct tern_setting *param = tern_param_at(tern_param_index(name), NULL);
    if (!param)
        return tern_error(TERN_ERR_ARG, "no parameter is called %s", name);
    return tern_param_set(param, name, text, "written by a tool");
}

unsigned tern_param_changes(void)
{
    return __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
}

/* ---- where a value comes from ---- */

static const char *look_up(const struct tern_setting *param, struct tern_origin *ret)
{
    const struct written *set = find_written(param);
    const char *value = set ? __atomic_load_n(&set->text, __ATOMIC_ACQUIRE) : NULL;
    if (!value && (value = tern_setting_value(param, ret)))
        return value;
    ret->name = param->name;
    ret->source = value ? "tool" : "default";
    ret->line = NULL;
    return value ? value : param->preset;
}

const char *tern_param_string(const char *name)
{
    struct tern_origin origin;
    return look_up(expect(name), &origin);
}

const char *tern_param_source(const char *name)
{
    struct tern_origin origin;
    look_up(expect(name), &origin);
    return origin.source;
}

/* Sources from the weakest to the strongest: the default, a file, the environment, a tool. */
static int strength(const char *source)
{
    static const char *const named[] = {"default", NULL, "environment", "tool"};
    for (int i = 0; i < 4; i++)
        if (named[i] && strcmp(source, named[i]) == 0)
            return i;
    return 1;
}

int tern_param_choice_in_list(const char *list_name, const char *name)
{
    const struct tern_setting *param = expect(name), *list = expect(list_name);
    struct tern_origin own, listed;
    struct tern_param_pair pair;
    char last[sizeof pair.value];
    const char *text = look_up(param, &own), *pairs = look_up(list, &listed);
    while (strength(listed.source) >= strength(own.source) &&
           tern_param_next_pair(list, &pairs, &pair))
        if (pair.param == param)
            text = memcpy(last, pair.value, sizeof last);
    return tern_param_index_of_choice(param, text);
}

/* ---- checking a value ---- */

/* Records that `text` is no value of the parameter. Returns TERN_ERR_ARG. */
static int refuse(const struct tern_setting *param, const char *name, const char *text,
                  const char *where)
{
    char expected[600];
    const char *preset = param->preset && *param->preset ? param->preset : NULL;
    tern_param_describe_values(param, text, expected, sizeof expected);
    return tern_error(TERN_ERR_ARG,
                      "parameter %s is \"%s\" (%s); expected %s. Change or remove it; the default "
                      "is %s",
                      name, text, where, expected, preset ? preset : "empty");
}

/* Checks a value like tern_param_check_text. `param`: the parameter's row, or NULL. */
static int check_value(const struct tern_setting *param, const char *name, const char *text,
                       const char *where)
{
    if (param)
        return tern_param_allows(param, text) ? 0 : refuse(param, name, text, where);
    char expected[400];
    if (tern_open_mpi_refuses(name, text, expected, sizeof expected))
        return tern_error(TERN_ERR_ARG,
                          "parameter %s is \"%s\" (%s); expected %s. Change or remove it", name,
                          text, where, expected);
    if (tern_figure_index(name) < 0)
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "%s (%s) is a figure, which only a model file can set. Write the lines "
                      "`%s = %s` and `end = 1` into a file, and set the parameter coll_model_file "
                      "to its path",
                      name, where, name, text);
}

int tern_param_check_text(const char *name, const char *text, const char *where)
{
    return check_value(tern_param_find(name), name, text, where);
}

static int check(const struct tern_setting *param)
{
    struct tern_origin origin;
    char where[sizeof origin.place + 64] = "written by a tool";
    const char *text = look_up(param, &origin);
    if (!text || text == param->preset)
        return 0;
    if (origin.line)
        snprintf(where, sizeof where, "%s line %d", origin.line->file, origin.line->line);
    else if (strcmp(origin.source, "environment") == 0)
        snprintf(where, sizeof where, "%s in the environment", origin.place);
    return tern_param_check_text(origin.name, text, where);
}

/* Checks what stands at one place. Another place may have given the parameter's value. */
static int check_place(const struct tern_param_place *place, void *context)
{
    (void)context;
    char where[PATH_MAX + 300];
    const struct tern_setting *param = tern_param_find(place->name);
    if (place->prefix && !(param && param->launcher))
        return 0;
    tern_param_place_describe(place, where, sizeof where);
    return param ? check(param) : tern_param_check_text(place->name, place->value, where);
}

int tern_param_check(const char *name)
{
    return check(expect(name));
}

int tern_param_check_all(void)
{
    return tern_places_visit(check_place, NULL);
}

/* ---- what is set in vain ---- */

/* Names outside our tables are many: those of other releases, and of launchers. So in the
 * environment only a name that is near to one of ours counts as misspelt. */
static int say_useless(const struct tern_param_place *place, void *context)
{
    (void)context;
    const char *name = place->name;
    char text[300];
    if (place->prefix)
        return 0;
    if (tern_param_must_explain(name, place->value, text, sizeof text))
        tern_log("warning: %s", text);
    if (place->line || tern_param_find(name) || tern_open_mpi_accepted(name))
        return 0;
    const char *nearest = tern_param_nearest(name);
    if (nearest && tern_param_must_say(name))
        tern_log("warning: there is no parameter %s, which the environment sets; did you mean %s?",
                 name, nearest);
    return 0;
}

void tern_param_say_useless(void)
{
    if (tern_param_may_speak())
        tern_places_visit(say_useless, NULL);
}

/* ---- reading a value ---- */

/* Returns the value of a number, a size or a yes or no. The default if the value is not allowed:
 * tern_param_check_all refuses that, but some values are read before. */
static int64_t number_of(const char *name)
{
    const struct tern_setting *param = expect(name);
    struct tern_origin origin;
    int64_t value = 0;

    const char *text = look_up(param, &origin);
    if (!text || !tern_param_allows(param, text))
        text = param->preset;
    if (text && !tern_param_read_value(param->type, text, &value)) {
        tern_log("the default \"%s\" of parameter %s cannot be read (lib/settings/setting.c)", text,
                 name);
        abort();
    }
    return value;
}

int64_t tern_param_int(const char *name)
{
    return number_of(name);
}

bool tern_param_bool(const char *name)
{
    return number_of(name) != 0;
}

int64_t tern_param_keep(struct tern_param_kept *kept, const char *name)
{
    unsigned now = tern_param_changes() + 1;
    /* acquire: pairs with the release below; threads that ask at the same time store equal
     * values */
    if (__atomic_load_n(&kept->asked, __ATOMIC_ACQUIRE) != now) {
        int64_t value = expect(name)->choices ? tern_param_choice(name) : number_of(name);
        __atomic_store_n(&kept->value, value, __ATOMIC_RELAXED);
        __atomic_store_n(&kept->asked, now, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&kept->value, __ATOMIC_RELAXED);
}
