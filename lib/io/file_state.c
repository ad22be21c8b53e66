/* SPDX-License-Identifier: BSD-3-Clause */

/* What can be asked of a file and set: size, group, hints, atomicity, what is on the disk (MPI-4.1
 * sections 14.2.4 to 14.2.9 and 14.6). */

#include "lib/io/access/datarep.h"
#include "lib/io/file_operation.h"
#include "lib/io/shared.h"
#include "lib/mpi/object/group.h"
#include "lib/mpi/object/info.h"
#include "lib/util/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mpi/procedures.h"

static const int64_t equal[2] = {0};

int64_t tern_file_bytes(const struct tern_file *file)
{
    struct stat state;
    if (file->incoherent)
        tern_system_revalidate(file->fd);
    if (fstat(file->fd, &state))
        return tern_system_error("ask for the size of", file->path, errno);
    return state.st_size;
}

int tern_mpi_file_get_size(struct tern_file *fh, MPI_Offset *size)
{
    int64_t bytes = tern_file_bytes(fh);
    if (bytes < 0)
        return (int)bytes;
    *size = bytes;
    return 0;
}

/* Checks a size that all ranks give. Returns 0 on all ranks or an error on all ranks. */
static int check_size(struct tern_file *file, MPI_Offset size)
{
    const int64_t values[2] = {size, 0};
    int error = 0;
    if (size < 0)
        error = tern_error(TERN_ERR_ARG, "size is %lld; it may not be negative", (long long)size);
    else if (file->amode & MPI_MODE_RDONLY)
        error = tern_error(TERN_ERR_READ_ONLY, "\"%s\" was opened with MPI_MODE_RDONLY; changing "
                                               "its size needs MPI_MODE_WRONLY or MPI_MODE_RDWR",
                           file->path);
    return tern_file_agree(file, error, values, "size");
}

int tern_mpi_file_set_size(struct tern_file *fh, MPI_Offset size)
{
    int error = check_size(fh, size);
    if (error)
        return error;
    if (tern_file_rank(fh) == 0 && ftruncate(fh->fd, size))
        error = tern_system_error("change the size of", fh->path, errno);
    return tern_file_agree(fh, error, equal, "");
}

int tern_mpi_file_preallocate(struct tern_file *fh, MPI_Offset size)
{
    int error = check_size(fh, size);
    if (error)
        return error;
    if (tern_file_rank(fh) == 0 && size > 0) {
        do
            error = posix_fallocate(fh->fd, 0, size);
        while (error == EINTR);
        if (error)
            error = tern_system_error("reserve space for", fh->path, error);
    }
    return tern_file_agree(fh, error, equal, "");
}

int tern_mpi_file_get_group(struct tern_file *fh, struct tern_group **ret_group)
{
    tern_group_retain(fh->comm->group);
    *ret_group = fh->comm->group;
    return 0;
}

int tern_mpi_file_get_amode(struct tern_file *fh, int *amode)
{
    *amode = fh->amode;
    return 0;
}

int tern_file_take_hints(struct tern_file *file, const struct tern_info *info)
{
    struct tern_hints hints = file->hints;
    tern_hints_take(&hints, &file->system, info, tern_file_size(file), tern_file_nodes(file));
    int error = tern_comm_bcast_bytes(file->comm, &hints, sizeof hints, 0);
    if (!error)
        file->hints = hints;
    return error;
}

int tern_mpi_file_set_info(int fault, struct tern_file *fh, struct tern_info *info)
{
    int error = tern_file_agree(fh, fault, equal, "");
    return error ? error : tern_file_take_hints(fh, info);
}

int tern_mpi_file_get_info(struct tern_file *fh, struct tern_info **ret_info_used)
{
    return tern_hints_tell(&fh->hints, &fh->system, tern_file_nodes(fh), ret_info_used);
}

int tern_mpi_file_get_type_extent(struct tern_file *fh, struct tern_datatype *datatype,
                                  MPI_Count *ret_extent)
{
    struct tern_datatype *layout;
    int error = tern_datarep_layout(fh->view.datarep, datatype, &layout);
    if (error)
        return error;
    *ret_extent = layout->type.extent;
    tern_datatype_release(layout);
    return 0;
}

int tern_mpi_file_set_atomicity(struct tern_file *fh, int flag)
{
    const int64_t values[2] = {flag != 0, 0};
    int error = flag ? tern_shared_always(fh) : 0;
    error = tern_file_agree(fh, error, values, "flag");
    if (!error)
        fh->atomic = flag != 0;
    return error;
}

int tern_mpi_file_get_atomicity(struct tern_file *fh, int *flag)
{
    *flag = fh->atomic;
    return 0;
}

int tern_mpi_file_sync(struct tern_file *fh)
{
    int error = tern_system_flush(fh->fd, fh->path);
    error = tern_file_agree(fh, error, equal, "");
    if (fh->incoherent) /* all ranks have flushed */
        tern_system_revalidate(fh->fd);
    return error;
}
