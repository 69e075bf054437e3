#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The agent is ended, killed and told to read its options again, with RESTART_SECONDS (5) before each. Counters
# go on: what Prometheus has of a cgroup is what its cpu.stat has, and no tick is unaccounted for.
set -uo pipefail
. tests/fleet/lib.bash

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
name=bpfprofil-restarts-$$
listen=$(free_port) prometheus=$(free_port)
folder=$(mktemp -d)
seconds=${RESTART_SECONDS:-5}

clean_up() {
	end_all
	rm -rf "$folder"
	rmdir "$mount/$name"/* "$mount/$name" 2>/dev/null
}
trap clean_up EXIT

# burn CGROUP: keeps a third of a CPU busy in it.
burn() {
	mkdir -p "$mount/$name/$1"
	start python3 -c '
import os, sys, time
with open(sys.argv[1] + "/cgroup.procs", "w") as file:
    file.write(str(os.getpid()))
while True:
    until = time.process_time() + 0.03
    while time.process_time() < until:
        pass
    time.sleep(0.06)' "$mount/$name/$1"
	until_true grep -q . "$mount/$name/$1/cgroup.procs"
}

agent_starts() {
	start "$bin" agent --interval 4 --duty 50 --config agent.conf --dir files --spool spool --top-functions 1000 \
		--listen "$listen" --insecure-listen 2>>messages
	agent=$pid
	until_true curl -sf "http://127.0.0.1:$listen/healthz"
}

# page NAME: five times, with what cpu.stat says then. On a busy host an answer may be some seconds old.
page() {
	local i

	for i in 1 2 3 4 5; do
		sleep 1.1
		curl -sf "http://127.0.0.1:$listen/metrics" >"$1.$i" || return
		grep usage_usec "$mount/$name"/*/cpu.stat /dev/null >"$1.$i.stat"
	done
}

prometheus_ready() {
	curl -sf "http://127.0.0.1:$prometheus/-/ready"
}

# There are ticks that no profile has, and the next agent will know of them. A folder has no spool: of a profile
# that is still being written into it nobody would know.
has_ticks() {
	curl -sf "http://127.0.0.1:$listen/metrics" | grep -q '^bpfprofil_pending_profiles{kind="dir".* 0$' || return
	[ "$(sed -n 6p spool/counters)" -gt 0 ] && [ "$(sed -n 7p spool/counters)" -eq 0 ]
}

restart() {
	sleep "$seconds"
	[ "$1" != KILL ] || until_true has_ticks
	case $1 in
	HUP) kill -HUP "$agent" ;;
	file) echo 'budget = 0.1' >agent.conf ;;
	*)
		kill "-$1" "$agent"
		wait "$agent" 2>/dev/null
		[ "$2" != new ] || burn later
		agent_starts
		;;
	esac
}

mkdir -p "$mount/$name" || exit 1
rm -rf "$folder"
mkdir -p "$folder/files"
cd "$folder" || exit 1
: >agent.conf
printf '%s\n' 'global: {scrape_interval: 1s}' 'scrape_configs:' \
	"- {job_name: bpfprofil, static_configs: [{targets: ['127.0.0.1:$listen']}]}" >prometheus.yml
burn always
start prometheus --config.file=prometheus.yml --storage.tsdb.path=data --log.level=error \
	--web.listen-address="127.0.0.1:$prometheus"
asker=$pid
until_true prometheus_ready
agent_starts
page first
verdict $? restarts_begin
for how in 'TERM new' 'KILL -' 'HUP -' 'KILL -' 'file -'; do
	# shellcheck disable=SC2086 # two words
	restart $how
done
sleep "$seconds"
page last
verdict $? restarts_go_on
end "$agent"
agent_starts
curl -sf "http://127.0.0.1:$listen/metrics" >carried
verdict $? restarts_carried
kill -9 "$agent" # before it has a profile
python3 "$here/restarts.py" "$prometheus" .
verdict $? restarts
end "$asker"
exit $script_status
