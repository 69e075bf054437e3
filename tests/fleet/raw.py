# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""raw.py RAW: whether go's pprof read a service and a place of each sample."""
import re
import sys

samples = 0
ticks = 0
services = set()
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
body = text.split("\nSamples:\n")[1].split("\nLocations\n")[0].splitlines()
assert body[0].split()[0] == "samples/count" and body[0].split()[1].startswith("cpu/nanoseconds"), body[0]
for line in body[1:]:
    match = re.fullmatch(r" *(\d+) +(\d+): (\d+) *", line)
    if match:
        samples += 1
        ticks += int(match[1])
    label = re.search(r"service:\[([^\]]+)\]", line)
    if label:
        services.add(label[1])
print(f"pprof: {ticks} ticks in {samples} samples of {len(services)} services")
assert ticks and services
locations = text.split("\nLocations\n")[1].split("\nMappings\n")[0].splitlines()
assert all(re.search(r": 0x[0-9a-f]+ ", line) for line in locations if line.strip())
