# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes tables of the tries that `truth` recorded; see grid.awk: what a program has in the profile,
# relative to what it really had. The script's own rows come first, in their order, because tries
# may have been added in any order.

BEGIN {
	rows_seen = split(every, order, " ")
	for (i = 1; i <= rows_seen; i++)
		seen[order[i]] = 1
}

$1 == "try" && field["own"] > 0 {
	row_name = field["row"]
	if (!(row_name in seen)) {
		seen[row_name] = 1
		order[++rows_seen] = row_name
	}
	key = row_name SUBSEP field["column"]
	less = field["both"] ? field["partner"] : 0
	if ("cpu_ns" in field)
		add("seconds", key, (field["cpu_ns"] - less) / field["own"])
	add("ticks", key, (field["tick_ns"] - less) / field["own"])
	add("steal", "all", field["steal"] / 10)
	tried[row_name] = 1
	if (++tries[row_name, field["column"]] > most)
		most = tries[row_name, field["column"]]
}

# Converts "sleep-20-50" to "sleeper, 20 on, 50 off".
function told(name,   part) {
	split(name, part, "-")
	if (part[1] == "dodge")
		return "dodger, " part[2] " of " part[3]
	return (part[1] == "pipe" ? "pipe, " : "sleeper, ") part[2] " / " part[3]
}

function table(metric, title, list,   n, column, i, j, line) {
	n = split(list, column, " ")
	line = title
	for (j = 1; j <= n; j++)
		line = line "|" heading[column[j]]
	row(line)
	for (i = 1; i <= rows_seen; i++) {
		if (!(order[i] in tried))
			continue
		line = told(order[i])
		for (j = 1; j <= n; j++)
			line = line "|" cell(metric, order[i] SUBSEP column[j])
		row(line)
	}
	flush_grid()
}

END {
	heading["run"] = "run"
	heading["tick"] = "run --source tick"
	heading["pid"] = "attach --pid"
	heading["cgroup"] = "attach --cgroup"
	heading["all"] = "attach --all"
	heading["perf-a"] = "perf record -a"
	heading["perf-p"] = "perf record -p"
	heading["bpftrace"] = "bpftrace"
	table("seconds", "SECONDS, us", "run tick pid cgroup all")
	table("ticks", "TICKS x period, us", "run tick pid cgroup all perf-a perf-p bpftrace")
	print "- up to " most " tries a cell; a hypervisor held back " cell("steal", "all") \
		" % of the CPUs' time meanwhile"
}
