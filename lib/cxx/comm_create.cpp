// SPDX-License-Identifier: BSD-3-Clause

/* Functions that make communicators: copies, parts, topologies, intercommunicators, new
 * processes. */

#include "lib/cxx/bindings.h"

#include <vector>

namespace MPI {

/* Makes an object of `comm`; of the null handle if `comm` is an intercommunicator (MPI-2.2 section
 * 16.1.6). */
Intracomm::Intracomm(MPI_Comm comm) : Comm(comm)
{
    int initialized = 0, inter = 0;
    MPI_Initialized(&initialized);
    if (!initialized || comm == MPI_COMM_NULL)
        return;
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        handle = MPI_COMM_NULL;
}

static MPI_Comm duplicate(MPI_Comm comm)
{
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &copy);
    return copy;
}

static MPI_Comm create(MPI_Comm comm, MPI_Group group)
{
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_create(comm, group, &part);
    return part;
}

static MPI_Comm split(MPI_Comm comm, int color, int key)
{
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm, color, key, &part);
    return part;
}

static std::vector<int> integers(const bool flags[], int count)
{
    return std::vector<int>(flags, flags + (count > 0 ? count : 0));
}

static int cartesian_dimensions(MPI_Comm comm)
{
    int ndims = 0;
    MPI_Cartdim_get(comm, &ndims);
    return ndims;
}

/* ---- Intracomm ---- */

Intracomm &Intracomm::Clone() const
{
    return *new Intracomm(known{duplicate(handle)});
}

Intracomm Intracomm::Create(const Group &group) const
{
    return known{create(handle, group)};
}

Intracomm Intracomm::Split(int color, int key) const
{
    return known{split(handle, color, key)};
}

Intercomm Intracomm::Create_intercomm(int local_leader, const Comm &peer_comm, int remote_leader,
                                      int tag) const
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Intercomm_create(handle, local_leader, peer_comm, remote_leader, tag, &inter);
    return inter;
}

Cartcomm Intracomm::Create_cart(int ndims, const int dims[], const bool periods[],
                                bool reorder) const
{
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(handle, ndims, dims, integers(periods, ndims).data(), reorder, &cart);
    return cart;
}

Graphcomm Intracomm::Create_graph(int nnodes, const int index[], const int edges[],
                                  bool reorder) const
{
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Graph_create(handle, nnodes, index, edges, reorder, &graph);
    return graph;
}

Intercomm Intracomm::Accept(const char *port_name, const Info &info, int root) const
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_accept(port_name, info, root, handle, &inter);
    return inter;
}

Intercomm Intracomm::Connect(const char *port_name, const Info &info, int root) const
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_connect(port_name, info, root, handle, &inter);
    return inter;
}

Intercomm Intracomm::Spawn(const char *command, const char *argv[], int maxprocs, const Info &info,
                           int root) const
{
    return Intracomm::Spawn(command, argv, maxprocs, info, root, MPI_ERRCODES_IGNORE);
}

Intercomm Intracomm::Spawn(const char *command, const char *argv[], int maxprocs, const Info &info,
                           int root, int errcodes[]) const
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_spawn(command, const_cast<char **>(argv), maxprocs, info, root, handle, &inter,
                   errcodes);
    return inter;
}

Intercomm Intracomm::Spawn_multiple(int count, const char *commands[], const char **argvs[],
                                    const int maxprocs[], const Info infos[], int root)
{
    return Intracomm::Spawn_multiple(count, commands, argvs, maxprocs, infos, root,
                                     MPI_ERRCODES_IGNORE);
}

/* Only the root's arguments before `root` are significant. */
Intercomm Intracomm::Spawn_multiple(int count, const char *commands[], const char **argvs[],
                                    const int maxprocs[], const Info infos[], int root,
                                    int errcodes[])
{
    MPI_Comm inter = MPI_COMM_NULL;
    std::vector<MPI_Info> c_infos;
    if (Get_rank() == root)
        c_infos.assign(infos, infos + count);
    MPI_Comm_spawn_multiple(count, const_cast<char **>(commands), const_cast<char ***>(argvs),
                            maxprocs, c_infos.data(), root, handle, &inter, errcodes);
    return inter;
}

/* ---- Cartcomm ---- */

Cartcomm &Cartcomm::Clone() const
{
    return *new Cartcomm(duplicate(handle));
}

int Cartcomm::Get_dim() const
{
    return cartesian_dimensions(handle);
}

void Cartcomm::Get_topo(int maxdims, int dims[], bool periods[], int coords[]) const
{
    /* entries that are not written keep their value */
    std::vector<int> flags(integers(periods, maxdims));
    MPI_Cart_get(handle, maxdims, dims, flags.data(), coords);
    for (int i = 0; i < maxdims; i++)
        periods[i] = flags[i];
}

int Cartcomm::Get_cart_rank(const int coords[]) const
{
    int rank = 0;
    MPI_Cart_rank(handle, coords, &rank);
    return rank;
}

void Cartcomm::Get_coords(int rank, int maxdims, int coords[]) const
{
    MPI_Cart_coords(handle, rank, maxdims, coords);
}

void Cartcomm::Shift(int direction, int displacement, int &source, int &dest) const
{
    MPI_Cart_shift(handle, direction, displacement, &source, &dest);
}

Cartcomm Cartcomm::Sub(const bool remain_dims[]) const
{
    MPI_Comm part = MPI_COMM_NULL;
    std::vector<int> flags = integers(remain_dims, cartesian_dimensions(handle));
    MPI_Cart_sub(handle, flags.data(), &part);
    return part;
}

int Cartcomm::Map(int ndims, const int dims[], const bool periods[]) const
{
    int rank = MPI_UNDEFINED;
    MPI_Cart_map(handle, ndims, dims, integers(periods, ndims).data(), &rank);
    return rank;
}

/* ---- Graphcomm ---- */

Graphcomm &Graphcomm::Clone() const
{
    return *new Graphcomm(duplicate(handle));
}

void Graphcomm::Get_dims(int nnodes[], int nedges[]) const
{
    MPI_Graphdims_get(handle, nnodes, nedges);
}

void Graphcomm::Get_topo(int maxindex, int maxedges, int index[], int edges[]) const
{
    MPI_Graph_get(handle, maxindex, maxedges, index, edges);
}

int Graphcomm::Get_neighbors_count(int rank) const
{
    int count = 0;
    MPI_Graph_neighbors_count(handle, rank, &count);
    return count;
}

void Graphcomm::Get_neighbors(int rank, int maxneighbors, int neighbors[]) const
{
    MPI_Graph_neighbors(handle, rank, maxneighbors, neighbors);
}

int Graphcomm::Map(int nnodes, const int index[], const int edges[]) const
{
    int rank = MPI_UNDEFINED;
    MPI_Graph_map(handle, nnodes, index, edges, &rank);
    return rank;
}

/* ---- Intercomm ---- */

Intercomm &Intercomm::Clone() const
{
    return *new Intercomm(duplicate(handle));
}

int Intercomm::Get_remote_size() const
{
    int size = 0;
    MPI_Comm_remote_size(handle, &size);
    return size;
}

Group Intercomm::Get_remote_group() const
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm_remote_group(handle, &group);
    return group;
}

Intracomm Intercomm::Merge(bool high) const
{
    MPI_Comm merged = MPI_COMM_NULL;
    MPI_Intercomm_merge(handle, high, &merged);
    return merged;
}

Intercomm Intercomm::Create(const Group &group) const
{
    return create(handle, group);
}

Intercomm Intercomm::Split(int color, int key) const
{
    return split(handle, color, key);
}

} // namespace MPI
