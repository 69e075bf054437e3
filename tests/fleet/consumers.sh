#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What consumers read of our profiles is what those say, by service and in all: OpenTelemetry's own
# messages, ClickHouse, DuckDB, speedscope, a gRPC server, go's pprof, Prometheus. Those that Debian and npm
# have; with FLEET_NETWORK also ClickHouse, which is large, and what Python's index has; the others are
# in tests/fleet/backends.
set -uo pipefail
. tests/fleet/lib.bash

# A busy host with a service that is known, one program by process, and one with callers.
profiles() {
	"$three" 3000 >/dev/null &
	"$bin" attach -q --force --all --split cgroup --duration 2 -o all.json
	wait $!
	"$bin" run -q --force --split process -o three.json "$three" 500 >/dev/null
	"$bin" run -q --force --callers -F 997 -o stacks.json "$BUILD_DIR/tests/live/workloads/callers" deep 1500 >/dev/null
}

exports() {
	local profile=$1 detail=$2

	"$bin" export --format otlp --detail "$detail" -o "$profile.pb" "$profile.json" 2>messages &&
		"$bin" export --format clickhouse --detail "$detail" -o "$profile.jsonl" \
			"$profile.json" 2>messages
}

tables() {
	local profile detail

	for profile in all three stacks; do
		for detail in address line function; do
			exports $profile $detail
			verdict $? "${profile}_${detail}_exports"
			if [ -n "${FLEET_NETWORK:-}" ]; then
				python/bin/python "$here/otlp.py" $profile.json $profile.pb
				verdict $? "${profile}_${detail}_otlp"
				node "$here/clickhouse.mjs" "$bin" $profile.json $profile.jsonl
				verdict $? "${profile}_${detail}_clickhouse"
			fi
			node "$here/duckdb.mjs" $profile.json $profile.jsonl
			verdict $? "${profile}_${detail}_duckdb"
		done
	done
}

prometheus_ready() {
	curl -sf "http://127.0.0.1:$1/-/ready"
}

# Whether Prometheus has what is compared: three values of the ticks, and an answer of each kind from the gRPC
# server. How long that takes depends on the duty, which the agent chooses by what a tick costs here.
prometheus_has_enough() {
	curl -sfG "http://127.0.0.1:$1/api/v1/query" --data-urlencode "query=
		count(changes(bpfprofil_ticks_seen_total[2m]) >= 2) ==
		count(count by (code) (bpfprofil_exports_total{code=~'grpc-(0|8|14)'} > 0)) / 3" |
		grep -q '"value"'
}

# agent_asked: while it delivers by gRPC and into a folder, at a duty that changes with each profile,
# Prometheus and go's pprof ask.
agent_asked() {
	local grpc listen prometheus server agent asker busy

	grpc=$(free_port) listen=$(free_port) prometheus=$(free_port)
	rm -rf files requests data scraped.pb.gz
	mkdir files
	printf '%s\n' 'global: {scrape_interval: 500ms}' 'scrape_configs:' \
		"- {job_name: bpfprofil, static_configs: [{targets: ['127.0.0.1:$listen']}]}" >prometheus.yml
	start node "$here/grpc.mjs" "$grpc" requests 2048
	server=$pid
	start prometheus --config.file=prometheus.yml --storage.tsdb.path=data --log.level=error \
		--web.listen-address="127.0.0.1:$prometheus"
	asker=$pid
	until_true prometheus_ready "$prometheus"
	verdict $? prometheus_starts
	start "$three" 200000 >/dev/null
	busy=$pid
	start "$bin" agent -q --interval 2 --top-functions 1000 --dir files --otlp "grpc://127.0.0.1:$grpc" \
		--listen "$listen" --insecure-listen 2>messages
	agent=$pid
	until_true curl -sf "http://127.0.0.1:$listen/healthz"
	PATH=/usr/bin:$PATH go tool pprof -proto -output=scraped.pb.gz \
		"http://127.0.0.1:$listen/debug/pprof/profile?seconds=3" >pprof.out 2>&1 &&
		PATH=/usr/bin:$PATH go tool pprof -raw scraped.pb.gz >raw 2>>pprof.out
	verdict $? go_pprof
	until_true prometheus_has_enough "$prometheus"
	verdict $? prometheus_scrapes
	curl -sf "http://127.0.0.1:$listen/metrics" | promtool check metrics
	verdict $? promtool
	curl -sf -H 'Accept: application/openmetrics-text' "http://127.0.0.1:$listen/metrics" |
		tail -n 1 | grep -qx '# EOF'
	verdict $? openmetrics
	end "$agent"
	verdict $? agent_ends
	end "$busy"
	python3 "$here/prometheus.py" "$prometheus" files "$here/../../user/grafana/prometheus.promql"
	verdict $? prometheus
	python3 "$here/raw.py" raw
	verdict $? go_pprof_sums
	end "$asker"
	end "$server"
	grep -q 'gRPC status 14: not yet; trying again' messages
	verdict $? grpc_later
	if [ -n "${FLEET_NETWORK:-}" ]; then
		python/bin/python "$here/totals.py" requests files messages
		verdict $? grpc
	fi
}

duties_are() {
	[ "$(find duties -name '*.gz' | wc -l)" -ge "$1" ]
}

cgroup_mounts() {
	awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/mounts
}

# in_service NAME: a program in a control group of its own, whose CPU time the kernel tells. The group is
# in all hierarchies, for the agent chooses one.
in_service() {
	local group=/fleet-$1-$$ mount usec

	# shellcheck disable=SC2016 # the inner shell's
	sh -c 'for mount in $1; do
			mkdir "$mount$2" && echo $$ >"$mount$2/cgroup.procs"
		done 2>/dev/null
		exec "$3" 15000 >/dev/null' sh "$(cgroup_mounts)" "$group" "$three"
	for mount in $(cgroup_mounts); do
		usec=$(sed -n 's/^usage_usec //p' "$mount$group/cpu.stat" 2>/dev/null)
		[ -z "$usec" ] || echo "$group $usec" >>cpu.stats
		rmdir "$mount$group"
	done
	grep -q "^$group " cpu.stats
}

# duties: what an agent delivers at two of them, so that a tick of the early service stands for less than one
# of the late.
duties() {
	local agent status=0

	rm -rf duties cpu.stats && mkdir duties
	start_agent --interval 2 --dir duties
	until_true duties_are 1
	in_service early || status=1
	lower_duty
	until_true duty_is_lower duties
	in_service late || status=1
	end "$agent" || status=1
	return $status
}

# Each rule of Prometheus is true of one host and not of another.
rules() {
	cp "$here/../../user/prometheus/rules.yaml" "$here/rules.test.yaml" . &&
		promtool check rules rules.yaml && promtool test rules rules.test.yaml
}

# The queries of the kernel and of releases are those that the test of the rules asks.
queries_of_releases() {
	local query nr=0

	while read -r query; do
		grep -qF -e "- expr: $query" "$here/rules.test.yaml" || return 1
		nr=$((nr + 1))
	done < <(grep -e '^[^#].*kernel' -e '^[^#].*image' "$here/../../user/grafana/questions.promql")
	[ $nr = 3 ]
}

# The browser is one of the packages that the tests need.
speedscope() {
	if ! command -v chromium >/dev/null; then
		echo "SKIP fleet::speedscope: no chromium in PATH"
		return
	fi
	python3 -B "$here/speedscope.py" "$bin" stacks.json
	verdict $? speedscope
}

# shipped: what is under user/ for those who run it.
shipped() {
	rules
	verdict $? rules
	queries_of_releases
	verdict $? queries_of_releases
	if [ -n "${FLEET_NETWORK:-}" ]; then
		duties && node "$here/grafana.mjs" "$bin" duties cpu.stats
		verdict $? grafana
	fi
	node "$here/kubernetes.mjs" "$here"/../../user/kubernetes/{,operator/}*.yaml
	verdict $? kubernetes
}

# Whoever asked for the network wants to know that it is not there.
if ! fetch && [ -z "${FLEET_NETWORK:-}" ]; then
	echo "SKIP fleet::consumers: npm's registry does not answer"
	exit 77
fi
[ -d node_modules/speedscope ] # The last of them is there once all are.
verdict $? fetch
if [ -n "${FLEET_NETWORK:-}" ]; then
	fetch_messages
	verdict $? fetch_messages
fi
profiles
verdict $? profiles
tables
speedscope
shipped
agent_asked
exit $script_status
