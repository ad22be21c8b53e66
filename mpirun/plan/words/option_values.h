/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_OPTION_VALUES_H
#define TERN_MPIRUN_PLAN_OPTION_VALUES_H

/* Read the values of options and of parameters that need more than storing. `option` is where the
 * value was set, for messages. All return 0 or TERN_ERR_ARG. option_table.c says whose values they
 * read, policy.h has those of mapping and binding. */

#include "mpirun/plan/words/option_table.h"

/* of options */
tern_option_reader tern_option_check_arch, tern_option_check_memory_kinds,
    tern_option_read_stdin_target, tern_option_set_output_dir, tern_option_set_output_dir_only,
    tern_option_read_display, tern_option_read_output, tern_option_read_hosts,
    tern_option_set_per_node, tern_option_set_per_socket, tern_option_set_dry_run,
    tern_option_read_runtime,
    tern_option_set_name_server, tern_option_set_launch_agent,
    tern_option_set_initial_errhandler, tern_option_export_variable,
    tern_option_forward_all, tern_option_unset_variable;

/* of parameters */
tern_option_reader tern_option_choose_mapper, tern_option_check_filter, 
    tern_option_set_default_hosts, tern_option_set_default_slots, tern_option_choose_batch_systems,
    tern_option_set_machine,
    tern_option_set_end_grace, tern_option_set_verbosity, tern_option_set_startup_timeout,
    tern_option_set_env_delimiter, tern_option_set_env_list;

/* Gives NAME=VALUE, or NAME with mpirun's own value, to all ranks. */
tern_option_reader tern_option_give_variable;
/* Gives the variables of mca_base_env_list to all ranks. Call it when all settings were applied. */
int tern_option_give_list(struct tern_options *options);
/* Joins `values`[1] and the variable `values`[0], NAME or NAME[c] with the separator c; a colon
 * separates without it. `before`: the new text comes first. */
int tern_option_join_variable(const char *option, char *const *values, bool before,
                              struct tern_app *app);

#endif
