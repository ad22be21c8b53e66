/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree: mpirun starts the first launch_width hosts, each of those starts as many, and so on. If
 * its parent cannot reach a host (for instance because ssh between hosts wants a password), mpirun
 * itself tries once more before the host counts as failed. In both cases mpirun decides: an agent
 * reports that another one has come up, and mpirun tells the new agent its number. Under srun there
 * is no tree: all agents connect to mpirun. */
#include "mpirun/tree/start_agents.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/search_path.h"
#include "mpirun/plan/hosts/allocation.h"
#include "mpirun/tree/agents.h"
#include "mpirun/tree/srun.h"
#include "mpirun/wire/job_data.h"

enum { OTHERS_MS = 500, AGENTS_END_MS = 500, MOST_WIDTH = 1 << 20 };

enum state { WAITING, STARTED, ANSWERED, FAILED };

static struct {
    const struct tern_options *options;
    const struct tern_host_list *list;
    struct tern_host *hosts;
    const struct tern_start_agents_listener *listener;
    enum state *states;
    bool *direct; /* by host: mpirun starts its agent itself */
    struct tern_launch launch;
    struct tern_timer patience; /* set after the first failure, to collect further ones */
    int missing, failures;
    char *said; /* message of the last failure, for tern_error; earlier ones have been logged */
    bool done;
} starting;

static void show(int host, const char *what)
{
    if (starting.options->verbose || starting.options->show_start)
        tern_log("host %s: %s", starting.list->items[host].name, what);
}

static void start(int host, bool direct)
{
    int parent = tern_launch_parent(&starting.launch, host);
    const struct tern_host_entry *entry = &starting.list->items[host];
    starting.states[host] = STARTED;
    if (direct || parent == TERN_ROOT) {
        char *login = *entry->user ? tern_must_format("%s@%s", entry->user, entry->name) : NULL;
        starting.direct[host] = true;
        show(host, "started from here");
        tern_agents_start(host, entry->name, login,
                          parent == TERN_ROOT ? starting.launch.timeout_ms
                                              : tern_launch_half_ms(&starting.launch));
        free(login);
        return;
    }
    show(host, "started from another host");
    char *address = tern_host_address(entry->name);
    if (*entry->user) {
        char *login =
            tern_must_format("%s@%s", entry->user, address ? address : entry->name);
        free(address);
        address = login;
    }
    struct tern_parcel parcel = { 0 };
    tern_parcel_string(&parcel, entry->name);
    tern_parcel_string(&parcel, address);
    tern_agents_send(&(struct tern_frame){ .kind = TERN_FRAME_START,
                                           .host = parent,
                                           .value = host,
                                           .data = parcel.bytes,
                                           .size = (uint32_t)parcel.size });
    tern_parcel_free(&parcel);
    free(address);
}

bool tern_start_agents_goes_on(void)
{
    return tern_param_choice("launch_missing") == 1;
}

bool tern_start_agents_has_failed(int host)
{
    return starting.states && starting.states[host] == FAILED;
}

static void check_all(void)
{
    if (starting.missing == 0)
        tern_loop_stop();
    else if (starting.failures && !starting.patience.due_ms && !tern_start_agents_goes_on())
        tern_loop_set_timer(&starting.patience, OTHERS_MS);
}

static void patience_expired(struct tern_timer *timer)
{
    (void)timer;
    tern_loop_stop();
}

/* Reports a lost host, and all hosts that were started through it and so are out of reach. */
static void lose(int host, const char *why)
{
    starting.listener->lost(host, why);
    for (int other = 0; other < starting.list->count; other++) {
        int at = other;
        while (at >= 0 && at != host && !starting.direct[at])
            at = tern_launch_parent(&starting.launch, at);
        if (at == host && other != host)
            starting.listener->lost(other, why);
    }
}

/* Starts the hosts that are below a host in the tree: from here, if that one has failed. */
static void start_children(int host)
{
    for (int child = 0; child < starting.list->count; child++)
        if (starting.states[child] == WAITING &&
            tern_launch_parent(&starting.launch, child) == host)
            start(child, starting.states[host] == FAILED);
}

static void failed(int host, const char *why)
{
    if (starting.done) {
        lose(host, why);
        return;
    }
    if (starting.states[host] != STARTED)
        return;
    if (!starting.direct[host]) {
        start(host, true);
        return;
    }
    starting.states[host] = FAILED;
    starting.missing--;
    starting.failures++;
    if (tern_start_agents_goes_on()) {
        tern_log("host %s is left out (launch_missing): %s", starting.list->items[host].name, why);
        start_children(host);
    } else if (starting.said) {
        tern_log("%s", starting.said);
    }
    free(starting.said);
    starting.said =
        tern_must_format("cannot start on host %s: %s", starting.list->items[host].name, why);
    check_all();
}

static void lost(int host, const char *why)
{
    if (!starting.done && starting.states[host] == ANSWERED) {
        starting.states[host] = STARTED;
        starting.missing++;
    }
    if (!starting.done)
        starting.direct[host] = true; /* it was reached once, so trying again would not help */
    failed(host, why);
}

static void up(int host)
{
    struct tern_parcel parcel = { 0 };
    tern_parcel_string(&parcel, starting.options->cpu_list);
    tern_launch_pack(&starting.launch, &parcel);
    tern_agents_send(&(struct tern_frame){ .kind = TERN_FRAME_JOIN,
                                           .host = host,
                                           .data = parcel.bytes,
                                           .size = (uint32_t)parcel.size });
    tern_parcel_free(&parcel);
}

/* Sets a host's name: its own name for itself, or the user's name for it if that is unusable or not
 * unique. */
static void choose_name(int host, const char *own)
{
    char *name = starting.hosts[host].name;
    bool unique = tern_host_name_is_good(own) && strcasecmp(own, "localhost");
    for (int other = 0; other < starting.list->count; other++)
        unique &= other == host || strcasecmp(starting.hosts[other].name, own);
    snprintf(name, sizeof starting.hosts[host].name, "%s",
             unique ? own : starting.list->items[host].name);
}

static void answered(int host, const struct tern_frame *frame)
{
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    struct tern_host found;
    if (starting.states[host] != STARTED)
        return;
    if (tern_host_unpack(&reader, &found)) {
        failed(host, "it does not tell which processors it has");
        return;
    }
    starting.hosts[host].cpus = found.cpus;
    starting.hosts[host].cpu_count = found.cpu_count;
    starting.hosts[host].cpu_limit = found.cpu_limit;
    choose_name(host, found.name);
    starting.states[host] = ANSWERED;
    starting.missing--;
    show(host, "answers");
    start_children(host);
    check_all();
}

static void received(const struct tern_frame *frame)
{
    int host = frame->host;
    if (host < 0 || host >= starting.list->count)
        return;
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    if (frame->kind == TERN_FRAME_UP) {
        up(host);
    } else if (frame->kind == TERN_FRAME_FAILED || frame->kind == TERN_FRAME_LOST ||
               (frame->kind == TERN_FRAME_READY && !starting.done)) {
        const char *why = tern_read_string(&reader);
        (frame->kind == TERN_FRAME_FAILED ? failed : lost)(host, why ? why : "no reason was given");
    } else if (frame->kind == TERN_FRAME_TOPOLOGY) {
        answered(host, frame);
    } else if (starting.done) {
        starting.listener->received(frame);
    }
}

static void said(const char *line)
{
    starting.listener->said(line);
}

/* Returns the path of mpirun on the other hosts: this one's own path unless a parameter or --prefix
 * says otherwise. The caller frees it. */
static char *find_program(const struct tern_options *options)
{
    char path[PATH_MAX];
    const char *said = tern_param_string("orte_launch_agent");
    if (said && *said)
        return tern_must_copy(said);
    if (options->prefix)
        return tern_must_format("%s/bin/mpirun", options->prefix);
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return tern_must_copy(length > 0 ? path : "mpirun");
}

/* Returns true if this host has the program. */
static bool has_program(const char *name)
{
    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    char *path = tern_path_find(getenv("PATH"), name);
    free(path);
    return path != NULL;
}

/* Adds the words of a command. "ssh : rsh" names alternatives: the first that this host has is
 * taken, or the last. */
static void add_words(struct tern_strings *words, const char *text)
{
    char *copy = tern_must_copy(text ? text : ""), *next = copy;
    while (next) {
        char *end = strstr(next, " :"), *other = end ? end + 2 : NULL;
        struct tern_strings command = {0};
        if (end)
            *end = '\0';
        tern_strings_add_words(&command, next, " \t");
        bool take = command.count && (!other || has_program(command.items[0]));
        for (int i = 0; take && i < command.count; i++)
            tern_strings_add(words, command.items[i]);
        tern_strings_free(&command);
        next = take ? NULL : other;
    }
    free(copy);
}

/* Returns true if the parameter plm allows the way `word` of starting agents. */
static bool allowed(const char *word)
{
    const char *plm = tern_param_string("plm");
    if (!plm || !*plm)
        return true;
    bool without = *plm == '^', named = false;
    char *copy = tern_must_copy(plm + without), *rest = copy, *name;
    while ((name = strsep(&rest, ",")))
        named |= strcmp(name, word) == 0;
    free(copy);
    return named != without;
}

/* Decides whether srun starts the agents. Returns 0 or TERN_ERR_ARG. */
static int choose_way(bool *ret_srun)
{
    const char *plm = tern_param_string("plm");
    bool slurm = allowed("slurm"), without = plm && *plm == '^';
    /* two names of one way */
    bool rsh = without ? allowed("rsh") && allowed("ssh") : allowed("rsh") || allowed("ssh");
    *ret_srun = slurm && tern_allocation_has_srun();
    if (*ret_srun || rsh)
        return 0;
    if (!slurm)
        return tern_error(TERN_ERR_ARG,
                          "the parameter plm is `%s`, which leaves no way to start agents on other "
                          "hosts; known are slurm and rsh", plm);
    return tern_error(TERN_ERR_ARG, "the parameter plm is `%s`, but this is not a Slurm job %s",
                      tern_param_string("plm"),
                      tern_allocation_system() == TERN_SLURM
                          ? "of one component, as one srun needs"
                          : "(SLURM_JOB_ID and SLURM_JOB_NODELIST are not set)");
}

static void prepare_launch(const struct tern_options *options, int here, bool by_srun)
{
    struct tern_launch *launch = &starting.launch;
    launch->timeout_ms = (int)tern_param_int("launch_timeout") * 1000;
    launch->silence_ms = (int)tern_param_int("heartbeat_timeout") * 1000;
    launch->width = (int)tern_param_int("launch_width");
    add_words(&launch->words, by_srun ? "srun" : tern_param_string("plm_rsh_agent"));
    bool given = launch->words.count > 0;
    if (!given)
        tern_allocation_starter(&launch->words);
    /* such commands may only work from this host, so there is no tree */
    bool by_batch_system = by_srun || (!given && launch->words.count);
    if (!launch->words.count)
        tern_strings_add(&launch->words, "ssh");
    if (!by_batch_system) /* these are for the named command, or for ssh */
        add_words(&launch->words, tern_param_string("plm_rsh_args"));
    launch->program = find_program(options);
    if (launch->width > MOST_WIDTH || by_batch_system || tern_param_bool("plm_rsh_no_tree_spawn"))
        launch->width = MOST_WIDTH;
    launch->root_host = here;
}

static int start_all(int here, bool by_srun)
{
    for (int host = 0; host < starting.list->count; host++) {
        if (host == here)
            continue;
        if (by_srun) {
            starting.states[host] = STARTED;
            starting.direct[host] = true;
            show(host, "started by srun");
        } else if (tern_launch_parent(&starting.launch, host) == TERN_ROOT) {
            start(host, true);
        }
    }
    return by_srun ? tern_srun_start(&starting.launch, starting.list, here,
                                     starting.listener->said)
                   : 0;
}

int tern_start_agents(const struct tern_options *options, const struct tern_host_list *list,
                      int here, struct tern_host *hosts,
                      const struct tern_start_agents_listener *listener)
{
    static const struct tern_agents_listener of_agents = { up, failed, lost, received, said };
    starting.options = options;
    starting.list = list;
    starting.hosts = hosts;
    starting.listener = listener;
    starting.states = tern_must_alloc(list->count * sizeof *starting.states);
    starting.direct = tern_must_alloc(list->count * sizeof *starting.direct);
    starting.patience.expired = patience_expired;
    starting.missing = list->count;
    bool by_srun;
    int error = choose_way(&by_srun);
    if (error)
        return error;
    prepare_launch(options, here, by_srun);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    tern_agents_open(&starting.launch, &of_agents);
    if (here >= 0) {
        starting.states[here] = ANSWERED;
        starting.missing--;
    }
    error = start_all(here, by_srun);
    if (error)
        return error;
    if (starting.missing)
        tern_loop_run();
    tern_loop_stop_timer(&starting.patience);
    starting.done = true;
    tern_srun_settle();
    if (!starting.failures)
        return 0;
    tern_agents_end(AGENTS_END_MS);
    return tern_error(TERN_ERR_OTHER, "%s", starting.said);
}
