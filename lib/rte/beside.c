/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The new mpirun forks once more and its first process exits, so the program gets no child process
 * for which it might wait. mpirun watches the program by its process id.
 */

#include "lib/rte/beside.h"

#include "lib/util/base/error.h"
#include "lib/util/base/prefix.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Writes the path of mpirun: of the installation from which this library was loaded, if that can be
 * seen, because a program may have found the library by LD_LIBRARY_PATH in a moved tree. */
static void find_mpirun(char *path, size_t room)
{
    static const char prefix[] = TERN_PREFIX, lib[] = TERN_LIBDIR, bin[] = TERN_BINDIR;
    size_t shared = sizeof prefix - 1;
    char directory[PATH_MAX];
    Dl_info own;
    tern_prefix_directory(bin, directory);
    snprintf(path, room, "%s/mpirun", directory);
    if (strncmp(lib, prefix, shared) != 0 || strncmp(bin, prefix, shared) != 0 ||
        !dladdr((void *)tern_rte_start_beside, &own) || !realpath(own.dli_fname, directory))
        return;
    char *end = strrchr(directory, '/');
    size_t length = (size_t)(end - directory), tail = strlen(lib + shared);
    if (length < tail || strncmp(end - tail, lib + shared, tail) != 0)
        return;
    char beside[2 * PATH_MAX];
    snprintf(beside, sizeof beside, "%.*s%s/mpirun", (int)(length - tail), directory, bin + shared);
    if (access(beside, X_OK) == 0)
        snprintf(path, room, "%s", beside);
}

/* Writes the question into a file without a name. Returns a descriptor, or -1 with errno. */
static int write_question(const char *question)
{
    size_t size = strlen(question), done = 0;
    int fd = memfd_create("tern-question", MFD_CLOEXEC);
    while (fd >= 0 && done < size) {
        ssize_t n = write(fd, question + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int error = errno;
            close(fd);
            errno = error;
            return -1;
        }
        done += (size_t)n;
    }
    return fd;
}

/* Runs mpirun with the two descriptors, and waits until its first process has ended. Returns 0 or
 * an errno. */
static int run(const char *mpirun, int socket, int question)
{
    enum { SOCKET = 3, QUESTION = 4 }; /* their numbers in mpirun */
    char *argv[] = {(char *)mpirun, "--spawned", "3", "4", "beside", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status, error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    /* first above both numbers, so that neither dup2 overwrites the other's source */
    int high[2] = {fcntl(socket, F_DUPFD_CLOEXEC, QUESTION + 1),
                   fcntl(question, F_DUPFD_CLOEXEC, QUESTION + 1)};
    error = high[0] < 0 || high[1] < 0 ? errno : 0;
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, high[0], SOCKET);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, high[1], QUESTION);
    if (!error)
        error = posix_spawn(&child, mpirun, &actions, NULL, argv, environ);
    for (int i = 0; i < 2; i++)
        if (high[i] >= 0)
            close(high[i]);
    posix_spawn_file_actions_destroy(&actions);
    while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return error;
}

int tern_rte_start_beside(const char *question, int *ret_fd)
{
    char mpirun[2 * PATH_MAX];
    int ends[2];
    find_mpirun(mpirun, sizeof mpirun);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return tern_error(TERN_ERR_SPAWN, "cannot start mpirun: %s", strerror(errno));
    int text = write_question(question);
    int error = text < 0 ? errno : run(mpirun, ends[1], text);
    if (text >= 0)
        close(text);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return tern_error(TERN_ERR_SPAWN,
                          "cannot start %s, which must start the processes because no launcher has "
                          "started this program: %s",
                          mpirun, strerror(error));
    }
    *ret_fd = ends[0];
    return 0;
}
