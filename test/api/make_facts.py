#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_facts.py APIS.json: the facts of the MPI Forum's description of MPI-4.0 that check_table.py compares, one line
per C procedure: NAME RETURNED-KIND and for each parameter name:KIND:direction with +const, +array, +large-only,
+root-only. Its output is mpi-4.0-facts.txt; it is needed again only for another version of the standard."""

import json
import sys


def fact(p):
    marks = [('const', p['constant']), ('array', p['length'] is not None and p['kind'] not in ('STRING', 'ARGUMENT_LIST')),
             ('large-only', p['large_only']), ('root-only', p['root_only'])]
    return '%s:%s:%s%s' % (p['name'], p['kind'], p['param_direction'], ''.join('+' + m for m, on in marks if on))


def main():
    print('# SPDX-License-Identifier: BSD-3-Clause')
    print('# Facts about the C procedures of MPI-4.0, written by make_facts.py from the MPI Forum\'s own data.')
    for entry in json.load(open(sys.argv[1], encoding='utf-8')).values():
        a = entry['attributes']
        if a['callback'] or a['predefined_function'] or not a['c_expressible']:
            continue
        parameters = [p for p in entry['parameters'] if 'c_parameter' not in p['suppress'].split()]
        print(' '.join([entry['name'], entry['return_kind']] + [fact(p) for p in parameters]))


main()
