# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""totals.py REQUESTS FOLDER: whether requests, one behind the other, have the ticks of the profiles."""
import glob
import gzip
import json
import sys

from google.protobuf.internal import decoder
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2

with open(sys.argv[1], "rb") as file:
    data = file.read()
total = sum(json.load(gzip.open(path))["ticks"]["total"] for path in glob.glob(sys.argv[2] + "/*.gz"))
ticks = 0
while data:
    size, at = decoder._DecodeVarint(data, 0)
    request = profiles_service_pb2.ExportProfilesServiceRequest.FromString(data[at : at + size])
    data = data[at + size :]
    texts = request.dictionary.string_table
    for of in request.resource_profiles:
        for profile in of.scope_profiles[0].profiles:
            if texts[profile.sample_type.type_strindex] == "samples":
                ticks += sum(sample.values[0] for sample in profile.samples)
assert total and ticks == total, (ticks, total)
