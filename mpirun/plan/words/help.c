/* SPDX-License-Identifier: BSD-3-Clause */

/* The text of --help, by topics. They are Open MPI's, so that `mpirun --help mapping` of a user's
 * memory works. Options that do nothing or are refused come from the option table. */

#include "mpirun/plan/words/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/base/log.h"
#include "mpirun/plan/words/option_table.h"

struct line {
    const char *topics; /* separated by blanks: the first is where --help alone has the line */
    const char *text;
};

static const struct line lines[] = {
    { "general",
      "  -np, -n, -c N              number of ranks; default: one per available core\n" },
    { "general",
      "  -q, --quiet                no advice, only errors;  -v, --verbose: say what is done\n" },
    { "general", "  -V, --version              print the version\n" },
    { "general",
      "  -h, --help [TOPIC]         print the options of a topic, or the lines of one option\n" },

    { "launch mapping",
      "  -H, --host HOST[:N],...    where to run, and the number of slots there; default: 1\n" },
    { "launch mapping",
      "  --hostfile FILE            the same from a file of lines \"HOST slots=N max-slots=N\"; "
      "also -machinefile;\n"
      "                             --add-hostfile FILE: those of another file, too\n" },
    { "launch", "  -x NAME[=VALUE]            give the environment variable to the ranks;\n"
                "                             NAME*: all that begin so\n" },
    { "launch", "  --wdir DIR                 working directory of the ranks; also -wd\n" },
    { "launch", "  --path DIRS                where to look for PROGRAM before PATH\n" },
    { "launch", "  --mca NAME VALUE           set a parameter (mpi_info lists them); --gmca: for "
                "all programs\n" },
    { "launch",
      "  --tune FILE                read -x and --mca from a file; --am FILE: lines NAME = "
      "VALUE\n" },
    { "launch", "  --app FILE                 read a program and its options from each line of a "
                "file\n" },
    { "launch",
      "  --prefix DIR               put DIR/bin and DIR/lib in front of the ranks' search paths, "
      "as does an absolute\n"
      "                             path to mpirun, unless --noprefix is given\n" },
    { "launch",
      "  --initial-errhandler NAME  the initial error handler: mpi_errors_are_fatal, "
      "mpi_errors_abort or mpi_errors_return\n" },
    { "launch",
      "  --memory-alloc-kinds LIST  kinds of memory that the program will use; warns of "
      "unsupported kinds\n" },
    { "launch debug",
      "  --timeout SECONDS          end the job after this time, and say where its ranks are\n" },
    { "launch", "  --report-pid -|+|FILE      print mpirun's process id\n" },
    { "launch",
      "  --report-uri -|+|FILE      keep names (MPI_Publish_name) for other jobs, and print where\n"
      "  --ompi-server file:FILE    names are kept by the mpirun that has written FILE\n" },

    { "mapping", "  --soft N[:M[:STEP]],...    the largest of these numbers that -np allows\n" },
    { "mapping launch", "  --nolocal                  no ranks on this machine\n" },
    { "mapping",
      "  --map-by OBJECT            slot, hwthread, core, l1cache..l3cache, numa, socket, node "
      "or ppr:N:OBJECT;\n"
      "                             with :PE=N each rank has N processors; seq: a rank on each "
      "host named, in order\n" },
    { "mapping",
      "  --rankfile FILE            lines \"rank N=HOST slot=CORES\" say where each rank runs; "
      "also "
      "-rf, --map-by rankfile:FILE=FILE\n" },
    { "mapping",
      "  -N, --npernode N           N ranks per node; --npersocket N: per socket\n" },
    { "mapping binding", "  --cpu-set LIST             use only these cores, such as 0-3,8\n" },
    { "mapping binding",
      "  --use-hwthread-cpus        a hardware thread counts as a processor\n" },
    { "mapping",
      "  --oversubscribe            allow more ranks than processors; --nooversubscribe: forbid "
      "it\n" },
    { "mapping debug devel",
      "  --display-map              show which rank runs where; --dry-run: show it and start "
      "nothing\n" },

    { "ranking", "  --rank-by OBJECT           number the ranks round these objects\n" },

    { "binding",
      "  --bind-to OBJECT           none, hwthread, core, l1cache..l3cache, numa, socket; "
      "default: core for one or two\n"
      "                             ranks, socket for more ranks, none for more ranks than "
      "processors\n" },
    { "binding debug",
      "  --report-bindings          print the processors to which each rank is bound\n" },

    { "output",
      "  --tag-output               begin each line with [job,rank]<stream>:; "
      "--timestamp-output: with the time\n" },
    { "output",
      "  --output-filename DIR      write the ranks' output to files below DIR too (DIR:nocopy: "
      "only there;\n"
      "                             DIR:nojobid: no directory for the job)\n" },
    { "output", "  --merge-stderr-to-stdout   one stream for both\n" },
    { "input",
      "  --stdin RANK|all|none      which ranks read standard input; default: rank 0\n" },

    { "debug devel",
      "  --explain                  print why the job runs as it does: settings and their "
      "sources, bindings, byte movers\n" },
    { "debug devel",
      "  --debug-daemons            say when each host is started and answers\n" },
    { "debug",
      "  --where PID                say where the ranks of the mpirun with this process id are; "
      "so does Ctrl-\\\n" },

    { "compatibility",
      "  --bynode, --byslot, --bycore, --bysocket              --map-by with these objects\n"
      "  --bind-to-core, --bind-to-socket, --bind-to-none      --bind-to with these objects\n"
      "  --cpus-per-proc N, --cpus-per-rank N, --pernode       --map-by :PE=N; -N 1\n"
      "  --display WORDS, --output WORDS, --rtos WORDS         Open MPI 5's words: map, bind; tag, "
      "dir=DIR; donotlaunch\n" },
};
enum { LINES = sizeof lines / sizeof *lines };

/* Topics, with what comes from the option table: the options of these kinds. */
static const struct {
    const char *name, *title;
    bool ignored, warned;
    const char *only; /* of the warned or refused ones only this option; NULL: all */
} topics[] = {
    { "general", "General", false, false, NULL },
    { "launch", "Hosts, environment, programs", false, false, NULL },
    { "mapping", "Where ranks run", false, false, NULL },
    { "ranking", "Numbers of ranks", false, false, NULL },
    { "binding", "Processors of ranks", false, false, NULL },
    { "output", "Output", false, false, NULL },
    { "input", "Input", false, false, NULL },
    { "debug", "Looking into a job", false, false, NULL },
    { "compatibility", "Words of other releases", false, false, NULL },
    { "devel", "For those who work on mpirun", true, false, NULL },
    { "dvm", "Not supported", false, true, "dvm" },
    { "unsupported", "Not supported, and what to do instead", false, true, NULL },
};
enum { TOPICS = sizeof topics / sizeof *topics };

/* Returns true if one of the words of `words` is `word`. *ret_first: it is the first. */
static bool has_word(const char *words, const char *word, bool *ret_first)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        *ret_first = at == words;
        if (size == length && strncmp(at, word, length) == 0)
            return true;
        at += size;
    }
    return false;
}

/* Returns true if the text mentions the option as a word of its own. */
static bool mentions(const char *text, const char *option)
{
    size_t length = strlen(option);
    for (const char *at = text; (at = strstr(at, option)); at += length)
        if (at > text && at[-1] == '-' && !strchr("abcdefghijklmnopqrstuvwxyz-", at[length]))
            return true;
    return false;
}

/* Returns true if the text of --help describes the option: --where is refused among other options
 * only. */
static bool has_lines(const char *option)
{
    for (int i = 0; i < LINES; i++)
        if (mentions(lines[i].text, option))
            return true;
    return false;
}

/* Writes what the option table says of the options of a topic. */
static void print_options(int topic)
{
    if (topics[topic].ignored)
        printf("Accepted without effect:\n");
    for (int i = 0; i < tern_option_count; i++) {
        const struct tern_option *option = &tern_option_table[i];
        enum tern_effect effect = option->row.effect;
        bool warned = (effect == TERN_EFFECT_WARNED || effect == TERN_EFFECT_REFUSED) &&
                      !has_lines(option->names);
        if (topics[topic].ignored && effect == TERN_EFFECT_NONE)
            printf("  %s%s%s\n", option->names[1] ? "--" : "-", option->names,
                   option->values ? " VALUE" : "");
        else if (topics[topic].warned && warned &&
                 (!topics[topic].only || strcmp(topics[topic].only, option->names) == 0))
            printf("  --%-24s %s\n", option->names, option->row.instead);
    }
}

/* Writes the lines of a topic. `first_only`: not those that --help alone has elsewhere. */
static void print_topic(int topic, bool first_only)
{
    bool first;
    for (int i = 0; i < LINES; i++)
        if (has_word(lines[i].topics, topics[topic].name, &first) && (first || !first_only))
            fputs(lines[i].text, stdout);
    print_options(topic);
}

/* Writes the lines that mention an option. Returns false if there is none. */
static bool print_option(const char *name)
{
    const struct tern_option *option = tern_option_named(name);
    bool found = false;
    for (int i = 0; option && i < LINES; i++) {
        if (!mentions(lines[i].text, name))
            continue;
        fputs(lines[i].text, stdout);
        found = true;
    }
    if (!found && option && option->row.instead) {
        printf("  --%s: %s%s\n", name,
               option->row.effect == TERN_EFFECT_FOREIGN ? "a word of other launchers; here it is "
                                                         : "not supported: ",
               option->row.instead);
        found = true;
    }
    return found;
}

static void print_all(void)
{
    for (int topic = 0; topic < TOPICS; topic++) {
        if (topics[topic].ignored || topics[topic].warned)
            continue;
        printf("%s (%s):\n", topics[topic].title, topics[topic].name);
        print_topic(topic, true);
        printf("\n");
    }
}

static void print_names_of_topics(void)
{
    printf("Topics of --help:");
    for (int topic = 0; topic < TOPICS; topic++)
        printf("%s %s", topic ? "," : "", topics[topic].name);
    printf("\n");
}

void tern_help_print(const char *wanted)
{
    printf("Usage: mpirun [OPTION]... PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM "
           "[ARGUMENT]...]...\n");
    const char *name = wanted ? wanted + strspn(wanted, "-") : "";
    for (int topic = 0; topic < TOPICS; topic++)
        if (strcmp(topics[topic].name, name) == 0) {
            printf("%s:\n", topics[topic].title);
            print_topic(topic, false);
            return;
        }
    if (*name && print_option(name))
        return;
    printf("Starts PROGRAM as the ranks of one MPI job. Every option may be written with one dash "
           "or two.\n\n");
    print_all();
    print_names_of_topics();
    printf("The exit status is that of the first rank that failed, 128 + N if signal N killed it. "
           "See mpirun(1).\n");
    if (*name && strcmp(name, "all") && strcmp(name, "full"))
        tern_log("--help %s: there is no such topic or option, so all of it is printed", wanted);
}
