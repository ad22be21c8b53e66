/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Parameters: the source of a value, and its reading. Only the contents of the files are kept; they
 * are read when the first value is needed (measured figures: lib/util/measured.c).
 *
 * A job may have many ranks, and all of them see equal faults. So only rank 0 prints them, or a
 * process without a rank.
 */

#include "lib/util/param.h"

#include "lib/util/error.h"
#include "lib/util/measured.h"
#include "lib/util/log.h"
#include "lib/util/param_files.h"
#include "lib/util/param_parse.h"
#include "lib/util/param_table.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct tern_param *expect(const char *name)
{
    const struct tern_param *param = tern_param_find(name);
    if (!param) {
        tern_log("parameter %s stands in no table (lib/util/param_table.c)", name);
        abort();
    }
    return param;
}

/* ---- choices ---- */

/* Returns the index of the choice with the spelling `text`, or -1. */
static int find_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (int index = 0;; index++) {
        for (;; choices++) {
            size_t spelling = strcspn(choices, ",|");
            if (spelling == length && strncmp(choices, text, length) == 0)
                return index;
            choices += spelling;
            if (*choices != ',')
                break;
        }
        if (!*choices++)
            return -1;
    }
}

bool tern_param_choice_name(const struct tern_param *param, int index, char *name, size_t room)
{
    const char *choice = index < 0 ? NULL : param->choices;
    for (; choice && index > 0; index--) {
        choice = strchr(choice, '|');
        choice += choice != NULL;
    }
    if (!choice)
        return false;
    snprintf(name, room, "%.*s", (int)strcspn(choice, ",|"), choice);
    return true;
}

int tern_param_find_choice(const char *name, const char *text)
{
    const struct tern_param *param = tern_param_find(name);
    return param && param->choices ? find_choice(param->choices, text) : -1;
}

int tern_param_choice(const char *name)
{
    const char *text = tern_param_string(name);
    return tern_param_find_choice(name, text ? text : "");
}

/* ---- values written by a tool ---- */

enum { PARAMS_MAX = 256 };

/* Values by the parameter's index. The texts are never freed, because a reader may still use
 * one. */
static const char *written[PARAMS_MAX];
static unsigned changes;

static const char *written_text(const char *name)
{
    if (!__atomic_load_n(&changes, __ATOMIC_ACQUIRE))
        return NULL;
    return __atomic_load_n(&written[tern_param_index(name)], __ATOMIC_ACQUIRE);
}

/* Returns a copy of a text: one for each text, however often it is written. NULL if there is no
 * memory. */
static const char *keep_text(const char *text)
{
    static struct kept {
        struct kept *next;
        char text[];
    } *all;
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

static bool acceptable(const struct tern_param *param, const char *text);

int tern_param_write(const char *name, const char *text)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int index = tern_param_index(name);
    if (index < 0 || index >= PARAMS_MAX)
        return tern_error(TERN_ERR_ARG, "no parameter is called %s", name);
    if (!acceptable(tern_param_at(index, NULL), text))
        return tern_error(TERN_ERR_ARG, "parameter %s cannot be \"%s\"", name, text);
    pthread_mutex_lock(&mutex);
    const char *kept = keep_text(text);
    if (kept) {
        __atomic_store_n(&written[index], kept, __ATOMIC_RELEASE);
        __atomic_fetch_add(&changes, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    return kept ? 0 : TERN_ERR_NO_MEM;
}

unsigned tern_param_changes(void)
{
    return __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
}

/* ---- where a value comes from ---- */

/* Finds the text of `name` and its source. Returns NULL if only the table has a value. *ret_setting
 * is the line of the file, or NULL. */
static const char *look_up_one(const char *name, const char **ret_source,
                               struct tern_param_setting **ret_setting)
{
    char variable[256];

    *ret_setting = NULL;
    if (snprintf(variable, sizeof variable, "OMPI_MCA_%s", name) < (int)sizeof variable) {
        const char *value = getenv(variable);
        if (value) {
            *ret_source = "environment";
            return value;
        }
    }
    *ret_setting = tern_param_file_setting(name);
    if (!*ret_setting)
        return NULL;
    *ret_source = (*ret_setting)->file;
    return (*ret_setting)->value;
}

static const char *look_up(const struct tern_param *param, const char **ret_source,
                           struct tern_param_setting **ret_setting)
{
    const char *value = written_text(param->name);
    if (value) {
        *ret_source = "tool";
        *ret_setting = NULL;
        return value;
    }
    value = look_up_one(param->name, ret_source, ret_setting);
    for (const struct tern_param_alias *alias = tern_param_aliases; !value && alias->name; alias++)
        if (strcmp(alias->name, param->name) == 0)
            value = look_up_one(alias->other, ret_source, ret_setting);
    if (!value)
        value = tern_figures_find(param->name, ret_source);
    if (!value) {
        *ret_source = "default";
        value = param->preset;
    }
    return value;
}

const char *tern_param_string(const char *name)
{
    const char *source;
    struct tern_param_setting *setting;
    return look_up(expect(name), &source, &setting);
}

const char *tern_param_source(const char *name)
{
    const char *source;
    struct tern_param_setting *setting;
    look_up(expect(name), &source, &setting);
    return source;
}

/* ---- reading a value ---- */

static bool acceptable(const struct tern_param *param, const char *text)
{
    int64_t ignored;
    if (param->type != TERN_PARAM_STRING)
        return tern_param_read_value(param->type, text, &ignored);
    return !param->choices || find_choice(param->choices, text) >= 0;
}

/* Returns true if the fault was printed before. A value in the environment is complained of once
 * per parameter. */
static bool complained_already(const struct tern_param *param, struct tern_param_setting *setting)
{
    static const struct tern_param *complained[32];
    static int count;

    if (setting) {
        bool already = setting->complained;
        setting->complained = true;
        return already;
    }
    for (int i = 0; i < count; i++)
        if (complained[i] == param)
            return true;
    if (count < (int)(sizeof complained / sizeof *complained))
        complained[count++] = param;
    return false;
}

static int64_t number_of(const char *name)
{
    static const char *const expected[] = {
        "a whole number", "a number of bytes such as 4096 or 64k", "0 or 1", "text"};
    const struct tern_param *param = expect(name);
    const char *source;
    struct tern_param_setting *setting;
    int64_t value = 0;

    const char *text = look_up(param, &source, &setting);
    if (text && tern_param_read_value(param->type, text, &value))
        return value;
    if (text && text != param->preset && tern_param_may_speak() &&
        !complained_already(param, setting))
        tern_log("parameter %s is \"%s\" (from the %s%s); expected %s; the default %s is taken",
                 name, text, setting ? "file " : "", source, expected[param->type],
                 param->preset ? param->preset : "0");
    if (param->preset && !tern_param_read_value(param->type, param->preset, &value)) {
        tern_log("the default \"%s\" of parameter %s cannot be read (lib/util/param_table.c)",
                 param->preset, name);
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
