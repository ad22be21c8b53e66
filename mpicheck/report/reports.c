/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/report/reports.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "lib/util/base/log.h"
#include "lib/util/base/text.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/judge/model.h"
#include "mpicheck/data/whole_file.h"
#include "mpicheck/judge/standing.h"

/* ---- pieces of JSON ---- */

void tern_mc_print_string(const char *text, FILE *out)
{
    putc('"', out);
    while (*text) {
        int length = tern_text_character(text);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (strchr("<>&", *text))
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length ? length : 1;
    }
    putc('"', out);
}

/* Prints a figure that was computed; 0 if it is not finite, which JSON has no word for. */
static void print_figure(const char *name, double value, FILE *out)
{
    fprintf(out, ",\"%s\":%.9g", name, isfinite(value) ? value : 0);
}

/* ---- report.json ---- */

static void print_names(const struct tern_mc_data *data, const int *hosts, int count, FILE *out)
{
    putc('[', out);
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        tern_mc_print_string(data->hosts[hosts[i]].name, out);
    }
    putc(']', out);
}

static void print_findings(const struct tern_mc_result *result, FILE *out)
{
    bool first = true;
    fputs("\"findings\":[", out);
    for (int i = 0; i < result->findings->count; i++) {
        const struct tern_mc_finding *finding = &result->findings->items[i];
        fprintf(out, "%s\n {\"id\":\"%s\",\"severity\":\"%s\",\"hosts\":", first ? "" : ",",
                finding->id, tern_mc_severity_word(finding->severity));
        first = false;
        print_names(result->data, finding->hosts, finding->host_count, out);
        fputs(",\"peers\":", out);
        print_names(result->data, finding->peers, finding->peer_count, out);
        fputs(",\"who\":", out);
        tern_mc_print_string(finding->who, out);
        fputs(",\"text\":", out);
        tern_mc_print_string(finding->what, out);
        fputs(",\"remedy\":", out);
        tern_mc_print_string(finding->next ? finding->next : "", out);
        print_figure("value", finding->value, out);
        print_figure("expected", finding->expected, out);
        putc('}', out);
    }
    fputs("],\n", out);
}

static void print_host(const struct tern_mc_host *host, FILE *out)
{
    fputs(" {\"name\":", out);
    tern_mc_print_string(host->name, out);
    fprintf(out, ",\"answers\":%s,\"why\":", host->gone ? "false" : "true");
    tern_mc_print_string(host->gone ? host->gone : host->unmeasured ? host->unmeasured : "", out);
    fprintf(out, ",\"memory_gbs\":%.4g,\"pause_ms\":%.4g,\"clock_s\":%.7g,\"clock_error_s\":%.7g,"
            "\"last\":%.4g,\"cores\":[", host->memory_gbs, host->pause_ms, host->clock_s,
            host->clock_error_s, host->last);
    for (int i = 0; i < host->core_count; i++)
        fprintf(out, "%s[%d,%.1f,%.3f]", i ? "," : "", host->cores[i].cpu, host->cores[i].work_us,
                host->cores[i].share);
    fputs("],\"facts\":{", out);
    for (int i = 0; i < host->fact_count; i++) {
        fputs(i ? "," : "", out);
        tern_mc_print_string(host->facts[i].key, out);
        putc(':', out);
        tern_mc_print_string(host->facts[i].value, out);
    }
    fputs("},\"paths\":[", out);
    for (int i = 0; i < host->socket_count; i++) {
        fprintf(out, "%s[", i ? "," : "");
        tern_mc_print_string(host->sockets[i].nic, out);
        putc(',', out);
        tern_mc_print_string(host->sockets[i].own, out);
        putc(',', out);
        tern_mc_print_string(host->sockets[i].other, out);
        fprintf(out, ",%.0f,%.0f]", host->sockets[i].segments, host->sockets[i].resent);
    }
    fputs("]}", out);
}

static void print_matrix(const struct tern_mc_data *data, const char *name, const float *values,
                         FILE *out)
{
    fprintf(out, "\"%s\":[", name);
    for (int a = 0; a < data->count; a++) {
        fputs(a ? ",\n [" : "\n [", out);
        for (int b = 0; b < data->count; b++)
            fprintf(out, "%s%.5g", b ? "," : "",
                    (double)values[(size_t)a * (size_t)data->count + (size_t)b]);
        putc(']', out);
    }
    fputs("]", out);
}

void tern_mc_print_summary(const struct tern_mc_result *result, FILE *out)
{
    const struct tern_mc_data *data = result->data;
    char *verdict = tern_mc_verdict(result);
    fprintf(out, "\"schema\":\"tern-mpicheck/1\",\"version\":\"%s\",\"begin\":%.0f,"
            "\"seconds\":%.3f,\"exit\":%d,\"interrupted\":%s,\"verdict\":", PACKAGE_VERSION,
            data->begin, result->seconds, result->exit_code,
            result->interrupted ? "true" : "false");
    tern_mc_print_string(verdict, out);
    free(verdict);
    fputs(",\n\"phases\":[", out);
    for (int i = 0; i < data->phase_count; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        tern_mc_print_string(data->phases[i].name, out);
        fprintf(out, ",\"seconds\":%.3f,\"result\":", data->phases[i].seconds);
        tern_mc_print_string(data->phases[i].result, out);
        putc('}', out);
    }
    fputs("],\n", out);
    print_findings(result, out);
}

static void print_standing(const struct tern_mc_result *result, enum tern_mc_standing standing,
                           const char *key, FILE *out)
{
    int *hosts = tern_mc_alloc(result->data->count, sizeof *hosts);
    int count = tern_mc_hosts_of(result, standing, hosts);
    fprintf(out, "\"%s\":", key);
    print_names(result->data, hosts, count, out);
    fputs(",\n", out);
    free(hosts);
}

void tern_mc_write_json(const struct tern_mc_result *result, FILE *out)
{
    const struct tern_mc_data *data = result->data;
    putc('{', out);
    tern_mc_print_summary(result, out);
    print_standing(result, TERN_MC_STANDS_GOOD, "good", out);
    print_standing(result, TERN_MC_STANDS_BAD, "bad", out);
    print_standing(result, TERN_MC_STANDS_OPEN, "not_measured", out);
    fprintf(out, "\"together\":{\"bisection_mbps\":%.5g,\"allreduce_us\":%.5g,"
            "\"alltoall_mbps\":%.5g},\n\"hosts\":[\n", data->bisection, data->allreduce_us,
            data->alltoall);
    for (int i = 0; i < data->count; i++) {
        fputs(i ? ",\n" : "", out);
        print_host(&data->hosts[i], out);
    }
    fputs("],\n", out);
    print_matrix(data, "bandwidth_mbps", data->bandwidth, out);
    fputs(",\n", out);
    print_matrix(data, "latency_us", data->least, out);
    fputs("}\n", out);
}

/* ---- junit.xml ---- */

static void print_xml(const char *text, FILE *out)
{
    while (*text) {
        int length = tern_text_character(text);
        if (length == 0)
            fputs("&#xfffd;", out);
        else if (strchr("&<>\"", *text))
            fprintf(out, "&#%d;", *text);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length ? length : 1;
    }
}

void tern_mc_write_junit(const struct tern_mc_result *result, FILE *out)
{
    const struct tern_mc_findings *findings = result->findings;
    int failures = 0, skipped = 0;
    for (int i = 0; i < findings->count; i++) {
        failures += findings->items[i].severity >= TERN_MC_WARN;
        skipped += findings->items[i].severity == TERN_MC_NOTE;
    }
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"mpicheck\" tests=\"%d\" failures=\"%d\" skipped=\"%d\" "
            "time=\"%.3f\">\n", findings->count, failures, skipped, result->seconds);
    for (int i = 0; i < findings->count; i++) {
        const struct tern_mc_finding *finding = &findings->items[i];
        const char *tag = finding->severity >= TERN_MC_WARN   ? "failure"
                          : finding->severity == TERN_MC_NOTE ? "skipped"
                                                              : "system-out";
        fprintf(out, " <testcase classname=\"mpicheck.%s\" name=\"", finding->id);
        print_xml(finding->who, out);
        fprintf(out, "\"><%s%s", tag, finding->severity >= TERN_MC_NOTE ? " message=\"" : ">");
        print_xml(finding->what, out);
        if (finding->severity >= TERN_MC_NOTE)
            fputs("\">", out);
        if (finding->severity >= TERN_MC_WARN && finding->next)
            print_xml(finding->next, out);
        fprintf(out, "</%s></testcase>\n", tag);
    }
    fputs("</testsuite>\n", out);
}

/* ---- files ---- */

static void write_hosts(const struct tern_mc_result *result, enum tern_mc_standing standing,
                        FILE *out)
{
    int *hosts = tern_mc_alloc(result->data->count, sizeof *hosts);
    int count = tern_mc_hosts_of(result, standing, hosts);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s\n", result->data->hosts[hosts[i]].name);
    free(hosts);
}

static void write_good(const struct tern_mc_result *result, FILE *out)
{
    write_hosts(result, TERN_MC_STANDS_GOOD, out);
}

static void write_bad(const struct tern_mc_result *result, FILE *out)
{
    write_hosts(result, TERN_MC_STANDS_BAD, out);
}

/* Writes model.conf, or removes that of an earlier check if there are no figures now. */
static int write_model(const struct tern_mc_result *result)
{
    char path[PATH_MAX];
    struct tern_mc_model model;
    snprintf(path, sizeof path, "%s/model.conf", result->directory);
    if (tern_mc_model_of(result->data, result->findings, &model))
        return tern_mc_model_store(&model, path);
    unlink(path);
    return 0;
}

static bool write_file(const struct tern_mc_result *result, const char *name,
                       void (*write)(const struct tern_mc_result *, FILE *))
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", result->directory, name);
    FILE *file = fopen(path, "we");
    if (file)
        write(result, file);
    return tern_mc_end_file(file, path);
}

void tern_mc_write_reports(struct tern_mc_result *result)
{
    static const struct {
        const char *name;
        void (*write)(const struct tern_mc_result *, FILE *);
    } files[] = {
        {"report.txt", tern_mc_print_page}, {"report.json", tern_mc_write_json},
        {"report.html", tern_mc_write_html}, {"junit.xml", tern_mc_write_junit},
        {"good.hosts", write_good},          {"bad.hosts", write_bad},
    };
    enum { COUNT = sizeof files / sizeof *files };
    bool failed[COUNT] = {0}, known = result->unwritten;
    bool unwritten = write_model(result) != 0;
    for (int i = 0; i < COUNT; i++)
        unwritten |= (failed[i] = !write_file(result, files[i].name, files[i].write));
    if (!unwritten)
        return;
    result->unwritten = true;
    result->exit_code = result->exit_code < 3 ? 3 : result->exit_code;
    for (int i = 0; !known && i < COUNT; i++)
        if (!failed[i])
            write_file(result, files[i].name, files[i].write);
}
