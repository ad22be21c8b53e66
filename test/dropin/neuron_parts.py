# SPDX-License-Identifier: BSD-3-Clause
"""Ranks and calls of NEURON's ParallelContext, and which libraries of MPI NEURON has opened."""
from neuron import h

h.nrnmpi_init()
context = h.ParallelContext()
rank, ranks = int(context.id()), int(context.nhost())
assert context.allreduce(rank + 1, 1) == ranks * (ranks + 1) / 2, 'allreduce'
assert context.py_allgather(f'rank {rank}') == [f'rank {r}' for r in range(ranks)], 'py_allgather'
assert context.py_broadcast(f'from {rank}', ranks - 1) == f'from {ranks - 1}', 'py_broadcast'
context.barrier()
with open('/proc/self/maps', encoding='utf-8') as maps:
    print('libraries', *sorted({line.split()[-1] for line in maps if 'mpi' in line}))
print(f'rank {rank} of {ranks}', flush=True)
context.barrier()
context.done()
h.quit()
