# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""speedscope.py BPFPROFIL PROFILE.json: whether speedscope, in a browser, shows the inclusive ticks of the report.

Its table "Sandwich" has a row for each function, with the time of all that it called, as 98.05ms.
"""
import base64
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "html"))
from browser import Browser

UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}


def export(*args):
    return subprocess.run([sys.argv[1], *args, sys.argv[2]], check=True, capture_output=True).stdout


def shown(script):
    """The rows of the table: name and ns. The page asks for its profile by a script, as from speedscope's own command."""
    with Browser() as browser:
        browser.size(1400, 3000)
        browser.open(f"{os.getcwd()}/node_modules/speedscope/dist/release/index.html#localProfilePath={script}&view=sandwich")
        for _ in range(200):
            rows = browser.run("[...document.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
            if len(rows) > 1:
                break
            time.sleep(0.3)
    for total, _, name in rows[1:]:
        ns, unit = re.match(r"([0-9.]+)([a-zµ]+) ", total).groups()
        yield name.strip(), float(ns) * UNITS[unit]


report = json.loads(export("report", "--format", "json"))
tick_ns = report["cpu_ns"] / report["ticks"]["total"]
data = base64.b64encode(export("export", "--format", "speedscope", "-o", "-")).decode()
with open("speedscope.js", "w", encoding="utf-8") as file:
    file.write(f'speedscope.loadFileFromBase64("profile", "{data}")')
found = {name: round(ns / tick_ns) for name, ns in shown(f"{os.getcwd()}/speedscope.js")}
want = {row["function"]: row["inclusive_ticks"] for row in report["rows"] if row["function"]}
print(f"speedscope: {found}")
assert want["first"] > want["second"] > 0 and {name: found.get(name) for name in want} == want, want
