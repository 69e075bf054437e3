# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""named.py FILE BEGIN: how many samples of the requests that FILE has from BEGIN on, each behind its size
as a varint, have a named function as their innermost one, in per cent. FILE: see tests/fleet/grpc.mjs."""
import sys

from google.protobuf import proto
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2

Request = profiles_service_pb2.ExportProfilesServiceRequest


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
                    lines = tables.location_table[places[0]].lines if places else ()
                    function = tables.function_table[lines[0].function_index] if lines else None
                    name = function and tables.string_table[function.name_strindex]
                    yield sum(sample.values) or len(sample.timestamps_unix_nano), bool(name)


with open(sys.argv[1], "rb") as file:
    file.seek(int(sys.argv[2]))
    requests = iter(lambda: proto.parse_length_prefixed(Request, file), None)
    found = [pair for request in requests for pair in weights(request)]
total = sum(weight for weight, _ in found)
print(100 * sum(weight for weight, has_name in found if has_name) / total if total else "nan")
