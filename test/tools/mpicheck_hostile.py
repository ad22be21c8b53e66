# SPDX-License-Identifier: BSD-3-Clause
"""Changes recorded data at random, as a host or a file that means harm might, and judges them:
python3 mpicheck_hostile.py MPICHECK RECORDS ROUNDS. Either the data are refused, with the line; or all reports can be read. Nothing
that a terminal obeys is printed."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import xml.dom.minidom
import xml.parsers.expat

mpicheck, records, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(records, "rb") as file:
    lines = file.read().splitlines(keepends=True)
TEXTS = [b"fact", b"gone", b"call", b"phase", b"dead", b"broken", b"begin", b"gpu", b"unmeasured"]
NUMBERS = [b"nan", b"-nan", b"inf", b"1e308", b"1e999", b"-1", b"0", b"-0.0", b"1e-45", b"1e12", b"2147483648", b"99999999999999999999",
           b"0x10", b"1,5", b"1e+06", b""]
NASTY = [b"\x1b[2J", b"\x1b]0;title\x07", b"\x9b31m", b"\xc2\x9b31m", b"\xff\xfe", b"\xc3", b"\xe2\x80\xae", b"\xed\xa0\x80", b"\xef\xbf\xbf",
         b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\0", b"\r", b"\x7f", b"</script><b>", b"]]>", b'"\\', b"&#0;", b"%s%n", b"\t", b"../../x",
         "ä\u20ac\U0001f642".encode(), b"A" * 5000]
SAID = re.compile(r"line \d+")
OBEYED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufffe\uffff]")
wrong = []


def mutate_text(line):
    words = line.rstrip(b"\n").split(b" ")
    if len(words) > 3 and words[1] in TEXTS:
        at = random.randrange(len(words[-1]) + 1)
        words[-1] = words[-1][:at] + random.choice(NASTY) + words[-1][at:]
    return b" ".join(words) + b"\n"


def mutate_number(line):
    words = line.rstrip(b"\n").split(b" ")
    words[random.randrange(len(words))] = random.choice(NUMBERS)
    return b" ".join(words) + b"\n"


def mutate_bytes(line):
    at = random.randrange(len(line))
    return line[:at] + random.choice([b"", bytes([random.randrange(256)]), random.choice(NASTY)]) + line[at + random.randrange(2):]


def mutate(number):
    made = list(lines)
    kind = number % 5
    for _ in range(random.randint(1, 4 if kind else 30)):
        at = random.randrange(len(made))
        if kind == 0:
            made[at] = mutate_text(made[at])
        elif kind == 1:
            made[at] = mutate_number(made[at])
        elif kind == 2:
            made[at] = mutate_bytes(made[at])
        elif kind == 3:
            other = random.randrange(len(made))
            made[at], made[other] = made[other], made[at]
        else:
            made.insert(at, random.choice(made))
    return b"".join(made)


def read_reports():
    with open("hostile/report.json", encoding="utf-8") as file:
        text = file.read()
    json.loads(text, parse_constant=lambda name: sys.exit(f"report.json has {name}"))
    xml.dom.minidom.parse("hostile/junit.xml")
    with open("hostile/report.html", encoding="utf-8") as file:
        json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S).group(1))
    for name in ("report.txt", "good.hosts", "bad.hosts"):
        with open(f"hostile/{name}", encoding="utf-8", errors="surrogateescape") as file:
            yield name, file.read()


accepted = 0
for number in range(rounds):
    random.seed(number)
    with open("hostile.txt", "wb") as file:
        file.write(mutate(number))
    shutil.rmtree("hostile", ignore_errors=True)
    done = subprocess.run([mpicheck, "--from", "hostile.txt", "--out", "hostile"], capture_output=True, timeout=600, check=False)
    texts = [("output", done.stdout.decode(errors="surrogateescape")), ("messages", done.stderr.decode(errors="surrogateescape"))]
    try:
        if os.path.exists("hostile/report.json"):
            accepted += 1
            texts += read_reports()
        elif done.returncode != 3 or not SAID.search(texts[1][1]) or os.path.exists("hostile"):
            wrong.append(f"round {number}: exit status {done.returncode}: {texts[1][1]!r}")
    except (ValueError, AttributeError, xml.parsers.expat.ExpatError, FileNotFoundError) as error:
        wrong.append(f"round {number}: {error!r}")
    if done.returncode not in (0, 1, 2, 3, 4, 130):
        wrong.append(f"round {number}: exit status {done.returncode}: {texts[1][1]!r}")
    for name, text in texts:
        if OBEYED.search(text) or re.search("[\ud800-\udfff]", text):
            wrong.append(f"round {number}: {name}: {text!r}")
if not rounds / 10 < accepted < rounds:
    wrong.append(f"{accepted} of {rounds} were accepted")
for line in wrong[:10]:
    print("WRONG:", line[:2000])
sys.exit(bool(wrong))
