/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Parameters: where a value comes from, and how it is read. Nothing is kept but the contents of the
 * files, which are read when the first value is wanted (measured figures: lib/util/measured.c).
 *
 * A job may have many ranks, and all of them see the same wrong value: only rank 0 (or who has no
 * rank) speaks.
 */

#include "lib/util/param.h"

#include "lib/util/error.h"
#include "lib/util/measured.h"
#include "lib/util/log.h"
#include "lib/util/param_parse.h"
#include "lib/util/param_table.h"
#include "lib/util/text.h"

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

/* A line of a file. */
struct setting {
    struct setting *next;
    char *name, *value;
    const char *file;
    bool complained; /* about its value */
};
static struct setting *settings; /* those of the first file first */
static bool files_read;

static bool may_speak(void)
{
    const char *rank = getenv("PMIX_RANK");
    return !rank || strcmp(rank, "0") == 0;
}

static const struct tern_param *find(const char *name)
{
    for (const struct tern_param_room *room = tern_param_rooms; room->name; room++)
        for (int i = 0; i < room->count; i++)
            if (strcmp(room->params[i].name, name) == 0)
                return &room->params[i];
    return NULL;
}

const struct tern_param *tern_param_at(int index, const struct tern_param_room **ret_room)
{
    for (const struct tern_param_room *room = tern_param_rooms; room->name; room++) {
        if (index < room->count) {
            if (ret_room)
                *ret_room = room;
            return index < 0 ? NULL : &room->params[index];
        }
        index -= room->count;
    }
    return NULL;
}

int tern_param_index(const char *name)
{
    const struct tern_param *param;
    for (int index = 0; (param = tern_param_at(index, NULL)); index++)
        if (strcmp(param->name, name) == 0)
            return index;
    return -1;
}

static const struct tern_param *expect(const char *name)
{
    const struct tern_param *param = find(name);
    if (!param) {
        tern_log("parameter %s stands in no table (lib/util/param_table.c)", name);
        abort();
    }
    return param;
}

/* ---- choices ---- */

/* The index of the choice with the spelling `text`, or -1. */
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
    const struct tern_param *param = find(name);
    return param && param->choices ? find_choice(param->choices, text) : -1;
}

int tern_param_choice(const char *name)
{
    const char *text = tern_param_string(name);
    return tern_param_find_choice(name, text ? text : "");
}

/* ---- files ---- */

/* Warns of a name that nobody knows. */
static void check_name(const char *name, const char *file, int line)
{
    if (tern_param_known(name) || tern_param_accepted(name) || !may_speak())
        return;
    const char *nearest = tern_param_nearest(name);
    if (nearest)
        tern_log("%s line %d: no parameter is called %s; did you mean %s?", file, line, name,
                 nearest);
    else
        tern_log("%s line %d: no parameter is called %s; `mpi_info --param all all` lists them",
                 file, line, name);
}

static void add_setting(struct setting ***end, const char *name, const char *value,
                        const char *file)
{
    struct setting *setting = malloc(sizeof *setting);
    char *own_name = strdup(name), *own_value = strdup(value);
    if (!setting || !own_name || !own_value) { /* so early that nothing else will work either */
        tern_log("no memory for the parameters in %s", file);
        exit(1);
    }
    *setting = (struct setting){.name = own_name, .value = own_value, .file = file};
    **end = setting;
    *end = &setting->next;
}

static void read_lines(struct setting ***end, char *text, const char *path)
{
    char *name, *value;
    for (int number = 1; tern_param_read_line(&text, &name, &value); number++) {
        if (value) {
            check_name(name, path, number);
            add_setting(end, name, value, path);
        } else if (name && may_speak()) {
            tern_log("%s line %d: expected `name = value`", path, number);
        }
    }
}

static void read_file(struct setting ***end, const char *path, bool must_exist)
{
    const char *why;
    char *text = tern_read_text(path, &why);
    char *kept = text && *text ? strdup(path) : NULL;
    if (!text && must_exist && may_speak())
        tern_log("parameter file %s cannot be read: %s", path, why);
    if (kept)
        read_lines(end, text, kept); /* the settings refer to it */
    free(text);
}

/* The file of the installation: etc/ below OPAL_PREFIX, or beside the directory that holds this
 * library or program. */
static bool installed_file(char *path, size_t room)
{
    static const char name[] = "etc/openmpi-mca-params.conf";
    const char *prefix = getenv("OPAL_PREFIX");
    char object[PATH_MAX];
    Dl_info info;

    if (prefix)
        return snprintf(path, room, "%s/%s", prefix, name) < (int)room;
    if (!dladdr((void *)&tern_param_known, &info) || !realpath(info.dli_fname, object))
        return false;
    for (int up = 0; up < 3; up++) { /* PREFIX/bin, PREFIX/lib, PREFIX/lib/x86_64-linux-gnu */
        char *slash = strrchr(object, '/');
        if (!slash)
            return false;
        *slash = 0;
        if (up > 0 && snprintf(path, room, "%s/%s", object, name) < (int)room &&
            access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static void read_files(void)
{
    struct setting **end = &settings;
    char path[PATH_MAX];
    const char *list = getenv("OMPI_MCA_mca_param_files");

    files_read = true;
    if (!list)
        list = getenv("OMPI_MCA_mca_base_param_files");
    if (list) {
        char *names = strdup(list), *save = NULL;
        for (char *name = names ? strtok_r(names, ",:", &save) : NULL; name;
             name = strtok_r(NULL, ",:", &save))
            read_file(&end, name, true);
        free(names);
        return;
    }
    const char *home = getenv("HOME");
    if (home && snprintf(path, sizeof path, "%s/.openmpi/mca-params.conf", home) < (int)sizeof path)
        read_file(&end, path, false);
    if (installed_file(path, sizeof path))
        read_file(&end, path, false);
}

/* ---- what was written by a tool ---- */

enum { PARAMS_MAX = 256 };

/* By index. The texts are kept for good: whoever has asked for one may still look at it. */
static const char *written[PARAMS_MAX];
static unsigned changes;

static const char *written_text(const char *name)
{
    if (!__atomic_load_n(&changes, __ATOMIC_ACQUIRE))
        return NULL;
    return __atomic_load_n(&written[tern_param_index(name)], __ATOMIC_ACQUIRE);
}

/* One copy of each text, however often it is written. NULL: no memory. */
static const char *keep_text(const char *text)
{
    static struct kept {
        struct kept *next;
        char text[];
    } *all;
    for (struct kept *kept = all; kept; kept = kept->next)
        if (strcmp(kept->text, text) == 0)
            return kept->text;
    struct kept *kept = malloc(sizeof *kept + strlen(text) + 1);
    if (!kept)
        return NULL;
    strcpy(kept->text, text);
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

/* The text of `name` and its source; *ret_setting is the line of the file, or NULL. NULL: nowhere
 * but in the table. */
static const char *look_up_one(const char *name, const char **ret_source,
                               struct setting **ret_setting)
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
    if (!files_read)
        read_files();
    for (struct setting *setting = settings; setting; setting = setting->next)
        if (strcmp(setting->name, name) == 0) {
            *ret_source = setting->file;
            *ret_setting = setting;
            return setting->value;
        }
    return NULL;
}

static const char *look_up(const struct tern_param *param, const char **ret_source,
                           struct setting **ret_setting)
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
    struct setting *setting;
    return look_up(expect(name), &source, &setting);
}

const char *tern_param_source(const char *name)
{
    const char *source;
    struct setting *setting;
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

/* What stands in the environment is complained of once per parameter. */
static bool complained_already(const struct tern_param *param, struct setting *setting)
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
    struct setting *setting;
    int64_t value = 0;

    const char *text = look_up(param, &source, &setting);
    if (text && tern_param_read_value(param->type, text, &value))
        return value;
    if (text && text != param->preset && may_speak() && !complained_already(param, setting))
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
    /* acquire: pairs with the release below; threads that ask at the same time find the same */
    if (__atomic_load_n(&kept->asked, __ATOMIC_ACQUIRE) != now) {
        int64_t value = expect(name)->choices ? tern_param_choice(name) : number_of(name);
        __atomic_store_n(&kept->value, value, __ATOMIC_RELAXED);
        __atomic_store_n(&kept->asked, now, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&kept->value, __ATOMIC_RELAXED);
}

/* ---- names ---- */

bool tern_param_known(const char *name)
{
    if (find(name))
        return true;
    for (const struct tern_param_alias *alias = tern_param_aliases; alias->name; alias++)
        if (strcmp(alias->other, name) == 0)
            return true;
    return false;
}

/* The known name at most `most` slips away from `name`, or NULL. */
static const char *nearest_within(const char *name, int most)
{
    const char *nearest = NULL;

    for (const struct tern_param_room *room = tern_param_rooms; room->name; room++)
        for (int i = 0; i < room->count; i++) {
            int distance = tern_edit_distance(name, room->params[i].name);
            if (distance <= most) {
                most = distance - 1;
                nearest = room->params[i].name;
            }
        }
    return nearest;
}

bool tern_param_accepted(const char *name)
{
    enum { LONG_NAME = 12, SLIPS = 2 };
    size_t length = strcspn(name, "_");

    if (strlen(name) >= LONG_NAME && nearest_within(name, SLIPS))
        return false; /* one of ours was meant: Open MPI has no long name that is so near */
    for (const char *const *word = tern_param_foreign_words; *word; word++)
        if (strlen(*word) == length && strncmp(*word, name, length) == 0)
            return true;
    return false;
}

const char *tern_param_nearest(const char *name)
{
    return nearest_within(name, 1 + (int)strlen(name) / 4); /* farther is another word */
}

static int least_of(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. */
int tern_edit_distance(const char *a, const char *b)
{
    enum { MOST = 255 }; /* longer words are no names: their ends are not looked at */
    int rows[3][MOST + 1];
    int a_length = (int)strnlen(a, MOST), b_length = (int)strnlen(b, MOST);
    int *before = rows[0], *previous = rows[1], *current = rows[2];

    for (int j = 0; j <= b_length; j++)
        previous[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int x = tolower((unsigned char)a[i - 1]);
        current[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int y = tolower((unsigned char)b[j - 1]);
            current[j] = least_of(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < current[j])
                current[j] = before[j - 2] + 1;
        }
        int *spare = before;
        before = previous;
        previous = current;
        current = spare;
    }
    return previous[b_length];
}
