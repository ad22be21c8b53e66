/* SPDX-License-Identifier: BSD-3-Clause */

/* Views and pointers of files (MPI-4.1 sections 14.3, 14.4.3 and 14.4.4). */

#include "lib/io/access/datarep.h"
#include "lib/io/file_operation.h"
#include "lib/io/shared.h"
#include "lib/util/base/error.h"

#include <string.h>

#include "lib/mpi/procedures.h"

/* Returns the offset of the end of the file in etypes of the view: the first etype that lies, at
 * least in part, behind the file's last byte. Returns -1 with a recorded error. */
static int64_t end_of_file(const struct tern_file *file)
{
    int64_t bytes = tern_file_bytes(file), each = file->view.etype_bytes;
    if (bytes < 0)
        return -1;
    int64_t position = tern_view_position(&file->view, bytes);
    return each > 0 ? (position + each - 1) / each : 0;
}

/* Finds the common pointer. */
static int ask_pointer(struct tern_file *file, int64_t *ret_offset)
{
    struct tern_operation *op;
    int error = tern_operation_new(file, &op);
    if (error)
        return error;
    tern_shared_add(op, 0);
    error = tern_operation_run(op);
    *ret_offset = op->fetched;
    tern_operation_free(op);
    return error;
}

static int check_types(const struct tern_datatype *etype, const struct tern_datatype *filetype)
{
    const struct tern_datatype *both[2] = {etype, filetype};
    for (int i = 0; i < 2; i++)
        if (!both[i]->type.committed)
            return tern_error(TERN_ERR_TYPE, "%s was not committed (MPI_Type_commit)",
                              i ? "filetype" : "etype");
    return 0;
}

static int check_view(const struct tern_file *file, MPI_Offset disp,
                      const struct tern_datatype *etype, const struct tern_datatype *filetype,
                      const char *datarep)
{
    int error = check_types(etype, filetype);
    if (error)
        return error;
    if (file->split)
        return tern_error(TERN_ERR_OTHER, "a split collective has begun on \"%s\" and has not "
                                          "ended; end it first",
                          file->path);
    if (!tern_datarep_find(datarep))
        return tern_error(TERN_ERR_UNSUPPORTED_DATAREP,
                          "datarep is \"%.60s\"; expected \"native\", \"internal\", \"external32\" "
                          "or a name given to MPI_Register_datarep",
                          datarep);
    if (disp == MPI_DISPLACEMENT_CURRENT && !(file->amode & MPI_MODE_SEQUENTIAL))
        return tern_error(TERN_ERR_ARG, "disp is MPI_DISPLACEMENT_CURRENT, which is only for files "
                                        "opened with MPI_MODE_SEQUENTIAL");
    if (disp < 0 && disp != MPI_DISPLACEMENT_CURRENT)
        return tern_error(TERN_ERR_ARG, "disp is %lld; it may not be negative", (long long)disp);
    return 0;
}

/* Lets all ranks agree on the arguments of a view. Afterwards all ranks are past their last access
 * of the old view. */
static int agree_on_view(struct tern_file *file, int error, const char *datarep)
{
    uint64_t name = 14695981039346656037U; /* FNV-1a: tells names apart */
    for (const char *c = error ? "" : datarep; *c; c++)
        name = (name ^ (unsigned char)*c) * 1099511628211U;
    const int64_t values[2] = {(int64_t)name, 0};
    error = tern_file_agree(file, error, values, "datarep");
    if (error == TERN_ERR_NOT_SAME)
        tern_error(error, "datarep differs between the ranks of the file: this rank has "
                          "\"%.60s\"; pass the same on all ranks",
                   datarep);
    return error;
}

int tern_mpi_file_set_view(int fault, struct tern_file *fh, MPI_Offset disp,
                           struct tern_datatype *etype, struct tern_datatype *filetype,
                           const char *datarep, struct tern_info *info)
{
    struct tern_view view = {0};
    int error = fault ? fault : check_view(fh, disp, etype, filetype, datarep);
    error = agree_on_view(fh, error, datarep);
    if (error)
        return error;
    if (disp == MPI_DISPLACEMENT_CURRENT) {
        int64_t at = 0;
        error = ask_pointer(fh, &at);
        disp = tern_view_offset(&fh->view, at * fh->view.etype_bytes);
    }
    if (!error)
        error = tern_view_set(&view, disp, etype, filetype, tern_datarep_find(datarep),
                              !(fh->amode & MPI_MODE_RDONLY));
    const int64_t values[2] = {view.etype_extent, 0};
    bool scattered = !error && !tern_view_is_one_run(&view);
    error = tern_file_agree_and_ask(fh, error, values, "the extent of etype", &scattered);
    if (error) { /* the old view stays */
        tern_view_drop(&view);
        return error;
    }
    tern_view_drop(&fh->view);
    fh->view = view;
    fh->scattered = scattered;
    fh->position = 0;
    if (tern_file_rank(fh) == 0)
        tern_shared_set(fh, 0);
    return tern_file_take_hints(fh, info);
}

/* Gives the user a handle of a view's type: the same one if it is predefined. */
static int give_type(struct tern_datatype *datatype, struct tern_datatype **ret_type)
{
    if (datatype->predefined) {
        *ret_type = datatype;
        return 0;
    }
    return tern_mpi_type_dup(datatype, ret_type);
}

int tern_mpi_file_get_view(struct tern_file *fh, MPI_Offset *disp, struct tern_datatype **ret_etype,
                           struct tern_datatype **ret_filetype, char *datarep)
{
    struct tern_datatype *etype;
    int error = give_type(fh->view.etype, &etype);
    if (error)
        return error;
    error = give_type(fh->view.filetype, ret_filetype);
    if (error) {
        if (!etype->predefined)
            tern_mpi_type_free(&etype);
        return error;
    }
    *ret_etype = etype;
    *disp = fh->view.disp;
    memcpy(datarep, fh->view.datarep->name, strlen(fh->view.datarep->name) + 1);
    return 0;
}

int tern_mpi_file_get_byte_offset(struct tern_file *fh, MPI_Offset offset, MPI_Offset *disp)
{
    int64_t position;
    if (offset < 0)
        return tern_error(TERN_ERR_ARG, "offset is %lld; it may not be negative",
                          (long long)offset);
    if (fh->amode & MPI_MODE_SEQUENTIAL)
        return tern_error(TERN_ERR_UNSUPPORTED_OPERATION,
                          "\"%s\" was opened with MPI_MODE_SEQUENTIAL; only the procedures of the "
                          "common pointer may be used",
                          fh->path);
    if (__builtin_mul_overflow(offset, fh->view.etype_bytes, &position) ||
        position == INT64_MAX || !tern_view_reaches(&fh->view, position + 1))
        return tern_error(TERN_ERR_ARG, "offset is %lld etypes of %lld bytes, which lies behind "
                                        "byte 2^63 - 1 of the file",
                          (long long)offset, (long long)fh->view.etype_bytes);
    *disp = tern_view_offset(&fh->view, position);
    return 0;
}

/* ---- pointers ---- */

static int check_whence(int whence)
{
    if (whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END)
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "whence is %d; expected MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
}

/* Computes where a seek leads, from a pointer that is at `current`. */
static int target(const struct tern_file *file, MPI_Offset offset, int whence, int64_t current,
                  int64_t *ret_target)
{
    int64_t from = 0;
    switch (whence) {
    case MPI_SEEK_SET: break;
    case MPI_SEEK_CUR: from = current; break;
    case MPI_SEEK_END:
        from = end_of_file(file);
        if (from < 0)
            return TERN_ERR_IO;
        break;
    default: return check_whence(whence);
    }
    if (__builtin_add_overflow(from, offset, ret_target) || *ret_target < 0)
        return tern_error(TERN_ERR_ARG, "offset is %lld, counted from etype %lld; expected one "
                                        "that leads to etype 0 to 2^63 - 1 of the view",
                          (long long)offset, (long long)from);
    return 0;
}

static int refuse_sequential(const struct tern_file *file)
{
    if (!(file->amode & MPI_MODE_SEQUENTIAL))
        return 0;
    return tern_error(TERN_ERR_UNSUPPORTED_OPERATION,
                      "\"%s\" was opened with MPI_MODE_SEQUENTIAL, where pointers cannot be moved",
                      file->path);
}

int tern_mpi_file_seek(struct tern_file *fh, MPI_Offset offset, int whence)
{
    int64_t to;
    int error = refuse_sequential(fh);
    if (error)
        return error;
    pthread_mutex_lock(&fh->mutex);
    error = target(fh, offset, whence, fh->position, &to);
    if (!error)
        fh->position = to;
    pthread_mutex_unlock(&fh->mutex);
    return error;
}

int tern_mpi_file_get_position(struct tern_file *fh, MPI_Offset *offset)
{
    int error = refuse_sequential(fh);
    if (error)
        return error;
    pthread_mutex_lock(&fh->mutex);
    *offset = fh->position;
    pthread_mutex_unlock(&fh->mutex);
    return 0;
}

int tern_mpi_file_get_position_shared(struct tern_file *fh, MPI_Offset *offset)
{
    int64_t value;
    int error = refuse_sequential(fh);
    if (!error)
        error = ask_pointer(fh, &value);
    if (!error)
        *offset = value;
    return error;
}

int tern_mpi_file_seek_shared(struct tern_file *fh, MPI_Offset offset, int whence)
{
    const int64_t values[2] = {offset, whence}, equal[2] = {0};
    int64_t to = 0, current = 0;
    int error = refuse_sequential(fh);
    error = error ? error : check_whence(whence);
    error = tern_file_agree(fh, error, values, "offset or whence");
    if (error)
        return error;
    if (tern_file_rank(fh) == 0) {
        error = whence == MPI_SEEK_CUR ? ask_pointer(fh, &current) : 0;
        if (!error)
            error = target(fh, offset, whence, current, &to);
        if (!error)
            tern_shared_set(fh, to);
    }
    return tern_file_agree(fh, error, equal, "");
}
