# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""totals.py REQUESTS FOLDER MESSAGES: whether requests, one behind the other, have the ticks of the profiles,
but for those that the agent says it could not deliver in the seconds that it has at its end."""
import glob
import gzip
import json
import re
import sys

from google.protobuf import proto
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2

Request = profiles_service_pb2.ExportProfilesServiceRequest
with open(sys.argv[1], "rb") as file:
    requests = list(iter(lambda: proto.parse_length_prefixed(Request, file), None))
total = sum(json.load(gzip.open(path))["ticks"]["total"] for path in glob.glob(sys.argv[2] + "/*.gz"))
ticks = 0
for request in requests:
    texts = request.dictionary.string_table
    for of in request.resource_profiles:
        for profile in of.scope_profiles[0].profiles:
            if texts[profile.sample_type.type_strindex] == "samples":
                ticks += sum(sample.values[0] for sample in profile.samples)
with open(sys.argv[3], encoding="utf-8") as file:
    left = sum(map(int, re.findall(r"(\d+) ticks in \d+ profiles? (?:is|are) not delivered", file.read())))
assert ticks and ticks + left == total, (ticks, left, total)
