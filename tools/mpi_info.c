/* SPDX-License-Identifier: BSD-3-Clause */

/* mpi_info (also as ompi_info): prints what this installation is, what it was built with, which MPI
 * procedures work, and every parameter with its value, origin of the value, type, unit and meaning.
 * Where Open MPI has the like, the labels and the colon-separated keys of --parsable are its own,
 * because scripts look for them. */
#include "config.h"

#include <mpi.h>

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/settings/figure_file.h"
#include "lib/settings/figures.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/settings/value.h"
#include "tools/measure.h"
#include "lib/util/base/prefix.h"

struct procedure {
    const char *name;
    const char *chapter;
    const char *since; /* version of the MPI standard */
    bool works;
    const char *fortran; /* in which Fortran bindings; "": in none */
};

static const struct procedure procedures[] = {
#include "procedures.inc"
};

enum { PROCEDURE_COUNT = sizeof procedures / sizeof *procedures };

static bool parsable;
static const char *own_name; /* mpi_info or ompi_info */
static bool as_ompi; /* called ompi_info: parameters in the lines that scripts look for */
static bool internal; /* show the internal parameters too */
static const char *only_type; /* show parameters of this type only; NULL: of all types */

/* Prints one fact: with its label for people, with its key for programs. */
static void say(const char *label, const char *key, const char *value)
{
    if (parsable) {
        printf("%s:%s\n", key, value);
    } else {
        printf("%24s: %s\n", label, value);
    }
}

static void print_version(void)
{
    /* programs read the first line */
    printf("Open MPI v%s\n%s, compatible with it\n", TERN_OMPI_RELEASE, PACKAGE_STRING);
}

/* Counts the procedures that work: those in Fortran if `fortran`, else all. */
static int count_working(bool fortran)
{
    int count = 0;
    for (int i = 0; i < PROCEDURE_COUNT; i++) {
        count += procedures[i].works && (!fortran || *procedures[i].fortran);
    }
    return count;
}

static void print_build(void)
{
    char text[80];

    say("Package", "package", PACKAGE_STRING);
    say("Open MPI", "ompi:version:full", TERN_OMPI_RELEASE);
    snprintf(text, sizeof text, "%d.%d.0", MPI_VERSION, MPI_SUBVERSION);
    say("MPI API", "mpi-api:version:full", text);
    snprintf(text, sizeof text, "%d of %d work (--procedures lists them)", count_working(false),
             PROCEDURE_COUNT);
    say("MPI procedures", "procedures", text);
    say("Prefix", "path:prefix", tern_prefix());
    say("Configure command line", "config:cli", TERN_CONFIGURE_ARGS);
    say("C compiler", "compiler:c:command", TERN_CC);
    say("C++ compiler", "compiler:cxx:command", TERN_CXX);
    say("C bindings", "bindings:c", "yes");
    say("C++ bindings", "bindings:cxx", "no");
    say("Fort mpif.h", "bindings:mpif.h", "yes");
    say("Fort use mpi", "bindings:use_mpi", TERN_FORTRAN_MODULES);
    say("Fort use mpi_f08", "bindings:use_mpi_f08", TERN_FORTRAN_MODULES);
    say("Fort compiler", "compiler:fortran:command", TERN_FC);
    say("Thread support", "option:threads", "posix (MPI_THREAD_MULTIPLE: yes)");
    say("PMIx", "option:pmix", TERN_PMIX_VERSION);
    say("hwloc", "option:hwloc", TERN_HWLOC_VERSION);
    say("CUDA support", "mca:mpi:base:param:mpi_built_with_cuda_support:value", "true");
    say("GPUDirect RDMA", "option:hmem", TERN_HMEM);
    say("Sanitizers", "option:sanitizers", *TERN_SANITIZER_FLAGS ? TERN_SANITIZER_FLAGS : "none");
}

/* Prints the byte movers, as scripts look for those of Open MPI. */
static void print_movers(void)
{
    static const char *const movers[] = {"self", "shm", "tcp"};
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
        if (parsable) {
            printf("mca:btl:%s:version:\"component:%s\"\n", movers[i], PACKAGE_VERSION);
        } else {
            printf("%24s: %s (Component v%s)\n", "MCA btl", movers[i], PACKAGE_VERSION);
        }
    }
}

static void print_architecture(void)
{
    say("Configured architecture", "config:arch", TERN_HOST);
}

static void print_hostname(void)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    say("Configure host", "config:host", name);
}

/* Prints one directory, or all of them. Returns 0, or 1 after a message if there is no such one. */
static int print_paths(const char *kind)
{
    bool every = strcmp(kind, "all") == 0, found = false;
    static const struct {
        const char *label, *key, *directory;
    } paths[] = {
        {"Prefix", "path:prefix", TERN_PREFIX},
        {"Bindir", "path:bindir", TERN_BINDIR},
        {"Libdir", "path:libdir", TERN_LIBDIR},
        {"Incdir", "path:incdir", TERN_INCLUDEDIR},
        {"Includedir", "path:includedir", TERN_INCLUDEDIR},
        {"Sysconfdir", "path:sysconfdir", TERN_SYSCONFDIR},
        {"Mandir", "path:mandir", TERN_MANDIR},
        {"Pkglibdir", "path:pkglibdir", TERN_LIBDIR},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char directory[PATH_MAX];
        if (!every && strcmp(kind, paths[i].key + strlen("path:")) != 0) {
            continue;
        }
        found = true;
        tern_prefix_directory(paths[i].directory, directory);
        say(paths[i].label, paths[i].key, directory);
    }
    char figures[PATH_MAX];
    bool wanted = every || strcmp(kind, "figures") == 0;
    if (wanted && tern_figure_file_path(figures, sizeof figures) == 0) {
        say("Measured figures", "path:figures", figures);
        found = true;
    }
    if (found) {
        return 0;
    }
    fprintf(stderr, "%s: no directory is called '%s'; there are: all", own_name, kind);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        fprintf(stderr, " %s", paths[i].key + strlen("path:"));
    }
    fputs(" figures\n", stderr);
    return 1;
}

/* Prints the procedures of one kind, one paragraph per chapter. The table's order keeps a chapter
 * together. */
static void print_procedures_of(bool works)
{
    const char *chapter = "";
    int column = 0;

    for (int i = 0; i < PROCEDURE_COUNT; i++) {
        const struct procedure *p = &procedures[i];
        if (p->works != works) {
            continue;
        }
        if (strcmp(chapter, p->chapter) != 0) {
            printf("%s  %s\n", *chapter ? "\n" : "", p->chapter);
            chapter = p->chapter;
            column = 0;
        }
        int width = (int)strlen(p->name) + 1;
        if (column + width > 96) {
            putchar('\n');
            column = 0;
        }
        column += printf("%s%s", column == 0 ? "    " : " ", p->name);
    }
    putchar('\n');
}

static void print_procedures(void)
{
    if (parsable) {
        for (int i = 0; i < PROCEDURE_COUNT; i++) {
            printf("procedure:%s:%s\n", procedures[i].name, procedures[i].works ? "yes" : "no");
            printf("fortran:%s:%s\n", procedures[i].name,
                   procedures[i].works ? procedures[i].fortran : "");
        }
        return;
    }
    printf("Working (%d, in Fortran %d: all but the tool interface, conversions of handles and a "
           "few of C's own):\n",
           count_working(false), count_working(true));
    print_procedures_of(true);
    if (count_working(false) == PROCEDURE_COUNT)
        return;
    printf("\nNot yet (%d):\n", PROCEDURE_COUNT - count_working(false));
    print_procedures_of(false);
}

static const char *type_name(enum tern_param_type type)
{
    static const char *const names[] = {[TERN_PARAM_INT] = "int",
                                        [TERN_PARAM_SIZE] = "size",
                                        [TERN_PARAM_BOOL] = "bool",
                                        [TERN_PARAM_STRING] = "string",
                                        [TERN_PARAM_WORDS] = "string"};
    return names[type];
}

/* Prints the choices of a parameter, separated by `between`. An empty choice is printed as "". */
static void print_choices(const struct tern_setting *param, const char *between)
{
    char choice[64];
    for (int i = 0; tern_param_choice_name(param, i, choice, sizeof choice); i++) {
        printf("%s%s", i > 0 ? between : "", *choice ? choice : "\"\"");
    }
}

static int complain(const struct tern_setting *param)
{
    int error = tern_param_check(param->name);
    if (error) {
        tern_log("%s", tern_error_text(error));
    }
    return error ? 1 : 0;
}

/* Prints the range of a number, for programs. */
static void print_range(const char *key, const struct tern_setting *param)
{
    if (param->type == TERN_PARAM_INT || param->type == TERN_PARAM_SIZE) {
        printf("%s:param:%s:least:%lld\n", key, param->name, (long long)param->least);
        printf("%s:param:%s:most:%lld\n", key, param->name, (long long)param->most);
    }
}

/* Writes the first words of a parameter's keys, as Open MPI has them: mca:btl:tcp for the room
 * btl_tcp, mca:pml:base for pml. */
static void make_key(const struct tern_param_room *room, char *key, size_t size)
{
    const char *part = strchr(room->name, '_');
    snprintf(key, size, "mca:%.*s:%s", (int)strcspn(room->name, "_"), room->name,
             part ? part + 1 : "base");
}

/* Prints a parameter in the form of Open MPI's ompi_info. */
static void print_ompi_line(const struct tern_param_room *room, const struct tern_setting *param,
                            const char *value)
{
    char label[60];
    const char *part = strchr(room->name, '_');
    snprintf(label, sizeof label, "MCA %.*s %s", (int)strcspn(room->name, "_"), room->name,
             part ? part + 1 : "base");
    printf("%24s: parameter \"%s\" (current value: \"%s\", data source: %s, level: %s, type: %s)\n",
           label, param->name, value, tern_param_source(param->name),
           param->internal ? "9 dev/all" : "1 user/basic", type_name(param->type));
    printf("%24s  %s\n", "", param->help);
}

/* Prints a parameter. Returns 0, or 1 after a message if the parameter does not allow its value. */
static int print_parameter(const struct tern_param_room *room, const struct tern_setting *param)
{
    const char *value = tern_param_string(param->name);
    const char *preset = param->preset ? param->preset : "";
    const char *unit = param->unit && *param->unit ? param->unit : NULL;

    value = value ? value : "";
    if (parsable) {
        char key[80];
        make_key(room, key, sizeof key);
        printf("%s:param:%s:value:%s\n", key, param->name, value);
        printf("%s:param:%s:source:%s\n", key, param->name, tern_param_source(param->name));
        printf("%s:param:%s:level:%d\n", key, param->name, param->internal ? 9 : 1);
        printf("%s:param:%s:type:%s\n", key, param->name, type_name(param->type));
        printf("%s:param:%s:default:%s\n", key, param->name, preset);
        printf("%s:param:%s:unit:%s\n", key, param->name, unit ? unit : "");
        if (param->choices) {
            printf("%s:param:%s:choices:", key, param->name);
            print_choices(param, ",");
            putchar('\n');
        }
        print_range(key, param);
        printf("%s:param:%s:help:%s\n", key, param->name, param->help);
        return complain(param);
    }
    if (as_ompi) {
        print_ompi_line(room, param, value);
        return complain(param);
    }
    printf("  %s = \"%s\"  (%s%s%s, default \"%s\", from: %s)\n      %s\n", param->name, value,
           type_name(param->type), unit ? " in " : "", unit ? unit : "", preset,
           tern_param_source(param->name), param->help);
    if (param->choices || param->pairs || param->type != TERN_PARAM_STRING) {
        char values[600];
        tern_param_describe_values(param, NULL, values, sizeof values);
        printf("      Values: %s\n", values);
    }
    return complain(param);
}

/* Returns true if --param FRAMEWORK NAME means `room`. A room is called FRAMEWORK_NAME or
 * FRAMEWORK. */
static bool room_matches(const char *room, const char *framework, const char *name)
{
    size_t length = strlen(framework);

    if (strcmp(framework, "all") == 0) {
        return true;
    }
    if (strncmp(room, framework, length) != 0 || (room[length] != '_' && room[length] != '\0')) {
        return false;
    }
    return strcmp(name, "all") == 0 || room[length] == '\0' || strcmp(room + length + 1, name) == 0;
}

/* Returns true if the parameter is shown: an internal one only if asked for, or if somebody has set
 * it. */
static bool is_shown(const struct tern_setting *param)
{
    if (only_type && strcmp(only_type, type_name(param->type)))
        return false;
    return internal || !param->internal || strcmp(tern_param_source(param->name), "default");
}

static int print_parameters(const char *framework, const char *name)
{
    int found = 0, status = 0;

    for (const struct tern_param_room *const *room = tern_param_rooms; *room; room++) {
        if (!room_matches((*room)->name, framework, name)) {
            continue;
        }
        found++;
        if (!parsable && !as_ompi) {
            printf("%s\n", (*room)->name);
        }
        for (int i = 0; i < (*room)->count; i++) {
            if (is_shown(&(*room)->params[i])) {
                status |= print_parameter(*room, &(*room)->params[i]);
            }
        }
    }
    if (found > 0) {
        return status;
    }
    fprintf(stderr, "%s: no parameters of '%s %s'; there are:", own_name, framework, name);
    for (const struct tern_param_room *const *room = tern_param_rooms; *room; room++) {
        fprintf(stderr, " %s", (*room)->name);
    }
    fputs("; `--param all all` prints them all\n", stderr);
    return 1;
}

/* Prints the figures in force as a model file, or one fact a line. Returns 0, or 1 after a message
 * about the file that coll_model_file names. */
static int print_model(void)
{
    int error = tern_figures_read(), count = 0;
    if (error) {
        tern_log("%s", tern_error_text(error));
        return 1;
    }
    if (!parsable) {
        puts("# The figures by which collectives choose their algorithms. This is a model file; "
             "the parameter\n# coll_model_file names the file that a job uses. Each figure shows "
             "its meaning and its source.");
    }
    for (const struct tern_figure_row *row = tern_figure_rows; row->name; row++, count++) {
        long long value = (long long)tern_figure(row->name);
        const char *source = tern_figure_source(row->name);
        if (parsable) {
            printf("model:%s:value:%lld\n", row->name, value);
            printf("model:%s:source:%s\n", row->name, source);
            printf("model:%s:default:%lld\nmodel:%s:unit:%s\n", row->name, (long long)row->preset,
                   row->name, row->unit);
            printf("model:%s:measured:%s\n", row->name, row->measured ? "yes" : "no");
            printf("model:%s:help:%s\n", row->name, row->help);
        } else {
            printf("\n# %s%s%s%s\n%s = %lld # %s\n", row->help, *row->unit ? " In " : "",
                   row->unit, *row->unit ? "." : "", row->name, value, source);
        }
    }
    if (!parsable) {
        printf("\nend = %d\n", count);
    }
    return 0;
}

static void print_help(void)
{
    puts("Usage: mpi_info [OPTION]...\n"
         "Prints what this MPI installation is.\n\n"
         "  (nothing)             version and how it was built\n"
         "  --procedures          the MPI procedures: those that work, those that do not yet\n"
         "  --param ROOM NAME     parameters with value, type, unit and meaning; `all all` for all "
         "of them\n"
         "  --internal            with the above: also parameters for tests and for work on the "
         "library\n"
         "  --model               the figures by which collectives choose their algorithms, as a "
         "model file\n"
         "  --measure             measures these figures, for some seconds, and stores them for "
         "this user\n"
         "  --path WHAT           a directory: prefix, bindir, libdir, incdir, ...; all of them\n"
         "  --arch, --hostname    kind of processor and system; name of this host\n"
         "  --type TYPE           with --param: only parameters of this type\n"
         "  -a, --all             version, directories and all parameters\n"
         "  --parsable            colon-separated, for programs; --pretty-print: for people\n"
         "  -V, --version         the version alone\n"
         "  -h, --help            this text\n\n"
         "See mpi_info(1).");
}

enum {
    OPTION_PROCEDURES = 256,
    OPTION_PARAM,
    OPTION_PATH,
    OPTION_LEVEL,
    OPTION_PARSABLE,
    OPTION_MEASURE,
    OPTION_MODEL,
    OPTION_INTERNAL,
    OPTION_ARCH,
    OPTION_HOSTNAME,
    OPTION_TYPE,
    OPTION_SELECTED,
    OPTION_PRETTY
};

static const struct option options[] = {
    {"procedures", no_argument, NULL, OPTION_PROCEDURES},
    {"param", required_argument, NULL, OPTION_PARAM},
    {"params", required_argument, NULL, OPTION_PARAM},
    {"measure", no_argument, NULL, OPTION_MEASURE},
    {"model", no_argument, NULL, OPTION_MODEL},
    {"internal", no_argument, NULL, OPTION_INTERNAL},
    {"path", required_argument, NULL, OPTION_PATH},
    {"level", required_argument, NULL, OPTION_LEVEL},
    {"arch", no_argument, NULL, OPTION_ARCH},
    {"hostname", no_argument, NULL, OPTION_HOSTNAME},
    {"type", required_argument, NULL, OPTION_TYPE},
    {"selected-only", no_argument, NULL, OPTION_SELECTED},
    {"show-version", required_argument, NULL, OPTION_SELECTED},
    {"pretty-print", no_argument, NULL, OPTION_PRETTY},
    {"all", no_argument, NULL, 'a'},
    {"config", no_argument, NULL, 'c'},
    {"parsable", no_argument, NULL, OPTION_PARSABLE},
    {"parseable", no_argument, NULL, OPTION_PARSABLE},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
    bool all = false, build = false, version = false, table = false, measure = false, model = false,
         architecture = false, hostname = false;
    const char *framework = NULL, *name = NULL, *paths = NULL;
    int option, status = 0;

    const char *slash = strrchr(argv[0], '/');
    as_ompi = strcmp(slash ? slash + 1 : argv[0], "ompi_info") == 0;
    own_name = as_ompi ? "ompi_info" : "mpi_info";
    tern_log_name(own_name);
    while ((option = getopt_long(argc, argv, "acVhl:", options, NULL)) != -1) {
        switch (option) {
        case 'a': all = true; break;
        case 'c': build = true; break;
        case 'V': version = true; break;
        case 'h': print_help(); return 0;
        case OPTION_PROCEDURES: table = true; break;
        case OPTION_PARSABLE: parsable = true; break;
        case OPTION_PATH: paths = optarg; break;
        case OPTION_ARCH: architecture = true; break;
        case OPTION_HOSTNAME: hostname = true; break;
        case OPTION_TYPE: only_type = optarg; break;
        case OPTION_SELECTED: break; /* there is nothing to choose from */
        case OPTION_PRETTY: parsable = false; break;
        case OPTION_MEASURE: measure = true; break;
        case OPTION_MODEL: model = true; break;
        case OPTION_INTERNAL: internal = true; break;
        /* Open MPI hides parameters above a level; level 9 shows all */
        case 'l':
        case OPTION_LEVEL: internal = atoi(optarg) >= 9; break;
        case OPTION_PARAM:
            framework = optarg;
            name = optind < argc && argv[optind][0] != '-' ? argv[optind++] : "all";
            break;
        default: fprintf(stderr, "%s: --help lists the options\n", own_name); return 1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: unexpected argument '%s'; --help lists the options\n", own_name,
                argv[optind]);
        return 1;
    }

    if (version) {
        print_version();
        return 0;
    }
    if (measure) {
        return tern_measure();
    }
    bool one = framework || paths || table || model || architecture || hostname;
    if (only_type && !framework) {
        framework = "all";
        one = true;
    }
    if (all || build || !one) {
        print_build();
        print_movers();
    }
    if (all || architecture) {
        print_architecture();
    }
    if (all || hostname) {
        print_hostname();
    }
    if (all || paths) {
        status = print_paths(all ? "all" : paths);
    }
    if (table) {
        print_procedures();
    }
    if (all || framework) {
        status |= print_parameters(framework ? framework : "all", name ? name : "all");
    }
    if (model) {
        status |= print_model();
    }
    return status;
}
