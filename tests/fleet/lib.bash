# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# shellcheck disable=SC2034 # the variables are the scripts'
#
# For scripts that have consumers read our profiles: what to run, what they are made of, and a verdict
# a line. They work in BUILD/fleet, where what was fetched stays.

here=$(readlink -f tests/fleet)
bin=${BUILD_DIR:?}/bpfprofil
three=$BUILD_DIR/tests/live/workloads/three
script_status=0
started=()
export PATH=$PATH:/usr/sbin NO_COLOR=1
mkdir -p "$BUILD_DIR/fleet"
cd "$BUILD_DIR/fleet" || exit 1
trap 'end_all' EXIT

# verdict STATUS NAME
verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS fleet::$2"
	else
		echo "FAIL fleet::$2: status $1"
		script_status=1
	fi
}

# What npm has, in these versions. ClickHouse, in process, has 540 MB: FLEET_NETWORK says that it is wanted.
fetch() {
	# The last of them is there once all are.
	[ -d node_modules/speedscope ] ||
		npm install --silent --no-fund --no-audit --prefix . @grpc/grpc-js@1.14.7 \
			@duckdb/node-api@1.5.6-r.1 kubernetes-models@5.1.0 \
			@kubernetes-models/prometheus-operator@6.0.0 yaml@2.8.1 speedscope@1.25.0 || return
	[ -z "${FLEET_NETWORK:-}" ] || [ -d node_modules/chdb ] ||
		npm install --silent --no-fund --no-audit --prefix . chdb@3.4.0
}

# OpenTelemetry's own messages, which Python's index has: FLEET_NETWORK says that it may be asked.
fetch_messages() {
	[ -x python/bin/python ] || python3 -m venv python || return
	python/bin/python -c 'import opentelemetry.proto.collector.profiles' 2>/dev/null ||
		python/bin/pip install -q --disable-pip-version-check opentelemetry-proto==1.45.2
}

free_port() {
	"$here/../lib/free_port"
}

# start COMMAND...: in the background, as $pid, ended with the script at the latest.
start() {
	"$@" &
	pid=$!
	started+=("$pid")
}

# start_agent OPTION...: as $agent. Then lower_duty: from there on a tick stands for four times as much. At
# its defaults the agent changes the duty itself, but not on every host, and not at a known time.
start_agent() {
	echo 'duty = 100' >agent.conf
	start "$bin" agent -q --config agent.conf "$@" 2>messages
	agent=$pid
}

lower_duty() {
	echo 'duty = 25' >agent.conf
}

# duty_is_lower FOLDER: the agent that read its file anew has delivered: between the two nothing is sampled.
duty_is_lower() {
	zgrep -q '"duty_percent": 25' "$1"/*.gz
}

# end PID: and waits for it; its status.
end() {
	kill "$1" 2>/dev/null
	wait "$1"
}

end_all() {
	[ ${#started[@]} -eq 0 ] || kill -9 "${started[@]}" 2>/dev/null
	wait "${started[@]}" 2>/dev/null
	started=()
}

# until_true COMMAND...: until it is, for a minute at most.
until_true() {
	local i

	for ((i = 0; i < 300; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	return 1
}
