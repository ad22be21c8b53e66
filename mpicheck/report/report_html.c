/* SPDX-License-Identifier: BSD-3-Clause */

/* report.html: the page in page.html with the data in its middle. Matrices are 16-bit numbers in
 * base64, so that the page of 1,000 hosts has some 15 MB. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/judge/judge_facts.h"
#include "mpicheck/data/medians.h"
#include "mpicheck/report/reports.h"

static const char *const page[] = {
#include "mpicheck/report/page.inc"
};

enum { VALUES_MOST = 20, ADDRESSES_MOST = 64, CODE_MOST = 65535 };
/* A value is least * exp((code - 1) * step); code 0 is "not measured". */
static const double scale_least = 1e-3, scale_step = 5e-4;

/* ---- matrices ---- */

static unsigned code_of(float value)
{
    if (!(value > 0))
        return 0;
    double code = 1 + floor(log((double)value / scale_least) / scale_step + 0.5);
    return code < 1 ? 1 : code > CODE_MOST ? CODE_MOST : (unsigned)code;
}

/* What is written in base64: three bytes become four letters. */
struct letters {
    FILE *out;
    unsigned bits;
    int bytes;
};

static void print_letters(struct letters *letters, int count)
{
    static const char of[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 4; i++)
        putc(i < count ? of[letters->bits >> (18 - 6 * i) & 63] : '=', letters->out);
    letters->bits = 0;
    letters->bytes = 0;
}

static void put_byte(struct letters *letters, unsigned byte)
{
    letters->bits |= (byte & 255) << (16 - 8 * letters->bytes);
    if (++letters->bytes == 3)
        print_letters(letters, 4);
}

static void put_code(struct letters *letters, unsigned code)
{
    put_byte(letters, code);
    put_byte(letters, code >> 8);
}

static void end_letters(struct letters *letters)
{
    if (letters->bytes > 0)
        print_letters(letters, letters->bytes + 1);
}

static void print_matrix(const struct tern_mc_data *data, const char *name, const float *values,
                         FILE *out)
{
    struct letters letters = {.out = out};
    fprintf(out, "\"%s\":\"", name);
    for (size_t i = 0; i < (size_t)data->count * (size_t)data->count; i++)
        put_code(&letters, code_of(values[i]));
    end_letters(&letters);
    fputs("\",\n", out);
}

/* The states of both directions: a message that was not answered tells nothing of its way. */
static void print_states(const struct tern_mc_data *data, FILE *out)
{
    struct letters letters = {.out = out};
    size_t n = (size_t)data->count;
    fputs("\"state\":\"", out);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            put_code(&letters, data->state[a * n + b]);
    end_letters(&letters);
    fputs("\",\n", out);
}

/* ---- hosts ---- */

static void print_addresses(const struct tern_mc_host *host, FILE *out)
{
    int printed = 0;
    fputs(",\"addresses\":[", out);
    for (int i = 0; i < host->fact_count && printed < ADDRESSES_MOST; i++) {
        if (strncmp(host->facts[i].key, "addr.", 5))
            continue;
        char *address = tern_mc_format("%.*s", (int)strcspn(host->facts[i].value, "/"),
                                       host->facts[i].value);
        fputs(printed++ ? "," : "", out);
        tern_mc_print_string(address, out);
        free(address);
    }
    putc(']', out);
}

/* Prints the interfaces that say at which NUMA node they are: [["eth2","1"],...]. */
static void print_near(const struct tern_mc_host *host, FILE *out)
{
    static const char tail[] = ".numa_node";
    int printed = 0;
    fputs(",\"near\":[", out);
    for (int i = 0; i < host->fact_count; i++) {
        const char *key = host->facts[i].key, *value = host->facts[i].value;
        size_t length = strlen(key), rest = sizeof tail - 1;
        if (strncmp(key, "nic.", 4) != 0 || length < 4 + rest ||
            strcmp(key + length - rest, tail) != 0 || *value == '-')
            continue;
        char *nic = tern_mc_format("%.*s", (int)(length - rest - 4), key + 4);
        fputs(printed++ ? ",[" : "[", out);
        tern_mc_print_string(nic, out);
        putc(',', out);
        tern_mc_print_string(value, out);
        putc(']', out);
        free(nic);
    }
    putc(']', out);
}

static void print_host(const struct tern_mc_host *host, const struct tern_mc_fit *fit, int index,
                       FILE *out)
{
    fputs("{\"name\":", out);
    tern_mc_print_string(host->name, out);
    fprintf(out, ",\"answers\":%s,\"why\":", host->gone ? "false" : "true");
    tern_mc_print_string(host->gone ? host->gone : "", out);
    fprintf(out, ",\"sends\":%.4f,\"receives\":%.4f,\"memory_gbs\":%.4g,\"pause_ms\":%.4g,"
            "\"clock_s\":%.7g,\"last\":%.4g", fit->sends[index], fit->receives[index],
            host->memory_gbs, host->pause_ms, host->clock_s, host->last);
    fputs(",\"cores\":[", out);
    for (int i = 0; i < host->core_count; i++)
        fprintf(out, "%s[%d,%.1f]", i ? "," : "", host->cores[i].cpu, host->cores[i].work_us);
    putc(']', out);
    const char *nodes = tern_mc_fact(host, "cpu.nodes");
    fputs(",\"nodes\":", out);
    tern_mc_print_string(nodes ? nodes : "", out);
    print_near(host, out);
    fputs(",\"paths\":[", out);
    for (int i = 0; i < host->socket_count; i++) {
        fputs(i ? ",[" : "[", out);
        tern_mc_print_string(host->sockets[i].nic, out);
        putc(',', out);
        tern_mc_print_string(host->sockets[i].own, out);
        putc(',', out);
        tern_mc_print_string(host->sockets[i].other, out);
        putc(']', out);
    }
    putc(']', out);
    print_addresses(host, out);
    putc('}', out);
}

/* ---- facts ---- */

/* Returns true if a host before this one has the same value. */
static bool is_told(const struct tern_mc_data *data, const char *key, int host)
{
    const char *value = tern_mc_fact(&data->hosts[host], key);
    for (int i = 0; i < host; i++) {
        const char *other = tern_mc_fact(&data->hosts[i], key);
        if (other && value && strcmp(other, value) == 0)
            return true;
    }
    return false;
}

static void print_fact(const struct tern_mc_data *data, const char *key, FILE *out)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts), values = 0;
    fputs("{\"key\":", out);
    tern_mc_print_string(key, out);
    fputs(",\"values\":[", out);
    for (int i = 0; i < data->count && values < VALUES_MOST; i++) {
        const char *value = tern_mc_fact(&data->hosts[i], key);
        int count = 0;
        if (!value || is_told(data, key, i))
            continue;
        for (int k = i; k < data->count; k++) {
            const char *other = tern_mc_fact(&data->hosts[k], key);
            if (other && strcmp(other, value) == 0)
                hosts[count++] = k;
        }
        char *names = tern_mc_names(data, hosts, count, 0);
        fprintf(out, "%s{\"value\":", values++ ? "," : "");
        tern_mc_print_string(value, out);
        fputs(",\"hosts\":", out);
        tern_mc_print_string(names, out);
        putc('}', out);
        free(names);
    }
    fputs("]}", out);
    free(hosts);
}

/* ---- the page ---- */

static float best_alone(const struct tern_mc_alone *alone)
{
    float best = 0;
    for (int i = 0; i < alone->count; i++)
        best = alone->bandwidth[i] > best ? alone->bandwidth[i] : best;
    return best;
}

static void print_lists(const struct tern_mc_data *data, FILE *out)
{
    int facts;
    const char **keys = tern_mc_facts_that_differ(data, &facts);
    fputs("\"facts\":[", out);
    for (int i = 0; i < facts; i++) {
        fputs(i ? ",\n" : "", out);
        print_fact(data, keys[i], out);
    }
    free(keys);
    fputs("],\n\"alone\":[", out);
    for (int i = 0; i < data->alone_count; i++)
        fprintf(out, "%s[%d,%d,%.5g]", i ? "," : "", data->alone[i].from, data->alone[i].to,
                (double)best_alone(&data->alone[i]));
    fputs("],\n", out);
}

static void print_data(const struct tern_mc_result *result, FILE *out)
{
    const struct tern_mc_data *data = result->data;
    struct tern_mc_fit fit;
    tern_mc_fit_make(data->bandwidth, data->count, &fit);
    putc('{', out);
    tern_mc_print_summary(result, out);
    print_lists(data, out);
    fprintf(out, "\"scale_least\":%g,\"scale_step\":%g,\"fit_all\":%.6f,\n"
            "\"expected_bandwidth\":%.6g,\"expected_latency\":%.6g,\n", scale_least, scale_step,
            fit.all, result->expected_bandwidth, result->expected_latency_us);
    print_matrix(data, "bandwidth", data->bandwidth, out);
    print_matrix(data, "latency", data->least, out);
    print_matrix(data, "p99", data->p99, out);
    print_matrix(data, "connect", data->late_ms, out);
    print_states(data, out);
    fputs("\"hosts\":[\n", out);
    for (int i = 0; i < data->count; i++) {
        fputs(i ? ",\n" : "", out);
        print_host(&data->hosts[i], &fit, i, out);
    }
    fputs("]}\n", out);
    tern_mc_fit_free(&fit);
}

void tern_mc_write_html(const struct tern_mc_result *result, FILE *out)
{
    for (size_t i = 0; i < sizeof page / sizeof *page; i++) {
        if (strcmp(page[i], "@DATA@\n") == 0)
            print_data(result, out);
        else
            fputs(page[i], out);
    }
}
