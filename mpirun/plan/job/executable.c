/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/job/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/setting.h"
#include "mpirun/base/search_path.h"

/* Checks that a script's interpreter exists: otherwise exec would fail with "no such file", which
 * misleads. Returns 0 or an exit status. */
static int check_interpreter(const char *path)
{
    char head[256] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* execute permission alone is enough to run a binary */
    ssize_t length = read(fd, head, sizeof head - 1);
    close(fd);
    if (length < 2 || head[0] != '#' || head[1] != '!')
        return 0;
    head[length] = '\0';
    char *interpreter = head + 2 + strspn(head + 2, " \t");
    size_t line = strcspn(interpreter, "\n");
    if (line && interpreter[line - 1] == '\r') {
        /* the system takes the carriage return for a part of the name or of the argument */
        tern_error(TERN_ERR_ARG,
                   "cannot run %s: its first line ends with a carriage return, as on Windows; "
                   "`dos2unix %s` or `sed -i 's/\\r$//' %s` removes those",
                   path, path, path);
        return TERN_EXIT_NOT_EXECUTABLE;
    }
    interpreter[strcspn(interpreter, " \t\r\n")] = '\0';
    if (*interpreter != '/' || tern_path_is_program(interpreter))
        return 0;
    tern_error(TERN_ERR_ARG,
               "cannot run %s: its first line names the interpreter %s, which does not exist", path,
               interpreter);
    return TERN_EXIT_NOT_EXECUTABLE;
}

static int check_file(const char *path)
{
    struct stat info;
    if (stat(path, &info) < 0) {
        tern_error(TERN_ERR_ARG, "cannot run %s: %s", path, strerror(errno));
        return errno == EACCES ? TERN_EXIT_NOT_EXECUTABLE : TERN_EXIT_NOT_FOUND;
    }
    if (S_ISDIR(info.st_mode)) {
        tern_error(TERN_ERR_ARG, "cannot run %s: it is a directory", path);
        return TERN_EXIT_NOT_EXECUTABLE;
    }
    if (!tern_path_is_program(path)) {
        tern_error(TERN_ERR_ARG, "cannot run %s: it is not executable (chmod +x makes it so)",
                   path);
        return TERN_EXIT_NOT_EXECUTABLE;
    }
    return check_interpreter(path);
}

int tern_program_find(const struct tern_app *app, const char *wdir, char **ret_path)
{
    const char *name = app->argv.items[0];
    if (strchr(name, '/')) {
        char *path = name[0] == '/' ? tern_must_copy(name) : tern_must_format("%s/%s", wdir, name);
        int status = check_file(path);
        if (status)
            free(path);
        else
            *ret_path = path;
        return status;
    }
    const char *exported = tern_strings_value(&app->env, "PATH");
    const char *search_path = exported         ? exported
                              : getenv("PATH") ? getenv("PATH")
                                               : "/usr/local/bin:/usr/bin:/bin";
    char *unusable = NULL;
    char *path = app->path ? tern_path_search(app->path, wdir, name, &unusable) : NULL;
    if (!path)
        path = tern_path_search(search_path, wdir, name, &unusable);
    if (!path) /* as Open MPI's mpirun: many scripts say `mpirun a.out` */
        path = tern_path_search("", wdir, name, &unusable);
    int status = 0;
    if (path) {
        status = check_interpreter(path);
        *ret_path = path;
    } else if (unusable) {
        status = check_file(unusable);
    } else {
        bool parameter = tern_param_find(name) || tern_open_mpi_accepted(name);
        const char *hint = parameter && app->argv.count > 1
                               ? "; it is the name of a parameter: is --mca missing before it?"
                           : strcmp(name, "all") == 0
                               ? "; `-s all` of other launchers (MPICH, Intel MPI) is --stdin all"
                               : "";
        tern_error(TERN_ERR_ARG, "no program %s in %s%s%s nor in the working directory, %s%s", name,
                   app->path ? app->path : "", app->path ? " or " : "", search_path, wdir, hint);
        status = TERN_EXIT_NOT_FOUND;
    }
    free(unusable);
    return status;
}
