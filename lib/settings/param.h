/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_H
#define TERN_PARAM_H

/*
 * Parameters: one namespace, with Open MPI's names where the meaning is equal. The value comes from
 * the first of these that has one:
 *
 *   1. a tool (tern_param_write)
 *   2. the environment, OMPI_MCA_NAME (mpirun's --mca sets it)
 *   3. the files $OMPI_MCA_mca_param_files, or ~/.openmpi/mca-params.conf, ~/.prte/mca-params.conf
 *      and then PREFIX/etc/openmpi-mca-params.conf (lines `name = value`, # comments)
 *   4. the default
 */

#include "lib/settings/setting.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checks the values of all parameters. Returns 0, or TERN_ERR_ARG for the first value that its
 * parameter does not allow; the text says where it was set and what is expected. Also refuses
 * figures (lib/settings/figures.h), which were parameters once. */
int tern_param_check_all(void);
/* Checks the value of `name`, which must be in a table. Returns like tern_param_check_all. */
int tern_param_check(const char *name);
/* Checks `text`, which somebody gave to `name` at `where`, such as "--mca". Returns like
 * tern_param_check_all. A name that is neither in a table nor an alias may have every value, except
 * some of Open MPI's names (lib/settings/open_mpi.h). */
int tern_param_check_text(const char *name, const char *text, const char *where);

/* Returns the value of `name`, which must be in a table (else aborts: a programming error). Sizes
 * accept k, m, g (powers of 1024). Returns the default if the value is not allowed. Not for hot
 * paths. */
int64_t tern_param_int(const char *name);
bool tern_param_bool(const char *name);
/* Returns the value of a string parameter, or NULL if it is unset and has no default. The text
 * lives as long as the process. */
const char *tern_param_string(const char *name);

/* Returns the value of a parameter with choices: the index of the choice, or -1 if the value is not
 * one of them. */
int tern_param_choice(const char *name);
/* The same for a parameter that `list` may set, too. The stronger source counts; of two that are
 * equal, the list. */
int tern_param_choice_in_list(const char *list, const char *name);
/* Returns the index of the choice `text`, or -1 if there is no such choice or no such parameter. */
int tern_param_find_choice(const char *name, const char *text);

/* Sets a value that prevails over all other sources. Returns 0; TERN_ERR_ARG if the parameter does
 * not allow it; or TERN_ERR_NO_MEM. Any thread may call.
 * Other threads see either the old or the new value. */
int tern_param_write(const char *name, const char *text);
/* Returns a number that grows with every tern_param_write. */
unsigned tern_param_changes(void);
/* Checks a value like tern_param_check_text, and writes it. `param`: the row of the parameter; if
 * NULL, no table has it, and nothing is written. */
int tern_param_set(const struct tern_setting *param, const char *name, const char *text,
                   const char *where);

/* For code that needs a value often. tern_param_keep looks the value up once, and again after each
 * tern_param_write. It returns the value, or for a parameter with choices the index. `kept` must be
 * static and belong to one name. Several threads may call at the same time. */
struct tern_param_kept {
    unsigned asked; /* 1 + tern_param_changes() at the last look-up; 0: never looked up */
    int64_t value;
};
int64_t tern_param_keep(struct tern_param_kept *kept, const char *name);

/* Says which settings of the environment and of the parameter files have no effect: names that are
 * probably misspelt ones of ours, and parameters that choose algorithms of Open MPI. For a process
 * that no mpirun of ours has started, and for what its ranks set themselves. */
void tern_param_say_useless(void);

/* Returns the source of the value of `name`: "tool", "default", "environment", or the name of a
 * file. */
const char *tern_param_source(const char *name);

#endif
