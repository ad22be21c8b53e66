/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_ALLOCATION_H
#define TERN_MPIRUN_PLAN_ALLOCATION_H

/* The hosts that a batch system gave us, as its variables and files say. The parsers are pure. */

#include "mpirun/plan/host_list.h"

/* Adds the hosts of the allocation that we run in; nothing where there is none. `ret_where`: its
 * name for messages. TERN_ERR_ARG: the batch system's own words cannot be understood. */
int tern_allocation_find(struct tern_host_list *list, const char **ret_where);

/* Whose job are we in? */
enum tern_batch_system { TERN_NO_BATCH_SYSTEM, TERN_SLURM, TERN_PBS, TERN_LSF, TERN_GRID_ENGINE };
enum tern_batch_system tern_allocation_system(void);

/* Is it a Slurm job of one component, whose hosts one srun reaches? */
bool tern_allocation_has_srun(void);
/* What an LSF or Grid Engine job has in ssh's place, if it is there: *ret_words is the command that
 * starts a program on another host of the job. None elsewhere: PBS's pbsdsh passes on no standard
 * input. */
void tern_allocation_starter(struct tern_strings *ret_words);

/* Slurm's list "n[1-3,07],gpu-a" as single names. 0 or TERN_ERR_ARG. */
int tern_slurm_expand(const char *text, struct tern_strings *names);
/* Slurm's numbers "2(x3),1" for `count` hosts. 0 or TERN_ERR_ARG. */
int tern_slurm_numbers(const char *text, int count, int *ret_numbers);
/* A file with a host per line: "HOST", as often as it has slots (PBS, LSF); or "HOST SLOTS ..."
 * (Grid Engine, one line for each of the host's queues; `with_slots`). 0 or TERN_ERR_ARG. The
 * second takes the file's contents. */
int tern_allocation_read(const char *path, bool with_slots, struct tern_host_list *list);
int tern_allocation_parse(const char *path, const char *text, bool with_slots,
                          struct tern_host_list *list);

#endif
