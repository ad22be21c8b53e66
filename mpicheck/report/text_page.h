/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_TEXT_PAGE_H
#define TERN_MPICHECK_TEXT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "mpicheck/judge/findings.h"

enum { TERN_MC_LINES_MOST = 25 };

/* Prints the page: a heading, findings, what is well, the verdict. At most TERN_MC_LINES_MOST
 * lines. */
void tern_mc_print_page(const struct tern_mc_result *result, FILE *out);

/* Returns the word for a severity in all reports, such as "FAIL". */
const char *tern_mc_severity_word(enum tern_mc_severity severity);

/* Returns the verdict in words, such as "FAIL (2 faults, 1 warning)". The caller frees it. */
char *tern_mc_verdict(const struct tern_mc_result *result);

#endif
