// SPDX-License-Identifier: BSD-3-Clause
#ifndef TERN_CXX_BINDINGS_H
#define TERN_CXX_BINDINGS_H

/*
 * The classes of the C++ bindings (MPI-2.2 chapter 16) as a program sees them that was compiled
 * with Open MPI's mpi.h. MPI-3.0 removed these bindings. This header serves libmpi_cxx.so.40 only
 * and is not installed.
 *
 * The following must not change, because such programs were compiled with it:
 *  - an object is the pointer to the table of virtual functions of its class, and one handle
 *    (Status: an MPI_Status);
 *  - the virtual functions are in this order, overloads included, destructor first;
 *  - names and types of parameters, because they make the names of symbols.
 * Most methods are inline in the programs and not here. This library has the functions in the
 * tables of virtual functions, the constants, and the functions behind callbacks.
 *
 * A method passes its arguments to the C procedure of the same name. The C procedure calls the
 * error handler; a method has no other way to report an error. If a call fails, the result is the
 * null handle, or 0.
 */

#include <mpi.h>

#include "lib/cxx/undeclared.h"

namespace MPI {

typedef MPI_Aint Aint;
typedef MPI_Offset Offset;

class Comm;
class Info;

class Errhandler {
public:
    Errhandler(MPI_Errhandler errhandler) : handle(errhandler) {}
    virtual ~Errhandler() {}
    operator MPI_Errhandler() const { return handle; }

    virtual void Free();

private:
    MPI_Errhandler handle;
};

class Datatype {
public:
    typedef int Copy_attr_function(const Datatype &from, int keyval, void *extra_state,
                                   const void *value, void *ret_value, bool &ret_copies);
    typedef int Delete_attr_function(Datatype &type, int keyval, void *value, void *extra_state);

    Datatype(MPI_Datatype type) : handle(type) {}
    virtual ~Datatype() {}
    operator MPI_Datatype() const { return handle; }

    virtual Datatype Create_contiguous(int count) const;
    virtual Datatype Create_vector(int count, int blocklength, int stride) const;
    virtual Datatype Create_indexed(int count, const int blocklengths[],
                                    const int displacements[]) const;
    virtual Datatype Create_hindexed(int count, const int blocklengths[],
                                     const Aint displacements[]) const;
    virtual Datatype Create_hvector(int count, int blocklength, Aint stride) const;
    virtual Datatype Create_indexed_block(int count, int blocklength,
                                          const int displacements[]) const;
    virtual Datatype Create_resized(Aint lb, Aint extent) const;
    virtual int Get_size() const;
    virtual void Get_extent(Aint &lb, Aint &extent) const;
    virtual void Get_true_extent(Aint &lb, Aint &extent) const;
    virtual void Commit();
    virtual void Free();
    virtual void Pack(const void *in, int count, void *out, int size, int &position,
                      const Comm &comm) const;
    virtual void Unpack(const void *in, int size, void *out, int count, int &position,
                        const Comm &comm) const;
    virtual int Pack_size(int count, const Comm &comm) const;
    virtual void Pack_external(const char *datarep, const void *in, int count, void *out, Aint size,
                               Aint &position) const;
    virtual Aint Pack_external_size(const char *datarep, int count) const;
    virtual void Unpack_external(const char *datarep, const void *in, Aint size, Aint &position,
                                 void *out, int count) const;
    virtual Datatype Create_subarray(int ndims, const int sizes[], const int subsizes[],
                                     const int starts[], int order) const;
    virtual Datatype Create_darray(int size, int rank, int ndims, const int gsizes[],
                                   const int distribs[], const int dargs[], const int psizes[],
                                   int order) const;
    virtual Datatype Dup() const;
    virtual void Delete_attr(int keyval);
    virtual bool Get_attr(int keyval, void *ret_value) const;
    virtual void Get_contents(int max_integers, int max_addresses, int max_datatypes,
                              int integers[], Aint addresses[], Datatype datatypes[]) const;
    virtual void Get_envelope(int &integers, int &addresses, int &datatypes, int &combiner) const;
    virtual void Get_name(char *name, int &length) const;
    virtual void Set_attr(int keyval, const void *value);
    virtual void Set_name(const char *name);

    static int do_create_keyval(MPI_Type_copy_attr_function *c_copy,
                                MPI_Type_delete_attr_function *c_delete,
                                Copy_attr_function *cxx_copy, Delete_attr_function *cxx_delete,
                                void *extra_state, int &keyval);

private:
    MPI_Datatype handle;
};

typedef void User_function(const void *in, void *inout, int count, const Datatype &datatype);

class Op {
public:
    Op(MPI_Op op) : handle(op) {}
    virtual ~Op() {}
    operator MPI_Op() const { return handle; }

    virtual void Init(User_function *function, bool commute);
    virtual void Free();
    virtual void Reduce_local(const void *in, void *inout, int count,
                              const Datatype &datatype) const;
    virtual bool Is_commutative() const;

private:
    MPI_Op handle;
};

class Status {
public:
    Status(const MPI_Status &of) : status(of) {}
    virtual ~Status() {}
    operator MPI_Status() const { return status; }
    /* Returns the address that a C procedure fills in. */
    MPI_Status *c() { return &status; }

    virtual int Get_count(const Datatype &datatype) const;
    virtual bool Is_cancelled() const;
    virtual int Get_elements(const Datatype &datatype) const;
    virtual int Get_source() const;
    virtual void Set_source(int source);
    virtual int Get_tag() const;
    virtual void Set_tag(int tag);
    virtual int Get_error() const;
    virtual void Set_error(int error);
    virtual void Set_elements(const Datatype &datatype, int count);
    virtual void Set_cancelled(bool flag);

private:
    MPI_Status status;
};

class Request {
public:
    Request(MPI_Request request) : handle(request) {}
    virtual ~Request() {}
    operator MPI_Request() const { return handle; }

    virtual void Wait(Status &status);
    virtual void Wait();
    virtual bool Test(Status &status);
    virtual bool Test();
    virtual void Free();
    virtual void Cancel() const;
    virtual bool Get_status(Status &status) const;
    virtual bool Get_status() const;

protected:
    MPI_Request handle;
};

class Prequest : public Request {
public:
    Prequest(MPI_Request request) : Request(request) {}

    virtual void Start();
};

class Grequest : public Request {
public:
    typedef int Query_function(void *extra_state, Status &status);
    typedef int Free_function(void *extra_state);
    typedef int Cancel_function(void *extra_state, bool complete);

    /* MPI::Grequest::Start, inline in the program, makes this with `new` and passes it to
     * MPI_Grequest_start. */
    struct callbacks {
        void *extra_state;
        Query_function *query;
        Free_function *free;
        Cancel_function *cancel;
    };

    Grequest(MPI_Request request) : Request(request) {}

    virtual void Complete();
};

class Group {
public:
    Group(MPI_Group group) : handle(group) {}
    virtual ~Group() {}
    operator MPI_Group() const { return handle; }

    virtual int Get_size() const;
    virtual int Get_rank() const;
    virtual Group Incl(int n, const int ranks[]) const;
    virtual Group Excl(int n, const int ranks[]) const;
    virtual Group Range_incl(int n, const int ranges[][3]) const;
    virtual Group Range_excl(int n, const int ranges[][3]) const;
    virtual void Free();

private:
    MPI_Group handle;
};

class Comm_Null {
public:
    Comm_Null(MPI_Comm comm) : handle(comm) {}
    virtual ~Comm_Null() {}
    operator MPI_Comm() const { return handle; }

protected:
    MPI_Comm handle;
};

class Comm : public Comm_Null {
public:
    typedef void Errhandler_function(Comm &comm, int *code, ...);
    typedef int Copy_attr_function(const Comm &from, int keyval, void *extra_state, void *value,
                                   void *ret_value, bool &ret_copies);
    typedef int Delete_attr_function(Comm &comm, int keyval, void *value, void *extra_state);

    Comm();
    Comm(const Comm_Null &comm);
    Comm(MPI_Comm comm) : Comm_Null(comm) {}

    virtual void Send(const void *buf, int count, const Datatype &datatype, int dest,
                      int tag) const;
    virtual void Recv(void *buf, int count, const Datatype &datatype, int source, int tag,
                      Status &status) const;
    virtual void Recv(void *buf, int count, const Datatype &datatype, int source, int tag) const;
    virtual void Bsend(const void *buf, int count, const Datatype &datatype, int dest,
                       int tag) const;
    virtual void Ssend(const void *buf, int count, const Datatype &datatype, int dest,
                       int tag) const;
    virtual void Rsend(const void *buf, int count, const Datatype &datatype, int dest,
                       int tag) const;
    virtual Request Isend(const void *buf, int count, const Datatype &datatype, int dest,
                          int tag) const;
    virtual Request Ibsend(const void *buf, int count, const Datatype &datatype, int dest,
                           int tag) const;
    virtual Request Issend(const void *buf, int count, const Datatype &datatype, int dest,
                           int tag) const;
    virtual Request Irsend(const void *buf, int count, const Datatype &datatype, int dest,
                           int tag) const;
    virtual Request Irecv(void *buf, int count, const Datatype &datatype, int source,
                          int tag) const;
    virtual bool Iprobe(int source, int tag, Status &status) const;
    virtual bool Iprobe(int source, int tag) const;
    virtual void Probe(int source, int tag, Status &status) const;
    virtual void Probe(int source, int tag) const;
    virtual Prequest Send_init(const void *buf, int count, const Datatype &datatype, int dest,
                               int tag) const;
    virtual Prequest Bsend_init(const void *buf, int count, const Datatype &datatype, int dest,
                                int tag) const;
    virtual Prequest Ssend_init(const void *buf, int count, const Datatype &datatype, int dest,
                                int tag) const;
    virtual Prequest Rsend_init(const void *buf, int count, const Datatype &datatype, int dest,
                                int tag) const;
    virtual Prequest Recv_init(void *buf, int count, const Datatype &datatype, int source,
                               int tag) const;
    virtual void Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest,
                          int sendtag, void *recvbuf, int recvcount, const Datatype &recvtype,
                          int source, int recvtag, Status &status) const;
    virtual void Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest,
                          int sendtag, void *recvbuf, int recvcount, const Datatype &recvtype,
                          int source, int recvtag) const;
    virtual void Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest,
                                  int sendtag, int source, int recvtag, Status &status) const;
    virtual void Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest,
                                  int sendtag, int source, int recvtag) const;

    virtual Group Get_group() const;
    virtual int Get_size() const;
    virtual int Get_rank() const;
    virtual Comm &Clone() const = 0;
    virtual void Free();
    virtual bool Is_inter() const;

    virtual void Barrier() const;
    virtual void Bcast(void *buffer, int count, const Datatype &datatype, int root) const;
    virtual void Gather(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
                        int recvcount, const Datatype &recvtype, int root) const;
    virtual void Gatherv(const void *sendbuf, int sendcount, const Datatype &sendtype,
                         void *recvbuf, const int recvcounts[], const int displs[],
                         const Datatype &recvtype, int root) const;
    virtual void Scatter(const void *sendbuf, int sendcount, const Datatype &sendtype,
                         void *recvbuf, int recvcount, const Datatype &recvtype, int root) const;
    virtual void Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                          const Datatype &sendtype, void *recvbuf, int recvcount,
                          const Datatype &recvtype, int root) const;
    virtual void Allgather(const void *sendbuf, int sendcount, const Datatype &sendtype,
                           void *recvbuf, int recvcount, const Datatype &recvtype) const;
    virtual void Allgatherv(const void *sendbuf, int sendcount, const Datatype &sendtype,
                            void *recvbuf, const int recvcounts[], const int displs[],
                            const Datatype &recvtype) const;
    virtual void Alltoall(const void *sendbuf, int sendcount, const Datatype &sendtype,
                          void *recvbuf, int recvcount, const Datatype &recvtype) const;
    virtual void Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           const Datatype &sendtype, void *recvbuf, const int recvcounts[],
                           const int rdispls[], const Datatype &recvtype) const;
    virtual void Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           const Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const int rdispls[], const Datatype recvtypes[]) const;
    virtual void Reduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                        const Op &op, int root) const;
    virtual void Allreduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                           const Op &op) const;
    virtual void Reduce_scatter(const void *sendbuf, void *recvbuf, int recvcounts[],
                                const Datatype &datatype, const Op &op) const;

    virtual void Disconnect();
    virtual void Get_name(char *name, int &length) const;
    virtual void Set_name(const char *name);
    virtual int Get_topology() const;
    virtual void Abort(int errorcode);
    virtual void Set_errhandler(const Errhandler &errhandler);
    virtual Errhandler Get_errhandler() const;
    virtual void Set_attr(int keyval, const void *value) const;
    virtual bool Get_attr(int keyval, void *ret_value) const;
    virtual void Delete_attr(int keyval);

    static Errhandler Create_errhandler(Errhandler_function *function);
    static int do_create_keyval(MPI_Comm_copy_attr_function *c_copy,
                                MPI_Comm_delete_attr_function *c_delete,
                                Copy_attr_function *cxx_copy, Delete_attr_function *cxx_delete,
                                void *extra_state, int &keyval);
};

class Intercomm;
class Cartcomm;
class Graphcomm;

class Intracomm : public Comm {
public:
    Intracomm(MPI_Comm comm);

    virtual void Scan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                      const Op &op) const;
    virtual void Exscan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                        const Op &op) const;
    virtual Intracomm &Clone() const;
    virtual Intracomm Create(const Group &group) const;
    virtual Intracomm Split(int color, int key) const;
    virtual Intercomm Create_intercomm(int local_leader, const Comm &peer_comm, int remote_leader,
                                       int tag) const;
    virtual Cartcomm Create_cart(int ndims, const int dims[], const bool periods[],
                                 bool reorder) const;
    virtual Graphcomm Create_graph(int nnodes, const int index[], const int edges[],
                                   bool reorder) const;
    virtual Intercomm Accept(const char *port_name, const Info &info, int root) const;
    virtual Intercomm Connect(const char *port_name, const Info &info, int root) const;
    virtual Intercomm Spawn(const char *command, const char *argv[], int maxprocs, const Info &info,
                            int root) const;
    virtual Intercomm Spawn(const char *command, const char *argv[], int maxprocs, const Info &info,
                            int root, int errcodes[]) const;
    virtual Intercomm Spawn_multiple(int count, const char *commands[], const char **argvs[],
                                     const int maxprocs[], const Info infos[], int root);
    virtual Intercomm Spawn_multiple(int count, const char *commands[], const char **argvs[],
                                     const int maxprocs[], const Info infos[], int root,
                                     int errcodes[]);

protected:
    /* For communicators whose kind the caller knows. */
    struct known {
        MPI_Comm comm;
    };
    Intracomm(known comm) : Comm(comm.comm) {}
};

class Cartcomm : public Intracomm {
public:
    Cartcomm(MPI_Comm comm) : Intracomm(known{comm}) {}

    virtual Cartcomm &Clone() const;
    virtual int Get_dim() const;
    virtual void Get_topo(int maxdims, int dims[], bool periods[], int coords[]) const;
    virtual int Get_cart_rank(const int coords[]) const;
    virtual void Get_coords(int rank, int maxdims, int coords[]) const;
    virtual void Shift(int direction, int displacement, int &source, int &dest) const;
    virtual Cartcomm Sub(const bool remain_dims[]) const;
    virtual int Map(int ndims, const int dims[], const bool periods[]) const;
};

class Graphcomm : public Intracomm {
public:
    Graphcomm(MPI_Comm comm) : Intracomm(known{comm}) {}

    virtual Graphcomm &Clone() const;
    virtual void Get_dims(int nnodes[], int nedges[]) const;
    virtual void Get_topo(int maxindex, int maxedges, int index[], int edges[]) const;
    virtual int Get_neighbors_count(int rank) const;
    virtual void Get_neighbors(int rank, int maxneighbors, int neighbors[]) const;
    virtual int Map(int nnodes, const int index[], const int edges[]) const;
};

class Intercomm : public Comm {
public:
    Intercomm(MPI_Comm comm) : Comm(comm) {}

    virtual Intercomm &Clone() const;
    virtual int Get_remote_size() const;
    virtual Group Get_remote_group() const;
    virtual Intracomm Merge(bool high) const;
    virtual Intercomm Create(const Group &group) const;
    virtual Intercomm Split(int color, int key) const;
};

class Info {
public:
    Info(MPI_Info info) : handle(info) {}
    virtual ~Info() {}
    operator MPI_Info() const { return handle; }

    virtual void Delete(const char *key);
    virtual Info Dup() const;
    virtual void Free();
    virtual bool Get(const char *key, int valuelen, char *value) const;
    virtual int Get_nkeys() const;
    virtual void Get_nthkey(int n, char *key) const;
    virtual bool Get_valuelen(const char *key, int &valuelen) const;
    virtual void Set(const char *key, const char *value);

private:
    MPI_Info handle;
};

class Win {
public:
    typedef void Errhandler_function(Win &win, int *code, ...);
    typedef int Copy_attr_function(const Win &from, int keyval, void *extra_state, void *value,
                                   void *ret_value, bool &ret_copies);
    typedef int Delete_attr_function(Win &win, int keyval, void *value, void *extra_state);

    Win(MPI_Win win) : handle(win) {}
    virtual ~Win() {}
    operator MPI_Win() const { return handle; }

    virtual void Set_errhandler(const Errhandler &errhandler) const;
    virtual Errhandler Get_errhandler() const;
    virtual void Accumulate(const void *origin, int origin_count, const Datatype &origin_datatype,
                            int target, Aint displacement, int target_count,
                            const Datatype &target_datatype, const Op &op) const;
    virtual void Complete() const;
    virtual void Fence(int assertion) const;
    virtual void Free();
    virtual void Get(const void *origin, int origin_count, const Datatype &origin_datatype,
                     int target, Aint displacement, int target_count,
                     const Datatype &target_datatype) const;
    virtual Group Get_group() const;
    virtual void Lock(int lock_type, int rank, int assertion) const;
    virtual void Post(const Group &group, int assertion) const;
    virtual void Put(const void *origin, int origin_count, const Datatype &origin_datatype,
                     int target, Aint displacement, int target_count,
                     const Datatype &target_datatype) const;
    virtual void Start(const Group &group, int assertion) const;
    virtual bool Test() const;
    virtual void Unlock(int rank) const;
    virtual void Wait() const;
    virtual void Call_errhandler(int errorcode) const;
    virtual void Delete_attr(int keyval);
    virtual void Get_name(char *name, int &length) const;
    virtual void Set_attr(int keyval, const void *value);
    virtual void Set_name(const char *name);

    static Errhandler Create_errhandler(Errhandler_function *function);
    static int do_create_keyval(MPI_Win_copy_attr_function *c_copy,
                                MPI_Win_delete_attr_function *c_delete,
                                Copy_attr_function *cxx_copy, Delete_attr_function *cxx_delete,
                                void *extra_state, int &keyval);

private:
    MPI_Win handle;
};

class File {
public:
    typedef void Errhandler_function(File &file, int *code, ...);

    File(MPI_File file) : handle(file) {}
    virtual ~File() {}

    void Close();

    static Errhandler Create_errhandler(Errhandler_function *function);

private:
    MPI_File handle;
};

typedef void Datarep_extent_function(const Datatype &datatype, Aint &extent, void *extra_state);
typedef void Datarep_conversion_function(void *userbuf, Datatype &datatype, int count,
                                         void *filebuf, Offset position, void *extra_state);

/* The error of the last call that failed while the error handler was ERRORS_THROW_EXCEPTIONS. */
extern int mpi_errno;

/* Sets up the callbacks. MPI::Init and MPI::Init_thread, inline in the program, call this after
 * MPI_Init. */
void InitializeIntercepts();

} // namespace MPI

#endif
