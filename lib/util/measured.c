/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/measured.h"

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/param_table.h"
#include "lib/util/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

enum { FIGURES_MAX = 48, LARGEST = 1000000000 };

static struct {
    char name[48], value[24];
} known[FIGURES_MAX];
static int count;
static bool asked;
static char source[PATH_MAX];

/* ---- where ---- */

/* Writes the processor's model. Does not read /proc/cpuinfo, which takes some kernels
 * milliseconds. */
static void processor(char *text, size_t room)
{
#if defined __x86_64__ || defined __i386__
    unsigned words[13] = {0}, rest[3];
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            break;
    unsigned signature = 0;
    __get_cpuid(1, &signature, &rest[0], &rest[1], &rest[2]);
    snprintf(text, room, "%.48s %08x", (const char *)words, signature);
#else
    struct utsname name;
    char id[32] = "";
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "re");
    if (file && !fgets(id, sizeof id, file))
        id[0] = '\0';
    if (file)
        fclose(file);
    snprintf(text, room, "%s %s", uname(&name) ? "unknown" : name.machine, id);
#endif
}

/* Turns a text into a part of a file name: small letters, digits, and one dash for each run of
 * other characters. */
static void make_file_name(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (isalnum((unsigned char)*from))
            *to++ = (char)tolower((unsigned char)*from);
        else if (to > text && to[-1] != '-')
            *to++ = '-';
    }
    while (to > text && to[-1] == '-')
        to--;
    *to = '\0';
}

void tern_figures_host_kind(char *kind, size_t room)
{
    char model[128];
    processor(model, sizeof model);
    make_file_name(model);
    snprintf(kind, room, "%s-%ld-cores", model, sysconf(_SC_NPROCESSORS_ONLN));
}

int tern_figures_path(char *path, size_t room)
{
    char kind[160];
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    /* a relative path is ignored: its specification demands that */
    bool own = config && config[0] == '/';
    if (!own && !(home && *home))
        return TERN_ERR_ARG;
    tern_figures_host_kind(kind, sizeof kind);
    int length = snprintf(path, room, "%s/%s/figures-%s.conf", own ? config : home,
                          own ? "tern" : ".tern", kind);
    return length < (int)room ? 0 : TERN_ERR_ARG;
}

/* ---- reading ---- */

static bool is_measured(const char *name)
{
    for (const char *const *one = tern_param_measured; *one; one++)
        if (strcmp(*one, name) == 0)
            return true;
    return false;
}

static bool is_known(const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(known[i].name, name) == 0)
            return true;
    return false;
}

/* Reads one line `name = value`. Returns NULL, or what is wrong. */
static const char *read_line(const char *line, bool *ret_end)
{
    char name[48], value[24], rest[2], *after;
    if (sscanf(line, " %47[a-z_] = %23[0-9] %1s", name, value, rest) != 2)
        return "expected `name = value`, a whole number";
    long long number = strtoll(value, &after, 10);
    if (strcmp(name, "end") == 0) {
        *ret_end = true;
        return number == count ? NULL : "figures are missing";
    }
    if (!is_measured(name))
        return "no figure is called so";
    if (is_known(name))
        return "this figure stands here twice";
    if (number > LARGEST || count == FIGURES_MAX)
        return "this is no sensible figure";
    snprintf(known[count].name, sizeof known->name, "%s", name);
    snprintf(known[count++].value, sizeof known->value, "%s", value);
    return NULL;
}

static const char *first_missing(void)
{
    for (const char *const *one = tern_param_measured; *one; one++)
        if (!is_known(*one))
            return *one;
    return NULL;
}

static const char *read_lines(char *text, int *ret_line)
{
    static char missing[100];
    char *line;
    bool end = false;
    const char *wrong = NULL;
    while (!wrong && text && *text) {
        line = strsep(&text, "\n");
        ++*ret_line;
        line[strcspn(line, "#\r")] = '\0';
        if (line[strspn(line, " \t")] == '\0')
            continue;
        wrong = end ? "there is more behind the end" : read_line(line, &end);
    }
    const char *lacking = first_missing();
    if (!wrong && !end) {
        ++*ret_line;
        wrong = "expected `end`: the file is cut off";
    } else if (!wrong && lacking) { /* a file of another version */
        snprintf(missing, sizeof missing, "%s is missing", lacking);
        wrong = missing;
    }
    return wrong;
}

static void read_file(void)
{
    int line = 0;
    if (tern_figures_path(source, sizeof source))
        return;
    const char *why;
    char *text = tern_read_text(source, &why);
    if (!text)
        return;
    const char *wrong = read_lines(text, &line);
    free(text);
    if (!wrong)
        return;
    count = 0;
    tern_log("%s line %d: %s. The built-in figures are used; `mpi_info --measure` measures anew",
             source, line, wrong);
}

/* Reads the figures that mpirun gave us. mpirun has checked them. */
static void read_environment(const char *text)
{
    int length;
    snprintf(source, sizeof source, "mpirun");
    while (count < FIGURES_MAX && sscanf(text, " %47[a-z_]=%23[0-9]%n", known[count].name,
                                         known[count].value, &length) == 2) {
        text += length;
        count++;
    }
}

static void ask(void)
{
    const char *job = getenv("PMIX_NAMESPACE"), *given = getenv("TERN_FIGURES");
    asked = true;
    if (!job || !getenv("PMIX_RANK"))
        read_file();
    else if (strncmp(job, "tern-", 5) == 0 &&
             given) /* without a job of ours the variable belongs to a job around this process */
        read_environment(given);
}

const char *tern_figures_find(const char *name, const char **ret_source)
{
    if (!asked)
        ask();
    for (int i = 0; i < count; i++)
        if (strcmp(known[i].name, name) == 0) {
            *ret_source = source;
            return known[i].value;
        }
    return NULL;
}

char *tern_figures_of_job(void)
{
    enum { ROOM = FIGURES_MAX * sizeof *known };
    char *text = malloc(ROOM);
    if (!text)
        return NULL;
    if (!asked)
        ask();
    int used = snprintf(text, ROOM, "coll_cores=%ld", sysconf(_SC_NPROCESSORS_ONLN));
    for (int i = 0; i < count; i++)
        if (strcmp(known[i].name, "coll_cores"))
            used +=
                snprintf(text + used, ROOM - (size_t)used, " %s=%s", known[i].name, known[i].value);
    return text;
}

/* ---- writing ---- */

/* Makes the directories above the path's last slash, like mkdir -p. */
static int make_directories(const char *path)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0777) && errno != EEXIST)
            return -1;
    }
    return 0;
}

static int write_file(const char *path, const struct tern_figure *figures, int figure_count)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return -1;
    fputs("# Measured by `mpi_info --measure`, for this kind of host. Without this file the "
          "built-in figures are used.\n",
          file);
    for (int i = 0; i < figure_count; i++)
        fprintf(file, "%s = %lld\n", figures[i].name, (long long)figures[i].value);
    fprintf(file, "end = %d\n", figure_count);
    bool failed = ferror(file);
    return fclose(file) || failed ? -1 : 0;
}

static int store_fault(const char *path, int error)
{
    return tern_error(TERN_ERR_OTHER, "the figures cannot be written to %s: %s", path,
                      strerror(error));
}

int tern_figures_store(const char *path, const struct tern_figure *figures, int figure_count)
{
    char fresh[PATH_MAX];
    /* write under another name first: a job that starts now reads either the old file or the new
     * one */
    if (snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid()) >= (int)sizeof fresh)
        return store_fault(path, ENAMETOOLONG);
    if (make_directories(path) || write_file(fresh, figures, figure_count))
        return store_fault(path, errno);
    if (rename(fresh, path) == 0)
        return 0;
    int error = errno;
    unlink(fresh);
    return store_fault(path, error);
}
