# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The flame graphs that backends answer with. Each yields (names from the first frame on, ticks) of all stacks that end there."""
import base64
import io
import json


def tree(children, first):
    """Of nodes (name, all, own) and a way to their children, of a graph that may be deeper than Python calls."""
    waiting = [((), node) for node in first]
    while waiting:
        path, node = waiting.pop()
        name, own = node[:2]
        stack = (*path, name)
        if own:
            yield stack, own
        waiting += [(stack, child) for child in children(node)]


def pyroscope(answer):
    """Pyroscope's levels: of each node how far right of the one before it is, all and own ticks, and the number of its name."""
    graph = answer.get("flamegraph", {})
    levels = []
    for level in graph.get("levels", []):
        values, nodes, at = list(map(int, level["values"])), [], 0
        for skip, total, own, name in zip(*[iter(values)] * 4, strict=True):
            nodes.append((graph["names"][name], own, at + skip, total, len(levels)))
            at += skip + total
        levels.append(nodes)

    def children(node):
        _, _, begin, total, level = node
        below = levels[level + 1] if level + 1 < len(levels) else []
        return [one for one in below if begin <= one[2] < begin + total]

    # The first level is the total.
    return tree(children, children(levels[0][0]) if levels else [])


def parca(answer):
    """What Parca's page draws: a row of an Arrow table is a node, and the first is the total."""
    import pyarrow.ipc  # which ask.py needs for Parca alone

    record = base64.b64decode(answer["flamegraphArrow"]["record"])
    rows = pyarrow.ipc.open_stream(io.BytesIO(record)).read_all().to_pydict()
    node = lambda row: ((rows["function_name"][row] or b"").decode(), rows["flat"][row], row)
    below = lambda row: [node(child) for child in rows["children"][row] or []]
    return tree(lambda of: below(of[2]), below(0))


def collector(path, kind, attribute):
    """(value of an attribute of the resource, names, sum) of the file that a Collector's exporter writes: OTLP as JSON,
    a request a line. Numbers that are 0 are left out of it."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            request = json.loads(line)
            tables = request["dictionary"]
            texts = tables["stringTable"]
            text = lambda of, key: texts[of.get(key, 0)]
            names = [text(function, "nameStrindex") for function in tables["functionTable"]]
            places = [[names[one.get("functionIndex", 0)] for one in reversed(place.get("lines", []))] for place in tables["locationTable"]]
            stacks = [tuple(name for place in reversed(stack.get("locationIndices", [])) for name in places[place])
                      for stack in tables["stackTable"]]
            for of in request["resourceProfiles"]:
                values = {pair.get("key") or text(pair, "keyStrindex"): pair["value"].get("stringValue") or text(pair["value"], "stringValueStrindex")
                          for pair in of["resource"]["attributes"]}
                for profile in of["scopeProfiles"][0]["profiles"]:
                    if text(profile["sampleType"], "typeStrindex") == kind:
                        for sample in profile["samples"]:
                            yield values.get(attribute, ""), stacks[sample.get("stackIndex", 0)], int(sample["values"][0])
