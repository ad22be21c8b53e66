# SPDX-License-Identifier: BSD-3-Clause
"""A test for ReFrame (https://reframe-hpc.readthedocs.io, 4.0 or later): is this cluster well?

    reframe -C SETTINGS.py -c reframe_mpicheck.py -r -S nodes=16 -S mpicheck=/opt/tern/bin/mpicheck

ReFrame asks the batch system for the nodes, this test runs mpicheck there, once, and fails with its accusations. The
median figures of all pairs are kept with ReFrame's other figures.
"""
import json
import os
import statistics

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import performance_function, run_before, sanity_function, variable


@rfm.simple_test
class MpiCheck(rfm.RunOnlyRegressionTest):
    descr = 'mpicheck: hosts, links and settings of a cluster'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    nodes = variable(int, value=1)
    mpicheck = variable(str, value='mpicheck')
    # further options, such as ['--quick', '--expect', 'bw=11GB/s,lat=3us']
    options = variable(typ.List[str], value=[])
    time_limit = '10m'

    @run_before('run')
    def prepare(self):
        self.num_tasks = self.nodes
        self.num_tasks_per_node = 1
        self.executable = self.mpicheck
        self.executable_opts = ['--quiet', '--out', 'report', *self.options]
        # mpicheck starts its own jobs on the nodes
        self.job.launcher = getlauncher('local')()

    @sn.deferrable
    def report(self):
        with open(os.path.join(self.stagedir, 'report', 'report.json'), encoding='utf-8') as file:
            return json.load(file)

    @sanity_function
    def is_well(self):
        report = self.report().evaluate()
        lines = [f"{f['severity']} {f['who']}: {f['text']}" for f in report['findings']
                 if f['severity'] in ('DATA', 'FAIL', 'WARN', 'BUSY')]
        # 1: warnings only. 3: could not be measured, which is no success either
        return sn.assert_true(report['exit'] in (0, 1), msg='; '.join(lines) or report['verdict'])

    def median_of(self, matrix):
        values = [v for row in self.report().evaluate()[matrix] for v in row if v > 0]
        return statistics.median(values) if values else 0

    @performance_function('MB/s')
    def bandwidth(self):
        return self.median_of('bandwidth_mbps')

    @performance_function('us')
    def latency(self):
        return self.median_of('latency_us')
