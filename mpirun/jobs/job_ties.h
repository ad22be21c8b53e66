/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOBS_JOB_TIES_H
#define TERN_MPIRUN_JOBS_JOB_TIES_H

/*
 * Which jobs are connected to which (MPI-4.1 section 11.10.4). A connected rank reports words: the
 * name of its job and the names of the jobs to which it is connected (tern_report_joined). The
 * words of a job are those of all its ranks. Two jobs are connected if they have a word in common,
 * or if both are connected to a third one. A job that fails while it disconnects from another one
 * has nothing to do with that one any more; a job that disconnects from one that fails has.
 */

#include <stdbool.h>

/* Takes the words of a rank of this mpirun's job in place of its former ones. *former is NULL
 * at first, and owned by the caller. Returns true if the job's words have changed. */
bool tern_ties_note(char **former, const char *words);
/* Returns the words of this mpirun's job, at most `most` bytes. The caller frees them. */
char *tern_ties_words(int most);

/* Finds the jobs that are connected to job `from`: ret_tied[i] says whether job i is. Each job has
 * its words; a job without any is connected to nobody. */
void tern_ties_find(const char *const words[], int count, int from, bool ret_tied[]);

/* Returns true if these jobs are connected to no other one than each other. */
bool tern_ties_are_closed(const char *const words[], int count);

#endif
