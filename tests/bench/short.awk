# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Takes from the table of `make bench` the medians that a reader wants first: each profiler at 1,000
# Hz, and those on the scheduler's tick at the tick's rate.

BEGIN { FS = " *[|] *" }

function median(text) {
	sub(/ [(].*/, "", text)
	return text
}

/^[0-9]+-[0-9]+-[0-9]+, kernel/ { head = $0 }

/^[|] Hz .*handler/ {
	for (i = 1; i < NF; i++)
		column[$i] = i
}

function line(   i, out) {
	out = sprintf("| %-27s | %4s", $column["profiler"], $column["Hz"])
	for (i = 1; i <= picked; i++)
		out = out sprintf(" | %*s", length(pick[i]), median($column[pick[i]]))
	return out " |"
}

BEGIN {
	picked = split("handler, ns net;workload slower, %;peak RSS, MiB;written, KiB", pick, ";")
}

column["Hz"] && $column["profiler"] !~ /empty|noise/ &&
    ($column["Hz"] == "1000" || ($column["Hz"] == "250" && $column["profiler"] ~ /tick/)) {
	lines[++nr] = line()
}

/^$/ { if (nr) delete column }

END {
	print ""
	head_line = sprintf("| %-27s | %4s", "medians", "Hz")
	rule = "| --------------------------- | ---:"
	for (i = 1; i <= picked; i++) {
		head_line = head_line " | " pick[i]
		rule = rule " | " substr("-------------------", 1, length(pick[i]) - 1) ":"
	}
	print head_line " |"
	print rule " |"
	for (i = 1; i <= nr; i++)
		print lines[i]
	print ""
	print head
	print ""
}
