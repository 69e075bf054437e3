# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes tables of the windows that `scale` recorded; see grid.awk. A handler's figure is net of the
# empty program under the same load in the same round.

field["status"] != 0 { failed[field["load"]]++; next }

field["runs"] > 0 {
	load = field["load"] (field["cpus"] ? ", CPUs " field["cpus"] : "")
	if (!(load in seen)) {
		seen[load] = 1
		order[++loads] = load
	}
	cost = field["run_ns"] / field["runs"]
	if (field["tool"] == "empty") {
		floor[field["round"], load] = cost
		next
	}
	missed = field["missed"] / field["runs"]
	net[field["round"], load] = cost - floor[field["round"], load]
	share[field["round"], load] = missed
	add("net", load, cost - floor[field["round"], load])
	add("miss", load, 100 * missed)
	add("cpu", load, field["cpu_window_ns"] / (seconds * 1e7))
	add("peak", load, field["peak_kib"] / 1024)
	add("maps", load, field["maps_kib"] / 1024)
	add("bytes", load, field["bytes"] / 1024)
	add("start", load, field["start_ns"] / 1e9)
	add("stop", load, field["stop_ns"] / 1e9)
	add("lost", load, field["lost"])
	if (field["ticks"] > 0)
		add("coarse", load, 100 * field["coarse"] / field["ticks"])
}

# The same processes in long turns and in short ones: two points of net = hit + missed * extra.
function tell_apart(n,   round, long, short, extra, name) {
	name = "processes-" n
	for (round = 1; (round, name) in net; round++) {
		if (!((round, "turns-" n) in net))
			continue
		long = share[round, name]
		short = share[round, "turns-" n]
		if (short - long < 0.05)
			continue
		extra = (net[round, "turns-" n] - net[round, name]) / (short - long)
		add("hit", n, net[round, name] - long * extra)
		add("missing", n, net[round, name] + (1 - long) * extra)
	}
	if (count["hit", n])
		print "- " n " processes: a hit costs " cell("hit", n) " ns net, a miss " \
			cell("missing", n)
}

# The ratio of its median to that of the first of its kind, or in the first guest.
function growth(load,   kind, median) {
	kind = load
	if (!sub(/,.*/, "", kind))
		sub(/-.*/, "", kind)
	sort_values("net", load)
	median = values["net", load, int((count["net", load] + 1) / 2)]
	if (!(kind in first))
		first[kind] = median
	return first[kind] > 0 ? sprintf("%.2f", median / first[kind]) : "-"
}

END {
	row("load|handler, ns net|to the first|misses, % of ticks|CPU sampling, % of a core|maps, MiB|" \
	    "peak RSS, MiB|written, KiB|begins after, s|ends after, s|coarse, %|lost, ticks")
	for (i = 1; i <= loads; i++) {
		load = order[i]
		row(load "|" cell("net", load) "|" growth(load) "|" cell("miss", load) "|" \
		    cell("cpu", load) "|" cell("maps", load) "|" cell("peak", load) "|" \
		    cell("bytes", load) "|" cell("start", load) "|" cell("stop", load) "|" \
		    cell("coarse", load) "|" cell("lost", load))
	}
	flush_grid()
	for (i = 1; i <= loads; i++)
		if (order[i] ~ /^processes-[0-9]+$/)
			tell_apart(substr(order[i], 11))
	for (load in failed)
		print "- " load ": ended with an error " failed[load] " times, left out"
}
