# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes tables of the windows that `servers` recorded; see grid.awk: what each part of the host has
# in the profile, relative to what it really had. The script's own loads come first, in their order,
# because windows may have been added in any order.

BEGIN {
	loads = split(every, order, " ")
	for (i = 1; i <= loads; i++)
		seen[order[i]] = 1
}

function compare(part, given) {
	key = load SUBSEP tool SUBSEP part
	if (given <= 0)
		return
	if (tool != "perf")
		add("seconds", key, found[part, "cpu_ns"] / given)
	add("ticks", key, found[part, "tick_ns"] / given)
	add("given", load SUBSEP part, given / 1e9)
}

# What belongs neither to the profiler nor to server and clients.
function find_rest(what) {
	found["rest", what] = field[what] - field["server_" what] - field["clients_" what] - \
		field["profiler_" what]
	found["server", what] = field["server_" what]
	found["clients", what] = field["clients_" what]
}

$1 == "window" {
	load = field["load"]
	tool = field["tool"]
	if (!(load in seen)) {
		seen[load] = 1
		order[++loads] = load
	}
	tried[load] = 1
	find_rest("cpu_ns")
	find_rest("tick_ns")
	compare("server", field["server"])
	compare("clients", field["clients"])
	if (host)
		compare("rest", field["host"] - field["server"] - field["clients"])
	add("steal", "all", field["steal"] / 10)
}

function part_row(load, part,   by_process, by_cgroup) {
	by_process = load SUBSEP "process" SUBSEP part
	by_cgroup = load SUBSEP "cgroup" SUBSEP part
	row(load "|" part "|" cell("given", load SUBSEP part) "|" cell("seconds", by_process) "|" \
	    cell("seconds", by_cgroup) "|" cell("ticks", by_process) "|" cell("ticks", by_cgroup) "|" \
	    cell("ticks", load SUBSEP "perf" SUBSEP part))
}

END {
	row("server and clients|of|had, s|SECONDS, --split process|SECONDS, --split cgroup|" \
	    "TICKS x period, process|TICKS x period, cgroup|perf record -a, samples x period")
	for (i = 1; i <= loads; i++) {
		if (!(order[i] in tried))
			continue
		part_row(order[i], "server")
		part_row(order[i], "clients")
		part_row(order[i], "rest")
	}
	flush_grid()
	print "- a hypervisor held back " cell("steal", "all") " % of the CPUs' time meanwhile"
}
