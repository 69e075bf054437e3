# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The loads of `make bench-peers`: each does a given number of units of work on all CPUs, and ends."""
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.realpath(__file__))
root = os.path.realpath(f"{here}/../../..")
cpus = os.cpu_count()

HEAVY = """#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> places;
	std::regex word("([a-z]+)[0-9]*");
	std::smatch match;
	for (int i = 1; i < argc; i++) {
		std::string text = argv[i];
		if (std::regex_match(text, match, word))
			places[match[1]].push_back(i);
	}
	for (auto &[name, list] : places)
		std::cout << name << list.size() << std::endl;
}
"""

PYTHON = """import json, re, sys
text = json.dumps([{"id": i, "name": "n%d" % i, "tags": ["a", "b", str(i)]} for i in range(300)])
for _ in range(int(sys.argv[1])):
    rows = json.loads(text)
    rows.sort(key=lambda row: row["name"])
    sum(int(m) for m in re.findall("[0-9]+", text)) + sum(i * i for i in range(2000))
"""

NODE = """const text = JSON.stringify(Array.from({ length: 300 }, (_, i) => ({ id: i, name: 'n' + i, tags: ['a', String(i)] })));
for (let n = 0; n < Number(process.argv[2]); n++) {
	const rows = JSON.parse(text).sort((a, b) => a.name < b.name ? -1 : 1);
	const words = new Map();
	for (const word of text.split(/[^a-z0-9]+/))
		words.set(word, (words.get(word) || 0) + rows.length);
}
"""

SHORT = "true; awk 'BEGIN {{ for (i = 0; i < 20000; i++) s += i % 7 }}'; sort /etc/passwd >/dev/null; true"

# {n} units; what xargs starts runs on each CPU.
EACH = "seq {cpus} | xargs -P {cpus} -I@ "
LOADS = {
    "steady": ("one loop on each CPU", EACH + "{program} {n}", 20, ()),
    "gcc": (
        "gcc -j2, many files",
        "while cat {dir}/files; do :; done 2>/dev/null | head -n {n} | xargs -P {cpus} -I@ sh -c 'cd " + root + " && exec gcc -O2 "
        "-D_GNU_SOURCE -Iuser -Iinclude -I{build}/gen -c -o {dir}/$$.o @'",
        16, ("gcc",)),
    "g++": ("g++, one file", "seq {n} | xargs -P {cpus} -I@ sh -c 'exec g++ -std=c++17 -O2 -c -o {dir}/$$.o {dir}/heavy.cc'", 2, ("g++",)),
    "storm": ("a storm of short programs", "seq {n} | xargs -P {cpus} -I@ sh -c \"" + SHORT + "\"", 100, ("awk",)),
    "redis": ("redis and its benchmark", "redis-benchmark -h 127.0.0.1 -p {port} -c 8 -n {n} -t set,get -q", 50000, ("redis-server", "redis-benchmark")),
    "postgres": ("postgres and pgbench", "pgbench -h {dir}/pg -U postgres -n -c 4 -j 2 -t {n} postgres", 500, ("postgres", "initdb", "pgbench", "setpriv")),
    "python": ("python", EACH + "{python} {dir}/load.py {n}", 100, ()),
    "node": ("node", EACH + "node {dir}/load.js {n}", 300, ("node",)),
    # Each wakes 22 times for a millisecond of CPU time.
    "processes": ("5,000 processes that wake now and then", "exec {build}/soak/brief file {n} 5000 200", 1, ()),
    "idle": ("else idle", "exec sleep {n}", 1, ()),
}


def wait_for(what, seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.01)


def mounted(kind, controller):
    """Where control groups are mounted: cgroup2, or version 1 with that controller."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, place, of, options, *_ = line.split()
            if of == kind and (not controller or controller in options.split(",")):
                return place
    return None


def host_seconds():
    """CPU time of all that ran on this host: the scheduler's, if version 1 accounts for it."""
    accounts = mounted("cgroup", "cpuacct")
    if accounts:
        with open(f"{accounts}/cpuacct.usage", encoding="utf-8") as file:
            return int(file.read()) / 1e9
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


class Load:
    """In a control group of its own, whose account says what the work took: the server's and the clients'."""

    def __init__(self, name, build):
        self.name = name
        self.told, self.shell, self.units, self.needs = LOADS[name]
        self.build = build
        self.program = f"{build}/bench/steady"
        self.server = None

    def missing(self):
        absent = [name for name in self.needs if not shutil.which(name)]
        return f"{', '.join(absent)} is not in PATH" if absent else None

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="bpfprofil-peers.", dir="/tmp")
        os.chmod(self.dir, 0o755)
        self.group = f"{mounted('cgroup2', None)}/{os.path.basename(self.dir)}"
        for part in ("", "/server", "/work"):
            os.mkdir(self.group + part)
        self.port = int(subprocess.check_output([f"{here}/../../lib/free_port"]))
        for name, text in (("heavy.cc", HEAVY), ("load.py", PYTHON), ("load.js", NODE)):
            with open(f"{self.dir}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        with open(f"{self.dir}/files", "w", encoding="utf-8") as file:
            file.writelines(f"{path}\n" for path in sorted(glob.glob(f"{root}/user/host/**/*.c", recursive=True)))
        try:
            self.serve()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, part, command, under=()):
        inside = f"echo 0 >{self.group}/{part}/cgroup.procs && cd {self.dir} && {command}"
        environment = os.environ | {"GMON_OUT_PREFIX": f"{self.dir}/gmon"}
        with open(f"{self.dir}/said", "wb") as said:
            return subprocess.Popen(
                [*under, "sh", "-c", inside], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.DEVNULL, env=environment
            )

    def serve(self):
        if self.name == "redis":
            self.server = self.start("server", f"exec redis-server --bind 127.0.0.1 --port {self.port} --save '' --appendonly no")
            asked = ["redis-cli", "-p", str(self.port), "ping"]
        elif self.name == "postgres":
            user = "setpriv --reuid postgres --regid postgres --clear-groups"
            os.mkdir(f"{self.dir}/pg")
            shutil.chown(f"{self.dir}/pg", "postgres", "postgres")
            subprocess.run(f"cd / && {user} initdb -A trust -D {self.dir}/pg/data >/dev/null", shell=True, check=True)
            self.server = self.start("server", f"exec {user} postgres -D {self.dir}/pg/data -k {self.dir}/pg -c listen_addresses= -c fsync=off")
            asked = ["pg_isready", "-q", "-h", f"{self.dir}/pg"]
        else:
            return
        wait_for(self.name, 30, lambda: not subprocess.run(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode)
        if self.name == "postgres":
            subprocess.run(["pgbench", "-h", f"{self.dir}/pg", "-U", "postgres", "-i", "-q", "postgres"], check=True, stderr=subprocess.DEVNULL)

    def read(self, file):
        with open(f"{self.group}/{file}", encoding="utf-8") as of:
            return dict(line.split() for line in of)

    def cpu(self):
        return int(self.read("cpu.stat")["usage_usec"]) / 1e6

    def command(self, units):
        return self.shell.format(n=units, cpus=cpus, build=self.build, dir=self.dir, port=self.port, program=self.program,
                                 python=sys.executable)

    def run(self, units=None):
        """CPU seconds that the work took."""
        before = self.cpu()
        work = self.start("work", self.command(units or self.units))
        if work.wait():
            raise RuntimeError(f"{self.name} ended with {work.returncode}")
        wait_for(self.name, 120, lambda: not self.works())
        return self.cpu() - before

    def works(self):
        return self.read("work/cgroup.events")["populated"] == "1"

    def scale(self, seconds):
        """Takes as many units as last so long."""
        self.run(1)
        begun = time.monotonic()
        self.run()
        units = round(self.units * seconds / (time.monotonic() - begun))
        self.units = max(units, min(self.units, cpus))

    def is_removed(self, part):
        with contextlib.suppress(OSError):
            os.rmdir(self.group + part)
        return not os.path.exists(self.group + part)

    def __exit__(self, *_):
        # After an interrupt it would go on.
        with contextlib.suppress(OSError), open(f"{self.group}/work/cgroup.kill", "w", encoding="utf-8") as file:
            file.write("1")
        if self.server:
            self.server.send_signal(2)  # postgres: fast shutdown
            self.server.wait()
        for part in ("/server", "/work", ""):
            with contextlib.suppress(RuntimeError):
                wait_for(self.name, 5, lambda part=part: self.is_removed(part))
        shutil.rmtree(self.dir, ignore_errors=True)
