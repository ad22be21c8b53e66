/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RTE_REPORT_H
#define TERN_RTE_REPORT_H

/* The dialogue between a rank and our launcher, without PMIx (lib/util/net/launcher.h). Any thread
 * may call. */

#include "lib/util/net/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if our launcher started this process and can be reached by its socket. Then sets
 * *ret_appnum to the program's number in the command line. If false, ask PMIx. */
bool tern_report_learn(uint32_t *ret_appnum);

/* Connects to the launcher: this process is in MPI until tern_report_close. Returns false if the
 * launcher cannot be reached by its socket. */
bool tern_report_open(void);
/* Returns true between tern_report_open and tern_report_close. */
bool tern_report_is_open(void);
/* Reports that this rank is in MPI_Init and waits for all others. */
void tern_report_world(void);
/* Reports that this process leaves MPI, and disconnects. */
void tern_report_close(void);

struct tern_rte_fetch;
/* Publishes how to reach this rank, for tern_rte_publish, which has checked the length. */
void tern_report_card(const void *bytes, size_t length, uint64_t own);
/* Starts to fetch another rank's card, as tern_rte_seek does. */
void tern_report_seek(uint32_t rank, struct tern_rte_fetch *fetch);
/* Cancels that. On return the caller may reuse `fetch`. */
void tern_report_forget(struct tern_rte_fetch *fetch);
/* Returns this MPI program's number in the rank's place (tern_rte_program); 0: not known yet. */
uint32_t tern_report_program(void);
/* Reports whether this process is connected to other jobs, and to which: `jobs` has the words that
 * name its own job and those. Empty: to none. */
void tern_report_joined(enum tern_joined how, const char *jobs);
/* Passes a question to mpirun (lib/util/net/question.h). Returns false if the launcher does not
 * listen. */
bool tern_report_ask(const char *question);
/* Like tern_rte_meet and tern_rte_has_met. */
void tern_report_meet(void (*notify)(void));
bool tern_report_has_met(void);

/* Like tern_rte_tell_unreached and tern_rte_on_unreached. */
void tern_report_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes,
                           const char *text);
void tern_report_on_unreached(tern_unreached_taker *heard);

/* Asks the launcher to print `text` if no rank of the job has sent this remark before. Returns
 * false if the launcher cannot be reached by its socket. */
bool tern_report_remark(enum tern_remark remark, const char *text);

/* Reports that signal `number` ends this process; `text` of `length` bytes says where. Returns
 * false if the launcher cannot be reached by its socket. Async-signal-safe. */
bool tern_report_crash(int number, const char *text, size_t length);

/* The descriptor becomes readable when replies arrive; -1: there is none. tern_report_attend then
 * reads them. It returns false if the launcher has ended. */
int tern_report_fd(void);
bool tern_report_attend(void);

/* Asks the launcher to end the job, this process included. Returns only if the launcher has
 * ended. */
void tern_report_abort(int status);

#endif
