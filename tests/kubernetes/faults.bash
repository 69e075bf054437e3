# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# shellcheck disable=SC2154 # variables of env.bash and agent.bash
#
# What operators do wrong, and what a node lacks: how kubectl, helm and the agent say so, and that nothing is lost
# by it. Profiles come each 10 s, so that each step takes seconds.

often=(--set interval=10s)
guard_url=http://$ip:4320

# helm_refuses: an option that the agent has not, or a value that it does not take, before anything is installed.
helm_refuses() {
	! shown helm install second "$chart" -n bpfprofil --set config.no-such-key=3 --set interval=often &&
		! shown helm upgrade bpfprofil-agent "$chart" -n bpfprofil --set config.detail=lines &&
		[ "$(helm list -n bpfprofil -q)" = bpfprofil-agent ]
}

# add_line LINE: to the ConfigMap, as somebody edits it.
add_line() {
	kubectl "${agents[@]}" get configmap bpfprofil-agent -o json |
		python3 -c 'import json, sys; map = json.load(sys.stdin)
map["data"]["agent.conf"] += "\n" + sys.argv[1] + "\n"; print(json.dumps(map))' "$1" |
		kubectl apply -f - >/dev/null 2>&1
}

says_wrong_key() {
	agent_says "^config: .*unknown option '--no-such-key'" && is_figure bpfprofil_config_ok 0.000
}

# delivers_on: another profile is accepted, under the options that were in force.
delivers_on() {
	local before

	before=$(figure bpfprofil_export_ticks_total)
	until_true 60 delivered_more_than "$before" && agent_has_functions
}

delivered_more_than() {
	awk -v now="$(figure bpfprofil_export_ticks_total)" -v before="$1" 'BEGIN { exit !(now > before) }'
}

# wrong_key: a ConfigMap that is wrong makes the pod unready and says why, also behind a restart; the former
# options are in force.
wrong_key() {
	install_agent "${often[@]}" --set topFunctions=10 && until_true 180 agent_has_functions &&
		add_line 'no-such-key = 3' && until_true 180 says_wrong_key && until_true 60 is_ready False &&
		shown cat "$work/answer" && shown kubectl "${agents[@]}" get pods && delivers_on >/dev/null &&
		delete_agent && until_true 120 says_wrong_key && delivers_on >/dev/null &&
		agent_logged 'using the last options that worked' && shown cat "$work/agent.log" &&
		! shown kubectl "${agents[@]}" rollout status daemonset/bpfprofil-agent --timeout=15s &&
		upgrade_agent "${often[@]}" --set topFunctions=10 && until_true 180 is_ready True
}

# wrong_host: a URL of a host that is not there; the agents read it as they run.
wrong_host() {
	upgrade_agent "${often[@]}" --set 'sinks.otlp={http://nowhere.observability.svc.cluster.local:4318}' &&
		until_true 180 agent_says 'nowhere.*has accepted nothing yet: .' && until_true 60 is_ready False &&
		shown cat "$work/answer" && shown kubectl "${agents[@]}" get daemonset
}

# wrong_path: which the Collector does not have, in a release that is rolled out.
wrong_path() {
	upgrade_agent "${often[@]}" --set "sinks.otlp={$collector_url/nowhere}" &&
		kubectl "${agents[@]}" rollout restart daemonset/bpfprofil-agent >/dev/null &&
		until_true 180 agent_says '/nowhere: refuses: HTTP 404' && something_waits && shown cat "$work/answer" &&
		agent_logged 'HTTP 404' && ! shown kubectl "${agents[@]}" rollout status daemonset/bpfprofil-agent --timeout=15s &&
		install_agent "${often[@]}" --set config.old-spools=send && until_true 120 nothing_waits
}

# set_token TOKEN: in the Secret.
set_token() {
	kubectl "${agents[@]}" create secret generic backend --from-literal=token="$1" --dry-run=client -o yaml |
		kubectl apply -f - >/dev/null
}

# expired_token: what a backend refuses for its token waits, over a restart too, until the Secret is renewed.
expired_token() {
	local undelivered

	echo former >"$work/token"
	start_inside guard python3 "$here/guard.py" "$ip" 4320 "http://$ip:4318" "$work/token"
	set_token former
	undelivered=$(figure bpfprofil_undelivered_ticks_total)
	install_agent "${often[@]}" --set "sinks.otlp={$guard_url}" --set secrets.token.name=backend,secrets.token.key=token &&
		echo renewed >"$work/token" && run_pods token=300x3 && jobs_end token &&
		until_true 60 agent_says 'refuses: HTTP 401.*profiles that wait: ' && until_true 60 is_ready False &&
		shown cat "$work/answer" && shown kubectl "${agents[@]}" get pods && delete_agent &&
		run_pods token-on=300x3 && jobs_end token-on &&
		until_true 60 agent_says 'refuses: HTTP 401.*profiles that wait: ' && agent_logged 'or when the token changes' &&
		shown cat "$work/agent.log" && something_waits && set_token renewed && until_true 150 nothing_waits &&
		until_true 60 is_ready True && shown asked /readyz && is_figure bpfprofil_undelivered_ticks_total "$undelivered"
}

# full_disk: what waits is in memory then, and nothing is lost while the agent runs.
full_disk() {
	local small=$run/small undelivered

	in_node mkdir "$small" && in_node mount -t tmpfs -o size=512k,mode=755 small "$small" &&
		install_agent "${often[@]}" --set spool.path="$small" && collector 0 &&
		! in_node dd if=/dev/zero of="$small/filler" bs=4k status=none 2>/dev/null &&
		undelivered=$(figure bpfprofil_undelivered_ticks_total) && run_pods disk=300x3 && jobs_end disk &&
		until_true 60 agent_says 'the spool is full: they wait in memory' && shown cat "$work/answer" &&
		is_figure bpfprofil_spool_ok 0.000 && agent_logged small && shown cat "$work/agent.log" && is_ready True &&
		sleep 20 && something_waits && collector 1 && until_true 120 nothing_waits &&
		is_figure bpfprofil_undelivered_ticks_total "$undelivered" && in_node rm "$small/filler" &&
		until_true 60 is_figure bpfprofil_spool_ok 1.000
}

# another_node: of another kind of CPU, for the API alone, and a DaemonSet that is wanted on each.
another_node() {
	printf '%s\n' 'apiVersion: v1' 'kind: Node' 'metadata:' '  name: node-arm64' \
		'  labels: {kubernetes.io/arch: arm64, kubernetes.io/os: linux}' '---' \
		'apiVersion: apps/v1' 'kind: DaemonSet' 'metadata: {name: everywhere, namespace: shop}' 'spec:' \
		'  selector: {matchLabels: {app: everywhere}}' '  template:' '    metadata: {labels: {app: everywhere}}' \
		'    spec: {containers: [{name: main, image: "localhost/pod:1"}], tolerations: [{operator: Exists}]}' |
		kubectl apply -f - >/dev/null
}

# wanted NAMESPACE NAME NUMBER: a DaemonSet on so many nodes.
wanted() {
	[ "$(kubectl -n "$1" get daemonset "$2" -o 'jsonpath={.status.desiredNumberScheduled}')" = "$3" ]
}

# other_arch: a node that others are wanted on is wanted no agent on.
other_arch() {
	local result

	another_node && until_true 60 wanted shop everywhere 2 && shown kubectl get nodes -L kubernetes.io/arch &&
		shown kubectl get daemonset -A && wanted bpfprofil bpfprofil-agent 1
	result=$?
	kubectl -n shop delete daemonset everywhere >/dev/null
	kubectl delete node node-arm64 >/dev/null
	return $result
}

# without_logs: kubelet's folders of names are forgotten. No backend gets what has no names.
without_logs() {
	# shellcheck disable=SC2016 # kubectl reads it
	local patch='{"spec": {"template": {"spec": {"containers": [
		{"name": "agent", "volumeMounts": [{"mountPath": "/var/log", "$patch": "delete"}]}]}}}}'

	upgrade_agent --set sinks.otlp=null &&
		kubectl "${agents[@]}" patch daemonset bpfprofil-agent -p "$patch" >/dev/null && rolled_out &&
		until_true 60 agent_says '^names: pods have none' && agent_logged 'there is no /var/log/pods$' &&
		kubectl "${agents[@]}" exec "$(agent_pod)" -- /usr/bin/bpfprofil doctor >"$work/doctor.log" 2>&1 &&
		grep -q 'there is no /var/log/pods: pods have no names$' "$work/doctor.log"
}
