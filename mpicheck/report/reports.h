/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_REPORTS_H
#define TERN_MPICHECK_REPORTS_H

#include "mpicheck/report/text_page.h"

/* The files of a report. All functions print to a file that is open, and leave errors of writing
 * to its owner. */

/* report.json: all that was measured and found. mpicheck(1) has the schema; `schema` changes when a
 * program that reads the file must change. */
void tern_mc_write_json(const struct tern_mc_result *result, FILE *out);

/* Prints what both report.json and report.html begin with: the verdict, phases and findings. */
void tern_mc_print_summary(const struct tern_mc_result *result, FILE *out);

/* report.html: one page without network and library. */
void tern_mc_write_html(const struct tern_mc_result *result, FILE *out);

/* junit.xml: a test case for each kind of finding, for CI. */
void tern_mc_write_junit(const struct tern_mc_result *result, FILE *out);

/* Prints a text as a JSON string, with its quotes. "<" is escaped, for the page in HTML. A byte
 * that is not printable UTF-8 becomes U+FFFD. */
void tern_mc_print_string(const char *text, FILE *out);

/* Writes report.txt, report.json, report.html, junit.xml, good.hosts, bad.hosts and, if the network
 * was measured, model.conf into the result's directory. If a file cannot be written, a message and
 * the other files say so; result->unwritten is set, and the exit code is 3 at least. */
void tern_mc_write_reports(struct tern_mc_result *result);

#endif
