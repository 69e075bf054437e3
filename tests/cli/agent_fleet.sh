#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What whoever rolls agents out over a fleet relies on: readiness, a file of options that is replaced, a
# restart, and what is said of a pod that was not given what it needs.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_fleet || exit "$script_status"

# A backend that answers with the status in a file.
cat >"$work/backend.py" <<'end'
import http.server, sys
class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(int(open(sys.argv[2]).read()))
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend).serve_forever()
end

pod=/kubepods/pod$(cat /proc/sys/kernel/random/uuid)
group=$pod/$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')

clean_up() {
	remove_groups "$group" "$pod" /kubepods
}

# readyz: how it is answered, and the lines of it
readyz() {
	curl -s -o "$work/ready" -w '%{http_code}' "http://127.0.0.1:$listen/readyz"
}

is_ready() {
	[ "$(readyz)" = 200 ]
}

is_in_readyz() {
	readyz >/dev/null
	grep -q -e "$1" "$work/ready"
}

# requests CODE: how many were answered so
requests() {
	curl -s "http://127.0.0.1:$listen/metrics" | awk -v code="code=\"$1\"" '
		/^bpfprofil_exports_total/ && index($0, code) { n = $2 } END { print n + 0 }'
}

# was_answered CODE N: more often than that
was_answered() {
	[ "$(requests "$1")" -gt "$2" ]
}

end_agent() {
	kill -TERM "$agent"
	wait "$agent"
}

port=$(tests/lib/free_port) listen=$(tests/lib/free_port)
sh -c 'while :; do :; done' &
echo 404 >"$work/status"

# As kubelet mounts a ConfigMap: a link to a link, of which the inner one is replaced.
mkdir -p "$work/conf/..1" "$work/conf/..2"
printf 'otlp = http://127.0.0.1:%s\ninterval = 1h\nduty = 100\n' "$port" >"$work/conf/..1/agent.conf"
sed 's/1h/1/' "$work/conf/..1/agent.conf" >"$work/conf/..2/agent.conf"
ln -s ..1 "$work/conf/..data"
ln -s ..data/agent.conf "$work/conf/agent.conf"
"$bin" agent --config "$work/conf/agent.conf" --listen "127.0.0.1:$listen" 2>"$work/err" &
agent=$!
until_true said 'listening at port'
until_true is_in_readyz 'has accepted nothing yet: Failed to connect to 127.0.0.1'
! is_ready
verdict $? agent_not_ready_before_delivery
# Only now, because a slow host sees the first answer before it asks a first time.
python3 "$work/backend.py" "$port" "$work/status" &
backend=$!
# Long before the interval is over.
until_true is_in_readyz 'refuses: HTTP 404; profiles that wait: 1' && ! is_ready
verdict $? agent_not_ready_with_a_wrong_url
echo 200 >"$work/status"
ln -s ..2 "$work/conf/..new"
mv -T "$work/conf/..new" "$work/conf/..data"
until_true said 'every 1 s' && until_true is_ready
verdict $? agent_follows_a_config_map
for status in 503 500; do
	echo "$status" >"$work/status"
	until_true was_answered "$status" 1 && is_ready
	verdict $? "agent_ready_while_away_$status"
	echo 200 >"$work/status"
	until_true is_in_readyz ': ok'
done
echo 401 >"$work/status"
until_true is_in_readyz 'refuses: HTTP 401' && ! is_ready
verdict $? agent_not_ready_when_refused
# What does not work changes nothing but readiness, is said once, and is forgotten when it is mended.
mkdir "$work/conf/..3" "$work/conf/..4"
echo 'intervall = 3' >"$work/conf/..3/agent.conf"
sed 's/1h/7/' "$work/conf/..1/agent.conf" >"$work/conf/..4/agent.conf"
ln -s ..3 "$work/conf/..new"
mv -T "$work/conf/..new" "$work/conf/..data"
until_true said "unknown option '--intervall'"
echo 200 >"$work/status"
until_true is_in_readyz ': ok' && ! is_ready && is_in_readyz "^config: .*:1: unknown option '--intervall'" &&
	[ "$(grep -c 'the options stay as they were' "$work/err")" = 1 ]
verdict $? agent_config_that_is_wrong
ln -s ..4 "$work/conf/..new"
mv -T "$work/conf/..new" "$work/conf/..data"
until_true said 'every 7 s' && until_true is_ready
verdict $? agent_config_that_is_mended
# As an editor replaces it: for a moment it is empty, which with --listen would be options without a sink.
begun=$(grep -c 'listening at port' "$work/err")
rm "$work/conf/agent.conf"
exec 3>"$work/conf/agent.conf"
sleep 1
sed 's/1h/6/' "$work/conf/..1/agent.conf" >&3
exec 3>&-
until_true said 'every 6 s'
[ "$(grep -c 'listening at port' "$work/err")" = $((begun + 1)) ]
verdict $? agent_config_that_is_written
end_agent
kill "$backend"
wait "$backend" 2>/dev/null

# One agent after the other while a backend is away: no tick is lost, and what nobody sampled is said.
counted() {
	sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err" "$work/before" | awk '{ sum += $1 } END { print sum }'
}
run_until_spooled() {
	"$bin" agent --otlp "http://127.0.0.1:$port" --spool "$work/spool" --interval 1 --duty 100 \
		--listen "127.0.0.1:$listen" 2>"$work/err" &
	agent=$!
	until_true has_files "$1"
}
has_files() {
	[ "$(find "$work/spool" -name '*.json.gz' 2>/dev/null | wc -l)" -ge "$1" ]
}
# scrape FILE: as Prometheus does.
scrape() {
	curl -s -H 'X-Prometheus-Scrape-Timeout-Seconds: 10' "http://127.0.0.1:$listen/metrics" >"$work/$1"
}
run_until_spooled 2
scrape before_that
end_agent
mv "$work/err" "$work/before"
run_until_spooled 6
scrape first
scrape metrics
# For a new pod what is not 0 when it is first asked for is no increase.
grep -qx 'bpfprofil_unsampled_seconds_total 0\.0*' "$work/first"
verdict $? agent_counter_begins_at_0
end_agent
cat >"$work/read.py" <<'end'
import glob, gzip, json, re, sys
folder, counted, metrics = sys.argv[1:]
profiles = [json.load(gzip.open(path)) for path in sorted(glob.glob(folder + "/*/*.gz"))]
assert sum(profile["ticks"]["total"] for profile in profiles) == int(counted), counted
holes = [ns for profile in profiles if (ns := profile["sampling"].get("unsampled_ns"))]
said = float(re.search(r"^bpfprofil_unsampled_seconds_total (\S+)$", open(metrics).read(), re.M)[1])
assert len(holes) == 1 and 0 < holes[0] < 120e9, holes
assert abs(said - holes[0] / 1e9) < 1e-6, (said, holes)
assert "unsampled_ns" not in profiles[0]["sampling"]
end
python3 "$work/read.py" "$work/spool" "$(counted)" "$work/metrics"
verdict $? agent_restart_is_accounted
# Each by itself: on a host with both kinds of control groups two agents may choose another one.
for one in "$work"/spool/*/*.gz; do
	"$bin" report "$one"
done | grep ' s more had no agent' >/dev/null
verdict $? agent_restart_is_reported
python3 "$work/backend.py" "$port" "$work/status" &
backend=$!
run_until_spooled 0
has_no_files() {
	! has_files 1
}
until_true has_no_files && until_true is_ready
verdict $? agent_takes_a_spool_over
end_agent

# in_a_pod COMMAND...: instead of this shell, with that name and a /var/log that has folders of $pods only
in_a_pod() {
	# shellcheck disable=SC2016 # the inner shell's
	exec unshare --mount --uts --propagation private sh -c 'mount -t tmpfs none /var/log
		for pod in $pods; do mkdir -p "/var/log/pods/$pod"; done
		hostname agent-x7
		exec "$@"' sh "$@"
}

# begin_in_a_pod OPTION...: an agent. What the one before it said is removed first, for it is waited for.
begin_in_a_pod() {
	: >"$work/err"
	in_a_pod "$bin" agent --listen "127.0.0.1:$listen" "$@" 2>>"$work/err" &
	agent=$!
	until_true said 'listening at port'
}
in_group "$group" sh -c 'while :; do :; done' &
export pods=''
begin_in_a_pod --interval 1
until_true said 'pods run here, but have no names: there is no /var/log/pods' &&
	until_true is_in_readyz 'names: pods have none, because /var/log/pods is not here'
verdict $? agent_without_logs
end_agent
(in_a_pod "$bin" doctor --quick) >"$work/doctor"
grep -A 2 '^limited  pods' "$work/doctor" | grep -q 'there is no /var/log/pods'
verdict $? doctor_without_logs
pods="bpfprofil_agent-x7_$(cat /proc/sys/kernel/random/uuid)"
(in_a_pod "$bin" doctor --quick) | grep -q '^ok  *pods'
verdict $? doctor_with_logs
begin_in_a_pod --interval 1
said "host.name is agent-x7, which is a pod's and not the node's" && ! said 'pods run here, but have no names'
verdict $? agent_named_after_its_pod
end_agent
begin_in_a_pod --label host.name=node-1 --interval 1
! said 'host.name is'
verdict $? agent_named_after_its_node
end_agent
# A Job that ran between two profiles, and whose pod is deleted: kubelet has made the link to its log meanwhile.
pods="shop_agent-x7-exporter_$(cat /proc/sys/kernel/random/uuid)"
mkdir "$work/files"
begin_in_a_pod --dir "$work/files" --interval 1h --duty 100
! said 'host.name is'
verdict $? agent_not_named_after_a_longer_name
uid=$(cat /proc/sys/kernel/random/uuid) id=$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')
logs=/proc/$agent/root/var/log
mkdir -p "$logs/pods/shop_job-0_$uid/task" "$logs/containers"
in_group "/kubepods/pod$uid/$id" timeout 1 sh -c 'while :; do :; done' &
job=$!
sleep 0.3
: >"$logs/containers/job-0_shop_task-$id.log"
wait "$job"
sleep 5
rm -r "$logs/pods/shop_job-0_$uid" "$logs/containers"
for mount in $(cgroup_mounts); do
	rmdir "$mount/kubepods/pod$uid/$id" "$mount/kubepods/pod$uid" 2>/dev/null
done
end_agent
python3 -c 'import glob, gzip, json, sys
names = set()
for path in glob.glob(sys.argv[1] + "/*.gz"):
    for label in json.load(gzip.open(path))["labels"]:
        if sys.argv[2] in (label["cgroup"] or ""):
            names.add((label["key"], label["value"]))
assert {("k8s.namespace.name", "shop"), ("k8s.pod.name", "job-0"), ("k8s.container.name", "task"),
        ("service.name", "shop/task")} == names, names' "$work/files" "$id"
verdict $? agent_names_a_job_that_is_gone
# A pod that was not given the node's processes.
unshare --pid --fork --mount-proc "$bin" agent --listen "127.0.0.1:$listen" 2>"$work/err"
[ $? = 1 ] && said 'hostPID: true (Kubernetes)'
verdict $? agent_without_host_pids

exit "$script_status"
