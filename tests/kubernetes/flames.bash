# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# shellcheck disable=SC2154 # variables of env.bash and agent.bash
#
# Flame graphs of a pod, as two backends have them: a Collector in the cluster, and Parca at the node's address.

start_parca() {
	printf 'object_storage: {bucket: {type: FILESYSTEM, config: {directory: %s}}}\n' "$run/parca" >"$work/parca.yaml"
	start_inside parca "$BUILD_DIR/fleet/parca/parca" --http-address="$ip:7070" --config-path="$work/parca.yaml"
	until_true 60 in_node curl -sf "http://$ip:7070/metrics"
}

# flames: of each pod of web, whose functions and their callers are known (pod.c).
flames() {
	local begin pod

	start_parca
	verdict $? parca
	install_agent --set callers=true,duty=100,interval=20s --set "sinks.parca={http://$ip:7070}"
	verdict $? callers
	begin=$(date +%s)
	sleep 90
	pod=$(kubectl -n shop get pods -l app=web -o 'jsonpath={.items[0].metadata.name}')
	judged in_node python3 "$here/flames.py" "$out/profiles.json" "$ip:7070" "$pod" "$begin"
}
