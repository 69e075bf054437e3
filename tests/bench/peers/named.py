# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""named.py FILE BEGIN: how many samples the requests have that FILE has from BEGIN on, each behind its size
as a varint, and how many of these have no named function as their innermost one. FILE: see
tests/fleet/grpc.mjs."""
import os
import sys

from google.protobuf import proto
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2

from tools import unnamed

Request = profiles_service_pb2.ExportProfilesServiceRequest


def is_named(tables, place):
    location = tables.location_table[place]
    if not location.lines:
        return False
    function = tables.function_table[location.lines[0].function_index]
    name = tables.string_table[function.name_strindex]
    file = tables.string_table[tables.mapping_table[location.mapping_index].filename_strindex]
    return not unnamed(name) and name != os.path.basename(file)


def weights(request):
    """The number of samples, and whether they have a name. One of bpfprofil stands for many."""
    tables = request.dictionary
    for of in request.resource_profiles:
        for scope in of.scope_profiles:
            for profile in scope.profiles:
                if tables.string_table[profile.sample_type.type_strindex] != "samples":
                    continue
                for sample in profile.samples:
                    places = tables.stack_table[sample.stack_index].location_indices
                    has_name = bool(places) and is_named(tables, places[0])
                    yield sum(sample.values) or len(sample.timestamps_unix_nano), has_name


with open(sys.argv[1], "rb") as file:
    file.seek(int(sys.argv[2]))
    found = [pair for request in iter(lambda: proto.parse_length_prefixed(Request, file), None) for pair in weights(request)]
print(sum(weight for weight, _ in found), sum(weight for weight, has_name in found if not has_name))
