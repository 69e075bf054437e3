# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the Collector's file exporter wrote, and what stats.py read of cpu.stat meanwhile."""
import bisect
import collections
import json

Row = collections.namedtuple("Row", "attributes begin end samples")


def _text(texts, of, name):
    """A text stands in the request, or by number in its table of strings."""
    return of.get(name) or texts[of.get(name + "Strindex", 0)]


def _attributes(texts, of):
    return {_text(texts, pair, "key"): _text(texts, pair["value"], "stringValue")
            for pair in of["resource"].get("attributes", [])}


def _stacks(tables):
    """Of each stack the functions, the innermost first."""
    texts = tables["stringTable"]
    names = [texts[one.get("nameStrindex", 0)] for one in tables["functionTable"]]
    places = [[names[line.get("functionIndex", 0)] for line in one.get("lines", [])] for one in tables["locationTable"]]
    return [[name for place in one.get("locationIndices", []) for name in places[place]]
            for one in tables["stackTable"]]


def rows(path, twice=None):
    """Each resource's CPU time: a Row whose samples are (functions, ns). A profile that came twice counts once."""
    seen = set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            request = json.loads(line)
            tables = request["dictionary"]
            stacks = _stacks(tables)
            for of in request.get("resourceProfiles", []):
                found = _attributes(tables["stringTable"], of)
                for profile in of["scopeProfiles"][0]["profiles"]:
                    if tables["stringTable"][profile["sampleType"]["typeStrindex"]] != "cpu":
                        continue
                    if profile["profileId"] in seen:
                        twice.append(profile["profileId"])
                        continue
                    seen.add(profile["profileId"])
                    begin = int(profile["timeUnixNano"]) / 1e9
                    yield Row(found, begin, begin + int(profile["durationNano"]) / 1e9,
                              [(stacks[one.get("stackIndex", 0)], int(one["values"][0])) for one in profile["samples"]])


def holes(spans):
    """The times between profiles, of which there is none: (begin, end) of each."""
    found, last = [], None
    for begin, end in sorted(spans):
        if last is not None and begin > last + 0.001:
            found.append((last, begin))
        last = max(last or end, end)
    return found


class Stats:
    """cpu.stat of each container over time, by its id."""

    def __init__(self, path):
        self.times, self.seconds = collections.defaultdict(list), collections.defaultdict(list)
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.endswith("\n"):
                    break  # the last one, which was being written
                at, usages = json.loads(line)
                for key, usec in usages.items():
                    self.times[key].append(at)
                    self.seconds[key].append(usec / 1e6)

    def lives(self, key):
        """When it was seen first and last; None: never."""
        return (self.times[key][0], self.times[key][-1]) if key in self.times else None

    def at(self, key, when):
        """Its seconds at a time between two readings."""
        times, seconds = self.times[key], self.seconds[key]
        if len(times) == 1:
            return seconds[0]
        i = min(max(bisect.bisect_left(times, when), 1), len(times) - 1)
        share = min(max((when - times[i - 1]) / (times[i] - times[i - 1]), 0), 1)
        return seconds[i - 1] + share * (seconds[i] - seconds[i - 1])

    def spent(self, key, begin, end):
        return self.at(key, end) - self.at(key, begin)
