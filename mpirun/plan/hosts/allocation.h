/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_ALLOCATION_H
#define TERN_MPIRUN_PLAN_ALLOCATION_H

/* The hosts that a batch system gave this job, read from its environment variables and files. The
 * parsers are pure functions. */

#include "mpirun/plan/hosts/host_list.h"

/* Adds the hosts of the batch job that mpirun runs in. Adds nothing outside a batch job. *ret_where
 * is then set to the allocation's name for messages. Returns 0, or TERN_ERR_ARG if the batch
 * system's data cannot be understood. */
int tern_allocation_find(struct tern_host_list *list, const char **ret_where);

/* The batch systems whose allocations mpirun reads. */
enum tern_batch_system { TERN_NO_BATCH_SYSTEM, TERN_SLURM, TERN_PBS, TERN_LSF, TERN_GRID_ENGINE };
/* Returns the batch system whose job mpirun runs in. */
enum tern_batch_system tern_allocation_system(void);

/* Limits the batch systems whose hosts are used to those that `list` permits: names of Open MPI's
 * parameter ras (slurm, tm, lsf, gridengine), or names to leave out after a ^. NULL: all. The
 * system's own starter of programs is used all the same. Keeps the pointer. */
void tern_allocation_limit(const char *list);
/* Returns the batch system whose hosts are used, after tern_allocation_limit. */
enum tern_batch_system tern_allocation_used(void);

/* Returns the variable with the hosts of the batch job that mpirun runs in, if this variable alone
 * is missing, so that the hosts are unknown; else NULL. */
const char *tern_allocation_lacks(void);

/* Returns true if this is a Slurm job of one component, so that a single srun reaches all its
 * hosts. */
bool tern_allocation_has_srun(void);
/* Stores in *ret_words the command that starts a program on another host of an LSF or Grid Engine
 * job, in place of ssh. Leaves the list empty if there is no such command. PBS has none here: its
 * pbsdsh does not pass on standard input. */
void tern_allocation_starter(struct tern_strings *ret_words);

/* Expands Slurm's list "n[1-3,07],gpu-a" into single names. Returns 0 or TERN_ERR_ARG. */
int tern_slurm_expand(const char *text, struct tern_strings *names);
/* Expands Slurm's numbers "2(x3),1" into one number for each of `count` hosts. Returns 0 or
 * TERN_ERR_ARG. */
int tern_slurm_numbers(const char *text, int count, int *ret_numbers);
/* Adds the hosts of a batch system's file, which has one host per line. PBS and LSF repeat "HOST"
 * once for each slot. Grid Engine (`with_slots`) writes "HOST SLOTS ...", one line for each queue
 * of the host. tern_allocation_parse takes the file's contents; `path` is for messages. Both return
 * 0 or TERN_ERR_ARG. */
int tern_allocation_read(const char *path, bool with_slots, struct tern_host_list *list);
int tern_allocation_parse(const char *path, const char *text, bool with_slots,
                          struct tern_host_list *list);

#endif
