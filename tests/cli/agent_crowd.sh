#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A thousand connections to the agent's port that say nothing, or a byte now and then, cost it a bounded
# number of descriptors and memory, and no tick; another address is answered meanwhile, and once they are
# gone, the same one.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_crowd || exit "$script_status"
cat >"$work/crowd.py" <<'end'
import contextlib, http.client, os, re, socket, sys, time, urllib.request
sys.path.insert(0, "tests/lib")
import process
pid, port, folder = sys.argv[1:]
def descriptors():
    """Without files that have ticks, and maps: a host that builds has some more each second."""
    return process.descriptors(pid)[1]
def connections():
    """With the socket that it listens at; what it has open to its own processes comes and goes with what it reads."""
    with open("/proc/net/tcp") as table:
        inodes = {line.split()[9] for line in list(table)[1:]}
    nr = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            nr += os.readlink(f"/proc/{pid}/fd/{fd}")[8:-1] in inodes  # "socket:[inode]"
    return nr
def wait_until(what, holds):
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.2)
def kib(key):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(rf"^{key}:\s*(\d+)", file.read(), re.M)[1])
def ask(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=120) as reply:
        return reply.read()
def is_well():
    try:
        return ask("/healthz") == b"ok\n"
    except OSError:
        return False
def ask_from_elsewhere():
    connection = http.client.HTTPConnection("127.0.0.1", int(port), 120, source_address=("127.0.0.2", 0))
    connection.request("GET", "/healthz")
    body = connection.getresponse().read()
    connection.close()
    return body
def connect():
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("127.0.0.1", int(port)))
    return one
assert ask("/healthz") == b"ok\n"
fds, anon, files = descriptors(), kib("RssAnon"), len(os.listdir(folder))
crowd = [connect() for _ in range(1000)]
most = 0
for byte in b"GET /metrics":
    for one in crowd[::2]:
        try:
            one.send(bytes([byte]))
        except OSError:  # it has had enough of it
            pass
    # One address cannot have all connections.
    assert ask_from_elsewhere() == b"ok\n"
    time.sleep(0.5)
    most = max(most, descriptors())
print(f"{most - fds} more descriptors, {kib('RssAnon') - anon} KiB more")
assert 0 < most - fds < 200, (fds, most)
# A stack of 1 MiB for each of 64, and what names take meanwhile, which on a busy host is more.
assert kib("RssAnon") - anon < 256 * 1024, (anon, kib("RssAnon"))
wait_until("three more files", lambda: len(os.listdir(folder)) >= files + 3)
for one in crowd:
    one.close()
wait_until("an answer", is_well)
wait_until("closed connections", lambda: connections() == 1)
end
mkdir "$work/files"
"$bin" agent --dir "$work/files" --interval 1 --duty 100 --listen 127.0.0.1:0 2>"$work/err" &
agent=$!
for ((i = 0; i < 300; i++)); do
	grep -q 'listening at port' "$work/err" && break
	sleep 0.2
done
port=$(sed -n 's/.*listening at port //p' "$work/err")
timeout 240 python3 "$work/crowd.py" "$agent" "$port" "$work/files" 2>"$work/asked"
verdict $? agent_crowd
[ ! -s "$work/asked" ] || tail -n 3 "$work/asked"
kill -TERM "$agent"
wait "$agent"
total=$(python3 -c 'import gzip, json, sys
print(sum(json.load(gzip.open(path))["ticks"]["total"] for path in sys.argv[1:]))' "$work"/files/*.gz)
[ "$total" -gt 0 ] && [ "$total" = "$(sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err")" ]
verdict $? agent_crowd_takes_nothing

exit "$script_status"
