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
#include "lib/settings/files.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/setting.h"
#include "lib/settings/value.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tern_setting *expect(const char *name)
{
    const struct tern_setting *param = tern_param_find(name);
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

int tern_param_write(const char *name, const char *text)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int index = tern_param_index(name);
    if (index < 0 || index >= PARAMS_MAX)
        return tern_error(TERN_ERR_ARG, "no parameter is called %s", name);
    int error = tern_param_check_text(name, text, "written by a tool");
    if (error)
        return error;
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

/* How a variable of the environment begins that sets a parameter. An earlier one prevails; those
 * behind the first are read for mpirun's own settings only. */
const char *const tern_setting_prefixes[] = {"OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", NULL};

static const char *value_of_environment(const struct tern_setting *setting, const char *prefix,
                                        struct tern_origin *ret)
{
    char name[128];
    for (int i = 0; tern_setting_name(setting, i, name, sizeof name); i++) {
        snprintf(ret->place, sizeof ret->place, "%s%s", prefix, name);
        const char *value = getenv(ret->place);
        ret->name = ret->place + strlen(prefix);
        if (value)
            return value;
    }
    return NULL;
}

static const char *value_of_file(const struct tern_setting *setting, struct tern_origin *ret)
{
    char name[128];
    for (int i = 0; tern_setting_name(setting, i, name, sizeof name); i++) {
        ret->line = tern_param_file_setting(name);
        if (!ret->line)
            continue;
        ret->name = ret->line->name;
        return ret->line->value;
    }
    return NULL;
}

const char *tern_setting_value(const struct tern_setting *setting, struct tern_origin *ret)
{
    const char *value = NULL;
    *ret = (struct tern_origin){.source = "environment"};
    for (int i = 0; !value && tern_setting_prefixes[i] && (!i || setting->launcher); i++)
        value = value_of_environment(setting, tern_setting_prefixes[i], ret);
    if (value)
        return value;
    value = value_of_file(setting, ret);
    if (!value)
        return NULL;
    ret->source = ret->line->file;
    snprintf(ret->place, sizeof ret->place, "%s (file %s)", ret->name, ret->line->file);
    return value;
}

static const char *look_up(const struct tern_setting *param, struct tern_origin *ret)
{
    const char *value = written_text(param->name);
    if (value) {
        *ret = (struct tern_origin){.name = param->name, .source = "tool"};
        return value;
    }
    value = tern_setting_value(param, ret);
    if (value)
        return value;
    *ret = (struct tern_origin){.name = param->name, .source = "default"};
    return param->preset;
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

/* ---- checking a value ---- */

/* Records that `text` is no value of the parameter. Returns TERN_ERR_ARG. */
static int refuse(const struct tern_setting *param, const char *name, const char *text,
                  const char *where)
{
    char expected[400];
    const char *preset = param->preset && *param->preset ? param->preset : NULL;
    tern_param_describe_values(param, expected, sizeof expected);
    return tern_error(TERN_ERR_ARG,
                      "parameter %s is \"%s\" (%s); expected %s. Change or remove it; the default "
                      "is %s",
                      name, text, where, expected, preset ? preset : "empty");
}

int tern_param_check_text(const char *name, const char *text, const char *where)
{
    const struct tern_setting *param = tern_param_find(name);
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

/* Checks what stands at one place, a variable or a line of a file. Another place may have given
 * the parameter's value. */
static int check_place(const char *name, const char *text, const char *where)
{
    const struct tern_setting *param = tern_param_find(name);
    return param ? check(param) : tern_param_check_text(name, text, where);
}

/* Checks a variable whose name begins with prefix number `index`. */
static int check_variable(const char *variable, int index)
{
    char name[128], where[160];
    const char *equals = strchr(variable, '=');
    if (!equals || equals - variable >= (long)sizeof name)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)(equals - variable), variable);
    snprintf(where, sizeof where, "%s in the environment", name);
    const char *bare = name + strlen(tern_setting_prefixes[index]);
    const struct tern_setting *param = tern_param_find(bare);
    return index == 0 || (param && param->launcher) ? check_place(bare, equals + 1, where) : 0;
}

static int check_setting(const struct tern_param_setting *setting)
{
    char where[PATH_MAX + 64];
    snprintf(where, sizeof where, "%s line %d", setting->file, setting->line);
    return check_place(setting->name, setting->value, where);
}

int tern_param_check(const char *name)
{
    return check(expect(name));
}

int tern_param_check_all(void)
{
    int error = 0;
    for (char **variable = environ; !error && *variable; variable++)
        for (int i = 0; !error && tern_setting_prefixes[i]; i++)
            if (strncmp(*variable, tern_setting_prefixes[i], strlen(tern_setting_prefixes[i])) == 0)
                error = check_variable(*variable, i);
    const struct tern_param_setting *setting = tern_param_file_settings();
    for (; !error && setting; setting = setting->next)
        error = check_setting(setting);
    return error;
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
