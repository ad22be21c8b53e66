/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/option_values.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/settings/param.h"
#include "lib/settings/value.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/machine/memory_kinds.h"
#include "lib/util/net/port.h"
#include "lib/util/net/tcp_address.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/hosts/allocation.h"
#include "mpirun/plan/words/policy.h"
#include "mpirun/plan/words/words.h"

int tern_option_set_initial_errhandler(const char *option, const char *value,
                                       struct tern_options *options)
{
    static const char name[] = "mpi_initial_errhandler";
    char known[64];
    int error = tern_param_check_text(name, value, option);
    if (!error && tern_param_choice_name(tern_param_find(name), tern_param_find_choice(name, value),
                                         known, sizeof known))
        tern_strings_set(&options->app->env, "OMPI_MCA_mpi_initial_errhandler", known);
    return error;
}

int tern_option_check_arch(const char *option, const char *wanted, struct tern_options *options)
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
int tern_option_check_memory_kinds(const char *option, const char *list,
                                   struct tern_options *options)
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

int tern_option_export_variable(const char *option, const char *text, struct tern_options *options)
{
    (void)option;
    struct tern_app *app = options->app;
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
int tern_option_forward_all(const char *option, const char *text, struct tern_options *options)
{
    (void)option;
    export_all(text, 0, options->app);
    return 0;
}

/* Open MPI 5's --unset-env NAME */
int tern_option_unset_variable(const char *option, const char *text, struct tern_options *options)
{
    if (!*text || strchr(text, '='))
        return tern_error(TERN_ERR_ARG, "%s needs the name of a variable, not \"%s\"", option,
                          text);
    tern_strings_add(&options->app->unset, text);
    return 0;
}

int tern_option_read_stdin_target(const char *option, const char *text,
                                  struct tern_options *options)
{
    if (strcasecmp(text, "none") == 0)
        options->stdin_rank = TERN_STDIN_NONE;
    else if (strcasecmp(text, "all") == 0)
        options->stdin_rank = TERN_STDIN_ALL;
    else
        return tern_words_number(option, text, 0, 1 << 20, &options->stdin_rank);
    return 0;
}

/* Reads DIR:nocopy,nojobid. */
int tern_option_set_output_dir(const char *option, const char *text, struct tern_options *options)
{
    static const struct tern_word known[] = {
        TERN_WORD_SETS("nocopy", output_only_files),
        TERN_WORD_SETS("nojobid", output_no_job),
        { "copy", .flag = offsetof(struct tern_options, output_only_files), .off = true },
        { .word = "jobid" },
        { 0 },
    };
    size_t length = strcspn(text, ":");
    if (!length)
        tern_options_warn(options, "%s names no directory: files are written below this one",
                          option);
    free(options->output_dir);
    options->output_dir = tern_must_format("%.*s", (int)length, text);
    return tern_words_apply(option, text + length, ":,", known, options);
}

/* Open MPI 5's --output-directory: the terminal gets a copy only with the modifier `copy`. */
int tern_option_set_output_dir_only(const char *option, const char *text,
                                    struct tern_options *options)
{
    options->output_only_files = true;
    return tern_option_set_output_dir(option, text, options);
}

/* file=FILE of --output: the files are FILE.RANK.out and FILE.RANK.err. */
static int set_output_file(const char *option, const char *text, struct tern_options *options)
{
    int error = tern_option_set_output_dir_only(option, text, options);
    options->output_plain = true;
    return error;
}

/* Applies Open MPI 5's words, of which there must be one. */
static int read_words(const char *option, const char *text, const struct tern_word *known,
                      struct tern_options *options)
{
    return text[strspn(text, ",")] ? tern_words_apply(option, text, ",", known, options)
                                   : tern_words_unknown(option, "", known);
}

/* Open MPI 5's --display map,bind */
int tern_option_read_display(const char *option, const char *text, struct tern_options *options)
{
    enum { SHOWS = offsetof(struct tern_options, shows_library) };
    static const struct tern_word known[] = {
        TERN_WORD_SETS("map", display_map),
        TERN_WORD_SETS("map-devel", display_map),
        TERN_WORD_SETS("bindings", report_bindings),
        TERN_WORD_SETS("allocation", display_allocation),
        { "paths", SHOWS, .variable = "OMPI_MCA_btl_show_paths" },
        { "fabric", SHOWS, .variable = "OMPI_MCA_btl_show_fabric" },
        { "topology", SHOWS, .variable = "OMPI_MCA_btl_show_topology" },
        /* the topology of each job is shown where it runs */
        { "topo=HOST", SHOWS, .variable = "OMPI_MCA_btl_show_topology", .unlisted = true },
        { 0 },
    };
    size_t length = strcspn(text, ":");
    char *words = tern_must_format("%.*s", (int)length, text);
    int error = read_words(option, words, known, options);
    free(words);
    if (text[length])
        tern_options_warn(options, "%s %s: \"%s\" has no effect: the form is that of Open MPI 4.1",
                          option, text, text + length);
    return error;
}

/* Open MPI 5's --output tag,timestamp,merge,dir=D */
int tern_option_read_output(const char *option, const char *text, struct tern_options *options)
{
    static const struct tern_word known[] = {
        TERN_WORD_SETS("tag", tag_output),
        TERN_WORD_SETS("tag-detailed", tag_output),
        TERN_WORD_SETS("tag-fullname", tag_output),
        TERN_WORD_SETS("rank", tag_output),
        TERN_WORD_SETS("timestamp", timestamp_output),
        TERN_WORD_SETS("merge-stderr-to-stdout", merge_stderr),
        { .word = "raw" }, /* it is raw anyway */
        { "xml", .useless = ": output is plain text; tag names the rank of each line" },
        { "dir=DIR", .read = tern_option_set_output_dir_only },
        { "file=FILE", .read = set_output_file },
        { "directory=DIR", .read = tern_option_set_output_dir_only, .unlisted = true },
        { "filename=FILE", .read = set_output_file, .unlisted = true },
        { 0 },
    };
    return read_words(option, text, known, options);
}

int tern_option_read_hosts(const char *option, const char *text, struct tern_options *options)
{
    if (options->hosts_are_default)
        tern_strings_free(&options->hosts);
    options->hosts_are_default = false;
    tern_strings_add_words(&options->hosts, text, ",");
    return options->hosts.count
               ? 0
               : tern_error(TERN_ERR_ARG, "%s needs host names, not \"%s\"", option, text);
}

int tern_option_set_per_node(const char *option, const char *text, struct tern_options *options)
{
    return tern_policy_per_object(option, text, TERN_PER_NODE, TERN_MAP_LEVEL_NODE, options);
}

int tern_option_set_per_socket(const char *option, const char *text, struct tern_options *options)
{
    return tern_policy_per_object(option, text, TERN_PER_SOCKET, TERN_MAP_LEVEL_SOCKET, options);
}

int tern_option_set_dry_run(const char *option, const char *text, struct tern_options *options)
{
    (void)option, (void)text;
    options->display_map = true;
    options->do_not_launch = true;
    return 0;
}

/* Open MPI 5's --runtime-options, words such as donotlaunch or abort-nonzero-status=0. */
int tern_option_read_runtime(const char *option, const char *text, struct tern_options *options)
{
    enum { KEEP_GOING = offsetof(struct tern_options, keep_going) };
    static const struct tern_word known[] = {
        TERN_WORD_SETS("donotlaunch", do_not_launch),
        { "abort-nonzero-status", KEEP_GOING, .off = true },
        { "error-nonzero-status", KEEP_GOING, .off = true },
        { .word = "report-state-on-timeout" }, /* --timeout reports that anyway */
        { "recoverable", .useless = "" },
        { "autorestart", .useless = "" },
        { "continuous", .useless = "" },
        { "xterm", .useless = "" },
        { "max-restarts", .useless = "" },
        { "output-proctable", .useless = "" },
        { "exec-agent", .useless = "" },
        { "default-exec-agent", .useless = "" },
        { "show-progress", .useless = "" },
        { "notifyerrors", .useless = "" },
        { "app-context-level", .useless = "" },
        { 0 },
    };
    return read_words(option, text, known, options);
}

int tern_option_join_variable(const char *option, char *const *values, bool before,
                              struct tern_app *app)
{
    const char *value = values[1];
    char *name = tern_must_copy(values[0]), *bracket = strchr(name, '['), separator = ':';
    if (bracket && bracket[1] && strcmp(bracket + 2, "]") == 0) {
        separator = bracket[1];
        *bracket = '\0';
    }
    if (!*name || strchr(name, '=')) {
        free(name);
        return tern_error(TERN_ERR_ARG, "%s needs NAME or NAME[SEPARATOR], not \"%s\"", option,
                          values[0]);
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

/* --ompi-server file:FILE, or the line in the file. Ranks get the line, because FILE may be missing
 * on other hosts. */
int tern_option_set_name_server(const char *option, const char *text, struct tern_options *options)
{
    struct tern_port_name name;
    const char *why, *path = strncasecmp(text, "file:", 5) == 0 ? text + 5 : NULL;
    char *line = path ? tern_read_text(path, &why) : tern_must_copy(text);
    if (!line)
        return tern_error(TERN_ERR_ARG,
                          "%s: cannot read %s, which another mpirun's --report-uri "
                          "must have written: %s",
                          option, path, why);
    line[strcspn(line, "\n")] = '\0';
    int error = 0;
    if (tern_port_name_read(line, &name))
        tern_strings_set(&options->env, "OMPI_MCA_mpi_name_server", line);
    else
        error = tern_error(TERN_ERR_ARG,
                           "%s: expected file:FILE, with the file that another "
                           "mpirun's --report-uri has written, or the line in that "
                           "file; found \"%.40s\"",
                           option, line);
    free(line);
    return error;
}

/* ---- parameters without an option ---- */

/* Chooses a mapping by the name of Open MPI's mapper. */
int tern_option_choose_mapper(const char *origin, const char *names, struct tern_options *options)
{
    if (strcmp(names, "seq") == 0)
        return tern_policy_map_by(origin, "seq", options);
    if (strcmp(names, "rank_file") == 0)
        return tern_policy_map_by(origin, "rankfile", options);
    if (strcmp(names, "mindist") == 0 || strcmp(names, "resilient") == 0)
        tern_options_warn(options, "%s: there is no mapper %s; use --map-by", origin, names);
    return 0; /* the others choose by themselves */
}

/* Checks a filter once, before any rank is started: otherwise every rank would report the error. */
int tern_option_check_filter(const char *origin, const char *value, struct tern_options *options)
{
    (void)options;
    struct tern_tcp_filter filter;
    return tern_tcp_filter_read(origin, value, &filter);
}

/* The hosts that are taken if the command line names none. */
int tern_option_set_default_hosts(const char *origin, const char *value,
                                  struct tern_options *options)
{
    options->hosts_are_default = false;
    bool none = !*value || strcmp(value, "0") == 0;
    int error = none ? 0 : tern_option_read_hosts(origin, value, options);
    options->hosts_are_default = options->hosts.count > 0;
    return error;
}

/* The slots of hosts whose number nobody gave: a number, or the objects to count. */
int tern_option_set_default_slots(const char *origin, const char *value,
                                  struct tern_options *options)
{
    static const struct tern_setting words = {.choices = "cores|hwthreads|sockets|numas|none"};
    static const int levels_plus_one[] = {1 + TERN_MAP_LEVEL_CORE, 1 + TERN_MAP_LEVEL_HWTHREAD,
                                          1 + TERN_MAP_LEVEL_SOCKET, 1 + TERN_MAP_LEVEL_NUMA, 0};
    int which = tern_param_index_of_choice(&words, value);
    options->default_slots =
        (struct tern_default_slots){.level_plus_one = which < 0 ? 0 : levels_plus_one[which]};
    int *number = &options->default_slots.number;
    return which >= 0 ? 0 : tern_words_number(origin, value, 1, 1 << 20, number);
}

/* ras: from which batch systems hosts are taken. */
int tern_option_choose_batch_systems(const char *origin, const char *value,
                                     struct tern_options *options)
{
    (void)origin, (void)options;
    tern_allocation_limit(value);
    return 0;
}

/* The agent is one program. Refuses "valgrind mpirun", which Open MPI's launcher would run. */
int tern_option_set_launch_agent(const char *option, const char *text, struct tern_options *options)
{
    (void)options;
    if (strchr(text, ' ') && access(text, X_OK) < 0)
        return tern_error(TERN_ERR_ARG,
                          "%s is \"%s\"; expected the path of mpirun on the other hosts, without "
                          "arguments. To run it below another program, name a script that does",
                          option, text);
    return option[0] == '-' ? tern_param_write("orte_launch_agent", text) : 0;
}

/* Maps on the machine of an XML file. */
int tern_option_set_machine(const char *origin, const char *value, struct tern_options *options)
{
    (void)options;
    if (!*value)
        return 0;
    if (access(value, R_OK) < 0)
        return tern_error(TERN_ERR_ARG,
                          "%s names %s, which cannot be read: %s; expected a file that `lstopo "
                          "FILE.xml` wrote",
                          origin, value, strerror(errno));
    return setenv("HWLOC_XMLFILE", value, 1) ? TERN_ERR_NO_MEM : 0;
}

/* Reads the seconds of Open MPI's parameter. */
int tern_option_set_end_grace(const char *origin, const char *value, struct tern_options *options)
{
    (void)options;
    int seconds, error = tern_words_number(origin, value, 0, 1 << 20, &seconds);
    char text[24];
    snprintf(text, sizeof text, "%d", error ? 0 : seconds * 1000);
    return error ? error : tern_param_write("end_grace_ms", text);
}

/* plm_base_verbose N: from 1 on, the start of each host is shown. */
int tern_option_set_verbosity(const char *origin, const char *value, struct tern_options *options)
{
    (void)origin;
    int64_t level;
    if (tern_param_read_value(TERN_PARAM_INT, value, &level))
        options->show_start = level > 0;
    else /* a word, which tern_param_check_text allowed */
        options->show_start = *value && strcmp(value, "none") && strcmp(value, "error");
    return 0;
}

int tern_option_set_startup_timeout(const char *origin, const char *value,
                                    struct tern_options *options)
{
    (void)origin, (void)options;
    return strcmp(value, "0") == 0 ? 0 : tern_param_write("launch_timeout", value);
}

int tern_option_set_env_delimiter(const char *origin, const char *text,
                                  struct tern_options *options)
{
    (void)origin;
    options->env_list_delimiter = *text ? *text : ';';
    return 0;
}

int tern_option_set_env_list(const char *origin, const char *list, struct tern_options *options)
{
    tern_strings_add(&options->kept, origin);
    options->env_list_origin = options->kept.items[options->kept.count - 1];
    options->env_list = list;
    return 0;
}

/* Gives NAME=VALUE, or NAME with mpirun's own value, to all ranks. */
int tern_option_give_variable(const char *origin, const char *text, struct tern_options *options)
{
    char *name = tern_must_copy(text), *value = strchr(name, '=');
    int error = 0;
    if (value)
        *value++ = '\0';
    else
        value = getenv(name);
    if (!*name || *name == '-')
        error = tern_error(TERN_ERR_ARG, "%s: expected NAME=VALUE, not \"%s\"", origin, text);
    else if (value)
        tern_strings_set(&options->env, name, value);
    else
        tern_options_warn(options, "%s: no variable %s in the environment", origin, name);
    free(name);
    return error;
}

int tern_option_give_list(struct tern_options *options)
{
    char delimiter[2] = {options->env_list_delimiter ? options->env_list_delimiter : ';', '\0'};
    char *copy = tern_must_copy(options->env_list ? options->env_list : ""), *rest = copy, *word;
    int error = 0;
    while (!error && (word = strsep(&rest, delimiter)))
        error = *word ? tern_option_give_variable(options->env_list_origin, word, options) : 0;
    free(copy);
    return error;
}
