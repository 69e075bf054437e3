#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# merge: the sum is the same in every order, and what merge refuses.
set -uo pipefail
. tests/lib/cli.bash

a=$golden/profile.json
sed 's/"period_ns": 1003009, "requested_hz": 997/"period_ns": 10000000, "requested_hz": 100/' "$a" >"$work/slow"
sed 's/"name": "host"}/"name": "other"}/; s/00ff12ab/00ff12ac/' "$a" >"$work/other"
b=$work/slow c=$work/other

"$bin" merge -o "$work/abc" "$a" "$b" "$c"
verdict $? merge
"$bin" merge -o "$work/cba" "$c" "$b" "$a" && cmp "$work/abc" "$work/cba"
verdict $? merge_commutes
"$bin" merge -o "$work/ab" "$a" "$b" && "$bin" merge -o "$work/ab_c" "$work/ab" "$c" &&
	"$bin" merge -o "$work/bc" "$b" "$c" && "$bin" merge -o "$work/a_bc" "$a" "$work/bc" &&
	cmp "$work/ab_c" "$work/abc" && cmp "$work/a_bc" "$work/abc"
verdict $? merge_associates
"$bin" merge -o - - "$b" <"$a" | cmp - "$work/ab"
verdict $? merge_streams
mkdir "$work/folder" && cp "$a" "$work/folder/a.json" && cp "$b" "$work/folder/b.json" &&
	"$bin" merge -o "$work/of_folder" "$work/folder" && cmp "$work/of_folder" "$work/ab"
verdict $? merge_folder
"$bin" export --format json "$work/folder" | cmp - "$work/ab"
verdict $? export_folder
"$bin" diff "$work/folder" "$work/ab" | grep -q '^changed   0 of '
verdict $? diff_folder
cp "$a" "$work/own" && "$bin" merge -o "$work/own" "$work/own" "$b" && cmp "$work/own" "$work/ab"
verdict $? merge_onto_itself
# Enough files to be read by several threads.
many=() users=()
for _ in {1..20}; do
	many+=("$a" "$b" "$c")
	users+=("$work/user")
done
"$bin" merge -o "$work/part" "${many[@]:0:15}" && "$bin" merge -o "$work/many" "${many[@]}" &&
	"$bin" merge -o "$work/parts" "$work/part" "$work/part" "$work/part" "$work/part" &&
	cmp "$work/many" "$work/parts"
verdict $? merge_many
# The bins of 40 files, spread over the text in another way in each, beside python's own sum of them.
mkdir "$work/spread" && python3 - "$a" "$work/spread" <<-'EOF'
	import json, random, sys
	profile, random = json.load(open(sys.argv[1])), random.Random(1)
	bins, sums = profile["histograms"][0]["bins"], {}
	ticks, size = sum(n for _, n in bins), profile["histograms"][0]["size"]
	for number in range(40):
	    spread = {}
	    for _ in range(ticks):
	        place = min(int(random.expovariate(40 / size)), size - 1)
	        spread[place] = spread.get(place, 0) + 1
	        sums[place] = sums.get(place, 0) + 1
	    bins[:] = sorted(map(list, spread.items()))
	    with open(f"{sys.argv[2]}/{number}.json", "w") as file:
	        json.dump(profile, file, separators=[(", ", ": "), (",", ":")][number % 2])
	with open(f"{sys.argv[2]}.sum", "w") as file:
	    json.dump(sorted(map(list, sums.items())), file)
EOF
"$bin" merge -o "$work/of_spread" "$work/spread" && python3 - "$work/of_spread" "$work/spread.sum" <<-'EOF'
	import json, sys
	profile, bins = (json.load(open(name)) for name in sys.argv[1:])
	assert max((one["bins"] for one in profile["histograms"]), key=len) == bins
EOF
verdict $? merge_adds_bins
if python3 -c 'import jsonschema' 2>"$work/err"; then
	python3 - "$work/abc" user/profile/profile.schema.json <<-'EOF'
		import json, sys, jsonschema
		sums, schema = (json.load(open(name)) for name in sys.argv[1:])
		jsonschema.Draft202012Validator(schema).validate(sums)
		assert sums["ticks"]["total"] == 3 * 1060
		assert [host["name"] for host in sums["hosts"]] == ["host", "other"]
		assert sorted({target.get("period_ns", 0) for target in sums["targets"]}) == [0, 10000000]
	EOF
	verdict $? merge_schema
else
	fail merge_schema "$(tail -n 1 "$work/err")"
fi

expect merge_usage_files 2 'bpfprofil: merge: no FILE given
try: bpfprofil merge --help' "$bin" merge -o "$work/x"
expect merge_usage_output 2 'bpfprofil: merge: --output: not given
try: -o sum.json' "$bin" merge "$a"
sed 's/"mode": "charged"/"mode": "user"/' "$a" >"$work/user"
expect merge_mode 1 "bpfprofil: merge: $work/user: mode user, where the files before it have charged" \
	"$bin" merge -o "$work/x" "$a" "$work/user"
expect merge_no_file 1 "bpfprofil: merge: $work/no: No such file or directory" \
	"$bin" merge -o "$work/x" "$a" "$work/no"
expect merge_many_no_file 1 "bpfprofil: merge: $work/no: No such file or directory" \
	"$bin" merge -o "$work/x" "${many[@]:0:25}" "$work/no" "${many[@]}" "$work/none"
expect merge_many_mode 1 "bpfprofil: merge: $work/user: mode user, where the files before it have charged" \
	"$bin" merge -o "$work/x" "${many[@]}" "$work/user" "$work/no"
expect merge_many_modes 1 "bpfprofil: merge: $work/user: mode user, where the files before it have charged" \
	"$bin" merge -o "$work/x" "${many[@]:0:20}" "${users[@]}"
# Programs' own calls beside samples are the same time once more.
sed 's/"kind": "\(command\|cgroup\)"/"kind": "call"/' "$a" >"$work/calls"
"$bin" merge -o "$work/both" "$a" "$work/calls" && "$bin" report "$work/both" | grep -q '^ticks  *1060 '
verdict $? merge_calls_and_samples || "$bin" report "$work/both"
with=$golden/callers.json
python3 - "$with" "$work/without" <<-'EOF'
	import json, sys
	profile = json.load(open(sys.argv[1]))
	del profile["callers"]
	profile["functions"] = [f for f in profile["functions"] if f["ticks"]]
	json.dump(profile, open(sys.argv[2], "w"))
EOF
expect merge_callers 1 "bpfprofil: merge: $work/without: no callers, and $with has them
try: one sum of those with callers, another of those without" \
	"$bin" merge -o "$work/x" "$with" "$work/without"
expect merge_no_callers 1 "bpfprofil: merge: $with: callers, and $work/without has none
try: one sum of those with callers, another of those without" \
	"$bin" merge -o "$work/x" "$work/without" "$with"
"$bin" merge -o "$work/two" "$with" "$with" && "$bin" export --format json "$work/two" | cmp - "$work/two" &&
	grep -q '^\[-1,4,0\],\[-2,5,40\],' "$work/two"
verdict $? merge_adds_callers
# The second thread's first file has no hierarchy, and goes with either.
sed 's/"hierarchy": "v2", //' "$a" >"$work/none_said"
sed 's/"hierarchy": "v2"/"hierarchy": "v1:cpu"/' "$a" >"$work/v1"
silent=()
for _ in {1..9}; do
	silent+=("$work/none_said")
done
expect merge_many_hierarchies 1 \
	"bpfprofil: merge: $work/v1: cgroups by v1:cpu, where the files before it have v2" \
	"$bin" merge -o "$work/x" "${silent[@]}" "${silent[@]:1}" "$a" "${silent[@]}" "$work/v1" \
	"${silent[@]:1}"
expect merge_no_folder 1 "bpfprofil: merge: $work/no/x: No such file or directory" \
	"$bin" merge -o "$work/no/x" "$a"
[ ! -e "$work/x" ]
verdict $? merge_leaves_nothing

exit "$script_status"
