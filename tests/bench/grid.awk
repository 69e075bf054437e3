# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Reads lines of key=value, and prints figures as Markdown tables whose columns are aligned as plain
# text too. A cell is the median over the rounds and, in brackets, the minimum and the maximum. -v
# decimals=3 gives all figures so many decimals; without it large figures have fewer.

{
	delete field
	for (i = 2; i <= NF; i++) {
		eq = index($i, "=")
		value = substr($i, eq + 1)
		# a string would be compared as a string
		field[substr($i, 1, eq - 1)] = value ~ /^[0-9]+$/ ? value + 0 : value
	}
}

function add(metric, key, value) {
	values[metric, key, ++count[metric, key]] = value
}

function sort_values(metric, key,   n, i, j, v) {
	n = count[metric, key]
	for (i = 2; i <= n; i++) {
		v = values[metric, key, i]
		for (j = i - 1; j >= 1 && values[metric, key, j] > v; j--)
			values[metric, key, j + 1] = values[metric, key, j]
		values[metric, key, j + 1] = v
	}
	return n
}

function number(v) {
	if (v < 0)
		return "-" number(-v)
	if (decimals != "")
		return sprintf("%." decimals "f", v)
	return sprintf(v >= 100 ? "%.0f" : v >= 10 ? "%.1f" : v >= 1 ? "%.2f" : "%.3f", v)
}

function cell(metric, key,   n, median) {
	n = sort_values(metric, key)
	if (!n)
		return "-"
	median = (values[metric, key, int((n + 1) / 2)] + values[metric, key, int(n / 2) + 1]) / 2
	if (n == 1)
		return number(median)
	return number(median) " (" number(values[metric, key, 1]) " to " \
		number(values[metric, key, n]) ")"
}

function row(text,   n, i, part) {
	rows++
	n = split(text, part, "|")
	for (i = 1; i <= n; i++) {
		grid[rows, i] = part[i]
		if (length(part[i]) > width[i])
			width[i] = length(part[i])
	}
	columns = n
}

function flush_grid(   r, i, line) {
	for (r = 1; r <= rows; r++) {
		line = "|"
		for (i = 1; i <= columns; i++)
			line = line sprintf(" %-" width[i] "s |", grid[r, i])
		print line
		if (r > 1)
			continue
		line = "|"
		for (i = 1; i <= columns; i++)
			line = line " " rule(width[i]) " |"
		print line
	}
	rows = 0
	delete width
	print ""
}

function rule(n,   s) {
	while (length(s) < n)
		s = s "-"
	return s
}
