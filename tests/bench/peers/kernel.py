# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the kernel's statistics of BPF programs say of one process."""
import contextlib
import ctypes
import glob
import os
import re
import subprocess

SYS_BPF = 321
PROG_GET_FD_BY_ID = 13
ENABLE_STATS = 32
SYS_POLL = 7
PERF_EVENT = 7  # BPF_PROG_TYPE_PERF_EVENT


def bpf(command, value):
    attributes = (ctypes.c_uint32 * 32)(value)
    return ctypes.CDLL(None, use_errno=True).syscall(SYS_BPF, command, attributes, ctypes.sizeof(attributes))


def enable_stats():
    """Of run times, as long as this process lives."""
    if bpf(ENABLE_STATS, 0) < 0:
        raise OSError(ctypes.get_errno(), "cannot switch the kernel's BPF statistics on: run as root")


@contextlib.contextmanager
def paranoid_at_most(level):
    """kernel.perf_event_paranoid, which is put back even if we are killed: by a shell that waits until nobody has
    the other end of its pipe."""
    path = "/proc/sys/kernel/perf_event_paranoid"
    with open(path, encoding="utf-8") as file:
        before = int(file.read())
    if before <= level:
        yield
        return
    waiting = ["sh", "-c", f"read end; echo {before} >{path}"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, start_new_session=True):
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(level))
        yield


def describe(path):
    with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
        return dict(re.findall(r"^(\w+):\s*(\S+)", file.read(), re.M))
    return {}


def programs(pid):
    """Run time in ns and runs of each BPF program that the process has open, itself or by a link, and whether
    it handles a perf event; by id."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        number = describe(path).get("prog_id")
        if not number or number in found:
            continue
        fd = bpf(PROG_GET_FD_BY_ID, int(number))
        if fd >= 0:
            info = describe(f"/proc/self/fdinfo/{fd}")
            found[number] = int(info.get("run_time_ns", 0)), int(info.get("run_cnt", 0)), int(info["prog_type"]) == PERF_EVENT
            os.close(fd)
    return found


def handler(before, after):
    """Run time in ns and runs, between two of these, of the program that the clock runs: of those on perf events
    the one that ran most often. What it tail-calls is in its time."""
    runs = [(now[1] - before.get(number, (0, 0))[1], now[0] - before.get(number, (0, 0))[0]) for number, now in after.items() if now[2]]
    return max(runs, default=(0, 0))[::-1]


def all_ns(before, after):
    return sum(now[0] - before.get(number, (0, 0))[0] for number, now in after.items())


def perf_events(pid):
    count = 0
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        with contextlib.suppress(OSError):
            count += "perf_event" in os.readlink(path)
    return count


def waits(pid):
    """Whether it is in poll(2)."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/syscall", encoding="utf-8") as file:
        return file.read().startswith(f"{SYS_POLL} ")
    return False
