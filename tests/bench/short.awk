# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Takes from the table of `make bench` the medians that a reader wants first: each profiler at 1,000
# Hz, and those on the scheduler's tick at the tick's rate.

BEGIN { FS = " *[|] *" }

# Of a slowdown whose rounds lie on both sides of 0, the sign of the median is chance.
function median(text, name,    range, ends) {
	if (name ~ /slower/ && match(text, /[(].* to .*[)]/)) {
		range = substr(text, RSTART + 1, RLENGTH - 2)
		split(range, ends, / to /)
		if (ends[1] < 0 && ends[2] > 0)
			return "not seen"
	}
	sub(/ [(].*/, "", text)
	return text
}

/^[0-9]+-[0-9]+-[0-9]+, kernel/ {
	head = $0
	sub(/; median.*/, "", head)
}

/^[|] Hz .*handler/ {
	for (i = 1; i < NF; i++)
		column[$i] = i
}

function line(   i, out) {
	out = sprintf("| %-27s | %4s", $column["profiler"], $column["Hz"])
	for (i = 1; i <= picked; i++)
		out = out sprintf(" | %*s", length(pick[i]), median($column[pick[i]], pick[i]))
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
