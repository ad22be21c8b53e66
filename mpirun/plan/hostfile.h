/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HOSTFILE_H
#define TERN_MPIRUN_PLAN_HOSTFILE_H

/* Hostfiles: a host per line, "NAME [slots=N] [max-slots=N]". */

#include "mpirun/plan/host_list.h"

/* Reads one line. 0, 1: an empty or comment line, or TERN_ERR_ARG. */
int tern_hostfile_parse_line(const char *line, struct tern_host_entry *ret_entry);
/* Adds the hosts of the text of a file, for which `path` stands in sentences. May ask the resolver,
 * and block. 0 or TERN_ERR_ARG. */
int tern_hostfile_parse(const char *path, const char *text, struct tern_host_list *list);
/* Does the same for a file. 0 or TERN_ERR_ARG. */
int tern_hostfile_read(const char *path, struct tern_host_list *list);

#endif
