# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes tables of the windows that `run` recorded: a table for each figure, with a row for each profiler and
rate and a column for each load; medians, for times and shares with the least and the greatest in brackets."""
import json
import os
import statistics
import time

import loads

README_LOADS = "gcc storm redis python"
README_RATE = "99"


def number(value):
    if value < 0:
        return "-" + number(-value)
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(values):
    if not values:
        return "-"
    median = number(statistics.median(values))
    return median if len(values) == 1 else f"{median} ({number(min(values))} to {number(max(values))})"


def grid(rows):
    """As Markdown whose columns are aligned as plain text too."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows]


def host_line(rounds):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), os.uname().machine)
    return f"{time.strftime('%Y-%m-%d')}, kernel {os.uname().release}, {os.cpu_count()} CPUs, {model}, {rounds} rounds"


class Rows:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = [json.loads(line) for line in file]
        self.windows = self.of("window")
        bare, floor = {}, {}
        for row in self.of("bare"):
            bare.setdefault((row["round"], row["load"]), []).append(row["work"])
        self.bare = {key: statistics.mean(work) for key, work in bare.items()}
        self.noise = {}
        for (_, load), work in bare.items():
            if len(work) == 2:
                self.noise.setdefault(load, []).append(100 * abs(work[0] - work[1]) / statistics.mean(work))
        for row in self.windows:
            if row["tool"] == "empty" and row["runs"]:
                floor[row["round"], row["load"], row["hz"]] = row["run_ns"] / row["runs"]
        self.floor = floor

    def of(self, kind):
        return [row for row in self.all if row["kind"] == kind]

    # The empty program of the nearest rate: what it costs is the kernel's clock, at any rate.
    def net(self, row):
        floors = {hz: ns for (at, load, hz), ns in self.floor.items() if (at, load) == (row["round"], row["load"])}
        if row["tool"] == "empty" or not row.get("runs") or not floors:
            return None
        return row["run_ns"] / row["runs"] - floors[min(floors, key=lambda hz: abs(hz - row["hz"]))]

    def slower(self, row):
        bare = self.bare.get((row["round"], row["load"]))
        return 100 * (row["work"] / bare - 1) if bare else None

    def these(self, which):
        return [row for row in self.windows if all(row[key] == value for key, value in which.items())]

    def values(self, figure, **which):
        return [value for value in map(lambda row: figure(self, row), self.these(which)) if value is not None]

    def rounds(self, **which):
        return len({row["round"] for row in self.these(which)})


def plain(key):
    return lambda _, row: row.get(key) if row["tool"] != "empty" else None


def share(key, of):
    def figure(_, row):
        return 100 * row[key] / row[of] if row.get(key) is not None and row.get(of) else None

    return figure


def found(_, row):
    return 100 * row["found"] / row["hz"] / row["due"] if row.get("found") is not None else None


# Whether to print the range. Sizes and times after the run hardly differ.
FIGURES = (
    ("handler, ns", Rows.net, True),
    ("load's CPU time, +%", Rows.slower, True),
    ("from ^C to names, s", plain("end"), False),
    ("ticks found, %", found, False),
    ("without a name, %", share("nameless", "found"), False),
    ("with a whole chain, %", share("chains", "found"), False),
    ("own CPU, sampling, %", plain("own"), False),
    ("own CPU, in all, s", plain("cpu"), False),
    ("peak RSS, MiB", plain("peak"), False),
    ("maps and buffers, MiB", plain("kernel"), False),
    ("written or sent, KiB", plain("kib"), False),
)


def kinds(rows, told):
    """Tools with their rates, by the rate as it was asked for."""
    seen = {}
    for row in rows.windows:
        seen.setdefault((row["rate"], row["tool"]), row["hz"])
        told.setdefault(row["tool"], row.get("told"))
    order = list(told)
    return sorted(seen.items(), key=lambda one: (one[0][0] == "default", one[1] if one[0][0] != "default" else 0, order.index(one[0][1])))


def figure_table(rows, told, title, figure, ranged):
    names = [name for name in loads.LOADS if any(row["load"] == name for row in rows.windows)]
    table = [[title, "Hz", *names]]
    for (rate, tool), hz in kinds(rows, told):
        cells = [cell(rows.values(figure, rate=rate, tool=tool, load=name)) for name in names]
        cells = cells if ranged else [median.split(" (")[0] for median in cells]
        if set(cells) != {"-"}:
            table.append([told[tool], str(hz), *cells])
    return grid(table) if len(table) > 1 else []


def start_table(rows):
    table = [["a command that does nothing", "ms", "CPU, ms", "peak RSS, MiB"]]
    for name in dict.fromkeys(row["told"] for row in rows.of("start")):
        of = [row for row in rows.of("start") if row["told"] == name]
        table.append([name, *(cell([row[key] for row in of if row[key]]) for key in ("ms", "cpu", "peak"))])
    return grid(table) if len(table) > 1 else []


def agent_table(rows, told):
    table = [["load", "agent", "own CPU, %", "BPF, %", "start, s", "anonymous, MiB", "RSS, MiB", "kernel, MiB", "sent a minute, KiB", "no name, %"]]
    phases = rows.of("agent")
    for name in dict.fromkeys(row["load"] for row in phases):
        for tool in dict.fromkeys(row["tool"] for row in phases):
            of = [row for row in phases if (row["load"], row["tool"]) == (name, tool)]
            cells = [cell([row[key] for row in of]) for key in ("own", "bpf", "start", "anon", "rss", "kernel", "sent")]
            cells.append(cell([100 * row["nameless"] / row["found"] for row in of if row["found"]]))
            table.append([name, told[tool], *cells])
    return grid(table) if phases else []


def remarks(rows):
    noise = "; ".join(f"{name} {number(statistics.median(of))} %" for name, of in rows.noise.items())
    yield f"- CPU time of the bare load, before and after all profilers of a round, differed by (median): {noise}"
    averages = [row["average"] for row in rows.of("bare") if "average" in row]
    if averages:
        yield f"- load averages before and after each load: {min(averages):.1f} to {max(averages):.1f}"
    rounds = {name: rows.rounds(load=name) for name in dict.fromkeys(row["load"] for row in rows.windows)}
    for name, seen in rounds.items():
        if seen < max(rounds.values()):
            yield f"- {name}: {seen} of these rounds"
    for text in dict.fromkeys(row["why"] for row in rows.of("missing")):
        yield f"- not measured: {text}"
    failed = [f"{row['told']} ({loads.LOADS[row['load']][0]})" for row in rows.of("failed")]
    for text in dict.fromkeys(failed):
        yield f"- {text} failed {failed.count(text)} times, left out"
    slow = [row for row in rows.windows if not row.get("whole", True)]
    for text in dict.fromkeys(f"{row['tool']} at {row['hz']} Hz" for row in slow):
        yield f"- {text} was ended before it had made its table, and has what it had until then"


def short(rows):
    """The README's: loads that people have, in a row each."""
    columns = (
        ("attach", "ours"), ("bpftrace, pc", "bpftrace"), ("attach --callers", "callers"), ("bpftrace, ustack", "ustack"),
        ("OTel", "otel"),
    )
    table = [[f"ns, at {README_RATE} Hz", *(title for title, _ in columns)]]
    for name in README_LOADS.split():
        values = [rows.values(Rows.net, rate=README_RATE, tool=tool, load=name) for _, tool in columns]
        if any(values):
            table.append([name, *(cell(of).split(" (")[0] for of in values)])
    return ["", *grid(table), "", host_line(rows.rounds(rate=README_RATE)), ""]


def write(bench, args, profilers, agents):
    rows = Rows(f"{bench}/peers.raw")
    told = {tool.name: tool.told for tool in [*profilers, *agents]}
    text = [f"{host_line(rows.rounds())}, work of some {args.s:g} s; median (min to max)", ""]
    for figure in FIGURES:
        text += [*figure_table(rows, told, *figure), ""]
    text += [*start_table(rows), "", *agent_table(rows, told), "", *remarks(rows)]
    for name, lines in (("peers.md", text), ("peers.short.md", short(rows))):
        with open(f"{bench}/{name}", "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
    print("\n".join(text))
