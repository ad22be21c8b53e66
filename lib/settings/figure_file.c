/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/figure_file.h"

#include "lib/util/base/error.h"
#include "lib/util/base/fresh_file.h"
#include "lib/util/base/text.h"

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

void tern_figure_file_host_kind(char *kind, size_t room)
{
    char model[128];
    processor(model, sizeof model);
    make_file_name(model);
    snprintf(kind, room, "%s-%ld-cores", model, sysconf(_SC_NPROCESSORS_ONLN));
}

int tern_figure_file_path(char *path, size_t room)
{
    char kind[160];
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    /* a relative path is ignored: its specification demands that */
    bool own = config && config[0] == '/';
    if (!own && !(home && *home))
        return TERN_ERR_ARG;
    tern_figure_file_host_kind(kind, sizeof kind);
    int length = snprintf(path, room, "%s/%s/figures-%s.conf", own ? config : home,
                          own ? "tern" : ".tern", kind);
    return length < (int)room ? 0 : TERN_ERR_ARG;
}

/* ---- reading ---- */

/* What is wrong with a line. */
typedef char fault[160];

/* Reads one line `name = value`. Returns false, and writes what is wrong. */
static bool read_line(const char *line, struct tern_figures *figures, bool *ret_end, fault wrong)
{
    char name[48], value[24], rest[2];
    if (sscanf(line, " %47[a-z_] = %23[0-9] %1s", name, value, rest) != 2) {
        snprintf(wrong, sizeof(fault), "expected `name = value`, a whole number");
        return false;
    }
    errno = 0;
    long long number = strtoll(value, NULL, 10);
    if (strcmp(name, "end") == 0) {
        *ret_end = true;
        if (number != figures->count)
            snprintf(wrong, sizeof(fault), "end is %s, but %d figures stand above", value,
                     figures->count);
        return number == figures->count;
    }
    int index = tern_figure_index(name);
    const struct tern_figure_row *row = &tern_figure_rows[index < 0 ? 0 : index];
    if (index < 0)
        snprintf(wrong, sizeof(fault), "no figure is called %s (`mpi_info --model` shows all)",
                 name);
    else if (figures->given[index])
        snprintf(wrong, sizeof(fault), "%s stands here twice", name);
    else if (errno || number < row->least || number > row->most)
        snprintf(wrong, sizeof(fault), "%s is %s; expected %lld to %lld", name, value,
                 (long long)row->least, (long long)row->most);
    else
        figures->given[index] = true;
    if (*wrong)
        return false;
    figures->values[index] = number;
    figures->count++;
    return true;
}

static const char *first_missing(const struct tern_figures *figures)
{
    for (int i = 0; tern_figure_rows[i].name; i++)
        if (tern_figure_rows[i].measured && !figures->given[i])
            return tern_figure_rows[i].name;
    return NULL;
}

/* Reads all lines. Leaves `wrong` empty if all is well; *ret_line is the line of the fault. */
static void read_lines(char *text, bool all_measured, struct tern_figures *figures, int *ret_line,
                       fault wrong)
{
    bool end = false;
    while (!*wrong && text && *text) {
        char *line = strsep(&text, "\n");
        ++*ret_line;
        line[strcspn(line, "#\r")] = '\0';
        if (line[strspn(line, " \t")] == '\0')
            continue;
        if (end)
            snprintf(wrong, sizeof(fault), "there is more behind the end");
        else
            read_line(line, figures, &end, wrong);
    }
    const char *missing = all_measured ? first_missing(figures) : NULL;
    if (!*wrong && !end) {
        ++*ret_line;
        snprintf(wrong, sizeof(fault), "expected `end = %d` as the last line; is the file cut off?",
                 figures->count);
    } else if (!*wrong && missing) {
        snprintf(wrong, sizeof(fault), "%s is missing; the file is of another version", missing);
    }
}

int tern_figure_file_read(const char *path, bool all_measured, struct tern_figures *ret_figures)
{
    struct tern_figures figures = {0};
    fault wrong = "";
    const char *why;
    int line = 0;
    char *text = tern_read_text(path, &why);
    if (!text)
        return tern_error(TERN_ERR_ARG, "the model file %s cannot be read: %s", path, why);
    read_lines(text, all_measured, &figures, &line, wrong);
    free(text);
    if (*wrong)
        return tern_error(TERN_ERR_ARG, "%s line %d: %s", path, line, wrong);
    *ret_figures = figures;
    return 0;
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

static bool write_figures(FILE *file, const struct tern_figure *figures, int figure_count)
{
    fputs("# Measured by `mpi_info --measure` or mpicheck. Without this file the "
          "built-in figures are used.\n",
          file);
    for (int i = 0; i < figure_count; i++)
        fprintf(file, "%s = %lld\n", figures[i].name, (long long)figures[i].value);
    fprintf(file, "end = %d\n", figure_count);
    return fflush(file) == 0 && !ferror(file);
}

static int store_fault(const char *path, int error)
{
    return tern_error(TERN_ERR_OTHER, "the figures cannot be written to %s: %s", path,
                      strerror(error));
}

int tern_figure_file_store(const char *path, const struct tern_figure *figures, int figure_count)
{
    struct tern_fresh_file fresh; /* a job that starts now reads the old figures or the new ones */
    if (make_directories(path) || tern_fresh_file_begin(&fresh, path, 0666))
        return store_fault(path, errno);
    FILE *file = fdopen(dup(fresh.fd), "w");
    bool whole = file && write_figures(file, figures, figure_count);
    if (tern_fresh_file_end(&fresh, whole))
        whole = !store_fault(path, errno);
    if (file)
        fclose(file);
    return whole ? 0 : TERN_ERR_OTHER;
}
