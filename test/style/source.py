#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the sources of lib, mpirun, mpicheck and tools: which room includes and calls which, circles of files, names that stand twice, banned functions,
questions who made the processor, long lines, functions that nobody calls, files that are named and do not exist (also in the pages of docs). `source.py TOP BUILD` prints each fault
and returns 1 if there is any. `source.py --self-test` plants a fault of each kind in a small tree and returns 1 if one is not found."""
import collections
import os
import re
import sys
import tempfile

COLUMNS = 100
CIRCLE = 3
CALL_CIRCLE = 5
FILES = 35

# A room may include itself and the rooms named here; `util` and `mpirun/plan` stand for all rooms in them. What a line does not name is
# an include upward. No two rooms may name each other.
ROOMS = {
    'lib/util/base': '',
    'lib/util/debug': 'util/base',
    'lib/util/machine': 'util/base',
    'lib/util/net': 'util/base',
    'lib/settings': 'util',
    'lib/accel': 'util settings',
    'lib/rte': 'util settings',
    'lib/type': 'util settings accel',
    'lib/node': 'util settings rte',
    'lib/btl': 'util settings rte accel type node',
    'lib/btl/self': 'util settings rte accel type btl',
    'lib/btl/shm': 'util settings rte accel type node btl',
    'lib/btl/ipc': 'util settings rte accel type node btl',
    'lib/btl/ofi': 'util settings rte accel type node btl btl/ofi/fabric btl/ofi/wire btl/ofi/transfer',
    'lib/btl/ofi/fabric': 'util settings rte accel type node btl',
    'lib/btl/ofi/wire': 'util settings rte accel type node btl btl/ofi/fabric',
    'lib/btl/ofi/transfer': 'util settings rte accel type node btl btl/ofi/fabric btl/ofi/wire',
    'lib/btl/tcp': 'util settings rte accel type node btl',
    'lib/pml': 'util settings rte accel type node btl',
    'lib/coll': 'util settings',
    'lib/coll/price': 'util settings',
    'lib/coll/plan': 'util settings accel type coll/price',
    'lib/coll/algo': 'util settings accel type node coll/price coll/plan',
    'lib/coll/run': 'util settings rte accel type node btl pml coll/price coll/plan coll/algo',
    'lib/rma': 'util settings rte accel type node btl pml',
    'lib/mpi/object': 'util settings rte btl pml coll/run',
    'lib/mpi/datatype': 'util settings accel type pml coll/run mpi/object',
    'lib/mpi/request': 'util settings pml mpi/object mpi/datatype',
    'lib/mpi/comm': 'util settings rte btl pml coll/run mpi/object mpi/datatype mpi/request mpi/check',
    'lib/mpi/topo': 'util settings rte coll/run mpi/object mpi/comm',
    'lib/mpi/check': 'util settings rte accel type pml mpi/object mpi/datatype mpi/request mpi/topo',
    'lib/mpi/message': 'util settings accel type pml coll/run mpi/object mpi/datatype mpi/request mpi/topo mpi/check',
    'lib/mpi/win': 'util settings rte node rma coll/run mpi/object mpi/datatype mpi/request mpi/comm',
    'lib/mpi/dynamic': 'util settings rte node pml coll/run mpi/object mpi/comm',
    'lib/mpi/tool': 'util settings node btl pml coll/plan coll/run mpi/object mpi/win',
    'lib/mpi/life': 'util settings rte accel btl node pml coll/run mpi/object mpi/datatype mpi/request mpi/comm mpi/message mpi/win mpi/check mpi/dynamic '
                    'mpi/tool',
    'lib/io/access': 'util settings rte accel type node pml coll/price mpi/object mpi/datatype mpi/request mpi/comm',
    'lib/io': 'util settings type pml coll/price mpi/object mpi/datatype mpi/request mpi/comm io/access',
    'lib/face': 'util mpi/object',
    'lib/fortran': 'util mpi/object mpi/request',
    'lib/cxx': 'mpi/object',
    'mpirun/base': 'util',
    'mpirun/plan/machine': 'util',
    'mpirun/plan/map': 'util mpirun/base mpirun/plan/machine',
    'mpirun/plan/hosts': 'util settings mpirun/base mpirun/plan/machine mpirun/plan/map',
    'mpirun/plan/words': 'util settings mpirun/base mpirun/plan/machine mpirun/plan/map mpirun/plan/hosts',
    'mpirun/plan/job': 'util settings mpirun/base mpirun/plan/machine mpirun/plan/map mpirun/plan/hosts mpirun/plan/words',
    'mpirun/wire': 'util settings mpirun/base mpirun/plan',
    'mpirun/tree': 'util settings mpirun/base mpirun/plan mpirun/wire',
    'mpirun/serve': 'util settings mpirun/base mpirun/plan mpirun/wire',
    'mpirun/serve/pmix': 'util settings mpirun/base mpirun/plan mpirun/wire mpirun/serve',
    'mpirun/ranks': 'util settings mpirun/base mpirun/plan mpirun/serve mpirun/serve/pmix',
    'mpirun/jobs': 'util settings mpirun/base mpirun/plan',
    'mpirun/where': 'util settings mpirun/base mpirun/plan mpirun/wire mpirun/tree mpirun/serve mpirun/ranks',
    'mpirun': 'util settings mpirun/base mpirun/plan mpirun/wire mpirun/tree mpirun/serve mpirun/serve/pmix mpirun/ranks mpirun/where mpirun/jobs',
    'mpicheck/data': 'util settings tools',
    'mpicheck/judge': 'util settings mpicheck/data',
    'mpicheck/report': 'util mpicheck/data mpicheck/judge',
    'mpicheck/measure': 'util settings tools mpicheck/data mpicheck/judge',
    'mpicheck': 'util tools mpicheck/data mpicheck/judge mpicheck/report mpicheck/measure',
}

# Rooms with a larger circle of files by calls than CALL_CIRCLE, until it is cut. A number may only fall.
CALL_CIRCLES = {}

# Calls upward that are still there: {(file that calls, function's file)}.
CALLS_UPWARD = set()

BANNED = {
    'strcpy': 'snprintf or memcpy', 'strcat': 'snprintf', 'sprintf': 'snprintf', 'vsprintf': 'vsnprintf', 'gets': 'fgets',
    'strtok': 'strtok_r',
}

# In the code of lib: who made the processor decides nothing, because what is fast is measured (lib/settings/figure_table.h).
MAKERS = re.compile(r'__builtin_cpu_is|(?<![A-Za-z])(?:amd|intel|hygon|zhaoxin)(?![A-Za-z])', re.I)

# Beginnings of names that came from former names of files, and the file's word now.
FORMER_WORDS = {
    'tern_muster': 'tern_start_agents', 'tern_tcp_visit_': 'tern_tcp_accept_', 'tern_tcp_call_': 'tern_tcp_dial_',
    'tern_tcp_contact_': 'tern_tcp_search_', 'tern_tcp_contacts': 'tern_tcp_searches', 'tern_tcp_reception': 'tern_tcp_connecting',
    'tern_plan_set_rounds': 'tern_plan_set_circulant',
}

# Functions that only tests call, and why the library or mpirun has them.
FOR_TESTS = {
    'tern_btl_finalize': 'a process keeps its byte movers until it ends; a test ends them',
    'tern_cards_close': 'the fuzzer begins anew many times in a process',
    'tern_exchange_close': 'the fuzzer begins anew many times in a process',
    'tern_gather_forget': 'records are kept for other ranks; a test begins anew',
    'tern_options_free': 'mpirun keeps its options until it ends; the fuzzer begins anew',
    'tern_peer_free_all': 'a process keeps its peers until it ends; a test ends them',
    'tern_window_fetch_add': 'for windows of the library itself, of which there are none yet (docs/windows.md)',
}


def read(top, name):
    with open(os.path.join(top, name), encoding='utf-8') as file:
        return file.read()


def sources(top):
    """Returns the names of all C files of the four folders, relative to `top`."""
    found = []
    for folder in ('lib', 'mpirun', 'mpicheck', 'tools'):
        for at, _, names in os.walk(os.path.join(top, folder)):
            found += [os.path.relpath(os.path.join(at, name), top) for name in names if name.endswith(('.c', '.h', '.cpp'))]
    return sorted(found)


def code_of(text):
    """Returns the text without comments, strings and characters; lines stay lines."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def stem(name):
    return name.rsplit('.', 1)[0]


def room_of(name):
    return os.path.dirname(name)


def included(top, files):
    """Returns {file: [files of ours that it includes]}."""
    known = set(files)
    return {name: [to for to in re.findall(r'^#include "([^"]+)"', read(top, name), re.M) if to in known] for name in files}


def allowed_by(room, rooms):
    """Returns the rooms that a room may include: itself and those of its line."""
    allowed = {room}
    for word in rooms[room].split():
        named = word if word.startswith(('mpirun', 'mpicheck', 'tools')) else 'lib/' + word
        allowed.add(named)
        if named not in rooms:
            allowed.update(to for to in rooms if to.startswith(named + '/'))
    return allowed


def check_table(rooms):
    for room in rooms:
        for to in sorted(allowed_by(room, rooms) & set(rooms)):
            if room < to and room in allowed_by(to, rooms):
                yield f'the table of rooms lets {room} and {to} include each other: one of the two is the lower'


def check_rooms(includes, rooms):
    for name, targets in includes.items():
        room = room_of(name)
        if room not in rooms:
            yield f'{name}: the room {room} is not in the table of rooms'
            continue
        for to in targets:
            if room_of(to) not in allowed_by(room, rooms):
                yield f'{name} includes {to}: {room} may include {rooms[room] or "nothing"} only'


DEFINITION = re.compile(r'^(?!static|typedef|#)[A-Za-z_][\w *()]*?\b(tern_\w+)\([^;{]*\)\s*\{', re.M)


def called(top, files):
    """Returns {file: {files that define a function which it names}}, of C files without their headers."""
    code = {name: code_of(read(top, name)) for name in files if name.endswith('.c')}
    where = {}
    for name in code:
        for function in DEFINITION.findall(code[name]):
            where.setdefault(function, name)
    named = re.compile(r'(?<!struct )(?<!enum )\btern_\w+')
    return {name: {where[word] for word in named.findall(text) if word in where} - {name} for name, text in code.items()}


def check_call_circles(calls, limits):
    """Within a room and the rooms in it, few files call each other in a circle."""
    def top_room(name):
        return '/'.join(name.split('/')[:2]) if name.startswith('lib/') else name.split('/')[0]
    by_room = collections.defaultdict(dict)
    for name, targets in calls.items():
        by_room[top_room(name)][name] = [to for to in targets if top_room(to) == top_room(name)]
    for room, graph in sorted(by_room.items()):
        largest = max(circles(graph), key=len, default=[])
        limit = limits.get(room, CALL_CIRCLE)
        if len(largest) > limit:
            yield f'{room}: a circle of {len(largest)} files by calls, expected {limit} at most: {" ".join(largest)}'
        elif room in limits and len(largest) < limit:
            yield f'{room}: the largest circle by calls has {len(largest)} files: say so in CALL_CIRCLES'


def check_calls_upward(calls, rooms, known):
    """A file calls only functions of rooms that it may include, whatever header declares them."""
    found = set()
    for name, targets in calls.items():
        room = room_of(name)
        if room not in rooms:
            continue
        found |= {(name, to) for to in targets if room_of(to) not in allowed_by(room, rooms)}
    for name, to in sorted(found - known):
        yield f'{name} calls a function of {to}: {room_of(name)} may use {rooms[room_of(name)] or "nothing"} only'
    for name, to in sorted(known - found):
        yield f'{name} does not call {to} any more: remove it from CALLS_UPWARD'


def circles(includes):
    """Returns the circles: lists of stems each of which is reached from each other one."""
    graph = collections.defaultdict(set)
    for name, targets in includes.items():
        for to in targets:
            if stem(to) != stem(name):
                graph[stem(name)].add(stem(to))
    reach = {}
    for start in list(graph):
        seen, todo = set(), [start]
        while todo:
            for to in graph[todo.pop()]:
                if to not in seen:
                    seen.add(to)
                    todo.append(to)
        reach[start] = seen
    found = {frozenset(to for to in reach[at] if at in reach.get(to, ())) for at in reach if at in reach[at]}
    return sorted(sorted(circle) for circle in found)


def check_circles(includes):
    for circle in circles(includes):
        if len(circle) > CIRCLE:
            yield f'a circle of {len(circle)} files, expected {CIRCLE} at most: {" ".join(circle)}'


def check_folders(files):
    for folder, count in sorted(collections.Counter(room_of(name) for name in files).items()):
        if count > FILES:
            yield f'{folder} has {count} files, expected {FILES} at most: give it rooms'


def check_names(files):
    by_name = collections.defaultdict(list)
    for name in files:
        by_name[os.path.basename(name)].append(name)
    for name, all_of in by_name.items():
        if len(all_of) > 1:
            yield f'{name} stands twice: {" ".join(all_of)}'


def check_structs(top, files):
    by_name = collections.defaultdict(list)
    for name in files:
        if name.endswith('.h'):
            for struct in re.findall(r'^(?:struct|union|enum) (\w+) \{', code_of(read(top, name)), re.M):
                by_name[struct].append(name)
    for struct, all_of in by_name.items():
        if len(all_of) > 1:
            yield f'{struct} is defined twice: {" ".join(all_of)}'


def check_text(top, files):
    former = re.compile(r'\b(' + '|'.join(FORMER_WORDS) + ')')
    banned = re.compile(r'\b(' + '|'.join(BANNED) + r')\s*\(')
    for name in files:
        text = read(top, name)
        for number, line in enumerate(text.split('\n'), 1):
            if len(line) > COLUMNS:
                yield f'{name}:{number}: {len(line)} columns, expected {COLUMNS} at most'
        for number, line in enumerate(code_of(text).split('\n'), 1):
            for match in banned.finditer(line):
                yield f'{name}:{number}: {match.group(1)} is banned; use {BANNED[match.group(1)]}'
            for match in MAKERS.finditer(line) if name.startswith('lib/') else ():
                yield f'{name}:{number}: {match.group(0)} asks who made the processor; measure what differs and make it a figure'
            for match in former.finditer(line):
                yield f'{name}:{number}: {match.group(1)} is a former word; use {FORMER_WORDS[match.group(1)]}'


def all_below(folder, endings):
    return [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(endings)]


def check_callers(top, build, files, for_tests):
    """A global function is called, or its address is taken, somewhere outside its own definition and declarations. Tests do not count,
    unless the function is one of `for_tests`."""
    declaration = re.compile(r'^[A-Za-z_][\w *]*[ *]tern_\w+\([^;{]*\)[^;{]*;', re.M)
    generated = all_below(os.path.join(build, 'lib', 'generated'), ('.c', '.h', '.inc'))
    tests = all_below(os.path.join(top, 'test'), ('.c', '.h')) + all_below(os.path.join(top, 'bench'), ('.c', '.h'))
    defined, used, tested = {}, collections.Counter(), set()
    for name in tests:
        tested.update(re.findall(r'\btern_\w+', code_of(read(top, name))))
    for name in list(files) + generated:
        code = code_of(read(top, name))
        heads = DEFINITION.findall(code) if name in set(files) and name.endswith('.c') else []
        for function in heads:
            defined.setdefault(function, name)
        words = re.findall(r'\btern_\w+', declaration.sub(' ', code))
        used.update(words)
        used.subtract(heads)
    for function, name in sorted(defined.items()):
        if used[function] <= 0 and not (function in for_tests and function in tested):
            yield f'{name}: nobody calls {function}' + (' but tests' if function in tested else '')
    for function in for_tests:
        if used[function] > 0 or function not in defined:
            yield f'{function} is not a function that only tests call: remove it from the list in source.py'


def check_mentions(top, build, files):
    """A file that a comment or a page names with its folder exists, here or among the generated ones."""
    pages = [os.path.relpath(page, top) for page in all_below(os.path.join(top, 'docs'), '.md') if f'{os.sep}notes{os.sep}' not in page]
    mention = re.compile(r'(?<![\w/])(?:lib|mpirun|mpicheck|tools)/[a-z0-9_/]+\.(?:cpp|[ch])\b')
    for name in files + pages:
        for number, line in enumerate(read(top, name).split('\n'), 1):
            for path in mention.findall(line):
                if not any(os.path.exists(os.path.join(at, path)) for at in (top, os.path.join(build, 'lib', 'generated'))):
                    yield f'{name}:{number}: there is no {path}'


def faults(top, build, rooms, for_tests, call_circles, calls_upward):
    top, build = os.path.abspath(top), os.path.abspath(build)
    files = sources(top)
    includes = included(top, files)
    yield from check_table(rooms)
    yield from check_rooms({name: to for name, to in includes.items() if not name.startswith('tools/')}, rooms)
    yield from check_circles(includes)
    calls = called(top, files)
    yield from check_call_circles(calls, call_circles)
    yield from check_calls_upward(calls, rooms, calls_upward)
    yield from check_folders(files)
    yield from check_names(files)
    yield from check_structs(top, files)
    yield from check_text(top, files)
    yield from check_callers(top, build, files, for_tests)
    yield from check_mentions(top, build, files)


def self_test():
    """Plants a fault of each kind. Returns the number of those that were not found."""
    planted = {
        'lib/a/up.h': '#include "lib/b/low.h"\n',
        'lib/b/low.h': 'struct tern_twice {\n    int x;\n};\n',
        'lib/b/more.h': 'struct tern_twice {\n    int y;\n};\n',
        'lib/b/one.h': '#include "lib/b/two.h"\n',
        'lib/b/two.h': '#include "lib/b/three.h"\n',
        'lib/b/three.h': '#include "lib/b/four.h"\n',
        'lib/b/four.h': '#include "lib/b/one.h"\n',
        'lib/a/same.c': '',
        'lib/b/same.c': '',
        'lib/a/banned.c': ''.join(f'void f_{word}(void) {{ {word}(x); }} /* {word}() in a comment */\n' for word in BANNED),
        'lib/a/former.c': 'void f(void)\n{\n    tern_muster_all();\n}\n',
        'lib/a/maker.c': 'int f(void)\n{\n    return is_amd() || __builtin_cpu_is("intel"); /* AMD */\n}\n',
        'lib/a/long.c': '/*' + ' ' * COLUMNS + '*/\n',
        'lib/a/lonely.c': 'void tern_called(void);\nvoid tern_lonely(void)\n{\n    tern_called();\n}\n'
                          'void tern_called(void)\n{\n}\nvoid tern_tested(void)\n{\n}\nvoid tern_for_tests(void)\n{\n}\n',
        'test/calls.c': 'void f(void)\n{\n    tern_tested();\n    tern_for_tests();\n    tern_called();\n}\n',
        **{f'lib/b/ring{i}.c': f'void tern_ring{i}(void)\n{{\n    tern_ring{(i + 1) % 6}();\n}}\n' for i in range(6)},
        'lib/a/calls.c': 'struct tern_ring1 *x;\nvoid f(void)\n{\n    tern_ring0();\n}\n',
        'lib/a/stale.c': '/* see lib/a/gone.h and lib/a/same.c */\n',
        'docs/page.md': 'As lib/b/gone.c says.\n',
        **{f'lib/c/many{i}.h': '' for i in range(FILES + 1)},
    }
    expected = ['lib/a/up.h includes lib/b/low.h', 'a circle of 4 files', 'same.c stands twice', 'tern_twice is defined twice',
                'long.c:1: 104 columns', 'former.c:3: tern_muster is a former word', 'maker.c:3: amd asks who made',
                'maker.c:3: __builtin_cpu_is asks who made', 'nobody calls tern_lonely', 'nobody calls tern_tested but tests',
                'tern_called is not a function that only tests call', 'stale.c:1: there is no lib/a/gone.h',
                'page.md:1: there is no lib/b/gone.c', 'lib/b: a circle of 6 files by calls',
                'lib/a/calls.c calls a function of lib/b/ring0.c', 'lib/a: the largest circle by calls has 0 files',
                'lib/a/calls.c does not call lib/b/ring1.c any more', 'lets lib/c and lib/d include each other', 'lib/c has 36 files']
    expected += [f'banned.c:{number}: {word} is banned' for number, word in enumerate(BANNED, 1)]
    with tempfile.TemporaryDirectory() as top:
        for name, text in planted.items():
            os.makedirs(os.path.join(top, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(top, name), 'w', encoding='utf-8') as file:
                file.write(text)
        found = list(faults(top, top, {'lib/a': '', 'lib/b': '', 'lib/c': 'd', 'lib/d': 'c'}, {'tern_for_tests': '', 'tern_called': ''}, {'lib/a': 9},
                            {('lib/a/calls.c', 'lib/b/ring1.c')}))
    missed = [what for what in expected if not any(what in fault for fault in found)]
    for what in missed:
        print(f'a planted fault was not found: {what}')
    if len(found) != len(expected):
        print('planted', len(expected), 'faults, found', len(found), *found, sep='\n    ')
    return len(missed) + (len(found) != len(expected))


def main():
    if sys.argv[1:] == ['--self-test']:
        return 1 if self_test() else 0
    found = list(faults(sys.argv[1], sys.argv[2], ROOMS, FOR_TESTS, CALL_CIRCLES, CALLS_UPWARD))
    print(*found, sep='\n', end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
