# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# shellcheck disable=SC2154 # variables of env.bash and agent.bash
#
# An agent that is restarted in five ways while Prometheus asks it. $BETWEEN is how many seconds lie between two
# of them: with 300 it takes half an hour.

between=${BETWEEN:-40}

# agent_group HIERARCHY: the folder of its container there.
agent_group() {
	find "$1/$root" -type d -name "$(of_agent '.status.containerStatuses[0].containerID' | sed 's|.*/||')"
}

restart_count() {
	of_agent '.status.containerStatuses[0].restartCount'
}

# restarted_since COUNT
restarted_since() {
	[ "$(restart_count)" -gt "$1" ] && agent_started
}

# agent_process: its helpers are in the same group.
agent_process() {
	local pid

	while read -r pid; do
		[ "$(cat "/proc/$pid/comm")" != bpfprofil ] || echo "$pid"
	done <"$(agent_group "$unified")/cgroup.procs"
}

# kill_agent: as nobody can prepare for.
kill_agent() {
	local before

	before=$(restart_count)
	kill -KILL "$(agent_process)" && until_true 120 restarted_since "$before"
}

# lower_limit: of the running container, to what cannot be given back and a little. Version 1 takes no limit
# below what is used, and begins to kill when more is wanted, as for the next profile.
lower_limit() {
	local group cache

	group=$(agent_group "$unified")
	if [ -e "$group/memory.max" ]; then
		echo 1M >"$group/memory.max"
		return
	fi
	group=$(agent_group /sys/fs/cgroup/memory)
	cache=$(awk '/^total_(in)?active_file / { sum += $2 } END { print sum }' "$group/memory.stat")
	echo $(($(cat "$group/memory.usage_in_bytes") - cache + 4096)) >"$group/memory.limit_in_bytes"
	asked '/debug/pprof/profile?seconds=1' >/dev/null
}

was_killed_for_memory() {
	[ "$(of_agent '.status.containerStatuses[0].lastState.terminated.reason')" = OOMKilled ]
}

# starve_agent: until the kernel has killed it for memory; it starts anew with the limit of its pod.
starve_agent() {
	local before

	before=$(restart_count)
	until_true 240 lower_limit_kills "$before" && until_true 120 restarted_since "$before" && was_killed_for_memory
}

lower_limit_kills() {
	lower_limit
	[ "$(restart_count)" -gt "$1" ] || was_killed_for_memory
}

# reload_agent: as kubelet shows a changed ConfigMap.
reload_agent() {
	upgrade_agent --set topFunctions=10 && until_true 120 agent_has_functions
}

# note_restart WHAT: with how long nothing was sampled, and how much of the last profile was lost with it.
note_restart() {
	until_true 120 is_ready True && tell_prometheus
	verdict $? "restart_by_$1"
	if [[ $1 = SIGKILL || $1 = memory ]]; then
		agent_logged 'the last one was killed'
		verdict $? "$1_reported"
		sed -n 's/.*was killed: .* ticks of \(.*\) s are in no profile/\1/p' "$work/agent.log" >>"$work/killed"
	fi
	echo "  not sampled until now: $(figure bpfprofil_unsampled_seconds_total) s"
	sleep "$between"
}

# restarts: with a table of what each source counted meanwhile.
restarts() {
	local begin

	rm -f "$work/killed"
	kubectl -n shop rollout status deployment/web --timeout=120s >/dev/null
	sleep "$between"
	begin=$(date +%s)
	sleep 20
	run_pods rollout=3000x4
	sleep 4
	restart_agent
	note_restart rollout
	delete_agent
	note_restart deletion
	kill_agent
	note_restart SIGKILL
	starve_agent
	note_restart memory
	reload_agent
	note_restart reload
	jobs_end rollout
	judged in_node python3 "$here/restarts.py" "$ip:9090" "$out/profiles.json" "$logs/stats.log" "$work/killed" \
		"$begin" "$(date +%s)"
}
