# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""otlp.py PROFILE.json REQUEST: whether OpenTelemetry's own classes read what the profile says."""
import collections
import json
import sys

from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2
from opentelemetry.proto.profiles.v1development import profiles_pb2

with open(sys.argv[1], encoding="utf-8") as file:
    doc = json.load(file)
with open(sys.argv[2], "rb") as file:
    data = file.read()
request = profiles_service_pb2.ExportProfilesServiceRequest.FromString(data)
tables = request.dictionary
# As a file the same bytes have another message type.
assert profiles_pb2.ProfilesData.FromString(data).dictionary == tables
for table in (tables.mapping_table, tables.location_table, tables.function_table, tables.link_table,
              tables.attribute_table, tables.stack_table):
    assert table[0] == type(table[0])(), table[0]
assert tables.string_table[0] == "" and len(set(tables.string_table)) == len(tables.string_table)

sums = collections.Counter()
services = collections.Counter()
for of in request.resource_profiles:
    resource = {pair.key: pair.value.string_value for pair in of.resource.attributes}
    assert resource["service.name"] and resource["host.name"]
    for profile in of.scope_profiles[0].profiles:
        kind = tables.string_table[profile.sample_type.type_strindex]
        assert profile.period == doc["sampling"]["period_ns"]
        for sample in profile.samples:
            places = tables.stack_table[sample.stack_index].location_indices
            assert places and all(tables.location_table[place].lines for place in places)
            assert len(places) == 1 or "callers" in doc
            assert len(sample.values) == len(sample.timestamps_unix_nano) == 1
            sums[kind] += sample.values[0]
            if kind == "samples":
                services[resource.get("process.linux.cgroup", "")] += sample.values[0]

assert sums["samples"] == doc["ticks"]["total"], sums
assert sums["cpu"] == sum(target["cpu_ns"] for target in doc["targets"]), sums
expected = collections.Counter()
for split in doc.get("splits", []):
    expected[split.get("cgroup") or ""] += split["ticks"]
for cgroup, ticks in expected.items():
    assert not cgroup or services[cgroup] == ticks, (cgroup, services[cgroup], ticks)
