# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Converts Markdown with tables to mdoc. A table that is too wide for a page is divided into
# several, each of which begins with the columns that identify a row: all those before the first
# figure. To keep the page short, it has medians without their ranges. Some tables and columns are
# omitted, and rows that have figures in less than a third of the columns.

BEGIN {
	FS = " *[|] *"
	page = 96
	titles = "own CPU, sampling, %|without a name, %|maps and buffers, MiB|anonymous, MiB|no name, %"
	nr = split(titles, name, "|")
	while (nr)
		omitted[name[nr--]]
}

function escaped(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text
}

# Columns from..to of a row, after the leading columns.
function row(nr, from, to,   text, i) {
	for (i = 1; i <= leading; i++)
		text = text sprintf("%-*s  ", width[i], cell[nr, i])
	for (i = from; i <= to; i++)
		text = text sprintf("%-*s  ", width[i], cell[nr, i])
	sub(/ +$/, "", text)
	print escaped(text)
}

function says_little(nr, from, to,   i, figures) {
	for (i = from; i <= to; i++)
		figures += cell[nr, i] != "-"
	return 3 * figures < to - from + 1
}

function part(from, to,   nr) {
	print ".Bd -literal"
	for (nr = 1; nr <= rows; nr++)
		if (!says_little(nr, from, to))
			row(nr, from, to)
	print ".Ed"
}

# Lines in a page's source have at most 80 bytes.
function text(words,   word, nr, i, line) {
	nr = split(words, word, " ")
	for (i = 1; i <= nr; i++) {
		if (line != "" && length(line " " word[i]) > 80) {
			print line
			line = ""
		}
		line = line == "" ? word[i] : line " " word[i]
	}
	print line
}

function flush_table(   from, to, used, left, i) {
	if (!rows)
		return
	used = 0
	for (i = 1; i <= leading; i++)
		used += width[i] + 2
	for (from = leading + 1; from <= columns; from = to + 1) {
		left = page - used - width[from]
		for (to = from; to < columns && left >= width[to + 1] + 2; to++)
			left -= width[to + 1] + 2
		part(from, to)
	}
	rows = columns = leading = 0
	delete width
}

/^[|] *-/ { next }

/^[|]/ {
	if (!rows++)
		hidden = $2 in omitted
	columns = 0
	for (i = 2; i < NF; i++) {
		if (rows == 1)
			left_out[i] = hidden || $i in omitted
		if (left_out[i])
			continue
		columns++
		sub(/ [(].* to .*[)]$/, "", $i)
		cell[rows, columns] = $i
		if (length($i) > width[columns])
			width[columns] = length($i)
		if (rows > 1 && $i ~ /^-?[0-9.]+$/ && (!leading || columns <= leading))
			leading = columns - 1
	}
	next
}

{ flush_table() }
/^$/ { next }
{
	print ".Pp"
	sub(/^- /, "")
	sub(/median [(]min to max[)]/, "medians")
	text(escaped($0))
}
END { flush_table() }
