/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/files.h"

#include "lib/util/base/log.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/setting.h"
#include "lib/settings/value.h"
#include "lib/settings/said.h"
#include "lib/util/base/text.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tern_param_line *settings; /* the settings of the first file come first */
static bool files_read;

/* Returns true if this process must say that a line of a file is wrong. */
static bool must_say(const char *file, int line)
{
    char key[PATH_MAX + 32];
    snprintf(key, sizeof key, "%s line %d", file, line);
    return tern_param_must_say(key);
}

/* Warns if the name is unknown. */
static void check_name(const char *name, const char *file, int line)
{
    if (tern_param_find(name) || tern_open_mpi_accepted(name) || !must_say(file, line))
        return;
    const char *nearest = tern_param_nearest(name);
    if (nearest)
        tern_log("%s line %d: no parameter is called %s; did you mean %s?", file, line, name,
                 nearest);
    else
        tern_log("%s line %d: no parameter is called %s; `mpi_info --param all all` lists them",
                 file, line, name);
}

/* Says that a line is no setting, and that it is ignored. */
static void refuse_line(const char *name, const char *value, const char *file, int line)
{
    if (must_say(file, line))
        tern_log("%s line %d is ignored: expected `name = value`, not \"%s%s%s\"", file, line, name,
                 value ? "= " : "", value ? value : "");
}

/* Returns the setting of a parameter in the file whose name `file` points to, or NULL. */
static struct tern_param_line *find_in_file(const char *name, const char *file)
{
    struct tern_param_line *setting = settings;
    while (setting && (setting->file != file || strcmp(setting->name, name) != 0))
        setting = setting->next;
    return setting;
}

/* Returns a copy of the text. */
static char *copy(const char *text, const char *file)
{
    char *own = strdup(text);
    if (!own) { /* this early, nothing else will work either */
        tern_log("no memory for the parameters in %s", file);
        exit(1);
    }
    return own;
}

/* Gives a parameter that an earlier line of the file has set another value: the last line counts,
 * as in Open MPI. Says so if the values differ. */
static void replace(struct tern_param_line *setting, const char *value, int line)
{
    if (strcmp(setting->value, value) != 0 && must_say(setting->file, line))
        tern_log("%s line %d: %s = %s replaces the value %s of line %d", setting->file, line,
                 setting->name, value, setting->value, setting->line);
    free(setting->value);
    setting->value = copy(value, setting->file);
    setting->line = line;
}

static void add_setting(struct tern_param_line ***end, const char *name, const char *value,
                        const char *file, int line)
{
    struct tern_param_line *setting = malloc(sizeof *setting);
    if (!setting) {
        tern_log("no memory for the parameters in %s", file);
        exit(1);
    }
    *setting = (struct tern_param_line){
        .name = copy(name, file), .value = copy(value, file), .file = file, .line = line};
    **end = setting;
    *end = &setting->next;
}

/* Takes the setting of one line of a file. */
static void take_setting(struct tern_param_line ***end, const char *name, const char *value,
                         const char *file, int line)
{
    struct tern_param_line *before = find_in_file(name, file);
    check_name(name, file, line);
    if (before)
        replace(before, value, line);
    else
        add_setting(end, name, value, file, line);
}

static void read_lines(struct tern_param_line ***end, char *text, const char *path)
{
    char *name, *value;
    for (int number = 1; tern_param_read_line(&text, &name, &value); number++) {
        if (value && *name) {
            take_setting(end, name, value, path, number);
        } else if (name) {
            refuse_line(name, value, path, number);
        }
    }
}

static void read_file(struct tern_param_line ***end, const char *path, bool must_exist)
{
    const char *why;
    char *text = tern_read_text(path, &why);
    char *kept = text && *text ? strdup(path) : NULL;
    if (!text && must_exist && tern_param_must_say(path))
        tern_log("parameter file %s cannot be read: %s", path, why);
    if (kept)
        read_lines(end, text, kept); /* the settings point into it */
    free(text);
}

/* Writes the path of the installation's file: etc/ below OPAL_PREFIX, or beside the directory that
 * contains this library or program. */
static bool installed_file(char *path, size_t room)
{
    static const char name[] = "etc/openmpi-mca-params.conf";
    const char *prefix = getenv("OPAL_PREFIX");
    char object[PATH_MAX];
    Dl_info info;

    if (prefix)
        return snprintf(path, room, "%s/%s", prefix, name) < (int)room;
    if (!dladdr((void *)&tern_param_file_lines, &info) || !realpath(info.dli_fname, object))
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
    struct tern_param_line **end = &settings;
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
    /* Open MPI 5 has the second for its launcher */
    static const char *const own[] = {".openmpi", ".prte"};
    const char *home = getenv("HOME");
    for (size_t i = 0; home && i < sizeof own / sizeof *own; i++)
        if (snprintf(path, sizeof path, "%s/%s/mca-params.conf", home, own[i]) < (int)sizeof path)
            read_file(&end, path, false);
    if (installed_file(path, sizeof path))
        read_file(&end, path, false);
}

struct tern_param_line *tern_param_file_lines(void)
{
    if (!files_read)
        read_files();
    return settings;
}

struct tern_param_line *tern_param_file_line(const char *name)
{
    for (struct tern_param_line *setting = tern_param_file_lines(); setting;
         setting = setting->next)
        if (strcmp(setting->name, name) == 0)
            return setting;
    return NULL;
}
