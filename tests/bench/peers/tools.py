# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The profilers of `make bench-peers`: how each is called, and what it says it saw."""
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import time

import kernel

here = os.path.dirname(os.path.realpath(__file__))
# A name that only says where the text is (OBJECT+0x1234, [anonymous text of a process]) is none.
NO_NAME = re.compile(r"0x[0-9a-f]+|.*\+0x[0-9a-f]+|\[.*\]|(0x)?[0-9a-f]{6,16}|")
# The version of the pages' figures. Its BPF programs are in its repository as they are loaded.
OPENTELEMETRY = "CGO_ENABLED=0 go install -tags osusergo,netgo go.opentelemetry.io/ebpf-profiler@v0.0.202633"
REPORT_SECONDS = 60  # perf report by DWARF may take minutes
REQUEST_MAX = 64 << 20  # bytes, so that no agent must send anything twice


def unnamed(name):
    return bool(NO_NAME.fullmatch(name))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Tool:
    """A profiler of a whole host. It writes `file`; what it prints is in `printed`."""

    settle = 0.3  # seconds until it has seen what runs anyway
    seconds_until_sent = 0  # it keeps what it saw so long

    def __init__(self, name, told, default_hz, out):
        self.name = name
        self.told = told
        self.default_hz = default_hz
        self.file = f"{out}/{name}.json.gz" if name == "samply" else f"{out}/{name}.out"
        self.printed = f"{out}/{name}.txt"

    def missing(self):
        """Why it cannot be measured here; None if it can."""
        return None

    def command(self, hz):
        raise NotImplementedError

    def has_begun(self, pid):
        """Whether its clock ticks: its handler has run."""
        return any(runs and ticks for _, runs, ticks in kernel.programs(pid).values())

    def report(self):
        """What makes a table of names of its file; none if it did so itself."""

    def clean(self):
        for path in (self.file, self.printed):
            if os.path.exists(path):
                os.remove(path)

    def bytes(self):
        return sum(os.path.getsize(path) for path in (self.file, self.printed) if os.path.exists(path))

    def found(self):
        """Its ticks that are not the idle task's, those without a name, and those with a whole chain; None: it
        does not say."""
        return None, None, None


class Empty(Tool):
    def __init__(self, build, out):
        super().__init__("empty", "empty BPF program", None, out)
        self.build = build

    def command(self, hz):
        return [f"{self.build}/bench/empty", str(10**9 // hz)]


class Ours(Tool):
    def __init__(self, name, told, default_hz, build, out, *options):
        super().__init__(name, told, default_hz, out)
        self.command_line = [f"{build}/bpfprofil", "attach", "--all", "-o", self.file, *options]

    def command(self, hz):
        return self.command_line + ["-F", str(hz)]

    def bytes(self):
        return os.path.getsize(self.file)

    def found(self):
        with open(self.file, encoding="utf-8") as file:
            profile = json.load(file)
        nameless = sum(one["ticks"] for one in profile["functions"] if unnamed(one["name"]))
        whole = re.search(r"^callers: complete ([0-9.]+) %", read(self.printed), re.M)
        total = profile["ticks"]["total"]
        lost = sum(profile["ticks"]["lost"].values())
        return total - lost, nameless, float(whole[1]) / 100 * total if whole else None


class Perf(Tool):
    def __init__(self, name, told, out, *options):
        super().__init__(name, told, 4000, out)
        self.options = options

    def missing(self):
        return None if shutil.which("perf") else "perf is not in PATH"

    def command(self, hz):
        # With -F perf changes the period all the time, and takes more or less than that.
        rate = [] if hz == self.default_hz else ["-c", str(10**9 // hz)]
        return ["perf", "record", "-a", "-e", "cpu-clock", *rate, *self.options, "-o", self.file]

    # Its events are on when it waits for them; before, it reads about all processes.
    def has_begun(self, pid):
        return kernel.perf_events(pid) >= os.cpu_count() and kernel.waits(pid)

    # Inlined functions would take minutes.
    def report(self):
        return ["perf", "report", "-i", self.file, "--stdio", "--no-inline"]

    def bytes(self):
        return os.path.getsize(self.file)

    def found(self):
        command = ["perf", "report", "-i", self.file, "--stdio", "--no-children", "-g", "none", "-n", "-t|", "-s", "comm,sym"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=10 * REPORT_SECONDS)
        ticks = nameless = 0
        for line in done.stdout.splitlines():
            part = [one.strip() for one in line.split("|")]
            if len(part) == 4 and part[1].isdigit() and part[2] != "swapper":
                ticks += int(part[1])
                nameless += int(part[1]) * unnamed(part[3][4:])
        return ticks, nameless, None


class Bpftrace(Tool):
    def missing(self):
        return None if shutil.which("bpftrace") else "bpftrace is not in PATH"

    def command(self, hz):
        return ["bpftrace", "-e", f'profile:hz:{hz} {{ @[pid, reg("ip")] = count(); }}']

    def found(self):
        counts = re.findall(r"^@\[(\d+), .*\]: (\d+)$", read(self.printed), re.M)
        return sum(int(count) for pid, count in counts if pid != "0"), None, None


class Ustack(Bpftrace):
    def command(self, hz):
        return ["bpftrace", "-e", f"profile:hz:{hz} /pid/ {{ @[pid, ustack()] = count(); }}"]

    def found(self):
        ticks = nameless = 0
        for leaf, count in re.findall(r"^@\[\d+, *\n?(.*)(?:\n.+)*?\n?\]: (\d+)$", read(self.printed), re.M):
            ticks += int(count)
            nameless += int(count) * unnamed(re.sub(r"\+\d+$", "", leaf.strip()))
        return ticks, nameless, None


class Bcc(Tool):
    """It compiles its program at run time against the kernel's headers. If there are none for the running
    kernel, those of another one will do, because it reads no kernel structure that changes."""

    def __init__(self, name, told, default_hz, build, out):
        super().__init__(name, told, default_hz, out)
        self.headers = f"{build}/bench/headers"

    def missing(self):
        if not shutil.which("profile-bpfcc"):
            return "profile-bpfcc is not in PATH"
        if os.path.isdir(f"/lib/modules/{os.uname().release}/build") or os.path.exists("/sys/kernel/kheaders.tar.xz"):
            return None
        folders = sorted(os.listdir("/usr/src"))
        common = [name for name in folders if re.fullmatch(r"linux-headers-.*-common", name)]
        if not common:
            return "BCC has no kernel headers to compile against"
        flavour = [name for name in folders if name.startswith(common[-1][:-6]) and not name.endswith("-common")]
        # Debian divides a kernel's headers into a common folder and one per flavour; BCC needs them in one.
        for name in [] if os.path.isdir(self.headers) else [common[-1], *flavour[:1]]:
            subprocess.run(["cp", "-rsfT", f"/usr/src/{name}", self.headers], check=True)
        os.environ["BCC_KERNEL_SOURCE"] = self.headers
        return None

    def command(self, hz):
        return ["profile-bpfcc", "-f", *([] if hz == self.default_hz else ["-c", str(10**9 // hz)])]

    def found(self):
        ticks = nameless = 0
        for chain, count in re.findall(r"^(.+) (\d+)$", read(self.printed), re.M):
            ticks += int(count)
            nameless += int(count) * unnamed(chain.split(";")[-1])
        return ticks, nameless, None


class Samply(Tool):
    """It profiles only what it runs, and names nothing: the browser does, when it shows the profile."""

    paranoid = 1  # what kernel.perf_event_paranoid must not be above, even for root

    def missing(self):
        if not shutil.which("samply"):
            return "samply is not in PATH: cargo install --locked samply@0.13.1"
        with kernel.paranoid_at_most(self.paranoid):
            tried = subprocess.run([*self.command(99), "true"], capture_output=True, text=True, check=False)
        return f"samply, which said: {tried.stderr.strip().splitlines()[0]}" if tried.returncode else None

    def command(self, hz):
        return ["samply", "record", "-s", "-n", "-r", str(hz), "-o", self.file, "--"]

    def bytes(self):
        return os.path.getsize(self.file)

    def found(self):
        with gzip.open(self.file) as file:
            threads = json.load(file)["threads"]
        return sum(thread["samples"]["length"] for thread in threads), None, None


class Sender(Tool):
    """An agent that sends to a server here, which keeps what it gets in `received`."""

    def __init__(self, name, told, default_hz, out, fleet):
        super().__init__(name, told, default_hz, out)
        self.fleet = fleet

    def clean(self):
        super().clean()
        self.begin = os.path.getsize(self.fleet.received)

    def bytes(self):
        return os.path.getsize(self.fleet.received) - self.begin

    def found(self):
        return *self.fleet.named(self.begin), None


class Agent(Sender):
    def __init__(self, name, told, build, out, fleet, *options):
        super().__init__(name, told, None, out, fleet)
        self.command_line = [f"{build}/bpfprofil", "agent", *options]

    # It ticks when a duty lets it, by programs that are on no perf event.
    def has_begun(self, pid):
        return any(runs for _, runs, _ in kernel.programs(pid).values())

    def command(self, hz):
        return self.command_line + ["--otlp", f"grpc://127.0.0.1:{self.fleet.port}"]


class OpenTelemetry(Sender):
    settle = 2
    seconds_until_sent = 6.5  # it sends what it has every 5 s, a fifth more or less

    def missing(self):
        return None if shutil.which("ebpf-profiler") else f"ebpf-profiler, OpenTelemetry's, is not in PATH: {OPENTELEMETRY}"

    def command(self, hz):
        options = ["-collection-agent", f"127.0.0.1:{self.fleet.port}", "-disable-tls", "-samples-per-second", str(hz)]
        # It reads tracefs, which not every host has mounted.
        mount = 'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; exec "$@"'
        return ["unshare", "-m", "sh", "-c", mount, "sh", "ebpf-profiler"] + options


class Unavailable(Tool):
    def __init__(self, name, why, out):
        super().__init__(name, name, None, out)
        self.why = why

    def missing(self):
        return self.why


class Fleet:
    """The server that agents send to, and what reads their messages: tests/fleet has them."""

    def __init__(self, build, out):
        command = ["bash", "-c", ". tests/fleet/lib.bash && fetch && fetch_messages"]
        subprocess.run(command, cwd=f"{here}/../../..", env=os.environ | {"BUILD_DIR": build}, check=True)
        self.folder = f"{build}/fleet"
        self.received = f"{out}/received"
        self.port = int(subprocess.check_output([f"{here}/../../lib/free_port"]))
        open(self.received, "wb").close()
        server = ["node", f"{here}/../../fleet/grpc.mjs", str(self.port), self.received, str(REQUEST_MAX), "0"]
        self.server = subprocess.Popen(server, cwd=self.folder)

    def named(self, begin):
        """The samples that it got from there on, and those whose function has no name."""
        command = [f"{self.folder}/python/bin/python", f"{here}/named.py", self.received, str(begin)]
        return map(float, subprocess.check_output(command, text=True).split())

    def end(self):
        self.server.kill()
        self.server.wait()


def read_libc(load):
    """By what the programs say."""
    said = [list(map(int, line.split())) for line in read(f"{load.dir}/said").splitlines()]
    return {"found": sum(ticks for ticks, _ in said), "nameless": None, "kib": sum(size for _, size in said) / 1024}


def read_gprof(load):
    files = glob.glob(f"{load.dir}/gmon.*")
    begun = time.monotonic()
    text = subprocess.check_output(["gprof", "-b", "-p", load.program, *files], text=True)
    end = time.monotonic() - begun
    kib = sum(os.path.getsize(file) for file in files) / 1024
    for file in files:
        os.remove(file)
    seconds = re.findall(r"^ *[0-9.]+ +([0-9.]+) +[0-9.]+ ", text, re.M)
    return {"found": 100 * float(seconds[-1]), "nameless": 0, "kib": kib, "end": end}


def agents(build, out, fleet):
    """Those that stay for good, as they are called for that."""
    return [
        Agent("agent", "bpfprofil agent", build, out, fleet),
        Agent("agent-callers", "bpfprofil agent --callers", build, out, fleet, "--callers"),
        Agent("agent-250", "bpfprofil agent --duty 100", build, out, fleet, "--duty", "100"),
        OpenTelemetry("otel", "OTel's profiler", 20, out, fleet),
    ]


def profilers(build, out, fleet):
    return [
        Empty(build, out),
        Ours("ours", "attach", 997, build, out),
        Ours("callers", "attach --callers", 99, build, out, "--callers"),
        Perf("perf", "perf", out),
        Perf("perf-fp", "perf, fp", out, "-g"),
        Perf("perf-dwarf", "perf, dwarf", out, "--call-graph", "dwarf"),
        Bpftrace("bpftrace", "bpftrace, pc", None, out),
        Ustack("ustack", "bpftrace, ustack", None, out),
        Bcc("bcc", "BCC profile", 49, build, out),
        Samply("samply", "samply", 1000, out),
        OpenTelemetry("otel", "OTel's profiler", 20, out, fleet),
        Unavailable("parca-agent", "parca-agent: its protocol needs a server that is not here", out),
    ]
