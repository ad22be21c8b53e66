/* SPDX-License-Identifier: BSD-3-Clause */

/* What the table does not tell of the standard interface: procedures that take functions of the
 * program, values whose meaning depends on another argument, and what only this interface has. */
#include "lib/face/standard.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#define FACE(returned, name, parameters)                                                           \
    returned face_##name parameters EXPORTED(name);                                                \
    ALSO(name);                                                                                    \
    returned face_##name parameters

/* Memory for what a call needs later. NULL with the error of the call. */
static void *keep(size_t size, int *ret_rc)
{
    void *kept = calloc(1, size);
    *ret_rc = kept ? 0 : face_code(MPI_ERR_NO_MEM);
    return kept;
}

/* ---- lengths of arrays that a communicator tells ---- */

/* Returns the communicator as the core's if it is one, else NULL: the core then refuses the call.
 */
static MPI_Comm valid(MPI_Comm comm)
{
    comm = in_comm(comm);
    return comm && comm != MPI_COMM_NULL &&
                   tern_handle_is((struct tern_handle *)comm, TERN_MAGIC_COMM)
               ? comm
               : NULL;
}

long face_blocks(MPI_Comm comm)
{
    int inter = 0, size = 0;
    comm = valid(comm);
    if (comm && !tern_core.Comm_test_inter(comm, &inter))
        (inter ? tern_core.Comm_remote_size : tern_core.Comm_size)(comm, &size);
    return size;
}

long face_neighbors(MPI_Comm comm, bool destinations)
{
    int topology = MPI_UNDEFINED, in = 0, out = 0, weighted, rank;
    comm = valid(comm);
    if (!comm || tern_core.Topo_test(comm, &topology))
        return 0;
    if (topology == MPI_DIST_GRAPH)
        tern_core.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    else if (topology == MPI_CART && !tern_core.Cartdim_get(comm, &in))
        in *= 2, out = in;
    else if (topology == MPI_GRAPH && !tern_core.Comm_rank(comm, &rank) &&
             !tern_core.Graph_neighbors_count(comm, rank, &in))
        out = in;
    return destinations ? out : in;
}

bool face_is_root(MPI_Comm comm, int root)
{
    int rank = -1;
    comm = valid(comm);
    return comm && !tern_core.Comm_rank(comm, &rank) && rank == root;
}

/* ---- the interface itself ---- */

FACE(int, MPI_Get_version, (int *version, int *subversion))
{
    int rc = tern_core.Get_version(version, subversion);
    if (!rc)
        *version = FACE_VERSION, *subversion = FACE_SUBVERSION;
    return face_code(rc);
}

FACE(int, MPI_Abi_get_version, (int *version, int *subversion))
{
    *version = FACE_ABI_VERSION;
    *subversion = FACE_ABI_SUBVERSION;
    return 0;
}

/* Sets a number of bytes as the value of a key. */
static int set_size(MPI_Info info, const char *key, size_t bytes)
{
    char text[16];
    snprintf(text, sizeof text, "%zu", bytes);
    return tern_core.Info_set(info, key, text);
}

FACE(int, MPI_Abi_get_info, (MPI_Info * info))
{
    int rc = tern_core.Info_create(info);
    if (!rc)
        rc = set_size(*info, "mpi_aint_size", sizeof(MPI_Aint));
    if (!rc)
        rc = set_size(*info, "mpi_count_size", sizeof(MPI_Count));
    if (!rc)
        rc = set_size(*info, "mpi_offset_size", sizeof(MPI_Offset));
    return face_code(rc);
}

/* What a Fortran part has told, or another program's library. */
static struct {
    MPI_Info info; /* NULL: nothing was told */
    int size;      /* of a LOGICAL; 0: nothing was told */
    char yes[16], no[16];
} fortran;

FACE(int, MPI_Abi_get_fortran_info, (MPI_Info * info))
{
    if (fortran.info)
        return face_code(tern_core.Info_dup(fortran.info, info));
    *info = out_info(MPI_INFO_NULL);
    return 0;
}

FACE(int, MPI_Abi_set_fortran_info, (MPI_Info info))
{
    return face_code(fortran.info ? MPI_ERR_ARG : tern_core.Info_dup(in_info(info), &fortran.info));
}

FACE(int, MPI_Abi_get_fortran_booleans, (int size, void *yes, void *no, int *is_set))
{
    *is_set = fortran.size > 0 && fortran.size == size;
    if (*is_set) {
        memcpy(yes, fortran.yes, (size_t)size);
        memcpy(no, fortran.no, (size_t)size);
    }
    return 0;
}

FACE(int, MPI_Abi_set_fortran_booleans, (int size, void *yes, void *no))
{
    if (size <= 0 || size > (int)sizeof fortran.yes || fortran.size)
        return face_code(MPI_ERR_ARG);
    memcpy(fortran.yes, yes, (size_t)size);
    memcpy(fortran.no, no, (size_t)size);
    fortran.size = size;
    return 0;
}

FACE(MPI_Aint, MPI_Aint_add, (MPI_Aint base, MPI_Aint disp))
{
    return base + disp;
}

FACE(MPI_Aint, MPI_Aint_diff, (MPI_Aint addr1, MPI_Aint addr2))
{
    return addr1 - addr2;
}

FACE(int, MPI_Pcontrol, (const int level, ...))
{
    return face_code(tern_core.Pcontrol(level));
}

/* MPI-4's MPI_Psend_init takes MPI_Count, MPI-5's takes int. A negative int comes as a number just
 * below 2^32, which no program means. */
static MPI_Count int_or_count(MPI_Count count)
{
    return count > INT_MAX && count <= UINT_MAX ? (int)count : count;
}

#define PARTITIONED(name, core, const_, peer, count_of)                                            \
    FACE(int, name,                                                                                \
         (const_ void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int peer,      \
          int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request))                            \
    {                                                                                              \
        int rc =                                                                                   \
            tern_core.core(buf, partitions, count_of(count), in_datatype(datatype), in_rank(peer), \
                           in_tag(tag), in_comm(comm), in_info(info), request);                    \
        out_request_new(rc, request);                                                              \
        return face_code(rc);                                                                      \
    }
PARTITIONED(MPI_Psend_init, Psend_init, const, dest, int_or_count)
PARTITIONED(MPI_Precv_init, Precv_init, , source, int_or_count)
PARTITIONED(MPI_Psend_init_c, Psend_init, const, dest, )
PARTITIONED(MPI_Precv_init_c, Precv_init, , source, )

/* ---- functions that the core calls by this face ---- */

static void call_op(tern_face_function *fn, void *in, void *inout, int *count,
                    MPI_Datatype datatype)
{
    datatype = out_datatype(datatype);
    ((MPI_User_function *)fn)(in, inout, count, &datatype);
}

static void call_op_c(tern_face_function *fn, void *in, void *inout, MPI_Count *count,
                      MPI_Datatype datatype)
{
    datatype = out_datatype(datatype);
    ((MPI_User_function_c *)fn)(in, inout, count, &datatype);
}

static void call_errhandler(tern_face_function *fn, enum tern_magic magic, void *handle, int code,
                            const char *text)
{
    typedef void errhandler(void **handle, int *code, ...);
    switch (magic) {
    case TERN_MAGIC_WIN:
        handle = out_win(handle);
        break;
    case TERN_MAGIC_FILE:
        handle = out_file(handle);
        break;
    case TERN_MAGIC_SESSION:
        handle = out_session(handle);
        break;
    default:
        handle = out_comm(handle);
    }
    code = face_code(code);
    ((errhandler *)fn)(&handle, &code, text, NULL);
}

static int call_query(tern_face_function *fn, void *extra_state, MPI_Status *status)
{
    struct face_status own = {0};
    face_status_out(&own, status);
    int rc = ((int (*)(void *, struct face_status *))fn)(extra_state, &own);
    *status = face_status_in(&own);
    return in_ERROR_CLASS(rc);
}

static int call_free(tern_face_function *fn, void *extra_state)
{
    return in_ERROR_CLASS(((MPI_Grequest_free_function *)fn)(extra_state));
}

static int call_cancel(tern_face_function *fn, void *extra_state, int complete)
{
    return in_ERROR_CLASS(((MPI_Grequest_cancel_function *)fn)(extra_state, complete));
}

static const struct tern_face face = {
    .info_key = FACE_MAX_INFO_KEY,
    .info_value = FACE_MAX_INFO_VAL,
    .op = call_op,
    .op_c = call_op_c,
    .errhandler = call_errhandler,
    .query = call_query,
    .free = call_free,
    .cancel = call_cancel,
};

/* Sets `rc` to what a call returns whose functions are called by this face. */
#define BY_FACE(rc, call)                                                                          \
    do {                                                                                           \
        tern_face_calls(&face);                                                                    \
        rc = (call);                                                                               \
        tern_face_calls(NULL);                                                                     \
    } while (0)

FACE(int, MPI_Op_create, (MPI_User_function * user_fn, int commute, MPI_Op *op))
{
    int rc;
    BY_FACE(rc, tern_core.Op_create(user_fn, commute, op));
    out_op_new(rc, op);
    return face_code(rc);
}

FACE(int, MPI_Op_create_c, (MPI_User_function_c * user_fn, int commute, MPI_Op *op))
{
    int rc;
    BY_FACE(rc, tern_core.Op_create_c(user_fn, commute, op));
    out_op_new(rc, op);
    return face_code(rc);
}

#define CREATE_ERRHANDLER(Kind)                                                                    \
    FACE(int, MPI_##Kind##_create_errhandler,                                                      \
         (MPI_##Kind##_errhandler_function * fn, MPI_Errhandler * errhandler))                     \
    {                                                                                              \
        int rc;                                                                                    \
        BY_FACE(rc, tern_core.Kind##_create_errhandler(fn, errhandler));                           \
        out_errhandler_new(rc, errhandler);                                                        \
        return face_code(rc);                                                                      \
    }
CREATE_ERRHANDLER(Comm)
CREATE_ERRHANDLER(Win)
CREATE_ERRHANDLER(File)
CREATE_ERRHANDLER(Session)

FACE(int, MPI_Grequest_start,
     (MPI_Grequest_query_function * query_fn, MPI_Grequest_free_function *free_fn,
      MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request))
{
    int rc;
    BY_FACE(rc, tern_core.Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request));
    out_request_new(rc, request);
    return face_code(rc);
}

/* ---- info objects: keys and values may be longer than in Open MPI's interface ---- */

#define INFO(name, parameters, arguments)                                                          \
    FACE(int, MPI_Info_##name, parameters)                                                         \
    {                                                                                              \
        int rc;                                                                                    \
        BY_FACE(rc, tern_core.Info_##name arguments);                                              \
        return face_code(rc);                                                                      \
    }
INFO(set, (MPI_Info info, const char *key, const char *value), (in_info(info), key, value))
INFO(delete, (MPI_Info info, const char *key), (in_info(info), key))
INFO(get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag),
     (in_info(info), key, valuelen, value, flag))
INFO(get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag),
     (in_info(info), key, buflen, value, flag))
INFO(get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag),
     (in_info(info), key, valuelen, flag))
INFO(get_nthkey, (MPI_Info info, int n, char *key), (in_info(info), n, key))

/* ---- attributes: the core's extra state is a record with the program's functions ---- */

struct keyval {
    tern_face_function *copy, *delete;
    void *extra_state;
};

/* Functions of the program, with handles of any kind. */
typedef int copy_function(void *handle, int keyval, void *extra_state, void *value, void *ret_value,
                          int *ret_flag);
typedef int delete_function(void *handle, int keyval, void *value, void *extra_state);

#define KEYVAL_FUNCTIONS(kind, type)                                                               \
    static int copy_##kind(type handle, int number, void *state, void *value, void *ret_value,     \
                           int *ret_flag)                                                          \
    {                                                                                              \
        const struct keyval *keyval = state;                                                       \
        if (keyval->copy == (tern_face_function *)FACE_COMM_NULL_COPY_FN)                          \
            return *ret_flag = 0;                                                                  \
        if (keyval->copy == (tern_face_function *)FACE_COMM_DUP_FN) {                              \
            *ret_flag = 1;                                                                         \
            memcpy(ret_value, &value, sizeof value);                                               \
            return 0;                                                                              \
        }                                                                                          \
        return in_ERROR_CLASS(                                                                     \
            ((copy_function *)keyval->copy)(out_##kind(handle), out_KEYVAL(number),                \
                                            keyval->extra_state, value, ret_value, ret_flag));     \
    }                                                                                              \
    static int delete_##kind(type handle, int number, void *value, void *state)                    \
    {                                                                                              \
        const struct keyval *keyval = state;                                                       \
        return keyval->delete                                                                      \
                   ? in_ERROR_CLASS(((delete_function *)keyval->delete)(                           \
                         out_##kind(handle), out_KEYVAL(number), value, keyval->extra_state))      \
                   : 0;                                                                            \
    }
KEYVAL_FUNCTIONS(comm, MPI_Comm)
KEYVAL_FUNCTIONS(datatype, MPI_Datatype)
KEYVAL_FUNCTIONS(win, MPI_Win)

/* The record lives as long as the process: the core may call a function after the keyval was
 * freed. */
#define CREATE_KEYVAL(Name, Core, kind, copy_type, delete_type)                                    \
    FACE(int, MPI_##Name,                                                                          \
         (copy_type * copy, delete_type * delete, int *keyval, void *extra_state))                 \
    {                                                                                              \
        int rc;                                                                                    \
        struct keyval *made = keep(sizeof *made, &rc);                                             \
        if (!made)                                                                                 \
            return rc;                                                                             \
        *made = (struct keyval){(tern_face_function *)copy, (tern_face_function *)delete,          \
                                extra_state};                                                      \
        rc = tern_core.Core(copy_##kind, delete_##kind, keyval, made);                             \
        if (rc)                                                                                    \
            free(made);                                                                            \
        else                                                                                       \
            *keyval = out_KEYVAL(*keyval);                                                         \
        return face_code(rc);                                                                      \
    }
CREATE_KEYVAL(Comm_create_keyval, Comm_create_keyval, comm, MPI_Comm_copy_attr_function,
              MPI_Comm_delete_attr_function)
CREATE_KEYVAL(Keyval_create, Comm_create_keyval, comm, MPI_Copy_function, MPI_Delete_function)
CREATE_KEYVAL(Type_create_keyval, Type_create_keyval, datatype, MPI_Type_copy_attr_function,
              MPI_Type_delete_attr_function)
CREATE_KEYVAL(Win_create_keyval, Win_create_keyval, win, MPI_Win_copy_attr_function,
              MPI_Win_delete_attr_function)

/* The values of predefined attributes are addresses of numbers that mean something here. */
static int get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    static int host, io, last_used;
    int rc = tern_core.Comm_get_attr(in_comm(comm), in_KEYVAL(keyval), value, flag);
    if (rc || !*flag)
        return face_code(rc);
    int **number = value;
    switch (in_KEYVAL(keyval)) {
    case MPI_HOST:
        host = out_rank(**number), *number = &host;
        break;
    case MPI_IO:
        io = out_rank(**number), *number = &io;
        break;
    case MPI_LASTUSEDCODE:
        last_used = **number > TERN_CORE_LASTCODE ? face_code(**number) : FACE_LASTCODE;
        *number = &last_used;
    }
    return 0;
}

FACE(int, MPI_Comm_get_attr, (MPI_Comm comm, int keyval, void *value, int *flag))
{
    return get_attr(comm, keyval, value, flag);
}

FACE(int, MPI_Attr_get, (MPI_Comm comm, int keyval, void *value, int *flag))
{
    return get_attr(comm, keyval, value, flag);
}

FACE(int, MPI_Win_get_attr, (MPI_Win win, int keyval, void *value, int *flag))
{
    static int flavors[5], models[2]; /* by the core's number */
    int rc = tern_core.Win_get_attr(in_win(win), in_KEYVAL(keyval), value, flag), **number = value;
    if (!rc && *flag && in_KEYVAL(keyval) == MPI_WIN_CREATE_FLAVOR) {
        int flavor = **number;
        flavors[flavor] = out_WIN_FLAVOR(flavor);
        *number = &flavors[flavor];
    } else if (!rc && *flag && in_KEYVAL(keyval) == MPI_WIN_MODEL) {
        int model = **number;
        models[model] = out_WIN_MODEL(model);
        *number = &models[model];
    }
    return face_code(rc);
}

/* ---- data representations ---- */

struct datarep {
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_c, *write_c;
    MPI_Datarep_extent_function *extent;
    void *extra_state;
};

static int file_extent(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    const struct datarep *rep = state;
    return in_ERROR_CLASS(rep->extent(out_datatype(datatype), extent, rep->extra_state));
}

#define CONVERSION(way, member, count_type)                                                        \
    static int way##_##member(void *user, MPI_Datatype datatype, count_type count, void *file,     \
                              MPI_Offset position, void *state)                                    \
    {                                                                                              \
        const struct datarep *rep = state;                                                         \
        return in_ERROR_CLASS(                                                                     \
            rep->member(user, out_datatype(datatype), count, file, position, rep->extra_state));   \
    }
CONVERSION(convert, read, int)
CONVERSION(convert, write, int)
CONVERSION(convert, read_c, MPI_Count)
CONVERSION(convert, write_c, MPI_Count)

FACE(int, MPI_Register_datarep,
     (const char *datarep, MPI_Datarep_conversion_function *read,
      MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent,
      void *extra_state))
{
    int rc;
    struct datarep *rep = keep(sizeof *rep, &rc);
    if (!rep)
        return rc;
    *rep = (struct datarep){
        .read = read, .write = write, .extent = extent, .extra_state = extra_state};
    rc = tern_core.Register_datarep(datarep, read ? convert_read : MPI_CONVERSION_FN_NULL,
                                    write ? convert_write : MPI_CONVERSION_FN_NULL,
                                    extent ? file_extent : NULL, rep);
    return face_code(rc);
}

FACE(int, MPI_Register_datarep_c,
     (const char *datarep, MPI_Datarep_conversion_function_c *read,
      MPI_Datarep_conversion_function_c *write, MPI_Datarep_extent_function *extent,
      void *extra_state))
{
    int rc;
    struct datarep *rep = keep(sizeof *rep, &rc);
    if (!rep)
        return rc;
    *rep = (struct datarep){
        .read_c = read, .write_c = write, .extent = extent, .extra_state = extra_state};
    rc = tern_core.Register_datarep_c(datarep, read ? convert_read_c : MPI_CONVERSION_FN_NULL_C,
                                      write ? convert_write_c : MPI_CONVERSION_FN_NULL_C,
                                      extent ? file_extent : NULL, rep);
    return face_code(rc);
}

/* ---- datatypes' contents ---- */

/* The integers of some constructors are members of enumerations. `large`: the sizes of arrays stand
 * apart, and not among the integers. */
static void convert_integers(int combiner, bool large, int integers[])
{
    if (combiner == MPI_COMBINER_SUBARRAY) {
        int *order = &integers[1 + (large ? 0 : 3 * integers[0])];
        *order = out_ORDER(*order);
    }
    if (combiner != MPI_COMBINER_DARRAY)
        return;
    int dims = integers[2], *at = &integers[3 + (large ? 0 : dims)];
    for (int i = 0; i < dims; i++) {
        at[i] = out_DISTRIB_ENUM(at[i]);
        at[dims + i] = out_DTYPE_DISTRIBUTION(at[dims + i]);
    }
    at[3 * dims] = out_ORDER(at[3 * dims]);
}

FACE(int, MPI_Type_get_contents,
     (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int integers[],
      MPI_Aint addresses[], MPI_Datatype datatypes[]))
{
    int n[3] = {0}, combiner;
    int rc = tern_core.Type_get_contents(in_datatype(datatype), max_integers, max_addresses,
                                         max_datatypes, integers, addresses, datatypes);
    if (!rc && !tern_core.Type_get_envelope(in_datatype(datatype), &n[0], &n[1], &n[2], &combiner))
        convert_integers(combiner, false, integers);
    HANDLES_OUT(rc, datatypes, n[2], datatype);
    return face_code(rc);
}

FACE(int, MPI_Type_get_contents_c,
     (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
      MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[], MPI_Aint addresses[],
      MPI_Count large_counts[], MPI_Datatype datatypes[]))
{
    MPI_Count n[4] = {0};
    int combiner;
    int rc = tern_core.Type_get_contents_c(in_datatype(datatype), max_integers, max_addresses,
                                           max_large_counts, max_datatypes, integers, addresses,
                                           large_counts, datatypes);
    if (!rc && !tern_core.Type_get_envelope_c(in_datatype(datatype), &n[0], &n[1], &n[2], &n[3],
                                              &combiner))
        convert_integers(combiner, n[2] > 0, integers);
    HANDLES_OUT(rc, datatypes, (long)n[3], datatype);
    return face_code(rc);
}

/* ---- processes ---- */

FACE(int, MPI_Comm_spawn_multiple,
     (int count, char *commands[], char **argv[], const int maxprocs[], const MPI_Info infos[],
      int root, MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]))
{
    bool is_root = face_is_root(comm, root);
    HANDLES_IN(infos, is_root ? count : 0, MPI_Info, info);
    int rc = tern_core.Comm_spawn_multiple(count, commands, argv, maxprocs, infos_in, in_rank(root),
                                           in_comm(comm), intercomm, errcodes);
    out_comm_new(rc, intercomm);
    for (long i = 0; errcodes && is_root && i < face_sum(maxprocs, count); i++)
        errcodes[i] = face_code(errcodes[i]);
    FREE_ROOM(infos);
    return face_code(rc);
}

/* ---- the tool interface ---- */

/* Returns the address of a core's handle for the object at `handle`, in `*room`. */
static void *bound(int bind, void *handle, void **room)
{
    if (!handle)
        return NULL;
    switch (bind) {
    case MPI_T_BIND_MPI_COMM:
        *room = in_comm(*(MPI_Comm *)handle);
        break;
    case MPI_T_BIND_MPI_DATATYPE:
        *room = in_datatype(*(MPI_Datatype *)handle);
        break;
    case MPI_T_BIND_MPI_ERRHANDLER:
        *room = in_errhandler(*(MPI_Errhandler *)handle);
        break;
    case MPI_T_BIND_MPI_FILE:
        *room = in_file(*(MPI_File *)handle);
        break;
    case MPI_T_BIND_MPI_GROUP:
        *room = in_group(*(MPI_Group *)handle);
        break;
    case MPI_T_BIND_MPI_OP:
        *room = in_op(*(MPI_Op *)handle);
        break;
    case MPI_T_BIND_MPI_REQUEST:
        *room = in_request(*(MPI_Request *)handle);
        break;
    case MPI_T_BIND_MPI_WIN:
        *room = in_win(*(MPI_Win *)handle);
        break;
    case MPI_T_BIND_MPI_MESSAGE:
        *room = in_message(*(MPI_Message *)handle);
        break;
    case MPI_T_BIND_MPI_INFO:
        *room = in_info(*(MPI_Info *)handle);
        break;
    case MPI_T_BIND_MPI_SESSION:
        *room = in_session(*(MPI_Session *)handle);
        break;
    default:
        return handle;
    }
    return room;
}

FACE(int, MPI_T_cvar_handle_alloc, (int index, void *object, MPI_T_cvar_handle *handle, int *count))
{
    int bind = MPI_T_BIND_NO_OBJECT, name = 0, verbosity, desc = 0, scope;
    void *room;
    MPI_Datatype datatype;
    MPI_T_enum enumtype;
    int rc = tern_core.T_cvar_get_info(index, NULL, &name, &verbosity, &datatype, &enumtype, NULL,
                                       &desc, &bind, &scope);
    return face_code(
        rc ? rc : tern_core.T_cvar_handle_alloc(index, bound(bind, object, &room), handle, count));
}

FACE(int, MPI_T_pvar_handle_alloc,
     (MPI_T_pvar_session session, int index, void *object, MPI_T_pvar_handle *handle, int *count))
{
    int bind = MPI_T_BIND_NO_OBJECT, name = 0, verbosity, class, desc = 0, readonly, continuous,
        atomic;
    void *room;
    MPI_Datatype datatype;
    MPI_T_enum enumtype;
    int rc = tern_core.T_pvar_get_info(index, NULL, &name, &verbosity, &class, &datatype, &enumtype,
                                       NULL, &desc, &bind, &readonly, &continuous, &atomic);
    return face_code(rc ? rc
                        : tern_core.T_pvar_handle_alloc(session, index, bound(bind, object, &room),
                                                        handle, count));
}

FACE(int, MPI_T_event_handle_alloc,
     (int index, void *object, MPI_Info info, MPI_T_event_registration *registration))
{
    int bind = MPI_T_BIND_NO_OBJECT, name = 0, verbosity, elements = 0, desc = 0;
    void *room;
    MPI_T_enum enumtype;
    int rc = tern_core.T_event_get_info(index, NULL, &name, &verbosity, NULL, NULL, &elements,
                                        &enumtype, NULL, NULL, &desc, &bind);
    return face_code(rc ? rc
                        : tern_core.T_event_handle_alloc(index, bound(bind, object, &room),
                                                         in_info(info), registration));
}

/* The functions of an event's registration. Records live as long as the process, because a callback
 * may be under way. */
static struct registration {
    struct registration *next;
    MPI_T_event_registration registration;
    MPI_T_event_dropped_cb_function *dropped;
    struct callback {
        MPI_T_event_cb_function *function;
        void *data;
    } callbacks[4]; /* by the core's safety */
    MPI_T_event_free_cb_function *freed;
    void *free_data;
} * registrations;

static struct registration *registration_of(MPI_T_event_registration wanted)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct registration *found = registrations;
    while (found && found->registration != wanted)
        found = found->next;
    if (!found && (found = calloc(1, sizeof *found))) {
        found->registration = wanted;
        found->next = registrations;
        registrations = found;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void call_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void *data)
{
    const struct callback *callback = data;
    callback->function(instance, registration, (MPI_T_cb_safety)out_CALLBACK_SAFETY((int)safety),
                       callback->data);
}

static void call_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                         MPI_T_cb_safety safety, void *data)
{
    const struct callback *callback = data;
    const struct registration *own = registration_of(registration);
    own->dropped(count, registration, source, (MPI_T_cb_safety)out_CALLBACK_SAFETY((int)safety),
                 callback ? callback->data : NULL);
}

static void call_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct registration *own = data;
    MPI_T_event_free_cb_function *freed = own->freed;
    own->registration = NULL;
    if (freed)
        freed(registration, (MPI_T_cb_safety)out_CALLBACK_SAFETY((int)safety), own->free_data);
}

FACE(int, MPI_T_event_register_callback,
     (MPI_T_event_registration registration, MPI_T_cb_safety safety, MPI_Info info, void *data,
      MPI_T_event_cb_function *function))
{
    int level = in_CALLBACK_SAFETY((int)safety);
    struct registration *own = level >= 0 && level < 4 ? registration_of(registration) : NULL;
    if (own) {
        own->callbacks[level].function = function;
        own->callbacks[level].data = data;
    }
    return face_code(tern_core.T_event_register_callback(
        registration, (MPI_T_cb_safety)level, in_info(info), own ? &own->callbacks[level] : NULL,
        own && function ? call_event : NULL));
}

FACE(int, MPI_T_event_set_dropped_handler,
     (MPI_T_event_registration registration, MPI_T_event_dropped_cb_function *function))
{
    struct registration *own = registration_of(registration);
    if (own)
        own->dropped = function;
    return face_code(
        tern_core.T_event_set_dropped_handler(registration, own && function ? call_dropped : NULL));
}

FACE(int, MPI_T_event_handle_free,
     (MPI_T_event_registration registration, void *data, MPI_T_event_free_cb_function *function))
{
    struct registration *own = registration_of(registration);
    if (own) {
        own->freed = function;
        own->free_data = data;
    }
    return face_code(tern_core.T_event_handle_free(registration, own, own ? call_freed : NULL));
}
