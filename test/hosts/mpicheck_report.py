# SPDX-License-Identifier: BSD-3-Clause
"""Reads the reports of a check of healthy hosts: python3 mpicheck_report.py FOLDER HOST..."""
import base64
import json
import re
import struct
import sys
import xml.dom.minidom

folder, hosts = sys.argv[1], sys.argv[2:]
wrong = []


def expect(what, got, wanted):
    if got != wanted:
        wrong.append(f"{what}: got {got!r}, wanted {wanted!r}")


def read(name):
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        return file.read()


report = json.loads(read("report.json"))
expect("schema", report["schema"], "tern-mpicheck/1")
expect("hosts", [host["name"] for host in report["hosts"]], hosts)
matrix = report["bandwidth_mbps"]
expect("diagonal", [matrix[i][i] for i in range(len(hosts))], [0] * len(hosts))
expect("pairs measured", sum(value > 0 for row in matrix for value in row), len(hosts) * (len(hosts) - 1))
expect("latency is that of both directions", report["latency_us"], [list(row) for row in zip(*report["latency_us"])])

page = read("report.html")
data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
expect("hosts of the page", [host["name"] for host in data["hosts"]], hosts)
codes = struct.unpack(f"<{len(hosts) ** 2}H", base64.b64decode(data["bandwidth"]))
expect("pairs of the page", sum(code > 0 for code in codes), len(hosts) * (len(hosts) - 1))
expect("what the page loads", re.findall(r'(?:src|href)="(?!#)[^"]*"|https?:', page), [])

suite = xml.dom.minidom.parseString(read("junit.xml")).documentElement
expect("cases", len(suite.getElementsByTagName("testcase")), len(report["findings"]))
expect("failures", int(suite.getAttribute("failures")), 0)
expect("bad.hosts", read("bad.hosts"), "")
expect("report.txt", read("report.txt").startswith("mpicheck "), True)

for line in wrong:
    print("WRONG:", line)
sys.exit(bool(wrong))
