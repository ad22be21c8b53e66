/* SPDX-License-Identifier: BSD-3-Clause */
/* Tern's own ranks report (rank_channel.c). A rank that connects by PMIx may have any library. It
 * waits for the answer, so its process can be examined meanwhile. A rank that never connects is
 * found in two ways. Its program may name the library of another MPI. Or its process, which is
 * examined some seconds later, may have loaded such a library.
 *
 * The rank's process may be a descendant of the one that was started. It is recognised by its
 * environment, which names the job by 64 random bits. */
#include "mpirun/serve/other_library.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/net/launcher.h"
#include "lib/util/base/prefix.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"
#include "mpirun/serve/elf.h"

static const char soname[] = "libmpi.so.40"; /* of Tern's library, and of Open MPI's */

static const int look_after_ms[] = {2000, 10000, 60000};
enum { LOOKS = sizeof look_after_ms / sizeof *look_after_ms };

static struct {
    const struct tern_job *job;
    const struct tern_client_listener *listener;
    char own_directory[PATH_MAX];
    char *own;       /* path of this mpirun's library */
    bool *reported;  /* by rank */
    /* by program: a rank of it has connected by PMIx; used on PMIx's thread only */
    bool *connected;
    int looks;
    bool warned;
    struct tern_timer timer;
} foreign;

/* ---- libraries ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_mpi_library(const char *name)
{
    return starts_with(name, "libmpi.so") || starts_with(name, "libmpich.so");
}

/* Reads a file of /proc, or another small file, and adds a zero. The caller frees the result.
 * Returns NULL if the file cannot be read. */
static char *read_file(const char *path, size_t *ret_size)
{
    size_t size = 0, room = 1 << 14;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = fd >= 0 ? tern_must_alloc(room) : NULL;
    ssize_t got = 0;
    while (bytes && (got = read(fd, bytes + size, room - 1 - size)) > 0) {
        size += (size_t)got;
        if (room - size < 2)
            bytes = tern_must_grow(bytes, room *= 2);
    }
    if (fd >= 0)
        close(fd);
    if (bytes)
        bytes[size] = '\0';
    if (bytes && got < 0) {
        free(bytes);
        bytes = NULL;
    }
    *ret_size = size;
    return bytes;
}

/* Returns true if the library is Tern's, wherever it is installed: it contains the names of the
 * variables that mpirun sets. Also returns true if the library cannot be read. */
static bool is_ours(const char *path)
{
    static const char mark[] = "TERN_NODE_MEMORY";
    size_t size;
    char *bytes = read_file(path, &size);
    bool found = !bytes || memmem(bytes, size, mark, sizeof mark);
    free(bytes);
    return found;
}

/* ---- processes ---- */

static char *read_proc(pid_t pid, const char *name, size_t *ret_size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return read_file(path, ret_size);
}

/* Returns the value of a variable in a process's environment, or NULL if it is not set. */
static const char *variable(const char *environment, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = environment; at < environment + size; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

/* Returns the rank of this host to which the process belongs, or -1 if it is not of this job. */
static int rank_of(pid_t pid)
{
    size_t size;
    char *environment = read_proc(pid, "environ", &size);
    const char *job = environment ? variable(environment, size, "PMIX_NAMESPACE") : NULL;
    const char *rank = environment ? variable(environment, size, "PMIX_RANK") : NULL;
    int number = job && rank && strcmp(job, foreign.job->nspace) == 0 ? atoi(rank) : -1;
    free(environment);
    bool known = number >= 0 && number < foreign.job->map->size;
    return known && foreign.job->map->places[number].host == foreign.job->here ? number : -1;
}

/* Lists the libraries that a process has mapped, some of them several times. Skips other files,
 * because opening a device could do harm. */
static void mapped_files(pid_t pid, struct tern_strings *files)
{
    size_t size;
    char *maps = read_proc(pid, "maps", &size), *rest = maps, *line;
    while (maps && (line = strsep(&rest, "\n"))) {
        const char *path = strchr(line, '/');
        bool again = path && files->count && strcmp(files->items[files->count - 1], path) == 0;
        if (path && !again && strstr(base_name(path), ".so"))
            tern_strings_add(files, path);
    }
    free(maps);
}

/* Returns the MPI library of a process, or NULL. The caller frees it. *ret_ours is true if it is
 * Tern's. */
static char *library_of(pid_t pid, bool *ret_ours)
{
    struct tern_strings files = {0};
    char *library = NULL;
    *ret_ours = false;
    mapped_files(pid, &files);
    for (int i = 0; i < files.count && !*ret_ours; i++) {
        if (!is_mpi_library(base_name(files.items[i])) ||
            (library && strcmp(library, files.items[i]) == 0))
            continue;
        *ret_ours = is_ours(files.items[i]);
        if (!library || *ret_ours) {
            free(library);
            library = tern_must_copy(files.items[i]);
        }
    }
    tern_strings_free(&files);
    return library;
}

/* ---- why that library was loaded ---- */

/* What the dynamic linker was told, and what it found. */
struct case_of {
    char *program, *library, *wanted; /* wanted: the soname of the library */
    char *asker;                      /* the first object that needs the library, or NULL */
    struct tern_elf elf;              /* of `asker` */
    struct stat file;                 /* of the library */
    char *environment;
    size_t size;
};

/* Returns the first directory of a list in which the dynamic linker finds this library, or NULL.
 * The caller frees it. $ORIGIN means the directory of `object`. */
static char *leads_there(const struct case_of *found, const char *list, const char *object)
{
    if (!list || !object)
        return NULL;
    char *copy = tern_must_copy(list), *rest = copy, *item, *directory = NULL;
    while (!directory && (item = strsep(&rest, ":;"))) {
        struct stat file;
        const char *tail = starts_with(item, "$ORIGIN")     ? item + 7
                           : starts_with(item, "${ORIGIN}") ? item + 9
                                                            : NULL;
        int length = (int)(base_name(object) - object);
        char *path = tail ? tern_must_format("%.*s%s", length > 0 ? length - 1 : 0, object, tail)
                          : tern_must_copy(item);
        char *candidate = tern_must_format("%s/%s", path, found->wanted);
        if (path[0] == '/' && stat(candidate, &file) == 0 && file.st_dev == found->file.st_dev &&
            file.st_ino == found->file.st_ino)
            directory = tern_must_copy(path);
        free(candidate);
        free(path);
    }
    free(copy);
    return directory;
}

static bool needs(const struct tern_elf *elf, const char *name)
{
    for (int i = 0; i < elf->needed.count; i++)
        if (strcmp(elf->needed.items[i], name) == 0)
            return true;
    return false;
}

static bool asks(struct case_of *found, const char *object)
{
    if (!tern_elf_read(object, &found->elf))
        return false;
    if (needs(&found->elf, found->wanted)) {
        found->asker = tern_must_copy(object);
        return true;
    }
    tern_elf_free(&found->elf);
    return false;
}

static void find_asker(struct case_of *found, pid_t pid)
{
    struct tern_strings files = {0};
    mapped_files(pid, &files);
    bool known = asks(found, found->program);
    for (int i = 0; i < files.count && !known; i++)
        known = asks(found, files.items[i]);
    tern_strings_free(&files);
}

static void examine(struct case_of *found, pid_t pid, const char *library)
{
    char link[64], program[PATH_MAX];
    struct tern_elf elf;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    *found =
        (struct case_of){.program = tern_must_copy(program), .library = tern_must_copy(library)};
    tern_elf_read(library, &elf);
    found->wanted = tern_must_copy(elf.soname ? elf.soname : base_name(library));
    tern_elf_free(&elf);
    stat(library, &found->file);
    found->environment = read_proc(pid, "environ", &found->size);
    find_asker(found, pid);
}

static void forget(struct case_of *found)
{
    free(found->program);
    free(found->library);
    free(found->wanted);
    free(found->asker);
    free(found->environment);
    tern_elf_free(&found->elf);
}

static const char *told(const struct case_of *found, const char *name)
{
    const char *value = found->environment ? variable(found->environment, found->size, name) : NULL;
    return value ? value : "";
}

/* Explains that LD_LIBRARY_PATH leads to the library. R's start script puts directories in front of
 * it; with Debian's R, the system's directory is among them. */
static char *explain_library_path(const struct case_of *found, const char *directory)
{
    const char *home = told(found, "R_HOME"), *own = foreign.own_directory;
    if (*home)
        return tern_must_format(
            "R puts %s in front of LD_LIBRARY_PATH: set R_LD_LIBRARY_PATH=%s:%s/lib", directory,
            own, home);
    return tern_must_format("LD_LIBRARY_PATH names %s first: put %s in front of it", directory,
                            own);
}

/* Returns true if the object is the module of a wheel of mpi4py, such as
 * mpi4py/MPI.openmpi.cpython-311-x86_64-linux-gnu.so. Such a wheel opens a library itself before it
 * loads this module: the one that the environment variable MPI4PY_LIBMPI names, else one that pip
 * has installed beside Python, by its path. */
static bool is_wheel_of_mpi4py(const char *object)
{
    const char *name = object ? base_name(object) : NULL;
    return name && name - object > 7 && starts_with(name - 7, "mpi4py/") &&
           (starts_with(name, "MPI.openmpi.") || starts_with(name, "MPI.mpich."));
}

/* Explains a library that the dynamic linker was given by its path, or found in the system's
 * directories. */
static char *explain_rest(const struct case_of *found)
{
    struct case_of ours = *found;
    char *directory = stat(foreign.own, &ours.file) ? NULL
                      : leads_there(&ours, told(found, "LD_LIBRARY_PATH"), found->program);
    bool by_path = directory != NULL; /* a search would have found Tern's first */
    free(directory);
    if (by_path)
        return tern_must_format("LD_LIBRARY_PATH leads to the right one, so the program opens this "
                                "one by its path: make it open %s",
                                foreign.own);
    return tern_must_format("The system's configuration (/etc/ld.so.conf) names its directory: set "
                            "LD_LIBRARY_PATH=%s",
                            foreign.own_directory);
}

/* Explains, in the dynamic linker's order of search, what led it to the library, and what would
 * lead it to Tern's. The caller frees the text. */
static char *explain(const struct case_of *found)
{
    const struct tern_elf *elf = &found->elf;
    const char *own = foreign.own_directory;
    char *directory, *text;
    if (strstr(told(found, "LD_PRELOAD"), base_name(found->library)) ||
        strstr(told(found, "LD_PRELOAD"), found->wanted))
        return tern_must_format("LD_PRELOAD names it: remove it there");
    if (!elf->runpath && (directory = leads_there(found, elf->rpath, found->asker)))
        text = tern_must_format("The DT_RPATH of %s names %s, and comes before LD_LIBRARY_PATH: "
                                "set LD_PRELOAD=%s, or link it again",
                                found->asker, directory, foreign.own);
    else if ((directory = leads_there(found, told(found, "LD_LIBRARY_PATH"), found->program)))
        text = explain_library_path(found, directory);
    else if ((directory = leads_there(found, elf->runpath, found->asker)))
        text = tern_must_format(
            "The DT_RUNPATH of %s names %s: set LD_LIBRARY_PATH=%s, which comes before it",
            found->asker, directory, own);
    else if (!found->asker)
        text =
            tern_must_format("None of its libraries needs it, so the program itself opens it by "
                             "name: make it open %s",
                             foreign.own);
    else
        text = explain_rest(found);
    free(directory);
    return text;
}

/* ---- warnings ---- */

/* Returns the warning for a process; the caller frees it. `alone`: the process has not connected to
 * mpirun. */
static char *warning(pid_t pid, const char *library, bool alone)
{
    struct case_of found;
    examine(&found, pid, library);
    bool drop_in = strcmp(found.wanted, soname) == 0;
    char *why;
    if (is_wheel_of_mpi4py(found.asker) &&
        !leads_there(&found, told(&found, "LD_LIBRARY_PATH"), found.program))
        why = tern_must_format("mpi4py opens it by its path, and LD_LIBRARY_PATH does not count: "
                               "set MPI4PY_LIBMPI=%s",
                               foreign.own);
    else if (drop_in)
        why = explain(&found);
    else
        why = tern_must_format(
            "It has another binary interface: build the program with Tern's mpicc");
    bool itself = !found.asker || strcmp(found.asker, found.program) == 0;
    char *text = tern_must_format(
        "%s%s%s has loaded %s; this mpirun belongs to %s%s. %s, or start the program with the "
        "mpirun of its own MPI",
        itself ? "" : found.asker, itself ? "" : " in ", found.program, library, foreign.own,
        alone ? ". The process has not connected to mpirun; if none does, each process is a job of "
                "one rank"
              : "",
        why);
    free(why);
    forget(&found);
    return text;
}

/* Returns a warning about the processes of `rank`, or of all ranks that have not reported (-1), or
 * NULL. The caller frees it. If one process of a rank has Tern's library, its other processes may
 * load what they like. */
static char *look(int rank, bool alone, int *ret_rank)
{
    int size = foreign.job->map->size;
    char **library = tern_must_alloc(size * sizeof *library), *text = NULL;
    pid_t *process = tern_must_alloc(size * sizeof *process);
    bool *ours = tern_must_alloc(size * sizeof *ours), is_ours_too;
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (proc && (entry = readdir(proc))) {
        pid_t pid = atoi(entry->d_name);
        int its = pid > 0 && pid != getpid() ? rank_of(pid) : -1;
        if (its < 0 || ours[its] || (rank >= 0 ? its != rank : foreign.reported[its]))
            continue;
        char *found = library_of(pid, &is_ours_too);
        ours[its] = is_ours_too;
        process[its] = library[its] ? process[its] : pid;
        if (library[its])
            free(found);
        else
            library[its] = found;
    }
    if (proc)
        closedir(proc);
    for (int r = 0; r < size; r++) {
        if (library[r] && !ours[r] && !text) {
            text = warning(process[r], library[r], alone);
            *ret_rank = r;
        }
        free(library[r]);
    }
    free(library);
    free(process);
    free(ours);
    return text;
}

static void warn(int rank, char *text)
{
    foreign.listener->remarked(rank, TERN_REMARK_LIBRARY, text);
    foreign.warned = true;
    free(text);
}

char *tern_foreign_connected(int rank)
{
    if (rank < 0 || rank >= foreign.job->map->size ||
        foreign.connected[foreign.job->map->places[rank].app])
        return NULL;
    foreign.connected[foreign.job->map->places[rank].app] = true;
    return look(rank, false, &rank);
}

void tern_foreign_reported(int rank)
{
    foreign.reported[rank] = true;
}

/* ---- ranks that never connect ---- */

/* Warns if the program names an MPI library with another binary interface: it cannot have been
 * built for Tern. */
static void look_at_program(int rank)
{
    const char *path = foreign.job->paths[foreign.job->map->places[rank].app];
    struct tern_elf elf;
    tern_elf_read(path, &elf);
    for (int i = 0; i < elf.needed.count && !foreign.warned; i++) {
        const char *name = elf.needed.items[i];
        if (is_mpi_library(name) && strcmp(name, soname) != 0)
            warn(rank, tern_must_format("%s needs %s, which is the library of another MPI; this "
                                        "mpirun belongs to %s. If the program does not connect to "
                                        "this mpirun, each process is a job of one rank. Build it "
                                        "with Tern's mpicc, or start it with the mpirun of its own "
                                        "MPI",
                                        path, name, foreign.own));
    }
    tern_elf_free(&elf);
}

static void look_again(struct tern_timer *timer)
{
    bool all = true;
    int rank = -1;
    for (int r = 0; r < foreign.job->map->size; r++)
        all &= foreign.reported[r] || foreign.job->map->places[r].host != foreign.job->here;
    char *text = all || foreign.warned ? NULL : look(-1, true, &rank);
    if (text)
        warn(rank, text);
    else if (!all && !foreign.warned && ++foreign.looks < LOOKS)
        tern_loop_set_timer(timer, look_after_ms[foreign.looks] - look_after_ms[foreign.looks - 1]);
}

void tern_foreign_start(void)
{
    bool *seen = tern_must_alloc(foreign.job->options->app_count * sizeof *seen);
    for (int rank = 0; rank < foreign.job->map->size; rank++) {
        const struct tern_rank_place *place = &foreign.job->map->places[rank];
        if (place->host != foreign.job->here || seen[place->app])
            continue;
        seen[place->app] = true;
        look_at_program(rank);
    }
    free(seen);
    foreign.timer.expired = look_again;
    tern_loop_set_timer(&foreign.timer, look_after_ms[0]);
}

void tern_foreign_open(const struct tern_job *job, const struct tern_client_listener *listener)
{
    foreign.job = job;
    foreign.listener = listener;
    foreign.reported = tern_must_alloc(job->map->size * sizeof *foreign.reported);
    foreign.connected = tern_must_alloc(job->options->app_count * sizeof *foreign.connected);
    tern_prefix_directory(TERN_LIBDIR, foreign.own_directory);
    foreign.own = tern_must_format("%s/%s", foreign.own_directory, soname);
}
