/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/report/text_page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/judge/standing.h"

enum { WHO_WIDTH = 14, HOSTS_MOST = 70, GOOD_MOST = 8, INTERRUPTED = 130 };

const char *tern_mc_severity_word(enum tern_mc_severity severity)
{
    static const char *const words[] = {"ok", "BUSY", "WARN", "FAIL", "DATA"};
    return words[severity];
}

static int count_of(const struct tern_mc_findings *findings, enum tern_mc_severity severity)
{
    int count = 0;
    for (int i = 0; i < findings->count; i++)
        count += findings->items[i].severity == severity;
    return count;
}

static char *add_count(char *text, int count, const char *one, const char *many)
{
    if (count == 0)
        return text;
    char *more =
        tern_mc_format("%s%s%d %s", text, *text ? ", " : "", count, count == 1 ? one : many);
    free(text);
    return more;
}

char *tern_mc_verdict(const struct tern_mc_result *result)
{
    const char *word = "well";
    char *text = tern_mc_format("%s", "");
    const struct tern_mc_findings *findings = result->findings;
    text = add_count(text, count_of(findings, TERN_MC_DATA), "case of wrong data",
                     "cases of wrong data");
    text = add_count(text, count_of(findings, TERN_MC_FAIL), "fault", "faults");
    text = add_count(text, count_of(findings, TERN_MC_WARN), "warning", "warnings");
    text = add_count(text, count_of(findings, TERN_MC_NOTE), "not measured", "not measured");
    if (result->unwritten) {
        char *more = tern_mc_format("%s%sa file could not be written", text, *text ? ", " : "");
        free(text);
        text = more;
    }
    if (result->exit_code == INTERRUPTED)
        word = "interrupted";
    else if (result->exit_code == 4)
        word = "WRONG DATA";
    else if (result->exit_code == 3)
        word = result->unwritten ? "not reported" : "could not measure";
    else if (result->exit_code == 2)
        word = "FAIL";
    else if (result->exit_code == 1)
        word = "warnings";
    char *verdict = *text ? tern_mc_format("%s (%s)", word, text) : tern_mc_format("%s", word);
    free(text);
    return verdict;
}

static void print_heading(const struct tern_mc_result *result, FILE *out)
{
    char when[64] = "";
    int here = 0;
    time_t begin = (time_t)result->data->begin;
    struct tm utc;
    if (gmtime_r(&begin, &utc))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
    for (int i = 0; i < result->data->count; i++)
        here += !result->data->hosts[i].gone || result->data->hosts[i].lacks;
    fprintf(out, "mpicheck %s   %d host%s asked, %d answered   %.1f s   %s\n", PACKAGE_VERSION,
            result->data->count, result->data->count == 1 ? "" : "s", here, result->seconds, when);
}

static void print_finding(const struct tern_mc_finding *finding, bool with_next, FILE *out)
{
    fprintf(out, "%-5s %-*s %s\n", tern_mc_severity_word(finding->severity), WHO_WIDTH,
            finding->who, finding->what);
    if (with_next && finding->next)
        fprintf(out, "%*s-> %s\n", WHO_WIDTH + 7, "", finding->next);
}

static int lines_of(const struct tern_mc_finding *finding)
{
    return finding->severity == TERN_MC_GOOD || !finding->next ? 1 : 2;
}

/* Prints findings of one severity, as many as fit into `room` lines. Returns the lines used, and
 * counts those left out. */
static int print_severity(const struct tern_mc_findings *findings, enum tern_mc_severity severity,
                          int room, int *left_out, FILE *out)
{
    int used = 0;
    for (int i = 0; i < findings->count; i++) {
        const struct tern_mc_finding *finding = &findings->items[i];
        if (finding->severity != severity)
            continue;
        bool both = used + lines_of(finding) <= room;
        if (!both && used + 1 > room) {
            (*left_out)++;
            continue;
        }
        print_finding(finding, both, out);
        used += both ? lines_of(finding) : 1;
    }
    return used;
}

/* Prints a line "LABEL (N): NAMES"; nothing if there are none, unless `always`. */
static void print_hosts(const struct tern_mc_result *result, enum tern_mc_standing standing,
                        const char *label, bool always, FILE *out)
{
    int *hosts = tern_mc_alloc(result->data->count, sizeof *hosts);
    int count = tern_mc_hosts_of(result, standing, hosts);
    char *names = tern_mc_names(result->data, hosts, count, HOSTS_MOST);
    if (count > 0 || always)
        fprintf(out, "%s (%d): %s\n", label, count, count ? names : "none");
    free(names);
    free(hosts);
}

void tern_mc_print_page(const struct tern_mc_result *result, FILE *out)
{
    static const enum tern_mc_severity order[] = {TERN_MC_DATA, TERN_MC_FAIL, TERN_MC_WARN,
                                                  TERN_MC_NOTE};
    const struct tern_mc_findings *findings = result->findings;
    /* the heading, lines about hosts, the verdict, where the report is, a line about the rest */
    int room = TERN_MC_LINES_MOST - 7, left_out = 0, good = count_of(findings, TERN_MC_GOOD);
    good = good > GOOD_MOST ? GOOD_MOST : good;
    print_heading(result, out);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        room -= print_severity(findings, order[i], room - good, &left_out, out);
    if (left_out > 0)
        fprintf(out, "...   %d more, in the report\n", left_out);
    left_out = 0;
    print_severity(findings, TERN_MC_GOOD, room, &left_out, out);
    print_hosts(result, TERN_MC_STANDS_GOOD, "good hosts", true, out);
    print_hosts(result, TERN_MC_STANDS_BAD, "bad hosts", false, out);
    print_hosts(result, TERN_MC_STANDS_OPEN, "hosts not measured", false, out);
    char *verdict = tern_mc_verdict(result);
    fprintf(out, "verdict: %s, exit %d\n", verdict, result->exit_code);
    free(verdict);
    if (result->directory)
        fprintf(out, "report: %s/report.html\n", result->directory);
}
