/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HOSTFILE_H
#define TERN_MPIRUN_PLAN_HOSTFILE_H

/* Hostfiles: one host per line, "NAME [slots=N] [max-slots=N]". */

#include "mpirun/plan/hosts/host_list.h"

/* Reads one line. Returns 0, 1 if the line is empty or a comment, or TERN_ERR_ARG. */
int tern_hostfile_parse_line(const char *line, struct tern_host_entry *ret_entry);
/* Adds the hosts of a hostfile's text. `path` names the file in messages. Returns 0 or
 * TERN_ERR_ARG. May ask the resolver, and block. */
int tern_hostfile_parse(const char *path, const char *text, struct tern_host_list *list);
/* Reads the file and adds its hosts, as tern_hostfile_parse does. Returns 0 or TERN_ERR_ARG. */
int tern_hostfile_read(const char *path, struct tern_host_list *list);

#endif
