/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RTE_REPORT_H
#define TERN_RTE_REPORT_H

/* What a rank and our launcher say to each other, without PMIx (lib/util/launcher.h). Any thread
 * may call. */

#include "lib/util/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Did our launcher start this process, and is it within reach? Then which program of the command
 * line this is. False: PMIx must be asked. */
bool tern_report_learn(uint32_t *ret_appnum);

/* In MPI from now on, until tern_report_close. False: the launcher cannot be reached in this way.
 */
bool tern_report_open(void);
/* Is it, in this way? */
bool tern_report_is_open(void);
/* Awaits all others in MPI_Init. */
void tern_report_world(void);
void tern_report_close(void);

struct tern_rte_fetch;
/* How this rank is reached (tern_rte_publish, which has looked whether that is too long). */
void tern_report_card(const void *bytes, size_t length, uint64_t own);
void tern_report_seek(uint32_t rank, struct tern_rte_fetch *fetch);
void tern_report_forget(struct tern_rte_fetch *fetch);
/* 0: not known yet. */
uint32_t tern_report_program(void);
/* As tern_rte_meet and tern_rte_has_met. */
void tern_report_meet(void (*notify)(void));
bool tern_report_has_met(void);

/* As tern_rte_tell_unreached and tern_rte_on_unreached. */
void tern_report_unreached(uint32_t rank, uint32_t lanes, const char *text);
void tern_report_on_unreached(void (*heard)(uint32_t rank, uint32_t lanes, const char *text));

/* The launcher says the text, if it is the job's first of this kind. Returns false if the launcher
 * cannot be reached in this way. */
bool tern_report_remark(enum tern_remark remark, const char *text);

/* Readable when there are answers; and takes them. False: the launcher has gone. */
int tern_report_fd(void);
bool tern_report_attend(void);

/* The launcher ends the job, and this process with it. Returns only if the launcher has gone. */
void tern_report_abort(int status);

#endif
