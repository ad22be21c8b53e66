/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/option_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/machine/memory_kinds.h"
#include "lib/settings/value.h"
#include "lib/util/net/port.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/parameters.h"
#include "mpirun/plan/policy.h"
#include "mpirun/plan/words.h"

/* ---- values that need parsing ---- */

static int set_initial_errhandler(const char *option, const char *value, struct tern_app *app)
{
    static const char *const known[] = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                        "mpi_errors_return"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(value, known[i]) == 0) {
            tern_strings_set(&app->env, "OMPI_MCA_mpi_initial_errhandler", known[i]);
            return 0;
        }
    return tern_error(TERN_ERR_ARG, "%s: expected %s, %s or %s, not \"%s\"", option, known[0],
                      known[1], known[2], value);
}

static int check_arch(const char *option, const char *wanted, struct tern_options *options)
{
    (void)options;
    struct utsname machine;
    if (uname(&machine) == 0 && strcasecmp(machine.machine, wanted) != 0)
        return tern_error(TERN_ERR_ARG, "%s %s: this machine is %s", option, wanted,
                          machine.machine);
    return 0;
}

/* Warns of unsupported kinds of memory. It does no more, because ranks see which kinds are
 * supported whatever the user asked for. */
static int check_memory_kinds(const char *option, const char *list, struct tern_options *options)
{
    (void)options;
    const char *unknown;
    size_t length;
    if (!tern_memory_kinds_supported(list, &unknown, &length))
        tern_log("warning: %s: memory of the kind \"%.*s\" is not supported; expected %s", option,
                 (int)length, unknown, tern_memory_kinds);
    return 0;
}

/* Exports the variables whose names begin with the first `length` letters of `text`. */
static void export_all(const char *text, size_t length, struct tern_app *app)
{
    int count = 0;
    for (char **entry = environ; entry && *entry; entry++) {
        char *name = tern_must_copy(*entry), *equals = strchr(name, '=');
        if (equals && equals > name && strncmp(name, text, length) == 0) {
            *equals = '\0';
            tern_strings_set(&app->env, name, equals + 1);
            count++;
        }
        free(name);
    }
    if (count == 0)
        tern_log("warning: -x %s: the environment has no such variables", text);
}

/* Exports a value. Open MPI takes a name with a blank, too, but a slip of quotes is likelier. */
static void export_value(const char *name, const char *value, struct tern_app *app)
{
    if (strpbrk(name, " \t"))
        tern_log("warning: -x %s=%s: the variable's name is \"%s\", with a blank in it; each "
                 "variable has a -x of its own",
                 name, value, name);
    tern_strings_set(&app->env, name, value);
}

static int export_variable(const char *option, const char *text, struct tern_app *app)
{
    (void)option;
    const char *equals = strchr(text, '=');
    char *name = tern_must_copy(text);
    name[strcspn(name, "=")] = '\0';
    int error = 0;
    if (!*name)
        error = tern_error(TERN_ERR_ARG, "-x needs NAME or NAME=VALUE, not \"%s\"", text);
    else if (equals)
        export_value(name, equals + 1, app);
    else if (name[strlen(name) - 1] == '*')
        export_all(name, strlen(name) - 1, app);
    else if (getenv(name))
        tern_strings_set(&app->env, name, getenv(name));
    else
        tern_log("warning: -x %s: the environment has no such variable", name);
    free(name);
    return error;
}

/* Open MPI 5's --fwd-environment: ranks on other hosts get all variables. */
static int forward_all(const char *option, const char *text, struct tern_app *app)
{
    (void)option, (void)text;
    export_all("", 0, app);
    return 0;
}

/* Open MPI 5's --unset-env NAME */
static int unset_variable(const char *option, const char *text, struct tern_app *app)
{
    if (!*text || strchr(text, '='))
        return tern_error(TERN_ERR_ARG, "%s needs the name of a variable, not \"%s\"", option,
                          text);
    tern_strings_add(&app->unset, text);
    return 0;
}

static void split_words(struct tern_strings *list, const char *text)
{
    char *copy = tern_must_copy(text), *rest = copy, *word;
    while ((word = strsep(&rest, ","))) {
        if (*word)
            tern_strings_add(list, word);
    }
    free(copy);
}

static int read_stdin_target(const char *option, const char *text, struct tern_options *options)
{
    if (strcasecmp(text, "none") == 0)
        options->stdin_rank = TERN_STDIN_NONE;
    else if (strcasecmp(text, "all") == 0)
        options->stdin_rank = TERN_STDIN_ALL;
    else
        return tern_policy_number(option, text, 0, 1 << 20, &options->stdin_rank);
    return 0;
}

/* Returns true if `word` is one of the words in `text`, which commas or colons separate. */
static bool has_word(const char *text, const char *word)
{
    for (size_t length; *text; text += length + (text[length] != '\0')) {
        length = strcspn(text, ",:");
        if (length == strlen(word) && strncasecmp(text, word, length) == 0)
            return true;
    }
    return false;
}

/* Reads DIR:nocopy,nojobid. */
static int set_output_dir(const char *option, const char *text, struct tern_options *options)
{
    char *copy = tern_must_copy(text), *rest = strchr(copy, ':'), *word;
    int error = 0;
    if (rest)
        *rest++ = '\0';
    while (!error && (word = strsep(&rest, ":,"))) {
        if (strcasecmp(word, "nocopy") == 0)
            options->output_only_files = true;
        else if (strcasecmp(word, "nojobid") == 0)
            options->output_no_job = true;
        else if (*word && strcasecmp(word, "copy") && strcasecmp(word, "jobid"))
            error = tern_error(TERN_ERR_ARG, "%s: no modifier \"%s\"; there are nocopy and nojobid",
                               option, word);
    }
    if (!*copy)
        tern_options_warn(options, "%s names no directory: files are written below this one",
                          option);
    free(options->output_dir);
    options->output_dir = copy;
    return error;
}

/* Open MPI 5's --output-directory: the terminal gets a copy only with the modifier `copy`. */
static int set_output_dir_only(const char *option, const char *text, struct tern_options *options)
{
    const char *colon = strchr(text, ':');
    options->output_only_files = !colon || !has_word(colon + 1, "copy");
    return set_output_dir(option, text, options);
}

/* file=FILE of --output: the files are FILE.RANK.out and FILE.RANK.err. */
static int set_output_file(const char *option, const char *text, struct tern_options *options)
{
    int error = set_output_dir_only(option, text, options);
    options->output_plain = true;
    return error;
}

/* Open MPI 5's --display map,bind */
static int read_display(const char *option, const char *text, struct tern_options *options)
{
    enum { MAP, MAP_DEVEL, BIND, ALLOCATION, PATHS, FABRIC, TOPOLOGY };
    static const char *const known[] = {"map", "map-devel", "bindings", "allocation", "paths",
                                        "fabric", "topology", NULL};
    struct tern_strings words = { 0 };
    char *copy = tern_must_copy(text), *colon = strchr(copy, ':');
    if (colon)
        *colon++ = '\0';
    split_words(&words, copy);
    int error = words.count ? 0 : tern_words_unknown(option, "", known);
    for (int i = 0; i < words.count && !error; i++) {
        const char *word = words.items[i];
        /* topo=HOST; the topology of each job is shown where it runs */
        bool of_host = strncasecmp(word, "topo=", 5) == 0;
        int which = of_host ? TOPOLOGY : tern_words_find(word, known);
        options->display_map |= which == MAP || which == MAP_DEVEL;
        options->report_bindings |= which == BIND;
        options->display_allocation |= which == ALLOCATION;
        options->shows_library |= which == PATHS || which == FABRIC || which == TOPOLOGY;
        if (which == PATHS)
            tern_strings_set(&options->env, "OMPI_MCA_btl_show_paths", "1");
        else if (which == FABRIC)
            tern_strings_set(&options->env, "OMPI_MCA_btl_show_fabric", "1");
        else if (which == TOPOLOGY)
            tern_strings_set(&options->env, "OMPI_MCA_btl_show_topology", "1");
        else if (which < 0)
            error = tern_words_unknown(option, word, known);
    }
    if (colon)
        tern_options_warn(options, "%s %s: \":%s\" has no effect: the form is that of Open MPI 4.1",
                          option, text, colon);
    tern_strings_free(&words);
    free(copy);
    return error;
}

/* Open MPI 5's --output tag,timestamp,merge,dir=D */
static int read_output(const char *option, const char *text, struct tern_options *options)
{
    enum { TAG, TAG_DETAILED, TAG_FULLNAME, RANK, TIMESTAMP, MERGE, RAW, XML };
    static const char *const known[] = {"tag", "tag-detailed", "tag-fullname", "rank", "timestamp",
                                        "merge-stderr-to-stdout", "raw", "xml", "dir=DIR",
                                        "file=FILE", NULL};
    struct tern_strings words = { 0 };
    split_words(&words, text);
    int error = words.count ? 0 : tern_words_unknown(option, "", known);
    for (int i = 0; i < words.count && !error; i++) {
        const char *word = words.items[i], *equals = strchr(word, '=');
        int which = tern_words_find(word + (*word == ':'), known); /* ":raw"; it is raw anyway */
        options->tag_output |= which >= TAG && which <= RANK;
        options->timestamp_output |= which == TIMESTAMP;
        options->merge_stderr |= which == MERGE;
        if (strncasecmp(word, "dir=", 4) == 0 || strncasecmp(word, "directory=", 10) == 0)
            error = set_output_dir_only(option, equals + 1, options);
        else if (strncasecmp(word, "file=", 5) == 0 || strncasecmp(word, "filename=", 9) == 0)
            error = set_output_file(option, equals + 1, options);
        else if (which == XML)
            tern_options_warn(options,
                              "%s xml has no effect: output is plain text; tag names the rank of "
                              "each line",
                              option);
        else if (which < 0 || which > XML)
            error = tern_words_unknown(option, word, known);
    }
    tern_strings_free(&words);
    return error;
}

static int read_hosts(const char *option, const char *text, struct tern_options *options)
{
    if (options->hosts_are_default)
        tern_strings_free(&options->hosts);
    options->hosts_are_default = false;
    split_words(&options->hosts, text);
    return options->hosts.count
               ? 0
               : tern_error(TERN_ERR_ARG, "%s needs host names, not \"%s\"", option, text);
}

static int set_per_node(const char *option, const char *text, struct tern_options *options)
{
    return tern_policy_per_object(option, text, TERN_PER_NODE, TERN_MAP_LEVEL_NODE, options);
}

static int set_per_socket(const char *option, const char *text, struct tern_options *options)
{
    return tern_policy_per_object(option, text, TERN_PER_SOCKET, TERN_MAP_LEVEL_SOCKET, options);
}

static int set_dry_run(const char *option, const char *text, struct tern_options *options)
{
    (void)option, (void)text;
    options->display_map = true;
    options->do_not_launch = true;
    return 0;
}

/* Open MPI 5's --runtime-options, words such as donotlaunch or abort-nonzero-status=0. */
static int read_runtime(const char *option, const char *text, struct tern_options *options)
{
    enum { DO_NOT_LAUNCH, ABORT, ERROR, STATE };
    static const char *const known[] = {"donotlaunch", "abort-nonzero-status",
                                        "error-nonzero-status", "report-state-on-timeout",
                                        "recoverable", "autorestart",
                                        "continuous", "xterm", "max-restarts", "output-proctable",
                                        "exec-agent", "default-exec-agent", "show-progress",
                                        "notifyerrors", "app-context-level", NULL};
    struct tern_strings words = { 0 };
    split_words(&words, text);
    int error = words.count ? 0 : tern_words_unknown(option, "", known);
    for (int i = 0; i < words.count && !error; i++) {
        char *word = words.items[i], *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        bool off = value && (strcmp(value, "0") == 0 || strcasecmp(value, "false") == 0);
        int which = tern_words_find(word, known);
        if (which == DO_NOT_LAUNCH)
            options->do_not_launch = !off;
        else if (which == ABORT || which == ERROR)
            options->keep_going = off;
        else if (which < 0)
            error = tern_words_unknown(option, word, known);
        else if (!off && which != STATE) /* --timeout reports that anyway */
            tern_options_warn(options, "%s %s has no effect", option, word);
    }
    tern_strings_free(&words);
    return error;
}

static int read_fault_tolerance(const char *option, const char *text, struct tern_options *options)
{
    if (*text && strcasecmp(text, "none") && strcasecmp(text, "no") && strcmp(text, "0"))
        tern_options_warn(options, "%s %s has no effect: a rank that fails ends the job", option,
                          text);
    return 0;
}

/* The ranks' C library passes on each line, because standard output looks like a terminal. */
static int check_buffering(const char *option, const char *text, struct tern_options *options)
{
    if (*text && strcmp(text, "1") && strcasecmp(text, "line") && strcasecmp(text, "default"))
        tern_options_warn(options, "%s %s has no effect: each line is passed on; use stdbuf",
                          option, text);
    return 0;
}

/* Joins the new text and the variable's value; NAME[c] names the separator, else ":". */
static int join_variable(const char *option, const char *text, const char *value, bool before,
                         struct tern_app *app)
{
    char *name = tern_must_copy(text), *bracket = strchr(name, '['), separator = ':';
    if (bracket && bracket[1] && strcmp(bracket + 2, "]") == 0) {
        separator = bracket[1];
        *bracket = '\0';
    }
    if (!*name || strchr(name, '=')) {
        free(name);
        return tern_error(TERN_ERR_ARG, "%s needs NAME or NAME[SEPARATOR], not \"%s\"", option,
                          text);
    }
    const char *old = tern_strings_value(&app->env, name);
    old = old ? old : getenv(name);
    char *joined = !old || !*old ? tern_must_copy(value)
                   : before      ? tern_must_format("%s%c%s", value, separator, old)
                                 : tern_must_format("%s%c%s", old, separator, value);
    tern_strings_set(&app->env, name, joined);
    free(joined);
    free(name);
    return 0;
}

static int prepend_variable(const char *option, const char *name, const char *value,
                            struct tern_app *app)
{
    return join_variable(option, name, value, true, app);
}

static int append_variable(const char *option, const char *name, const char *value,
                           struct tern_app *app)
{
    return join_variable(option, name, value, false, app);
}

static int set_oversubscribe(const char *option, const char *text, struct tern_options *options)
{
    (void)text;
    tern_policy_oversubscribe(option, true, options);
    return 0;
}

static int set_no_oversubscribe(const char *option, const char *text, struct tern_options *options)
{
    (void)text;
    tern_policy_oversubscribe(option, false, options);
    return 0;
}

/* --ompi-server file:FILE, or the line in the file. Ranks get the line, because FILE may be missing
 * on other hosts. */
static int set_name_server(const char *option, const char *text, struct tern_options *options)
{
    struct tern_port_name name;
    const char *why, *path = strncasecmp(text, "file:", 5) == 0 ? text + 5 : NULL;
    char *line = path ? tern_read_text(path, &why) : tern_must_copy(text);
    if (!line)
        return tern_error(TERN_ERR_ARG, "%s: cannot read %s, which another mpirun's --report-uri "
                                        "must have written: %s", option, path, why);
    line[strcspn(line, "\n")] = '\0';
    int error = 0;
    if (tern_port_name_read(line, &name))
        tern_strings_set(&options->env, "OMPI_MCA_mpi_name_server", line);
    else
        error = tern_error(TERN_ERR_ARG, "%s: expected file:FILE, with the file that another "
                                         "mpirun's --report-uri has written, or the line in that "
                                         "file; found \"%.40s\"", option, line);
    free(line);
    return error;
}

/* ---- the table ---- */

#define IN_OPTIONS(field) .offset = offsetof(struct tern_options, field)
#define IN_APP(field) .of_app = true, .offset = offsetof(struct tern_app, field)
#define FLAG(field) 0, TERN_OPTION_FLAG, IN_OPTIONS(field)
#define WORD(field) 1, TERN_OPTION_WORD, IN_OPTIONS(field)
#define LIST(field) 1, TERN_OPTION_LIST, IN_OPTIONS(field)
#define NUMBER(field, greatest) \
    1, TERN_OPTION_NUMBER, .least = 1, .most = (greatest), IN_OPTIONS(field)
#define APP_FLAG(field) 0, TERN_OPTION_FLAG, IN_APP(field)
#define APP_WORD(field) 1, TERN_OPTION_WORD, IN_APP(field)
#define APP_NUMBER(field, greatest) 1, TERN_OPTION_NUMBER, .most = (greatest), IN_APP(field)
#define READ(function) 1, TERN_OPTION_READ, .read = (function)
#define ALIAS(function, value) 0, TERN_OPTION_READ, .read = (function), .text = (value)
#define READ_APP(function) 1, TERN_OPTION_READ_APP, .read_app = (function)
#define PARAMETER(prefix, env) 2, TERN_OPTION_PARAMETER, .text = (prefix), env
#define PAIR(function) 2, TERN_OPTION_READ_PAIR, .read_pair = (function)
#define TUNE(function) 1, TERN_OPTION_TUNE, .read = (function)
#define OF_PARSER(words, what) .values = (words), .kind = TERN_OPTION_##what
#define IGNORED(words) .values = (words), .kind = TERN_OPTION_IGNORED
#define WARNED(words, why) (words), TERN_OPTION_WARNED, .text = (why)
#define REFUSED(words, why) (words), TERN_OPTION_REFUSED, .text = (why)
#define FOREIGN(words, here) (words), TERN_OPTION_FOREIGN, .text = (here)

const struct tern_option tern_option_table[] = {
    { "np", APP_NUMBER(np, 1 << 20) },
    { "n", APP_NUMBER(np, 1 << 20) },
    { "c", APP_NUMBER(np, 1 << 20) },
    { "soft", APP_WORD(soft) },
    { "arch", READ(check_arch) },
    { "host", READ(read_hosts) },
    { "H", READ(read_hosts) },
    { "hostfile", LIST(hostfiles) },
    { "add-hostfile", LIST(hostfiles) },
    { "machinefile", LIST(hostfiles) },
    { "default-hostfile", WORD(default_hostfile) },
    { "x", READ_APP(export_variable) },
    { "unset-env", READ_APP(unset_variable) },
    { "fwd-environment", OF_PARSER(0, READ_APP), .read_app = forward_all },
    { "prepend-env", PAIR(prepend_variable) },
    { "prepend-envar", PAIR(prepend_variable) },
    { "append-env", PAIR(append_variable) },
    { "append-envar", PAIR(append_variable) },
    { "wdir", APP_WORD(wdir) },
    { "wd", APP_WORD(wdir) },
    { "path", APP_WORD(path) },
    { "tune", TUNE(tern_parameters_tune) },
    { "am", TUNE(tern_parameters_add_settings) },
    { "mca", PARAMETER("OMPI_MCA_", IN_APP(env)) },
    { "omca", PARAMETER("OMPI_MCA_", IN_APP(env)) },
    { "gmca", PARAMETER("OMPI_MCA_", IN_OPTIONS(env)) },
    { "gomca", PARAMETER("OMPI_MCA_", IN_OPTIONS(env)) },
    { "initial-errhandler", READ_APP(set_initial_errhandler) },
    { "memory-alloc-kinds", READ(check_memory_kinds) },
    { "pmca", PARAMETER("PMIX_MCA_", IN_OPTIONS(env)) },
    { "pmixmca", PARAMETER("PMIX_MCA_", IN_OPTIONS(env)) },
    { "gpmixmca", PARAMETER("PMIX_MCA_", IN_OPTIONS(env)) },
    { "prtemca", PARAMETER("PRTE_MCA_", IN_OPTIONS(env)) },
    { "map-by", READ(tern_policy_map_by) },
    { "rank-by", READ(tern_policy_rank_by) },
    { "bind-to", READ(tern_policy_bind_to) },
    { "ppr", READ(tern_policy_ppr) },
    { "rankfile", WORD(rankfile) },
    { "rf", WORD(rankfile) },
    { "npernode", READ(set_per_node) },
    { "N", READ(set_per_node) },
    { "pernode", ALIAS(set_per_node, "1") },
    { "npersocket", READ(set_per_socket) },
    { "cpus-per-proc", READ(tern_policy_cpus_per_rank) },
    { "cpus-per-rank", READ(tern_policy_cpus_per_rank) },
    { "cpu-set", READ(tern_policy_cpu_set) },
    { "cpu-list", READ(tern_policy_cpu_set) },
    { "bynode", ALIAS(tern_policy_map_by, "node") },
    { "byslot", ALIAS(tern_policy_map_by, "slot") },
    { "bycore", ALIAS(tern_policy_map_by, "core") },
    { "bysocket", ALIAS(tern_policy_map_by, "socket") },
    { "bind-to-core", ALIAS(tern_policy_bind_to, "core") },
    { "bind-to-socket", ALIAS(tern_policy_bind_to, "socket") },
    { "bind-to-none", ALIAS(tern_policy_bind_to, "none") },
    { "oversubscribe", ALIAS(set_oversubscribe, "") },
    { "nooversubscribe", ALIAS(set_no_oversubscribe, "") },
    { "use-hwthread-cpus", FLAG(map.hwthreads) },
    { "tag-output", FLAG(tag_output) },
    { "timestamp-output", FLAG(timestamp_output) },
    { "merge-stderr-to-stdout", FLAG(merge_stderr) },
    { "output-filename", READ(set_output_dir) },
    { "output-directory", READ(set_output_dir_only) },
    { "stdin", READ(read_stdin_target) },
    { "report-bindings", FLAG(report_bindings) },
    { "display-map", FLAG(display_map) },
    { "display-devel-map", FLAG(display_map) },
    { "display-diffable-map", FLAG(display_map) },
    { "display-allocation", FLAG(display_allocation) },
    { "display-devel-allocation", FLAG(display_allocation) },
    { "display", READ(read_display) },
    { "output", READ(read_output) },
    { "explain", FLAG(explain) },
    { "report-pid", WORD(report_pid) },
    { "report-uri", WORD(report_uri) },
    { "prefix", WORD(prefix) },
    { "timeout", 1, TERN_OPTION_NUMBER, .most = 1 << 30, IN_OPTIONS(timeout_s) }, /* 0: none */
    { "q", FLAG(quiet) },
    { "quiet", FLAG(quiet) },
    { "v", FLAG(verbose) },
    { "verbose", FLAG(verbose) },
    { "V", OF_PARSER(0, VERSION) },
    { "version", OF_PARSER(0, VERSION) },
    { "h", OF_PARSER(0, HELP) },
    { "help", OF_PARSER(0, HELP) },
    { "do-not-launch", FLAG(do_not_launch) },
    { "dry-run", ALIAS(set_dry_run, "") },
    { "index-argv-by-rank", FLAG(index_argv) },
    { "set-cwd-to-session-dir", APP_FLAG(wdir_session) },
    { "nolocal", FLAG(no_local) },
    { "app", OF_PARSER(1, APPFILE) },
    { "configfile", OF_PARSER(1, APPFILE) },
    { "allow-run-as-root", IGNORED(0) },
    { "cf", IGNORED(1) },
    { "cartofile", IGNORED(1) },
    { "debug-daemons", FLAG(show_start) },
    { "debug-daemons-file", IGNORED(0) },
    { "d", IGNORED(0) },
    { "debug-devel", IGNORED(0) },
    { "disable-recovery", IGNORED(0) },
    { "do-not-resolve", IGNORED(0) },
    { "enable-instant-on-support", IGNORED(0) },
    { "enable-recovery", WARNED(0, "ranks that failed are not restarted") },
    { "forward-signals",
      WARNED(1, "mpirun(1), SIGNALS, says which signals are passed on") },
    { "fwd-mpirun-port", IGNORED(0) },
    { "get-stack-traces", WARNED(0, "--timeout says what each rank was doing") },
    { "launch-agent", READ(tern_parameter_set_launch_agent) },
    { "leave-session-attached", IGNORED(0) },
    { "max-vm-size", NUMBER(most_hosts, 1 << 20) },
    { "noprefix", FLAG(no_prefix) },
    { "novm", IGNORED(0) },
    { "ompi-server", READ(set_name_server) },
    { "personality", IGNORED(1) },
    { "no-app-prefix", WARNED(0, "--prefix, if given, holds for all programs") },
    { "preload-binary", FLAG(preload) },
    { "s", FLAG(preload) },
    { "preload-files", WARNED(1, "files are not copied to other hosts") },
    { "report-child-jobs-separately", IGNORED(0) },
    { "report-state-on-timeout", IGNORED(0) },
    { "runtime-options", READ(read_runtime) },
    { "rtos", READ(read_runtime) },
    { "with-ft", READ(read_fault_tolerance) },
    { "enable-ft", WARNED(0, "a rank that fails ends the job") },
    { "show-progress", IGNORED(0) },
    { "stream-buffering", READ(check_buffering) },
    { "use-regexp", IGNORED(0) },
    { "display-topo", ALIAS(read_display, "topology") },
    { "file", REFUSED(1, "use --app FILE to read options from a file") },
    { "continuous", WARNED(0, "a rank that fails ends the job") },
    { "debug",
      REFUSED(0, "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM") },
    { "debugger",
      REFUSED(1, "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM") },
    { "dvm",
      REFUSED(0, "there is no persistent virtual machine; each mpirun works alone") },
    { "hnp",
      REFUSED(1, "there is no persistent virtual machine; each mpirun works alone") },
    { "max-restarts", REFUSED(1, "ranks that failed are not restarted") },
    { "output-proctable", REFUSED(0, "use -v, which names the process of each rank") },
    { "report-events", REFUSED(1, "there are no tools to report events to") },
    { "tv",
      REFUSED(0, "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM") },
    { "where", REFUSED(1, "it stands alone and starts no job: mpirun --where PID") },
    { "xml", WARNED(0, "output is plain text; --tag-output names the rank of each line") },
    { "xml-file", REFUSED(1, "output is plain text; --tag-output names the rank of each line") },
    { "env", FOREIGN(2, "-x NAME=VALUE") },
    { "genv", FOREIGN(2, "-x NAME=VALUE") },
    { "envall", FOREIGN(0, "nothing: ranks have mpirun's environment anyway") },
    { "genvall", FOREIGN(0, "nothing: ranks have mpirun's environment anyway") },
    { "envnone", FOREIGN(0, "env -i mpirun ..., which starts with an empty environment") },
    { "genvnone", FOREIGN(0, "env -i mpirun ..., which starts with an empty environment") },
    { "envlist", FOREIGN(1, "-x NAME, once for each variable") },
    { "genvlist", FOREIGN(1, "-x NAME, once for each variable") },
    { "f", FOREIGN(1, "--hostfile FILE") },
    { "hosts", FOREIGN(1, "--host HOST,...") },
    { "ppn", FOREIGN(1, "-N RANKS, the number of ranks on each node") },
    { "perhost", FOREIGN(1, "-N RANKS, the number of ranks on each node") },
    { "grr", FOREIGN(1, "-N RANKS, the number of ranks on each node") },
    { "rr", FOREIGN(0, "--map-by node") },
    { "iface", FOREIGN(1, "--mca btl_tcp_if_include INTERFACE") },
    { "launcher", FOREIGN(1, "--mca plm slurm, --mca plm rsh, or --mca plm_rsh_agent COMMAND") },
    { "bootstrap", FOREIGN(1, "--mca plm slurm, --mca plm rsh, or --mca plm_rsh_agent COMMAND") },
    { "launcher-exec", FOREIGN(1, "--mca plm_rsh_agent COMMAND") },
    { "bootstrap-exec", FOREIGN(1, "--mca plm_rsh_agent COMMAND") },
    { "rmk", FOREIGN(1, "nothing: the batch system is found by itself") },
    { "l", FOREIGN(0, "--tag-output") },
    { "prepend-rank", FOREIGN(0, "--tag-output") },
    { "print-rank-map", FOREIGN(0, "--display-map") },
    { "outfile-pattern", FOREIGN(1, "--output-filename DIR") },
    { "localonly", FOREIGN(0, "--host localhost") },
    { "hostlist", FOREIGN(1, "--host HOST,...") },
    { "machine", FOREIGN(1, "--hostfile FILE") },
    { "gtool", FOREIGN(1, "the tool's name before the program's: mpirun -np 2 TOOL PROGRAM") },
    { "trace", FOREIGN(0, "-x LD_PRELOAD=LIBRARY, with the library of the tool") },
    { "check_mpi", FOREIGN(0, "--mca check_level full") },
    { "info", FOREIGN(0, "mpi_info, a command of its own") },
    { "binding", FOREIGN(1, "--bind-to OBJECT and --map-by OBJECT") },
    { "xterm",
      REFUSED(1, "mpirun opens no windows; write mpirun -np 2 xterm -e PROGRAM, or use "
                 "--output-filename") },
};
const int tern_option_count = sizeof tern_option_table / sizeof *tern_option_table;

const struct tern_option *tern_option_named(const char *name)
{
    for (int i = 0; i < tern_option_count; i++)
        if (strcmp(tern_option_table[i].name, name) == 0)
            return &tern_option_table[i];
    return NULL;
}

const char *tern_option_replaced(const struct tern_option *option)
{
    static int (*const replacing[])(const char *, const char *, struct tern_options *) = {
        tern_policy_map_by, tern_policy_rank_by, tern_policy_bind_to, tern_policy_cpu_set,
        set_per_node,       set_per_socket,      tern_policy_ppr,     read_stdin_target,
        set_output_dir,     tern_policy_cpus_per_rank,
    };
    bool replaces = option->kind == TERN_OPTION_NUMBER || option->kind == TERN_OPTION_WORD;
    for (size_t i = 0; i < sizeof replacing / sizeof *replacing; i++)
        replaces |= option->kind == TERN_OPTION_READ && option->read == replacing[i];
    if (!replaces)
        return NULL;
    const struct tern_option *first = tern_option_table;
    while (first->kind != option->kind || first->read != option->read ||
           first->of_app != option->of_app || first->offset != option->offset)
        first++;
    return first->name;
}

/* Returns true if a value that is an option's name may be meant: arguments for another program. */
static bool may_be_option(const struct tern_option *option, char **values, int at)
{
    const char *args = "_args";
    size_t length = strlen(values[0]), tail = strlen(args);
    return option->kind == TERN_OPTION_PARAMETER && at == 1 && length > tail &&
           strcmp(values[0] + length - tail, args) == 0;
}

int tern_option_check_values(const struct tern_option *option, const char *word, char **values,
                             int count)
{
    bool applies = option->kind != TERN_OPTION_FOREIGN && option->kind != TERN_OPTION_REFUSED;
    for (int i = 0; i < count && applies; i++) {
        const char *value = values[i], *name = value + 1 + (value[0] == '-' && value[1] == '-');
        if (value[0] != '-' || !tern_option_named(name) || may_be_option(option, values, i))
            continue;
        char *before = tern_must_format("%s%s%s", word, i ? " " : "", i ? values[0] : "");
        int error = tern_error(TERN_ERR_ARG,
                               "%s has no value: the option %s follows; write %s %s", before,
                               value, before, i < option->values - 1 ? "NAME VALUE" : "VALUE");
        free(before);
        return error;
    }
    return 0;
}

int tern_option_apply_value(const struct tern_option *option, const char *origin, const char *text,
                            struct tern_options *options)
{
    int64_t number;
    char *values[] = { (char *)text, NULL };
    if (option->values == 1) {
        bool none = !*text || (option->kind == TERN_OPTION_NUMBER && strcmp(text, "0") == 0) ||
                    (option->read && option->read != check_buffering && strcmp(text, "0") == 0);
        return none ? 0 : tern_option_apply(option, origin, values, NULL, options);
    }
    if (!tern_param_read_value(TERN_PARAM_BOOL, text, &number))
        return tern_error(TERN_ERR_ARG, "%s is \"%s\"; expected 0 or 1. Change or remove it",
                          origin, text);
    if (number)
        return tern_option_apply(option, origin, values, NULL, options);
    if (option->kind == TERN_OPTION_FLAG)
        *(bool *)((char *)options + option->offset) = false;
    else if (option->read == set_oversubscribe)
        options->oversubscribe = false;
    else if (option->read == set_no_oversubscribe)
        options->map.no_oversubscribe = false;
    return 0;
}

int tern_option_apply(const struct tern_option *option, const char *word, char **values,
                      struct tern_app *app, struct tern_options *options)
{
    void *field = (option->of_app ? (char *)app : (char *)options) + option->offset;
    switch (option->kind) {
    case TERN_OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case TERN_OPTION_NUMBER:
        return tern_policy_number(word, values[0], option->least, option->most, field);
    case TERN_OPTION_WORD:
        *(const char **)field = values[0];
        return 0;
    case TERN_OPTION_LIST:
        tern_strings_add(field, values[0]);
        return 0;
    case TERN_OPTION_READ:
        return option->read(word, option->values ? values[0] : option->text, options);
    case TERN_OPTION_READ_APP:
        return option->read_app(word, values[0], app);
    case TERN_OPTION_READ_PAIR:
        return option->read_pair(word, values[0], values[1], app);
    case TERN_OPTION_PARAMETER:
        return tern_parameter_set(option->text, word, values[0], values[1], field, options);
    case TERN_OPTION_TUNE:
        return 0; /* command_line.c has read it before */
    case TERN_OPTION_WARNED:
        tern_options_warn(options, "%s has no effect: %s", word, option->text);
        return 0;
    case TERN_OPTION_FOREIGN:
        return tern_error(TERN_ERR_ARG,
                          "option %s is a word of other launchers (MPICH, Intel MPI); here it is "
                          "%s",
                          word, option->text);
    case TERN_OPTION_REFUSED:
        return tern_error(TERN_ERR_ARG, "option %s is not supported: %s", word, option->text);
    default:
        return 0;
    }
}
