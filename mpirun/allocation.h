/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_ALLOCATION_H
#define TERN_MPIRUN_ALLOCATION_H

/* The hosts that a batch system gave us, as its variables and files say. The parsers are pure. */

#include "mpirun/hosts.h"

/* Adds the hosts of the allocation that we run in; nothing where there is none. `ret_where`: its
 * name for messages. TERN_ERR_ARG: the batch system's own words cannot be understood. */
int tern_allocation_find(struct tern_host_list *list, const char **ret_where);

/* Are we in a Slurm job, whose hosts srun reaches? */
bool tern_allocation_is_slurm(void);

/* Slurm's list "n[1-3,07],gpu-a" as single names. 0 or TERN_ERR_ARG. */
int tern_slurm_expand(const char *text, struct tern_strings *names);
/* Slurm's numbers "2(x3),1" for `count` hosts. 0 or TERN_ERR_ARG. */
int tern_slurm_numbers(const char *text, int count, int *ret_numbers);
/* A file with a host per line: "HOST", as often as it has slots (PBS, LSF); or "HOST SLOTS ..."
 * (Grid Engine, `with_slots`). 0 or TERN_ERR_ARG. The second takes the file's contents. */
int tern_allocation_read(const char *path, bool with_slots, struct tern_host_list *list);
int tern_allocation_parse(const char *path, const char *text, bool with_slots,
                          struct tern_host_list *list);

#endif
