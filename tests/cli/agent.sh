#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The agent as a service runs it: what its sinks got is what it counted, even if one was
# unavailable.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent || exit "$script_status"

# A backend for OTLP and pushes: stores each body in a file, uncompressed, named by its path.
cat >"$work/backend.py" <<'end'
import gzip, http.server, sys, time
class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        # Parca takes no compressed requests.
        if "writeraw" not in self.path:
            body = gzip.decompress(body)
        name = self.path.strip("/").replace("/", "_")
        with open(f"{sys.argv[2]}/{name}.{time.monotonic_ns()}", "xb") as file:
            file.write(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend).serve_forever()
end

# Decodes protobuf by the numbers of fields only.
cat >"$work/wire.py" <<'end'
def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value
def inner(data, *path):
    for number, value in fields(data):
        if number == path[0]:
            if len(path) > 1:
                yield from inner(value, *path[1:])
            else:
                yield value
end
# The ticks in requests for OTLP.
cat >"$work/otlp.py" <<'end'
import sys
from wire import inner, varint
ticks = 0
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    texts = list(inner(data, 2, 5))
    for profile in inner(data, 1, 2, 2):
        if texts[next(inner(profile, 1, 1))] == b"samples":
            ticks += sum(varint(values, 0)[0] for values in inner(profile, 2, 4))
print(ticks)
end
# Whether a scrape has ticks and CPU time, and names for all.
cat >"$work/pprof.py" <<'end'
import gzip, sys
from wire import inner, varint
data = gzip.open(sys.argv[1]).read()
ticks = ns = 0
for values in inner(data, 2, 2):
    count, at = varint(values, 0)
    ticks += count
    ns += varint(values, at)[0]
assert ticks > 0 and ns > 0, (ticks, ns)
assert all(list(inner(location, 4)) for location in inner(data, 4))
# Parca takes no other ids.
for table in 3, 4, 5:
    ids = [next(inner(one, 1)) for one in inner(data, table)]
    assert ids == list(range(1, len(ids) + 1)), (table, ids)
end

ticks_of_files() {
	python3 -c 'import gzip, json, sys
print(sum(json.load(gzip.open(path))["ticks"]["total"] for path in sys.argv[1:]))' "$@"
}

# wait_for N PATTERN: waits until the agent has printed it so often; if it never does, a later test
# fails.
wait_for() {
	local i

	for ((i = 0; i < 300; i++)); do
		[ "$(grep -c "$2" "$work/err")" -lt "$1" ] || return
		sleep 0.2
	done
}

refused=0
port=$(tests/lib/free_port)
mkdir "$work/files" "$work/got"
printf '# a file\ndir = %s\ninterval=2\n\notlp = http://127.0.0.1:%s\n' "$work/files" "$port" >"$work/conf"
# SIGHUP reloads, even if the agent was started with nohup.
env --ignore-signal=HUP "$bin" agent --config "$work/conf" --parca "http://127.0.0.1:$port" 2>"$work/err" &
agent=$!
wait_for 2 'trying again'
python3 "$work/backend.py" "$port" "$work/got" &
backend=$!
wait_for 2 'delivered again'
kill -HUP "$agent"
wait_for 2 'otlp .* every 2 s'
# What cannot work is found before anything ends, and the agent goes on as it was.
cp "$work/conf" "$work/good"
for line in "dir = $work/absent" 'otlp = localhost:4318' "listen = 127.0.0.1:$port" "dir = $work/files"; do
	echo "$line" >>"$work/conf"
	wait_for $((++refused)) 'the options stay as they were'
	cp "$work/good" "$work/conf"
done
[ "$(grep -c 'the options stay as they were' "$work/err")" = 4 ]
verdict $? agent_bad_reload
sleep 5
# Each arena of glibc's ends with a reserve, at a multiple of 64 MiB.
arenas=$(grep -E -- '-[0-9a-f]+[048c]000000 ---p 00000000 00:00 0 *$' "/proc/$agent/maps")
kill -TERM "$agent"
wait "$agent"
verdict $? agent_ends
[ -z "$arenas" ]
verdict $? agent_has_one_heap
kill "$backend"
if grep -q 'not delivered' "$work/err" || [ "$(grep -c 'trying again' "$work/err")" -ne 2 ] ||
	[ "$(grep -c 'delivered again' "$work/err")" -ne 2 ]; then
	fail agent_says "$(cat "$work/err")"
else
	pass agent_says
fi
total=$(ticks_of_files "$work"/files/*.gz)
counted=$(sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err" | awk '{ sum += $1 } END { print sum }')
[ "$total" -gt 0 ] && [ "$total" = "$counted" ]
verdict $? "agent_files"
[ "$(python3 "$work/otlp.py" "$work"/got/v1development_profiles.*)" = "$total" ]
verdict $? agent_otlp
python3 -c 'import base64, gzip, json, sys
for path in sys.argv[1:]:
    series = json.load(open(path))["series"]
    assert series
    for one in series:
        labels = {label["name"]: label["value"] for label in one["labels"]["labels"]}
        assert labels["service_name"] and labels["__name__"] == "process_cpu"
        (sample,) = one["samples"]
        assert gzip.decompress(base64.b64decode(sample["raw_profile"]))' "$work"/got/api_profiles_writeraw.*
verdict $? agent_parca

# A gRPC reply that is cut off says nothing of what was sent, so it is sent again.
cat >"$work/cut.py" <<'end'
import socket, struct, sys
def frame(kind, flags, data, stream=1):
    return struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + data
HEADERS, DATA, SETTINGS, WINDOW_UPDATE, END_STREAM, END_HEADERS = 1, 0, 4, 8, 1, 4
trailers = b"\0\x0bgrpc-status\x010"
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for nr in range(1000):
    connection, _ = listener.accept()
    data = connection.makefile("rb")
    data.read(24)
    # Bodies of any size: 1 GiB as the window of a stream, and as that of all.
    connection.sendall(frame(SETTINGS, 0, struct.pack(">HI", 4, 1 << 30), 0) +
                       frame(WINDOW_UPDATE, 0, struct.pack(">I", 1 << 30), 0))
    kind = flags = SETTINGS
    while kind != DATA or not flags & END_STREAM:
        head = data.read(9)
        if len(head) < 9:
            break
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        data.read(size)
    connection.sendall(frame(HEADERS, END_HEADERS, b"\x88") +
                       (frame(DATA, END_STREAM, b"") if nr < 2 else
                        frame(DATA, 0, bytes(5)) + frame(HEADERS, END_HEADERS | END_STREAM, trailers)))
    while data.read(1):
        pass
    connection.close()
end
port=$(tests/lib/free_port)
python3 "$work/cut.py" "$port" &
backend=$!
: >"$work/err"
"$bin" agent --interval 1 --otlp "grpc://127.0.0.1:$port" 2>"$work/err" &
agent=$!
wait_for 1 'delivered again'
kill -TERM "$agent"
wait "$agent" && grep -q 'a reply without gRPC status; .*trying again' "$work/err" && ! grep -q 'not delivered' "$work/err"
verdict $? agent_grpc_cut_off || cat "$work/err"
kill "$backend"

# beside_a_loop COMMAND...: a host on which nothing else runs has no ticks.
beside_a_loop() {
	local loop

	sh -c 'while :; do :; done' &
	loop=$!
	"$@"
	kill "$loop"
}

# Without cgroups the host is one service; but what to choose from it cannot be told.
rm -rf "$work/one" && mkdir "$work/one"
beside_a_loop timeout --foreground -s INT 8 unshare --mount --propagation private sh -c 'umount -R /sys/fs/cgroup; exec "$@"' sh \
	"$bin" agent --dir "$work/one" --interval 2 2>"$work/err"
total=$(ticks_of_files "$work"/one/*.gz)
if [ "$total" -gt 0 ] && [ "$total" = "$(sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err")" ] &&
	grep -q 'only one cgroup is visible, so the host is one service' "$work/err"; then
	pass agent_without_cgroups
else
	fail agent_without_cgroups "$(cat "$work/err")"
fi
if unshare --mount --propagation private sh -c 'umount -R /sys/fs/cgroup; exec "$@"' sh \
	"$bin" agent --dir "$work/one" --include 'cgroup=*' 2>"$work/err"; then
	fail agent_chooses_without_cgroups 'it began'
elif grep -q 'processes here are all in one cgroup' "$work/err"; then
	pass agent_chooses_without_cgroups
else
	fail agent_chooses_without_cgroups "$(cat "$work/err")"
fi

# What root has and sampling does not need is given up, also for what the agent starts; and what the unit
# leaves it is enough.
rm -rf "$work/kept" && mkdir "$work/kept"
chmod 700 "$work/kept"
"$bin" agent -q --dir "$work/kept" --interval 1 2>"$work/err" &
agent=$!
for ((i = 0; i < 100; i++)); do
	[ -z "$(ls "$work/kept")" ] || break
	sleep 0.2
done
kept=$(awk '/^(Cap(Prm|Eff|Bnd)|NoNewPrivs)/ { print $2 }' "/proc/$agent/status" | tr '\n' ' ')
kill -TERM "$agent"
wait "$agent"
# CHECKPOINT_RESTORE, BPF, PERFMON, SYSLOG, SYS_PTRACE, DAC_READ_SEARCH; and SYS_ADMIN, without which the
# kernels of some distributions refuse perf events above 2.
wanted=000001c400080004
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || wanted=000001c400280004
[ "$kept" = "$wanted $wanted $wanted 1 " ] && [ -n "$(ls "$work/kept")" ]
verdict $? agent_capabilities
# Where BPF and PERFMON cannot be had, as with docker 20.10, SYS_ADMIN stands for both.
rm "$work"/kept/*
beside_a_loop timeout --foreground 8 setpriv --bounding-set=-bpf,-perfmon --inh-caps=-all \
	"$bin" agent -q --dir "$work/kept" --interval 1 2>"$work/err"
[ -n "$(ls "$work/kept")" ]
verdict $? agent_without_cap_bpf
unit=$(sed -n 's/^CapabilityBoundingSet=//p' user/systemd/bpfprofil-agent.service.in | tr 'A-Z ' 'a-z,' |
	sed 's/cap_/+/g')
rm "$work"/kept/*
read -ra options <<<"$(sed -n 's/^ExecStart=.*bpfprofil agent //p' user/systemd/bpfprofil-agent.service.in |
	sed "s|/etc/bpfprofil|$work/etc|; s|/var/lib/bpfprofil|$work/state|")"
mkdir "$work/etc" "$work/state"
printf 'dir = %s\ninterval = 1\notlp = http://127.0.0.1:%s\n' "$work/kept" "$port" >"$work/etc/agent.conf"
beside_a_loop timeout --foreground 20 setpriv --bounding-set="-all,$unit" --inh-caps=-all "$bin" agent \
	"${options[@]}" 2>"$work/err"
# What it takes is known without CAP_SYS_ADMIN, from the first measurement on, which is made after 5 s.
if [ -n "$(ls "$work/kept")" ] && [ -n "$(ls "$work"/state/spool/*/*.gz)" ] &&
	[ "$(grep -cv 'trying again' "$work/err")" = "$(grep -c ' waits\? in ' "$work/err")" ] &&
	python3 -c 'import gzip, json, sys
costs = [json.load(gzip.open(path))["sampling"].get("cost", {}) for path in sys.argv[1:]]
assert any(cost.get("percent", 0) > 0 for cost in costs), costs' "$work"/kept/*.gz; then
	pass agent_in_its_unit
else
	fail agent_in_its_unit "$(cat "$work/err")"
fi
if command -v systemd-analyze >/dev/null; then
	sed 's|@PREFIX@|/usr|' user/systemd/bpfprofil-agent.service.in >"$work/bpfprofil-agent.service"
	systemd-analyze security --offline=true --threshold=30 "$work/bpfprofil-agent.service" >"$work/out" 2>&1
	verdict $? agent_unit_exposure
	tail -n 1 "$work/out"
fi

# A scrape gets the ticks of its own time, and the files get all of them.
cat >"$work/ask.py" <<'end'
import gzip, os, re, socket, sys, threading, time, urllib.error, urllib.request
base = f"http://127.0.0.1:{sys.argv[1]}"
def get(path, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, headers=headers), timeout=60) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
def metrics(**headers):
    text = get("/metrics", **headers)[1].decode()
    values = {}
    for line in text.splitlines():
        if line[0] != "#":
            name, value = re.fullmatch(r'((?:bpfprofil|process)_[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})?) ([0-9.e-]+)', line).groups()
            assert name not in values
            values[name] = float(value)
    return text, values
assert get("/healthz") == (200, b"ok\n")
while get("/readyz")[0] != 200:
    time.sleep(0.1)
for path in "/", "/debug/pprof/", "/debug/pprof/heap", "/metrics/", "/debug/pprof/profile/":
    assert get(path)[0] == 404, path
for seconds in "0", "301", "-1", "x", "", "1.5":
    assert get("/debug/pprof/profile?seconds=" + seconds)[0] == 400, seconds
assert get("/debug/pprof/profile?seconds=1&target=no-such-service")[0] == 404
try:
    urllib.request.urlopen(base + "/metrics", data=b"x")
    raise SystemExit("POST")
except urllib.error.HTTPError as error:
    assert error.code == 405
# Several at once, more than allowed, while other connections stay silent.
idle = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(30)]
idle[0].send(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 15000)
answers = []
threads = [threading.Thread(target=lambda n=n: answers.append(get(f"/debug/pprof/profile?seconds={n}")))
           for n in (1, 1, 2, 2, 3, 3, 1, 2, 3, 3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
profiles = [body for status, body in answers if status == 200]
assert sorted({status for status, _ in answers}) == [200, 503] and len(profiles) == 8, answers
assert all(len(gzip.decompress(body)) > 100 for body in profiles)
open(sys.argv[2], "wb").write(profiles[-1])
for connection in idle:
    connection.close()
text, values = metrics()
outcomes = sum(value for name, value in values.items() if name.startswith("bpfprofil_ticks_total{"))
assert outcomes == values["bpfprofil_ticks_seen_total"] > 0
assert values["bpfprofil_scrapes_total"] == 9 and values["bpfprofil_handler_seconds_total"] > 0
age = time.time() - values["process_start_time_seconds"]
assert 0 < age < 600 and 0 < values["process_cpu_seconds_total"] < os.cpu_count() * (age + 1), (age, values)
assert values["process_resident_memory_bytes"] > 1 << 20
def counters(of):
    return {name: value for name, value in values.items() if name.startswith(f"bpfprofil_{of}_cpu_seconds_total{{")}
def time_of(of):
    return sum(round(value * 1e9) for value in counters(of).values())
# What is new is 0 for whoever reads it first; then it is all there to the nanosecond, but for functions,
# of which others may be new each time.
for _ in range(50):
    time.sleep(1)
    _, values = metrics()
    seconds = round(values["bpfprofil_cpu_seconds_total"] * 1e9)
    if time_of("service") == seconds:
        break
assert time_of("service") == seconds > 0, (seconds, values)
functions = counters("function")
assert 0 < time_of("function") <= seconds, (seconds, values)
services = [re.search('service="([^"]*)"', name)[1] for name in functions]
assert max(map(services.count, services)) == 4 and any('function="[other]"' in name for name in functions), functions
assert "# TYPE bpfprofil_ticks_total counter" in text and "# EOF" not in text
text, _ = metrics(Accept="application/openmetrics-text; version=1.0.0")
assert "# TYPE bpfprofil_ticks counter" in text and text.endswith("\n# EOF\n")
end
rm -f "$work"/files/*
# Each scrape of a second must have ticks, also where nothing else runs.
sh -c 'while :; do :; done' &
spinner=$!
: >"$work/err"
"$bin" agent --dir "$work/files" --interval 3 --duty 100 --top-functions 3 --listen "127.0.0.1:$port" --insecure-listen 2>"$work/err" &
agent=$!
wait_for 1 'listening at port'
timeout 120 python3 "$work/ask.py" "$port" "$work/scraped" 2>"$work/asked"
verdict $? agent_listens
[ ! -s "$work/asked" ] || tail -n 3 "$work/asked"
"$bin" agent -q --listen "$port" 2>"$work/second"
[ "$(cat "$work/second")" = "bpfprofil: agent: --listen $port: Address already in use" ]
verdict $? agent_port_in_use
kill -TERM "$agent"
wait "$agent"
total=$(ticks_of_files "$work"/files/*.gz)
[ "$total" -gt 0 ] && [ "$total" = "$(sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err")" ]
verdict $? agent_scrapes_take_nothing
python3 "$work/pprof.py" "$work/scraped"
verdict $? agent_scrape_is_pprof
kill "$spinner"

# To others by TLS, and to those alone who know the token, which may change.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
	-keyout "$work/key" -out "$work/cert" 2>/dev/null
openssl genrsa -out "$work/other" 2048 2>/dev/null
echo first >"$work/token"
"$bin" agent -q --listen "0.0.0.0:$port" --listen-cert "$work/cert" --listen-key "$work/key" \
	--listen-token-file "$work/token" 2>"$work/err" &
agent=$!
# status_of PATH [TOKEN]: how it is answered
status_of() {
	curl -s -o /dev/null -w '%{http_code}' --cacert "$work/cert" ${2:+-H "Authorization: Bearer $2"} \
		"https://127.0.0.1:$port$1"
}
for ((i = 0; i < 100; i++)); do
	[ "$(status_of /healthz)" != 200 ] || break
	sleep 0.2
done
answers="$(status_of /healthz) $(status_of /metrics) $(status_of /metrics wrong) $(status_of /metrics firs)"
answers+=" $(status_of /metrics first) $(status_of /readyz first) $(status_of /x first)"
echo second >"$work/token"
answers+=" $(status_of /metrics first) $(status_of /metrics second)"
rm "$work/token"
answers+=" $(status_of /metrics second) $(status_of /metrics "") $(status_of /healthz)"
if [ "$answers" = "200 401 401 401 200 200 404 401 200 401 401 200" ] &&
	[ "$(cat "$work/err")" = "bpfprofil: agent: --listen-token-file $work/token: no token can be read; requests are refused" ]
then
	pass agent_listens_by_tls
else
	fail agent_listens_by_tls "$answers: $(cat "$work/err")"
fi
! curl -s -o /dev/null "http://127.0.0.1:$port/healthz"
verdict $? agent_tls_alone
kill -TERM "$agent"
wait "$agent"
expect agent_listen_other_key 1 "bpfprofil: agent: --listen-cert $work/cert: no certificate that fits $work/other" \
	"$bin" agent -q --listen "$port" --listen-cert "$work/cert" --listen-key "$work/other"
expect agent_listen_no_cert 1 "bpfprofil: agent: --listen-cert: $work/none: No such file or directory" \
	"$bin" agent -q --listen "$port" --listen-cert "$work/none" --listen-key "$work/key"

expect agent_listens_to_all 2 "bpfprofil: agent: --listen 0.0.0.0:$port: other hosts, and anyone there, could read profiles
try: --listen-cert, --listen-key and --listen-token-file, or an address like 127.0.0.1:9464, or --insecure-listen" "$bin" agent -q --listen "0.0.0.0:$port"
expect agent_listen_no_key 2 "bpfprofil: agent: --listen-cert and --listen-key: both or none" \
	"$bin" agent -q --listen "$port" --listen-cert x
expect agent_listen_token_alone 2 "bpfprofil: agent: --listen 0.0.0.0:$port: other hosts, and anyone there, could read profiles
try: --listen-cert, --listen-key and --listen-token-file, or an address like 127.0.0.1:9464, or --insecure-listen" \
	"$bin" agent -q --listen "0.0.0.0:$port" --listen-token-file /etc/hostname
expect agent_listen_address 2 \
	"bpfprofil: agent: --listen 'here': must be [HOST:]PORT, like 127.0.0.1:9464" "$bin" agent -q --listen here
expect agent_listen_port 2 \
	"bpfprofil: agent: --listen '99999': must be [HOST:]PORT, like 127.0.0.1:9464" "$bin" agent -q --listen 99999
expect agent_no_sink 2 'bpfprofil: agent: no sink given
try: --otlp http://localhost:4318, --dir /var/lib/bpfprofil or --listen 9464' "$bin" agent
expect agent_argument 2 "bpfprofil: agent: 'x': takes no argument
try: bpfprofil agent --help" "$bin" agent x
expect agent_no_config 1 "bpfprofil: agent: --config: /nonexistent: No such file or directory" \
	"$bin" agent --config /nonexistent
printf 'dir = /tmp\nintervall = 3\n' >"$work/conf"
expect agent_config_key 2 "bpfprofil: agent: $work/conf:2: unknown option '--intervall'
try: --interval" \
	"$bin" agent --config "$work/conf"
printf 'interval = 0\n' >"$work/conf"
expect agent_config_value 2 \
	"bpfprofil: agent: $work/conf:1: --interval '0': must be a time of at least 1s, like 10, 90s or 5m" \
	"$bin" agent --config "$work/conf"
printf 'include namespace=shop-*\n' >"$work/conf"
expect agent_config_equals 2 \
	"bpfprofil: agent: $work/conf:1: 'include namespace=shop-*': = is missing between name and value
try: include = namespace=shop-*" "$bin" agent --config "$work/conf"
printf '# a comment\n%5000s\n' x >"$work/conf"
expect agent_config_long_line 2 "bpfprofil: agent: $work/conf:2: longer than 4096 bytes" \
	"$bin" agent --config "$work/conf"
printf '# %4094s\nlabel = x\n' x >"$work/conf"
expect agent_config_longest_line 2 \
	"bpfprofil: agent: $work/conf:2: --label 'x': must be KEY=VALUE, the key of letters, digits, _ . - and /" \
	"$bin" agent --config "$work/conf"
truncate -s 3G "$work/conf"
expect agent_config_large 1 "bpfprofil: agent: --config: $work/conf: larger than 1024 KiB" \
	"$bin" agent --config "$work/conf"
expect agent_config_folder 1 "bpfprofil: agent: --config: $work: not a regular file" "$bin" agent --config "$work" --listen "$port"
expect agent_scheme 2 "bpfprofil: agent: URL 'ftp...': neither http, https, grpc nor grpcs" \
	"$bin" agent -q --otlp ftp://x
expect agent_grpc_for_others 2 "bpfprofil: agent: --pyroscope: grpc is for --otlp" \
	"$bin" agent -q --pyroscope grpc://me:secret@127.0.0.1:1
expect agent_folder 1 "bpfprofil: agent: --dir /nonexistent/a: No such file or directory
try: mkdir -p /nonexistent/a" "$bin" agent -q --dir /nonexistent/a
expect agent_no_folder 1 "bpfprofil: agent: --dir $bin: Not a directory" "$bin" agent -q --dir "$bin"

exit "$script_status"
