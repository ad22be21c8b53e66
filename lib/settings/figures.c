/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/figures.h"

#include "lib/util/base/error.h"
#include "lib/settings/figure_file.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tern_figures figures;
static bool was_read;
static char source[PATH_MAX];

/* Reads the figures that mpirun gave us. mpirun has checked them. */
static void read_environment(const char *text)
{
    char name[48];
    long long value;
    int length;
    snprintf(source, sizeof source, "mpirun");
    for (; sscanf(text, " %47[a-z_]=%lld%n", name, &value, &length) == 2; text += length) {
        int index = tern_figure_index(name);
        if (index < 0)
            continue;
        figures.given[index] = true;
        figures.values[index] = value;
    }
}

/* Reads the file that `mpi_info --measure` has written, if there is one. */
static void read_own_file(void)
{
    if (tern_figure_file_path(source, sizeof source) || access(source, R_OK))
        return;
    int error = tern_figure_file_read(source, true, &figures);
    if (error)
        tern_log("%s. The built-in figures are used; call `mpi_info --measure` again",
                 tern_error_text(error));
}

int tern_figures_read(void)
{
    if (was_read)
        return 0;
    const char *job = getenv("PMIX_NAMESPACE"), *given = getenv("TERN_FIGURES");
    const char *named = tern_param_string("coll_model_file");
    bool is_rank = job && getenv("PMIX_RANK");
    int error = 0;
    /* only ranks of our jobs: else the variable is of a job around this process */
    if (is_rank && strncmp(job, "tern-", 5) == 0 && given) {
        read_environment(given);
    } else if (named && *named) {
        snprintf(source, sizeof source, "%s", named);
        error = tern_figure_file_read(source, false, &figures);
    } else if (!is_rank) {
        read_own_file();
    }
    was_read = !error;
    return error;
}

static int expect(const char *name)
{
    int index = tern_figure_index(name);
    if (index < 0) {
        tern_log("figure %s stands in no table (lib/settings/figure_table.h)", name);
        abort();
    }
    tern_figures_read();
    return index;
}

int64_t tern_figure(const char *name)
{
    int index = expect(name);
    return figures.given[index] ? figures.values[index] : tern_figure_rows[index].preset;
}

bool tern_figure_given(const char *name)
{
    return figures.given[expect(name)];
}

const char *tern_figure_source(const char *name)
{
    return figures.given[expect(name)] ? source : "default";
}

char *tern_figures_of_job(void)
{
    enum { ROOM = TERN_FIGURES_MAX * 80 };
    char *text = malloc(ROOM);
    if (!text)
        return NULL;
    int64_t cores = tern_figure("coll_cores");
    int used = snprintf(text, ROOM, "coll_cores=%lld",
                        cores ? (long long)cores : (long long)sysconf(_SC_NPROCESSORS_ONLN));
    for (int i = 0; tern_figure_rows[i].name; i++)
        if (figures.given[i] && strcmp(tern_figure_rows[i].name, "coll_cores") != 0)
            used += snprintf(text + used, ROOM - (size_t)used, " %s=%lld", tern_figure_rows[i].name,
                             (long long)figures.values[i]);
    return text;
}
