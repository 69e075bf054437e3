# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes tables of the windows that `all` recorded; see grid.awk. A handler's figure is net of the
# empty program under the same load in the same round.

field["status"] != 0 { failed[field["tool"]]++; next }

field["tool"] == "none" {
	bare[field["round"]] += field["calls"] / field["held_ns"] / 2
	next
}

{
	id = field["round"] SUBSEP field["load"] SUBSEP field["tool"]
	kind[id] = field["load"] SUBSEP field["tool"]
	if (field["runs"] > 0) {
		gross[id] = field["run_ns"] / field["runs"]
		missed[id] = field["missed"] / field["runs"]
	}
	if (field["held_ns"] > 0)
		speed[id] = field["calls"] / field["held_ns"]
	if (field["tool"] == "empty")
		next
	if (field["tool"] == "bpfprofil" && field["runs"] > 0) {
		add("miss", kind[id], 100 * field["missed"] / field["runs"])
		add("renewed", kind[id], 100 * field["renewed"] / field["runs"])
	}
	add("cpu", kind[id], field["cpu_window_ns"] / (seconds * 1e7))
	add("total", kind[id], field["cpu_total_ns"] / 1e6)
	add("peak", kind[id], field["peak_kib"] / 1024)
	add("maps", kind[id], field["maps_kib"] / 1024)
	add("bytes", kind[id], field["bytes"] / 1024)
}

function pair_up(   id, part, floor) {
	for (id in kind) {
		split(id, part, SUBSEP)
		floor = part[1] SUBSEP part[2] SUBSEP "empty"
		if (id in gross && floor in gross) {
			net[id] = gross[id] - gross[floor]
			add("gross", kind[id], gross[id])
			if (part[3] != "empty")
				add("net", kind[id], net[id])
		}
		if (id in speed && bare[part[1]] > 0)
			add("slow", kind[id], 100 * (1 - speed[id] / bare[part[1]]))
	}
}

# Computes the cost of a hit and of a miss by least squares over those loads of a round that do the
# same work in more and more address spaces: net = hit + missed * extra.
function tell_apart(   id, part, round, n, x, y, xx, xy, extra, hit) {
	for (id in net) {
		split(id, part, SUBSEP)
		if (part[3] != "bpfprofil" || part[2] !~ /^(jit|[0-9]+)$/)
			continue
		round = part[1]
		n[round]++
		x[round] += missed[id]
		y[round] += net[id]
		xx[round] += missed[id] * missed[id]
		xy[round] += missed[id] * net[id]
	}
	for (round in n) {
		if (n[round] * xx[round] - x[round] * x[round] <= 0)
			continue
		extra = (n[round] * xy[round] - x[round] * y[round]) / \
			(n[round] * xx[round] - x[round] * x[round])
		hit = (y[round] - extra * x[round]) / n[round]
		add("hit", "all", hit)
		add("missing", "all", hit + extra)
	}
}

function load_row(load, tool,   key) {
	key = load SUBSEP tool
	if (!count["gross", key] && !count["peak", key])
		return
	row(told[load] "|" name[tool] "|" cell("net", key) "|" cell("gross", key) "|" \
	    cell("miss", key) "|" cell("renewed", key) "|" cell("slow", key) "|" \
	    cell("cpu", key) "|" cell("total", key) "|" cell("peak", key) "|" \
	    cell("maps", key) "|" cell("bytes", key))
}

END {
	name["empty"] = "empty BPF program"
	name["bpfprofil"] = "bpfprofil attach"
	n = split(loads, load, " ")
	for (i = 1; i <= n; i++)
		told[load[i]] = load[i] ~ /^[0-9]/ ? load[i] " processes" : load[i]
	told["steady"] = "steady, 64 objects"
	told["jit"] = "a JIT's text on each CPU"
	told["flips"] = "the same, still compiled"
	told["storm"] = "a storm of short ones"
	pair_up()
	tell_apart()
	row("load|profiler|handler, ns net|ns gross|misses, % of ticks|renewed, %|workload slower, %|" \
	    "CPU sampling, % of a core|CPU in all, ms|peak RSS, MiB|maps, MiB|written, KiB")
	for (i = 1; i <= n; i++) {
		load_row(load[i], "empty")
		load_row(load[i], "bpfprofil")
	}
	flush_grid()
	if (count["hit", "all"])
		print "- by the line through the JIT and the numbers of processes, a hit costs " cell("hit", "all") \
			" ns net, a miss " cell("missing", "all") " ns"
	print "- ticks: the handler's runs, those of idle CPUs and kernel threads among them"
	for (tool in failed)
		print "- " tool " ended with an error in " failed[tool] " runs, left out"
}
