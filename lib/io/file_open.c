/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Opens, closes and deletes files (MPI-4.1 sections 14.2.1 to 14.2.3).
 *
 * Rank 0 opens first and makes the file if it shall be made. So MPI_MODE_EXCL means what it says,
 * and one rank finds out what is wrong instead of all. Then the others open what is there. All
 * ranks agree on the outcome of each step, so that all of them return the same error, or none.
 */
#include "lib/io/access/datarep.h"
#include "lib/io/file_operation.h"
#include "lib/io/shared.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/mpi/procedures.h"

static int open_files; /* files of this process; guarded by the library's lock */

/* ---- access modes ---- */

static int check_amode(int amode)
{
    const int known = MPI_MODE_CREATE | MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR |
                      MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_EXCL |
                      MPI_MODE_APPEND | MPI_MODE_SEQUENTIAL;
    int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    if (amode & ~known)
        return tern_error(TERN_ERR_AMODE, "amode is %d, which has bits that are no MPI_MODE_ of "
                                          "files", amode);
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
        return tern_error(TERN_ERR_AMODE, "amode is %d; it must have exactly one of "
                                          "MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR",
                          amode);
    if (access == MPI_MODE_RDONLY && amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return tern_error(TERN_ERR_AMODE, "amode is %d: MPI_MODE_RDONLY does not go with "
                                          "MPI_MODE_CREATE or MPI_MODE_EXCL", amode);
    if (access == MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL)
        return tern_error(TERN_ERR_AMODE, "amode is %d: MPI_MODE_RDWR does not go with "
                                          "MPI_MODE_SEQUENTIAL", amode);
    return 0;
}

static int flags_of(int amode)
{
    int flags = amode & MPI_MODE_RDONLY ? O_RDONLY : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDWR;
    return flags | O_CLOEXEC;
}

/* ---- opening ---- */

static int open_path(struct tern_file *file, int flags)
{
    struct stat state;
    do
        file->fd = open(file->path, flags, 0666);
    while (file->fd < 0 && errno == EINTR);
    if (file->fd < 0)
        return tern_system_error("open", file->path, errno);
    if (fstat(file->fd, &state) == 0 && S_ISDIR(state.st_mode)) {
        close(file->fd);
        file->fd = -1;
        return tern_system_error("open", file->path, EISDIR);
    }
    return 0;
}

/* Keeps the folder that a relative name is looked up in: MPI_MODE_DELETE_ON_CLOSE deletes the file
 * there, also if the program works in another folder by then. */
static int keep_folder(struct tern_file *file)
{
    if (file->path[0] == '/')
        return 0;
    file->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return file->folder < 0 ? tern_system_error("open", ".", errno) : 0;
}

/* Opens what rank 0 has opened. A file that rank 0 has just made on another host may show only
 * after a while. */
static int open_existing(struct tern_file *file)
{
    enum { TRIES = 100, PAUSE_MS = 50 };
    bool several_hosts = file->comm->coll.ranks_per_node < tern_file_size(file);
    int error = 0;
    for (int i = 0; i < (several_hosts ? TRIES : 1); i++) {
        error = open_path(file, flags_of(file->amode));
        if (!error || (errno != ENOENT && errno != ESTALE))
            break;
        nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
    }
    return error;
}

/* Makes a file with the layout that the hints want, where the file system knows layouts. Returns
 * true if the file was made. */
static bool make_laid_out(struct tern_file *file, const struct tern_info *info)
{
    struct tern_hints wanted = {0};
    tern_hints_take(&wanted, NULL, info, tern_file_size(file), tern_file_nodes(file));
    return (wanted.striping_factor > 0 || wanted.striping_unit > 0) &&
           tern_system_lay_out(file->path, wanted.striping_factor, wanted.striping_unit);
}

static int open_everywhere(struct tern_file *file, const struct tern_info *info)
{
    const int64_t equal[2] = {0};
    int error = 0, flags = flags_of(file->amode);
    if (file->amode & MPI_MODE_CREATE)
        flags |= O_CREAT;
    if (file->amode & MPI_MODE_EXCL)
        flags |= O_EXCL;
    if (tern_file_rank(file) == 0 && flags & O_CREAT && make_laid_out(file, info))
        flags &= ~O_EXCL;
    if (tern_file_rank(file) == 0)
        error = open_path(file, flags);
    if (tern_file_rank(file) == 0 && !error && file->amode & MPI_MODE_DELETE_ON_CLOSE)
        error = keep_folder(file);
    error = tern_file_agree(file, error, equal, "");
    if (error || tern_file_size(file) == 1)
        return error;
    if (tern_file_rank(file) > 0)
        error = open_existing(file);
    return tern_file_agree(file, error, equal, "");
}

/* What rank 0 tells all ranks, because it must be the same on all of them. */
struct settings {
    struct tern_hints hints;
    int64_t bytes; /* of the file; -1: not known */
};

/* Several hosts with pages of their own: accesses go around the pages if the file may be written.
 * Else a page that two hosts write parts of would get lost in part, and reads would be of old
 * pages. */
static void meet_caches(struct tern_file *file)
{
    file->incoherent = tern_file_nodes(file) > 1 && file->system.caches;
    if (!file->incoherent)
        return;
    if (!(file->amode & MPI_MODE_RDONLY) && strcmp(tern_param_string("io_direct"), "never") != 0)
        tern_system_go_direct(file->fd);
    tern_system_revalidate(file->fd);
}

/* Sets hints and pointers. */
static int settle(struct tern_file *file, const struct tern_info *info)
{
    struct settings settings = {0};
    tern_system_look(file->fd, &file->system);
    meet_caches(file);
    tern_hints_start(&settings.hints, &file->system, tern_file_size(file), tern_file_nodes(file));
    tern_hints_take(&settings.hints, &file->system, info, tern_file_size(file),
                    tern_file_nodes(file));
    settings.bytes = tern_file_bytes(file);
    int error = tern_comm_bcast_bytes(file->comm, &settings, sizeof settings, 0);
    if (error)
        return error;
    file->hints = settings.hints;
    error = tern_shared_open(file);
    if (error || !(file->amode & MPI_MODE_APPEND) || settings.bytes < 0)
        return error;
    file->position = settings.bytes;
    if (tern_file_rank(file) == 0)
        tern_shared_set(file, settings.bytes);
    const int64_t equal[2] = {0};
    return tern_file_agree(file, 0, equal, ""); /* nobody uses the pointer before it is set */
}

/* Takes back what opening has done, and frees the file. */
static void drop(struct tern_file *file)
{
    tern_shared_close(file);
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    if (file->folder >= 0)
        close(file->folder);
    tern_view_drop(&file->view);
    tern_file_release(file);
}

int tern_mpi_file_open(int fault, struct tern_comm *comm, const char *filename, int amode,
                       struct tern_info *info, struct tern_file **ret_fh)
{
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_COMM, "comm is an intercommunicator; a file needs an "
                                         "intracommunicator");
    struct tern_file *file = tern_file_new(fault ? "" : filename, amode);
    if (!file)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a file");
    int error = tern_comm_make(comm, comm->group, &file->comm);
    if (!error) {
        const char *slash = strrchr(file->path, '/');
        snprintf(file->comm->name, sizeof file->comm->name, "the file %s",
                 slash ? slash + 1 : file->path);
        const int64_t values[2] = {amode, 0};
        error = tern_file_agree(file, fault ? fault : check_amode(amode), values, "amode");
    }
    if (!error)
        error = open_everywhere(file, info);
    if (!error)
        error = tern_view_set(&file->view, 0, tern_datatype_of(MPI_BYTE),
                              tern_datatype_of(MPI_BYTE), tern_datarep_find("native"),
                              !(amode & MPI_MODE_RDONLY));
    if (!error)
        error = settle(file, info);
    if (!error && amode & MPI_MODE_SEQUENTIAL) {
        const int64_t equal[2] = {0};
        error = tern_file_agree(file, tern_shared_always(file), equal, "");
    }
    if (error) {
        drop(file);
        return error;
    }
    tern_errhandler_retain(tern_file_null.errhandler);
    file->head.errhandler = tern_file_null.errhandler;
    open_files++;
    *ret_fh = file;
    return 0;
}

int tern_mpi_file_close(struct tern_file **fh)
{
    struct tern_file *file = *fh;
    const int64_t equal[2] = {0};
    int error = 0;
    if (file->split)
        error = tern_error(TERN_ERR_OTHER, "a split collective has begun on \"%s\" and has not "
                                           "ended; end it first",
                           file->path);
    error = tern_file_agree(file, error, equal, "");
    if (error)
        return error;
    if (close(file->fd) && errno != EINTR)
        error = tern_system_error("close", file->path, errno);
    file->fd = -1;
    error = tern_file_agree(file, error, equal, "");
    if (file->amode & MPI_MODE_DELETE_ON_CLOSE) {
        int gone = 0;
        if (tern_file_rank(file) == 0 && unlinkat(file->folder, file->path, 0) && errno != ENOENT)
            gone = tern_system_error("delete", file->path, errno);
        gone = tern_file_agree(file, gone, equal, "");
        error = error ? error : gone;
    }
    if (error) /* the file is closed all the same: its handle goes, its handler is called */
        tern_raise_next_on_file(&file->head);
    drop(file);
    if (--open_files == 0)
        tern_worker_stop();
    *fh = NULL;
    return error;
}

int tern_mpi_file_delete(const char *filename, struct tern_info *info)
{
    (void)info;
    const char *path = tern_system_path(filename);
    return unlink(path) ? tern_system_error("delete", path, errno) : 0;
}
