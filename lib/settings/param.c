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

#define VARIABLE "OMPI_MCA_" /* begins the name of a variable */

/* The source of a value. */
struct origin {
    char name[128];     /* the name under which the parameter has the value */
    const char *source; /* as tern_param_source returns */
    struct tern_param_setting *setting; /* the line of a file, or NULL */
};

/* Finds the text of ret->name and its origin. Returns NULL if only the table has a value. */
static const char *look_up_one(struct origin *ret)
{
    char variable[256];
    snprintf(variable, sizeof variable, VARIABLE "%s", ret->name);
    const char *value = getenv(variable);
    ret->setting = value ? NULL : tern_param_file_setting(ret->name);
    ret->source = ret->setting ? ret->setting->file : "environment";
    return ret->setting ? ret->setting->value : value;
}

static const char *look_up(const struct tern_setting *param, struct origin *ret)
{
    const char *value = written_text(param->name);
    *ret = (struct origin){.source = "tool"};
    tern_setting_name(param, 0, ret->name, sizeof ret->name);
    for (int i = 0; !value && tern_setting_name(param, i, ret->name, sizeof ret->name); i++)
        value = look_up_one(ret);
    if (value)
        return value;
    ret->source = "default";
    return param->preset;
}

const char *tern_param_string(const char *name)
{
    struct origin origin;
    return look_up(expect(name), &origin);
}

const char *tern_param_source(const char *name)
{
    struct origin origin;
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
    char where[PATH_MAX + 64] = "written by a tool";
    struct origin origin;
    const char *text = look_up(param, &origin);
    if (!text || text == param->preset)
        return 0;
    if (origin.setting)
        snprintf(where, sizeof where, "%s line %d", origin.setting->file, origin.setting->line);
    else if (strcmp(origin.source, "environment") == 0)
        snprintf(where, sizeof where, VARIABLE "%s in the environment", origin.name);
    return tern_param_check_text(origin.name, text, where);
}

/* Checks what stands at one place, a variable or a line of a file. Another place may have given
 * the parameter's value. */
static int check_place(const char *name, const char *text, const char *where)
{
    const struct tern_setting *param = tern_param_find(name);
    return param ? check(param) : tern_param_check_text(name, text, where);
}

static int check_variable(const char *variable)
{
    char name[128], where[160];
    const char *equals = strchr(variable, '=');
    if (!equals || equals - variable >= (long)sizeof name)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)(equals - variable), variable);
    snprintf(where, sizeof where, "%s in the environment", name);
    return check_place(name + strlen(VARIABLE), equals + 1, where);
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
        if (strncmp(*variable, VARIABLE, strlen(VARIABLE)) == 0)
            error = check_variable(*variable);
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
    struct origin origin;
    int64_t value = 0;

    const char *text = look_up(param, &origin);
    if (!text || !tern_param_allows(param, text))
        text = param->preset;
    if (text && !tern_param_read_value(param->type, text, &value)) {
        tern_log("the default \"%s\" of parameter %s cannot be read (lib/settings/setting.c)",
                 text, name);
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
