# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the kernel says that a process takes, for scripts that watch one for long."""
import contextlib
import glob
import os
import re
import time


def _read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def status_kib(pid, key):
    return int(re.search(rf"^{key}:\s*(\d+)", _read(f"/proc/{pid}/status"), re.M)[1])


def bpf_kib(pid, kind):
    """Of its BPF maps ("map") or programs ("prog"), by what each takes; one may be open twice."""
    sizes = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            text = _read(path)
            found = re.search(rf"^{kind}_id:\s*(\d+)", text, re.M)
            size = re.search(r"^memlock:\s*(\d+)", text, re.M)
            if found and size:  # a link names its program, and has no size
                sizes[found[1]] = int(size[1])
    return sum(sizes.values()) // 1024


def descriptors(pid):
    """How many it has: those of files that have ticks, of their mount namespaces and of maps, which follow what
    runs; and others."""
    held = others = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            link = os.readlink(f"/proc/{pid}/fd/{name}")
            if link.startswith(("/", "mnt:")) or link.endswith("bpf-map"):
                held += 1
            else:
                others += 1
    return held, others


def perf_buffer_kib(pid):
    """Of the buffers of perf that it has mapped; RSS has them only where they were touched."""
    sizes = re.findall(r"^\S+-\S+ .*\[perf_event\]\nSize:\s*(\d+)", _read(f"/proc/{pid}/smaps"), re.M)
    return sum(map(int, sizes))


def cpu_seconds(pid):
    """All that it has had, of all its threads: its CPU clock, see clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)
