/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/data/wishes.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "lib/util/base/log.h"
#include "mpicheck/data/whole_file.h"

enum { FAKES_MOST = 256, MINUTES_MOST = 7 * 24 * 60 };

enum {
    QUICK = 1000, FULL, SOAK, HOST_ONLY, NETWORK_ONLY, OUT, FROM, EXPECT, BASELINE, FAIL_ON, MPI,
    MCA, FAKE, PER
};

static const struct option names[] = {
    {"host", required_argument, NULL, 'H'},
    {"hostfile", required_argument, NULL, 'f'},
    {"machinefile", required_argument, NULL, 'f'},
    {"quick", no_argument, NULL, QUICK},
    {"full", no_argument, NULL, FULL},
    {"soak", required_argument, NULL, SOAK},
    {"host-only", no_argument, NULL, HOST_ONLY},
    {"network-only", no_argument, NULL, NETWORK_ONLY},
    {"out", required_argument, NULL, OUT},
    {"from", required_argument, NULL, FROM},
    {"expect", required_argument, NULL, EXPECT},
    {"baseline", required_argument, NULL, BASELINE},
    {"fail-on", required_argument, NULL, FAIL_ON},
    {"mpi", required_argument, NULL, MPI},
    {"mca", required_argument, NULL, MCA},
    {"made-up-hosts", required_argument, NULL, FAKE},
    {"per", required_argument, NULL, PER},
    {"quiet", no_argument, NULL, 'q'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help[] =
    "Usage: mpicheck [option ...]\n"
    "Checks the hosts of a cluster and the network between them, and names what is wrong.\n"
    "Without -H and --hostfile: the hosts of the batch job.\n\n"
    "  -H HOST,...          check these hosts\n"
    "  --hostfile FILE      check the hosts of this file\n"
    "  --quick              fewer pairs, shorter samples\n"
    "  --full               longer samples; every message is compared\n"
    "  --soak MINUTES       afterwards, exchange and compare messages for so long\n"
    "  --host-only          check each host by itself, not the network\n"
    "  --network-only       check the network, not the speed of each host\n"
    "  --per nic            check the network by each interface alone\n"
    "  --per gpu            check it with messages in the memory of each GPU\n"
    "  --out DIRECTORY      write the reports there; else into a new directory here\n"
    "  --expect bw=N,lat=N  what pairs must reach, such as bw=11.5GB/s,lat=3us\n"
    "  --baseline DIRECTORY compare with the report of an earlier run\n"
    "  --fail-on warning    exit with 2 instead of 1 if there are only warnings\n"
    "  --from FILE          measure nothing: write the reports of recorded data, records.txt\n"
    "  --mpi PREFIX         measure with the MPI library that is installed there\n"
    "  --mca NAME VALUE     set a parameter of the library and of mpirun\n"
    "  --made-up-hosts N    N ranks on this host stand for hosts: to try mpicheck out\n"
    "  -q, --quiet          do not show the progress\n\n"
    "Exit status: 0 well, 1 warnings, 2 faults, 3 could not measure, 4 wrong data arrived,\n"
    "130 interrupted. The manual page mpicheck(1) says more.\n";

/* ---- what is expected ---- */

struct unit {
    const char *name;
    double factor;
};

/* Reads a number with a unit, and the comma behind them. Returns the rest, or NULL. */
static const char *read_figure(const char *text, const struct unit *units, double *ret_value)
{
    char *rest;
    double value = strtod(text, &rest);
    size_t length = strcspn(rest, ",");
    if (rest == text || !(value > 0) || value > 1e12)
        return NULL;
    for (; units->name; units++)
        if (strlen(units->name) == length && strncmp(rest, units->name, length) == 0) {
            *ret_value = value * units->factor;
            return rest + length + (rest[length] == ',');
        }
    return NULL;
}

bool tern_mc_read_expected(const char *text, double *ret_bandwidth, double *ret_latency_us)
{
    static const struct unit rates[] = {{"GB/s", 1e3}, {"MB/s", 1},     {"Gbit/s", 125},
                                        {"Gb/s", 125}, {"Mbit/s", .125}, {NULL, 0}};
    static const struct unit times[] = {{"us", 1}, {"ns", 1e-3}, {"ms", 1e3}, {NULL, 0}};
    if (!*text)
        return false;
    while (text && *text) {
        if (strncmp(text, "bw=", 3) == 0 && *ret_bandwidth == 0)
            text = read_figure(text + 3, rates, ret_bandwidth);
        else if (strncmp(text, "lat=", 4) == 0 && *ret_latency_us == 0)
            text = read_figure(text + 4, times, ret_latency_us);
        else
            text = NULL;
    }
    return text;
}

/* ---- the command line ---- */

static bool read_number(const char *name, const char *text, int most, int *ret_value)
{
    char *rest;
    long value = strtol(text, &rest, 10);
    if (*rest || rest == text || value < 1 || value > most) {
        tern_log("%s %s: expected a number from 1 to %d", name, text, most);
        return false;
    }
    *ret_value = (int)value;
    return true;
}

static bool add_parameter(struct tern_mc_options *options, int argc, char **argv)
{
    if (optind >= argc) {
        tern_log("--mca %s: expected a name and a value, such as --mca btl_tcp_if_include eth1",
                 optarg);
        return false;
    }
    tern_arguments_add(&options->mpirun, "--mca");
    tern_arguments_add(&options->mpirun, "%s", optarg);
    tern_arguments_add(&options->mpirun, "%s", argv[optind++]);
    return true;
}

static bool take_value(struct tern_mc_options *options, int option)
{
    switch (option) {
    case 'H':
    case 'f':
        tern_arguments_add(&options->hosts, option == 'H' ? "--host" : "--hostfile");
        tern_arguments_add(&options->hosts, "%s", optarg);
        return true;
    case SOAK:
        return read_number("--soak", optarg, MINUTES_MOST, &options->soak_minutes);
    case FAKE:
        return read_number("--made-up-hosts", optarg, FAKES_MOST, &options->fakes);
    case EXPECT:
        if (options->bandwidth > 0 || options->latency_us > 0) {
            tern_log("--expect %s: --expect stands before; expected it once, such as "
                     "bw=11.5GB/s,lat=3us", optarg);
            return false;
        }
        if (tern_mc_read_expected(optarg, &options->bandwidth, &options->latency_us))
            return true;
        tern_log("--expect %s: expected figures such as bw=11.5GB/s,lat=3us", optarg);
        return false;
    case FAIL_ON:
        options->fail_on_warning = strcmp(optarg, "warning") == 0;
        if (options->fail_on_warning || strcmp(optarg, "fault") == 0)
            return true;
        tern_log("--fail-on %s: expected warning or fault", optarg);
        return false;
    case PER:
        options->per_nic = strcmp(optarg, "nic") == 0;
        options->per_gpu = strcmp(optarg, "gpu") == 0;
        if (options->per_nic || options->per_gpu || strcmp(optarg, "host") == 0)
            return true;
        tern_log("--per %s: expected host, nic or gpu", optarg);
        return false;
    default:
        return false;
    }
}

/* Takes a word that must not be empty and is given once. */
static bool take_word(const char *name, const char **at)
{
    if (*optarg && !*at) {
        *at = optarg;
        return true;
    }
    if (*at)
        tern_log("%s %s: %s %s stands before; expected it once", name, optarg, name, *at);
    else
        tern_log("%s '': expected a name", name);
    return false;
}

static bool take_option(struct tern_mc_options *options, int option, int argc, char **argv)
{
    switch (option) {
    case QUICK: options->quick = true; return true;
    case FULL: options->full = true; return true;
    case HOST_ONLY: options->host_only = true; return true;
    case NETWORK_ONLY: options->network_only = true; return true;
    case OUT: return take_word("--out", &options->out);
    case FROM: return take_word("--from", &options->from);
    case BASELINE: return take_word("--baseline", &options->baseline);
    case MPI: return take_word("--mpi", &options->mpi);
    case MCA: return add_parameter(options, argc, argv);
    case 'q': options->quiet = true; return true;
    case 'h':
        fputs(help, stdout);
        exit(tern_mc_output_is_whole() ? 0 : 3);
    case 'V':
        printf("mpicheck (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
        exit(tern_mc_output_is_whole() ? 0 : 3);
    default: return take_value(options, option);
    }
}

/* Says which options change nothing beside another one. */
static void tell_useless(const struct tern_mc_options *options)
{
    const struct {
        bool given, beside;
        const char *option, *other;
    } useless[] = {
        {options->quick, options->from, "--quick", "--from"},
        {options->full, options->from, "--full", "--from"},
        {options->host_only, options->from, "--host-only", "--from"},
        {options->network_only, options->from, "--network-only", "--from"},
        {options->mpi, options->from, "--mpi", "--from"},
        {options->mpirun.count, options->from, "--mca", "--from"},
        {options->quick, options->host_only, "--quick", "--host-only"},
        {options->bandwidth > 0 || options->latency_us > 0, options->host_only, "--expect",
         "--host-only"},
        {options->baseline, options->host_only, "--baseline", "--host-only"},
    };
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++)
        if (useless[i].given && useless[i].beside)
            tern_log("warning: %s has no effect with %s", useless[i].option, useless[i].other);
}

static bool fit_together(const struct tern_mc_options *options)
{
    const char *wrong = NULL;
    if (options->host_only && options->network_only)
        wrong = "--host-only and --network-only exclude each other";
    else if (options->quick && options->full)
        wrong = "--quick and --full exclude each other";
    else if (options->host_only && (options->soak_minutes || options->full))
        wrong = "--host-only measures no network; it does not go with --full and --soak";
    else if (options->fakes && options->hosts.count)
        wrong = "--made-up-hosts are on this host; it does not go with -H and --hostfile";
    else if (options->from && (options->hosts.count || options->fakes || options->soak_minutes))
        wrong = "--from reads recorded data; it does not go with hosts and --soak";
    else if ((options->per_nic || options->per_gpu) &&
             (options->host_only || options->fakes || options->from))
        wrong = "--per nic and --per gpu need a network; they do not go with --host-only, "
                "--made-up-hosts and --from";
    if (wrong)
        tern_log("%s", wrong);
    else
        tell_useless(options);
    return !wrong;
}

bool tern_mc_read_options(int argc, char **argv, struct tern_mc_options *ret_options)
{
    int option;
    *ret_options = (struct tern_mc_options){.gpu = -1};
    while ((option = getopt_long(argc, argv, "+H:f:qVh", names, NULL)) != -1)
        if (!take_option(ret_options, option, argc, argv)) {
            if (option == '?')
                tern_log("mpicheck --help lists the options");
            return false;
        }
    if (optind < argc) {
        tern_log("%s: expected options only; -H names hosts, mpicheck --help lists the options",
                 argv[optind]);
        return false;
    }
    return fit_together(ret_options);
}

void tern_mc_options_free(struct tern_mc_options *options)
{
    tern_arguments_free(&options->hosts);
    tern_arguments_free(&options->mpirun);
}
