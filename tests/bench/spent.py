#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""spent.py PROFILE [NAME=KEY,KEY...]...: CPU time and ticks of a profile, in ns each, as key=value:
of the whole, and of each NAME by the profile's splits. A key is a pid or a process's name, or the
end of a control group's path."""
import json
import sys


def show(name, parts, period):
    prefix = f"{name}_" if name else ""
    print(f"{prefix}cpu_ns={sum(part['cpu_ns'] for part in parts)}",
          f"{prefix}tick_ns={sum(part['ticks'] for part in parts) * period}", end=" ")


def belongs(split, keys):
    cgroup = split.get("cgroup")
    if cgroup is not None:
        return any(cgroup.endswith(key) for key in keys)
    return str(split.get("pid")) in keys or split.get("process") in keys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    period = profile["sampling"]["period_ns"]
    show("", [{"cpu_ns": profile["cpu_ns"], "ticks": profile["ticks"]["total"]}], period)
    for argument in sys.argv[2:]:
        name, keys = argument.split("=", 1)
        keys = keys.split(",")
        show(name, [split for split in profile["splits"] if belongs(split, keys)], period)
    print()


main()
