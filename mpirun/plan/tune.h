/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_TUNE_H
#define TERN_MPIRUN_PLAN_TUNE_H

/* Parameters and variables for all ranks that are kept in files or lists: --tune, --am,
 * mca_base_env_list. `origin` is the option or parameter, for messages. All return 0 or
 * TERN_ERR_ARG. */

#include "mpirun/plan/options.h"

/* Sets a parameter that stands in the file and line `where`. Returns 0 or TERN_ERR_ARG. */
typedef int tern_tune_setter(const char *where, const char *name, const char *value,
                             struct tern_options *options);

/* Reads files, separated by commas, whose words are -x NAME=VALUE and --mca NAME VALUE. What the
 * command line says prevails: call it before the command line is read. */
int tern_tune_read(const char *origin, const char *files, tern_tune_setter *set,
                   struct tern_options *options);
/* Reads files, separated by commas, of lines NAME = VALUE. A file without a slash is also looked
 * for in share/openmpi/amca-param-sets of the installation. A parameter that the environment sets
 * keeps that value. */
int tern_tune_read_settings(const char *origin, const char *files, tern_tune_setter *set,
                            struct tern_options *options);
/* Notes the variables for all ranks, "A=1;B", where B has mpirun's value. A later list replaces an
 * earlier one. `list` must live as long as `options`. */
int tern_tune_set_variables(const char *origin, const char *list, struct tern_options *options);
/* Sets the character that separates the variables of the list. It is ";" at first. */
int tern_tune_set_delimiter(const char *origin, const char *text, struct tern_options *options);
/* Gives the variables of the list to all ranks. Call it when all options were read. */
int tern_tune_give_variables(struct tern_options *options);

#endif
