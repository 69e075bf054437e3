# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# shellcheck disable=SC2154,SC2034 # variables of env.bash, and of check
#
# How `check` installs the agent and a Collector by helm and kubectl, and what it asks them.

chart=$here/../../user/kubernetes/chart
out=$work/out words=$work/words
passed=0 failed=0 node=
agents=(-n bpfprofil)
selected=("${agents[@]}" -l app.kubernetes.io/name=bpfprofil-agent)
collector_url=http://collector.observability.svc.cluster.local:4318

verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS kubernetes::$2"
		passed=$((passed + 1))
	else
		echo "FAIL kubernetes::$2: status $1"
		failed=$((failed + 1))
	fi
}

# judged COMMAND...: which prints verdicts itself.
judged() {
	local said

	said=$("$@" 2>&1) || grep -q '^FAIL ' <<<"$said" || said+=$'\n'"FAIL kubernetes::judged: ended early: $*"
	echo "$said"
	passed=$((passed + $(grep -c '^PASS ' <<<"$said")))
	failed=$((failed + $(grep -c '^FAIL ' <<<"$said")))
}

helm() {
	in_node "$bin/helm" "$@" 9>&-
}

# shown COMMAND...: what a user sees of it.
shown() {
	echo "  \$ ${*//$chart/user/kubernetes/chart}"
	"$@" 2>&1 | sed 's/^/    /'
	return "${PIPESTATUS[0]}"
}

start_collector() {
	kubectl create namespace observability >/dev/null &&
		kubectl -n observability create configmap otelcol --from-file="$PWD/user/otelcol/otelcol.yaml" >/dev/null &&
		sed -e "s|@OUT@|$out|" -e "s|@IP@|$ip|" "$here/collector.yaml" | kubectl apply -f - >/dev/null &&
		until_true 120 collectors 1
}

# collector NUMBER: so many of it from now on.
collector() {
	kubectl -n observability scale deployment/collector --replicas="$1" >/dev/null && until_true 120 collectors "$1"
}

# collectors NUMBER: so many are ready, and no other one is there.
collectors() {
	[ "$(kubectl -n observability get pods -l app=collector \
		-o 'jsonpath={.items[*].status.containerStatuses[0].ready}')" = "$([ "$1" = 0 ] || echo true)" ]
}

# upgrade_agent OPTION...: without waiting for it.
upgrade_agent() {
	if ! helm upgrade --install bpfprofil-agent "$chart" -n bpfprofil --timeout 180s --history-max 0 \
		--set "sinks.otlp={$collector_url}" "$@" >"$work/helm.log" 2>&1; then
		cat "$work/helm.log"
		return 1
	fi
}

# install_agent OPTION...: and waits itself, because helm takes as many nodes as may be unavailable for ready.
install_agent() {
	upgrade_agent "$@" && rolled_out
}

# rolled_out: before three minutes are over.
rolled_out() {
	kubectl "${agents[@]}" rollout status daemonset/bpfprofil-agent --timeout=180s >/dev/null
}

restart_agent() {
	kubectl "${agents[@]}" rollout restart daemonset/bpfprofil-agent >/dev/null && rolled_out
}

delete_agent() {
	kubectl "${agents[@]}" delete "$(agent_pod)" >/dev/null && until_true 120 agent_started
}

# agent_pod: the newest that runs, as one that ends may take its time.
agent_pod() {
	kubectl "${selected[@]}" get pods --field-selector=status.phase=Running --sort-by=.metadata.creationTimestamp \
		-o name | tail -n 1
}

# of_agent PATH: of the pod.
of_agent() {
	kubectl "${agents[@]}" get "$(agent_pod)" -o "jsonpath={$1}"
}

# agent_started: it samples, whether or not a backend has taken anything.
agent_started() {
	[ "$(of_agent '.status.containerStatuses[0].started')" = true ]
}

# is_ready WORD: True or False, as the API has it.
is_ready() {
	[ "$(of_agent '.status.conditions[?(@.type=="Ready")].status')" = "$1" ]
}

run_pods() {
	python3 "$here/pods.py" "$words" "$unified" "$@" | kubectl apply -f - >/dev/null
}

# jobs_end NAME...: they are deleted then, and so are their pods.
jobs_end() {
	until_true 300 no_jobs "$@"
}

no_jobs() {
	local left

	left=$(kubectl -n shop get jobs -o name) && ! grep -qE "/($(IFS='|'; echo "$*"))$" <<<"$left"
}

# asked PATH: the agent, by port-forward, because the API server's proxy shows no answer that is an error.
asked() {
	rm -f "$work/answer"
	in_node timeout 10 "$bin/kubectl" "${agents[@]}" port-forward "$(agent_pod)" 9464 >"$work/forward.log" 2>&1 9>&- &
	local forward=$!
	until_true 8 in_node curl -s -o "$work/answer" "http://127.0.0.1:9464$1"
	kill "$forward" 2>/dev/null
	wait "$forward"
	cat "$work/answer"
}

# agent_says WHAT: in /readyz.
agent_says() {
	asked /readyz | grep -q -e "$1"
}

# figure NAME [LABELS]: the sum of a metric of the agent, by way of the API server.
figure() {
	kubectl get --raw "/api/v1/namespaces/bpfprofil/pods/$(of_agent .metadata.name):9464/proxy/metrics" |
		awk -v name="$1" -v labels="${2:-}" '
		$1 ~ "^" name "({|$)" && index($1, labels) { sum += $NF; found = 1 }
		END { if (found) printf "%.3f\n", sum; exit !found }'
}

# is_figure NAME VALUE
is_figure() {
	[ "$(figure "$1")" = "$2" ]
}

nothing_waits() {
	is_figure bpfprofil_pending_ticks 0.000
}

something_waits() {
	[[ $(figure bpfprofil_pending_ticks) =~ [1-9] ]]
}

# agent_has_functions: as topFunctions, which it reads as it runs, is in force.
agent_has_functions() {
	figure bpfprofil_function_cpu_seconds_total
}

agent_logged() {
	kubectl "${agents[@]}" logs "$(agent_pod)" >"$work/agent.log" && grep -q -e "$1" "$work/agent.log"
}

# start_inside NAME COMMAND...: in the node, until it ends.
start_inside() {
	start "$1" nsenter -t "$(cat "$run/ns.pid")" -m -n -u -- "${@:2}"
}

# tell_prometheus: where the agent is now.
tell_prometheus() {
	printf '[{"targets": ["%s:9464"], "labels": {"__meta_kubernetes_pod_node_name": "%s", %s, "pod": "%s"}}]\n' \
		"$(of_agent .status.podIP)" "$node_name" \
		'"namespace": "bpfprofil", "container": "agent"' "$(of_agent .metadata.name)" >"$work/targets.new" &&
		mv "$work/targets.new" "$work/targets.json"
}

# start_prometheus: it asks the agent as the PodMonitor has it asked, and kubelet's cadvisor.
start_prometheus() {
	sed -e "s|@TARGETS@|$work/targets.json|" -e "s|@IP@|$ip|" -e "s|@RULES@|$PWD/user/prometheus/rules.yaml|" \
		"$here/prometheus.yml" >"$work/prometheus.yml"
	tell_prometheus
	start_inside prometheus prometheus --config.file="$work/prometheus.yml" \
		--storage.tsdb.path="$run/prometheus" --web.listen-address="$ip:9090" --log.level=warn
}
