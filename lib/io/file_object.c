/* SPDX-License-Identifier: BSD-3-Clause */

/* The object of an open file: made first, gone when nobody refers to it any more. */

#include "lib/io/file.h"

#include "lib/mpi/object/fortran.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct tern_file *tern_file_new(const char *filename, int amode)
{
    struct tern_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    tern_object_init(&file->head.obj, TERN_MAGIC_FILE);
    file->path = strdup(tern_system_path(filename));
    file->fd = -1;
    file->folder = AT_FDCWD;
    file->amode = amode;
    pthread_mutex_init(&file->mutex, NULL);
    if (file->path)
        return file;
    free(file);
    return NULL;
}

void tern_file_release(struct tern_file *file)
{
    if (tern_unref(&file->head.obj.refs) > 0)
        return;
    if (file->comm)
        tern_comm_release(file->comm);
    if (file->head.errhandler) {
        tern_lock();
        tern_errhandler_release(file->head.errhandler);
        tern_unlock();
    }
    pthread_mutex_destroy(&file->mutex);
    free(file->path);
    tern_fortran_drop(&file->head.obj);
    tern_object_free(&file->head.obj);
}
