/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/rank_environment.h"

#include "lib/util/net/launcher.h"
#include "lib/settings/figures.h"
#include "lib/util/base/prefix.h"

#include <config.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables that tell a process which rank of which job it is. A name that ends in '*' stands for
 * all names that begin so. */
static const char *const foreign[] = {
    "PMIX_NAMESPACE",
    "PMIX_RANK",
    "PMIX_ID",
    "PMIX_SERVER_*",
    "PMIX_SYSTEM_TMPDIR",
    "PMIX_SECURITY_MODE",
    "PMIX_GDS_MODULE",
    "PMIX_BFROP_BUFFER_TYPE",
    "PMIX_DSTORE_*",
    "PMIX_HOSTNAME",
    "PMIX_VERSION",
    "PMIX_KEEPALIVE_PIPE",
    "PMIX_LAUNCHER_*",
    "PMIX_PTL_MODULE",
    "PMIX_MCA_mca_base_component_show_load_errors",
    "PMI_*",
    "PMI2_*",
    "HYDI_*",
    "HYDRA_*",
    "MPI_LOCAL*",
    "OMPI_COMM_WORLD_*",
    "OMPI_UNIVERSE_SIZE",
    "OMPI_APP_CTX_NUM_PROCS",
    "OMPI_NUM_APP_CTX",
    "OMPI_FIRST_RANKS",
    "OMPI_COMMAND",
    "OMPI_ARGV",
    "OMPI_FILE_LOCATION",
    "OMPI_MCA_ess",
    "OMPI_MCA_ess_*",
    "OMPI_MCA_pmix",
    "OMPI_MCA_orte_launch",
    "OMPI_MCA_orte_hnp_uri",
    "OMPI_MCA_orte_local_daemon_uri",
    "OMPI_MCA_orte_app_num",
    "OMPI_MCA_orte_num_nodes",
    "OMPI_MCA_orte_precondition_transports",
    "OMPI_MCA_orte_bound_at_launch",
    "OMPI_MCA_orte_ess_*",
    "OMPI_MCA_orte_tmpdir_base",
    "OMPI_MCA_orte_top_session_dir",
    "OMPI_MCA_orte_jobfam_session_dir",
    "OMPI_MCA_orte_node_regex",
    "OMPI_MCA_mpi_oversubscribe",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
    "TERN_NODE_MEMORY",
    "TERN_NODE_MEMORY_PATH",
    "TERN_JOB",
    "TERN_REPORTS",
    "TERN_VERSION",
    "TERN_SESSION_DIR",
    "TERN_FIGURES",
    "TERN_PARENT",
    "PRTE_LAUNCHED",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_GTIDS",
    "SLURM_TASK_PID",
    "SLURM_STEPID",
    "SLURM_STEP_*",
    "SLURM_SRUN_*",
    "SLURM_LAUNCH_NODE_IPADDR",
    "SLURM_PMI*",
};

static bool is_foreign(const char *entry, bool in_a_job)
{
    size_t length = strcspn(entry, "=");
    /* Outside a job, PMIX_MCA_ is a parameter that a user set. Inside a job, the launcher set
     * it. */
    if (in_a_job && strncmp(entry, "PMIX_", 5) == 0)
        return true;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t word = strlen(foreign[i]);
        if (foreign[i][word - 1] == '*' ? strncmp(entry, foreign[i], word - 1) == 0
                                        : word == length && strncmp(entry, foreign[i], word) == 0)
            return true;
    }
    return false;
}

/* Closes the node memory of the job around this mpirun, which was inherited as an open descriptor:
 * this job must not inherit it. */
static void close_outer_memory(void)
{
    const char *text = getenv("TERN_NODE_MEMORY");
    char path[64], target[64];
    int fd;
    if (!text || sscanf(text, "%d:", &fd) != 1 || fd < 3)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length > 0 && strncmp(target, "/memfd:tern", length < 11 ? (size_t)length : 11) == 0)
        close(fd);
}

static void remove_those(bool (*unwanted)(const char *entry, bool in_a_job))
{
    bool in_a_job = getenv("PMIX_NAMESPACE") != NULL;
    struct tern_strings names = { 0 };
    for (char **entry = environ; entry && *entry; entry++) {
        if (unwanted(*entry, in_a_job)) {
            char *name = tern_must_copy(*entry);
            name[strcspn(name, "=")] = '\0';
            tern_strings_take(&names, name);
        }
    }
    for (int i = 0; i < names.count; i++)
        unsetenv(names.items[i]);
    tern_strings_free(&names);
}

void tern_environment_clean(void)
{
    close_outer_memory();
    remove_those(is_foreign);
}

static void put_in_front(struct tern_strings *env, const char *name, const char *directory)
{
    const char *old = tern_strings_value(env, name);
    char *value = tern_must_format("%s%s%s", directory, old && *old ? ":" : "", old ? old : "");
    tern_strings_set(env, name, value);
    free(value);
}

/* R's start script puts the directories of R_LD_LIBRARY_PATH in front of LD_LIBRARY_PATH: if it is
 * not set, those of R and, with Debian's R, the system's, which may have another MPI library. The
 * dynamic linker's $ORIGIN is HOME/bin/exec of whichever R runs, and its own libraries are in
 * HOME/lib. */
static void name_library_for_r(struct tern_strings *env, const char *directory)
{
    const char *given = tern_strings_value(env, "R_LD_LIBRARY_PATH");
    if (!given || !*given)
        tern_strings_set(env, "R_LD_LIBRARY_PATH", "$ORIGIN/../../lib");
    put_in_front(env, "R_LD_LIBRARY_PATH", directory);
}

static void set_number(struct tern_strings *env, const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    tern_strings_set(env, name, text);
}

static int app_ranks(const struct tern_map *map, int app, int *ret_first)
{
    int count = 0;
    *ret_first = 0;
    for (int rank = 0; rank < map->size; rank++) {
        if (map->places[rank].app != app)
            continue;
        if (!count++)
            *ret_first = rank;
    }
    return count;
}

static void merge(struct tern_strings *env, const struct tern_strings *more)
{
    for (int i = 0; i < more->count; i++) {
        char *name = tern_must_copy(more->items[i]);
        size_t length = strcspn(name, "=");
        name[length] = '\0';
        tern_strings_set(env, name, more->items[i] + length + 1);
        free(name);
    }
}

void tern_environment_to_send(struct tern_strings *env)
{
    static const char *const names[] = { "OMPI_", "PMIX_MCA_", "PRTE_MCA_", "SLURM_" };
    for (char **entry = environ; entry && *entry; entry++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strncmp(*entry, names[i], strlen(names[i])) == 0)
                tern_strings_add(env, *entry);
        }
    }
}

static bool is_slurms(const char *entry, bool in_a_job)
{
    (void)in_a_job;
    return strncmp(entry, "SLURM_", 6) == 0;
}

void tern_environment_receive(const struct tern_strings *env)
{
    remove_those(is_slurms);
    for (int i = 0; i < env->count; i++) {
        char *name = tern_must_copy(env->items[i]), *value = name;
        strsep(&value, "=");
        if (value)
            setenv(name, value, 1);
        free(name);
    }
}

static void take_out(struct tern_strings *env, const char *name)
{
    size_t length = strlen(name);
    int kept = 0;
    for (int i = 0; i < env->count; i++) {
        if (strncmp(env->items[i], name, length) == 0 && env->items[i][length] == '=')
            free(env->items[i]);
        else
            env->items[kept++] = env->items[i];
    }
    env->count = kept;
}

void tern_environment_of_app(const struct tern_job *job, int app, struct tern_strings *env)
{
    const struct tern_options *options = job->options;
    for (char **entry = environ; entry && *entry; entry++)
        tern_strings_add(env, *entry);
    for (int i = 0; i < options->apps[app].unset.count; i++)
        take_out(env, options->apps[app].unset.items[i]);
    merge(env, &options->env);
    merge(env, &options->apps[app].env);
    const char *prefix = options->prefix ? options->prefix : getenv("OPAL_PREFIX");
    if (prefix && *prefix) {
        char *bin = tern_must_format("%s/bin", prefix), lib[PATH_MAX];
        bool own = strcmp(prefix, tern_prefix()) == 0;
        if (own) /* the library may be in a directory of another name than lib */
            tern_prefix_directory(TERN_LIBDIR, lib);
        else
            snprintf(lib, sizeof lib, "%s/lib", prefix);
        put_in_front(env, "PATH", bin);
        put_in_front(env, "LD_LIBRARY_PATH", lib);
        name_library_for_r(env, lib);
        free(bin);
    }
    int first;
    char *sizes = NULL, *firsts = NULL;
    for (int a = 0; a < options->app_count; a++) {
        int count = app_ranks(job->map, a, &first);
        char *more = tern_must_format("%s%s%d", sizes ? sizes : "", sizes ? " " : "", count);
        free(sizes);
        sizes = more;
        more = tern_must_format("%s%s%d", firsts ? firsts : "", firsts ? " " : "", first);
        free(firsts);
        firsts = more;
    }
    tern_strings_set(env, "OMPI_APP_CTX_NUM_PROCS", sizes);
    tern_strings_set(env, "OMPI_FIRST_RANKS", firsts);
    free(sizes);
    free(firsts);
    tern_strings_set(env, "PMIX_HOSTNAME", job->hosts[job->here].name);
    set_number(env, "OMPI_NUM_APP_CTX", options->app_count);
    set_number(env, "OMPI_COMM_WORLD_SIZE", job->map->size);
    set_number(env, "OMPI_COMM_WORLD_LOCAL_SIZE", tern_job_ranks_on(job, job->here));
    set_number(env, "OMPI_UNIVERSE_SIZE", tern_job_universe(job));
    tern_strings_set(env, "OMPI_COMMAND", options->apps[app].argv.items[0]);
    tern_strings_set(env, "PMIX_MCA_gds", "hash");
    /* Programs that load Open MPI 4's own library look at this variable to learn that a launcher
     * started them. They do not connect to the address. */
    tern_strings_set(env, "OMPI_MCA_orte_local_daemon_uri", "0.0;tcp://127.0.0.1:1");
    set_number(env, "TERN_JOB", options->job_number);
    tern_strings_set(env, "TERN_NODE_MEMORY", job->node_memory);
    tern_strings_set(env, "TERN_NODE_MEMORY_PATH", job->node_memory_path);
    if (job->reports) {
        char *text = tern_must_format("%s:%d", job->reports, app);
        tern_strings_set(env, TERN_REPORTS, text);
        free(text);
    }
    tern_strings_set(env, "TERN_VERSION", PACKAGE_VERSION);
    tern_strings_set(env, "TERN_SESSION_DIR", job->session_dir);
}

void tern_environment_add_figures(struct tern_options *options)
{
    char *figures = tern_figures_of_job();
    if (figures)
        tern_strings_set(&options->env, "TERN_FIGURES", figures);
    free(figures);
}

void tern_environment_of_rank(const struct tern_job *job, int rank, struct tern_strings *env)
{
    int local_rank = job->map->places[rank].local_rank;
    set_number(env, "OMPI_COMM_WORLD_RANK", rank);
    set_number(env, "OMPI_COMM_WORLD_LOCAL_RANK", local_rank);
    set_number(env, "OMPI_COMM_WORLD_NODE_RANK", local_rank);
}
