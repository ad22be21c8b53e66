/* SPDX-License-Identifier: BSD-3-Clause */

/* --help, from the rows of the option table. Its topics are Open MPI's, so that `mpirun --help
 * mapping` of a user's memory works. */

#include "mpirun/plan/words/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/settings/open_mpi.h"
#include "lib/util/base/log.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/words/option_table.h"

enum { HEADING = 26, WIDTH = 100, NOT_AN_EFFECT = -1 };

/* Topics; the last ones have the options of one effect. */
static const struct {
    const char *name, *title;
    int effect; /* enum tern_effect, or NOT_AN_EFFECT */
} topics[] = {
    { "general", "General", NOT_AN_EFFECT },
    { "launch", "Hosts, environment, programs", NOT_AN_EFFECT },
    { "mapping", "Where ranks run", NOT_AN_EFFECT },
    { "ranking", "Numbers of ranks", NOT_AN_EFFECT },
    { "binding", "Processors of ranks", NOT_AN_EFFECT },
    { "output", "Output", NOT_AN_EFFECT },
    { "input", "Input", NOT_AN_EFFECT },
    { "debug", "Looking into a job", NOT_AN_EFFECT },
    { "compatibility", "Words of other releases", NOT_AN_EFFECT },
    { "devel", "For those who work on mpirun", TERN_EFFECT_NONE },
    { "dvm", "Not supported", TERN_EFFECT_REFUSED },
    { "unsupported", "Not supported, and what to do instead", TERN_EFFECT_REFUSED },
};
enum { TOPICS = sizeof topics / sizeof *topics };

/* ---- a row ---- */

/* Returns what an option does here. --where is refused beside other options only. */
static enum tern_effect effect_of(const struct tern_option *option)
{
    return option->row.help ? TERN_EFFECT_USED : option->row.effect;
}

/* Writes an option's names with their dashes, separated by commas. */
static void write_names(const struct tern_option *option, char *text, size_t room)
{
    const struct tern_setting names = {.also = option->names};
    char name[64];
    size_t used = 0;
    *text = '\0';
    for (int n = 0; used < room && tern_setting_name(&names, n, name, sizeof name); n++) {
        bool one_dash = !name[1] || !name[2] || option->row.effect == TERN_EFFECT_FOREIGN;
        used += (size_t)snprintf(text + used, room - used, "%s%s%s", n ? ", " : "",
                                 one_dash ? "-" : "--", name);
    }
}

/* Prints an option and its help text, with line breaks between words. */
static void print_row(const struct tern_option *option, const char *text)
{
    char heading[400];
    write_names(option, heading, sizeof heading - 64);
    size_t used = strlen(heading);
    snprintf(heading + used, sizeof heading - used, "%s%s", option->arg ? " " : "",
             option->arg ? option->arg : "");
    printf("  %-*s", HEADING, heading);
    if (strlen(heading) > HEADING)
        printf("\n  %-*s", HEADING, "");
    int column = HEADING + 2;
    for (size_t length; *text; text += length + strspn(text + length, " ")) {
        length = strcspn(text, " ");
        if (column + 1 + (int)length > WIDTH)
            column = printf("\n  %-*s", HEADING, "") - 1;
        column += printf(" %.*s", (int)length, text);
    }
    printf("\n");
}

/* ---- topics ---- */

/* Prints the names of an option without effect, one on each line. */
static void print_ignored(const struct tern_option *option)
{
    char names[400], *rest = names, *name;
    write_names(option, names, sizeof names);
    while ((name = strsep(&rest, ",")))
        printf("  %s%s%s\n", name + strspn(name, " "), option->arg ? " " : "",
               option->arg ? option->arg : "");
}

/* Prints the options of a topic that do what its effect says. */
static void print_others(int topic)
{
    bool ignored = topics[topic].effect == TERN_EFFECT_NONE, all = topic == TOPICS - 1;
    if (ignored)
        printf("Accepted without effect:\n");
    for (int i = 0; i < tern_option_count; i++) {
        const struct tern_option *option = &tern_option_table[i];
        enum tern_effect effect = effect_of(option);
        if (ignored && effect == TERN_EFFECT_NONE)
            print_ignored(option);
        else if (!ignored && (all ? effect == TERN_EFFECT_WARNED || effect == TERN_EFFECT_REFUSED
                                  : strcmp(option->names, topics[topic].name) == 0))
            print_row(option, option->row.instead);
    }
}

/* Prints the options of a topic. `first_only`: not those that --help alone prints elsewhere. */
static void print_topic(int topic, bool first_only)
{
    const char *name = topics[topic].name;
    for (int i = 0; i < tern_option_count; i++) {
        const struct tern_option *option = &tern_option_table[i];
        const char *place = tern_text_find_word(option->topics, " ", name, strlen(name));
        if (place && (place == option->topics || !first_only))
            print_row(option, option->row.help);
    }
    if (topics[topic].effect != NOT_AN_EFFECT)
        print_others(topic);
}

/* Prints what is known of an option. Returns false if there is no such option. */
static bool print_option(const char *name)
{
    const struct tern_option *option = tern_option_find(name, strlen(name));
    if (!option)
        return false;
    if (option->row.help)
        print_row(option, option->row.help);
    else if (!option->row.instead)
        printf("  --%s: accepted without effect\n", name);
    else
        printf("  --%s: %s%s\n", name,
               option->row.effect == TERN_EFFECT_FOREIGN ? "a word of other launchers; here it is "
                                                         : "not supported: ",
               option->row.instead);
    return true;
}

static void print_all(void)
{
    for (int topic = 0; topic < TOPICS && topics[topic].effect == NOT_AN_EFFECT; topic++) {
        printf("%s (%s):\n", topics[topic].title, topics[topic].name);
        print_topic(topic, true);
        printf("\n");
    }
    printf("Topics of --help:");
    for (int topic = 0; topic < TOPICS; topic++)
        printf("%s %s", topic ? "," : "", topics[topic].name);
    printf("\n");
}

/* ---- the rows for programs ---- */

/* Prints the rows, one on each line: names, effect, words that follow, topics, parameters, text;
 * tabs separate them. mpirun(1), completion and docs/from-open-mpi.md are made from these. */
static void print_rows(void)
{
    static const char *const effects[] = { "used", "none", "warned", "refused", "foreign" };
    const struct tern_setting *row;
    char names[400];
    for (int i = 0; i < tern_option_count; i++) {
        const struct tern_option *option = &tern_option_table[i];
        const struct tern_setting *said = &option->row;
        write_names(option, names, sizeof names);
        printf("%s\t%s\t%s\t%s\t%s%s%s\t%s\n", names, effects[effect_of(option)],
               option->arg ? option->arg : "", option->topics ? option->topics : "",
               said->name ? said->name : "", said->also ? " " : "", said->also ? said->also : "",
               said->help ? said->help : said->instead ? said->instead : "");
    }
    for (int i = 0; (row = tern_open_mpi_at(i)); i++)
        if (row->instead)
            printf("\t%s\t\t\t%s%s%s\t%s\n", effects[row->effect], row->name, row->also ? " " : "",
                   row->also ? row->also : "", row->instead);
}

void tern_help_print(const char *wanted)
{
    const char *name = wanted ? wanted + strspn(wanted, "-") : "";
    if (strcmp(name, "rows") == 0) {
        print_rows();
        return;
    }
    printf("Usage: mpirun [OPTION]... PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM "
           "[ARGUMENT]...]...\n");
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
    printf("The exit status is that of the first rank that failed, 128 + N if signal N killed it. "
           "See mpirun(1).\n");
    if (*name && strcmp(name, "all") && strcmp(name, "full"))
        tern_log("--help %s: there is no such topic or option, so all of it is printed", wanted);
}
