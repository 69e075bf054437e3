# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes tables of the windows that `run` recorded; see grid.awk.

$1 == "window" {
	windows++
	retried += field["retries"] > 0
	disturbed += field["held_ns"] <= 0.95 * field["elapsed_ns"]
}

field["status"] != 0 { failed[field["tool"]]++ }

$1 == "window" && field["tool"] == "none" {
	bare[field["round"], field["group"]] = field["calls"] / field["held_ns"]
	groups[field["round"]] = field["group"]
}

$1 == "window" && field["tool"] != "none" && field["status"] == 0 {
	id = field["round"] SUBSEP field["group"] SUBSEP field["tool"]
	kind[id] = field["tool"] SUBSEP field["hz"]
	speed[id] = field["calls"] / field["held_ns"]
	if (field["runs"] > 0)
		gross[id] = field["run_ns"] / field["runs"]
	keep_costs(kind[id])
}

function keep_costs(key) {
	if (field["tool"] == "empty")
		return
	add("cpu", key, field["cpu_window_ns"] / (window_ns() / 100))
	add("total", key, field["cpu_total_ns"] / 1e6)
	add("peak", key, field["peak_kib"] / 1024)
	add("maps", key, field["maps_kib"] / 1024)
	add("bytes", key, field["bytes"] / 1024)
	add_misses("miss", key)
}

function add_misses(metric, key) {
	if (field["hits"] + field["misses"] > 0)
		add(metric, key, 100 * field["misses"] / (field["hits"] + field["misses"]))
}

$1 == "taken" && field["status"] == 0 {
	share = 100 * field["taken_ns"] * field["tick_hz"] / 1e9
	if (field["tool"] == "none") {
		untaken[field["round"]] += share
		untaken_nr[field["round"]]++
		add("noise", "none", share)
	} else {
		taken[field["round"], field["tool"]] = share
		add("rate", field["tool"], field["hz"])
	}
}

# Every thread's window has the same length.
function window_ns() {
	return field["elapsed_ns"] / threads()
}

function threads() {
	return field["threads"] > 0 ? field["threads"] : 1
}

# Figures that need other windows of the same round: the empty program at the same rate, and the
# bare workload before and after.
function pair_up(   id, part, floor, idle) {
	for (id in kind) {
		split(id, part, SUBSEP)
		floor = part[1] SUBSEP part[2] SUBSEP "empty"
		if (id in gross) {
			add("gross", kind[id], gross[id])
			if (floor in gross && part[3] != "empty")
				add("net", kind[id], gross[id] - gross[floor])
		}
		idle = (bare[part[1], part[2]] + bare[part[1], part[2] + 1]) / 2
		if (idle > 0)
			add("slow", kind[id], 100 * (1 - speed[id] / idle))
	}
}

# What the slowdown column shows if nothing slows the workload down.
function noise(   round, g, mean) {
	for (round in groups)
		for (g = 0; g < groups[round]; g++) {
			mean = (bare[round, g] + bare[round, g + 1]) / 2
			add("slow", "none", 100 * (1 - bare[round, g] / mean))
		}
}

function cost_row(hz, tool,   key) {
	key = tool SUBSEP hz
	if (count["slow", key])
		row(hz "|" name[tool] "|" cell("net", key) "|" cell("gross", key) "|" \
		    cell("slow", key) "|" cell("cpu", key) "|" cell("total", key) "|" \
		    cell("peak", key) "|" cell("maps", key) "|" cell("bytes", key))
}

function cost_table(   n, m, i, j, hz, tool) {
	row("Hz|profiler|handler, ns net|ns gross|workload slower, %|CPU sampling, % of a core|" \
	    "CPU in all, ms|peak RSS, MiB|maps, MiB|written, KiB")
	row("-|none (noise)|-|-|" cell("slow", "none") "|-|-|-|-|-")
	n = split(rates, hz, " ")
	m = split(tools, tool, " ")
	for (i = 1; i <= n; i++)
		for (j = 1; j <= m; j++)
			cost_row(hz[i], tool[j])
	flush_grid()
}

# Net of the mean of the windows without a profiler in the same round.
function taken_table(   id, part, tool, n, j) {
	for (id in taken) {
		split(id, part, SUBSEP)
		if (untaken_nr[part[1]])
			add("taken", part[2], taken[id] - untaken[part[1]] / untaken_nr[part[1]])
	}
	row("taken from a program that reads the clock|Hz|% of each CPU; below: more than that")
	row("without a profiler|-|" cell("noise", "none"))
	n = split(tools " budget-0.5 budget-1 budget-5", tool, " ")
	for (j = 1; j <= n; j++)
		if (count["taken", tool[j]])
			row(name[tool[j]] "|" cell("rate", tool[j]) "|" cell("taken", tool[j]))
	flush_grid()
}

function remarks(   n, i, hz, key, tool) {
	n = split(rates, hz, " ")
	for (i = 1; i <= n; i++) {
		key = "bpfprofil" SUBSEP hz[i]
		if (count["miss", key])
			print "- translation misses at " hz[i] " Hz, start included: " cell("miss", key) " %"
	}
	if (retried + disturbed > 0)
		print "- the host was busy: " retried " of " windows " windows repeated, in " \
			disturbed + 0 " the workload still had less than 95 % of its CPUs"
	for (tool in failed)
		print "- " tool " ended with an error in " failed[tool] " runs, left out"
}

END {
	name["empty"] = "empty BPF program"
	name["bpfprofil"] = "bpfprofil run"
	name["tick"] = "bpfprofil run --source tick"
	name["budget-0.5"] = "bpfprofil run --budget 0.5"
	name["budget-1"] = "bpfprofil run --budget 1"
	name["budget-5"] = "bpfprofil run --budget 5"
	pair_up()
	noise()
	cost_table()
	taken_table()
	remarks()
}
