#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Whose ticks the agent counts, and what it calls them: a pod's container made of cgroups and folders
# as a kubelet makes them.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_names || exit "$script_status"

uid=$(cat /proc/sys/kernel/random/uuid)
id=$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')
group=kubepods/pod$uid/$id
logs=$work/log/pods/bpfprofil-names_api-0_$uid
# The sandbox of another pod, with two containers that have no logs: it never has a container's name.
other=$(cat /proc/sys/kernel/random/uuid)
sandbox=kubepods/pod$other/$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')
others_logs=$work/log/pods/bpfprofil-others_db-0_$other
# Another one as systemd makes the groups.
slice=/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${other//-/_}.slice
scope=$slice/cri-containerd-$id.scope

clean_up() {
	remove_groups "/$group" "/kubepods/pod$uid" "/$sandbox" "/kubepods/pod$other" /kubepods \
		"$scope" "$slice" "${slice%/*}" /kubepods.slice
}

spin=(sh -c 'while :; do :; done')
in_group "/$group" "${spin[@]}" &
"${spin[@]}" &
in_group "/$sandbox" "${spin[@]}" &
mkdir -p "$logs/nginx" "$others_logs/db" "$others_logs/proxy"

# run_agent OPTION...: for a few profiles, into $work/files, by way of $host
# Its /var/log is ours, because what a kubelet or another test has there changes which names there are.
# shellcheck disable=SC2016 # the inner shell's
host=(unshare --mount --propagation private sh -c 'mount --bind "$1" /var/log && shift && exec "$@"' sh "$work/log")
run_agent() {
	local i

	rm -rf "$work/files"
	mkdir "$work/files"
	"${host[@]}" "$bin" agent --dir "$work/files" --interval 1 --duty 100 "$@" 2>"$work/err" &
	agent=$!
	for ((i = 0; i < 300; i++)); do
		[ "$(find "$work/files" -name '*.gz' | wc -l)" -lt 4 ] || break
		sleep 0.2
	done
	kill -TERM "$agent"
	wait "$agent" || fail "$test" "$(cat "$work/err")"
}

cat >"$work/read.py" <<'end'
import glob, gzip, json, re, sys
files, log, group = sys.argv[1:4]
profiles = [json.load(gzip.open(path)) for path in sorted(glob.glob(files + "/*.gz"))]
assert len(profiles) >= 4, len(profiles)
total = 0
for profile in profiles:
    for ticks in [profile["ticks"]] + [target["ticks"] for target in profile["targets"]]:
        assert ticks["total"] == ticks["binned"] + ticks["overflow"] + ticks["outside"] + \
            ticks["filtered"] + sum(ticks["lost"].values()), ticks
    total += profile["ticks"]["total"]
counted = sum(map(int, re.findall(r"^(\d+) = ", open(log).read(), re.M)))
assert total == counted > 0, (total, counted)
def of(profile, cgroup):
    return sum(split["ticks"] for split in profile["splits"] if split["cgroup"] == cgroup)
binned = {}
for profile in profiles:
    for histogram in profile["histograms"]:
        name = histogram["cgroup"]
        binned[name] = binned.get(name, 0) + sum(count for _, count in histogram["bins"])
ours = [name for name in binned if name and name.endswith(group)]
# A pod's ticks count while its name is not known yet, and other tests have such beside this one.
unnamed = {name for name in binned if name and name not in ours
           and re.search("/pod[0-9a-f-]{36}|/[0-9a-f]{64}", name)}
filtered = sum(profile["ticks"]["filtered"] for profile in profiles)
left_out = sum(of(profile, "[left out]") for profile in profiles)
end

test=agent_exclude
run_agent --exclude namespace=bpfprofil-names
cat "$work/read.py" - >"$work/test.py" <<'end'
assert not ours and sum(binned.values()) > 0, ours
assert group not in json.dumps(profiles)
assert filtered == left_out > 0, (filtered, left_out)
end
python3 "$work/test.py" "$work/files" "$work/err" "$group"
verdict $? $test
"$bin" merge -o "$work/sum.json" "$work"/files/*.gz &&
	"$bin" export --format clickhouse -o "$work/rows" "$work/sum.json" &&
	python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
left = [row for row in rows if row["ServiceName"] == "[left out]" and row["SampleType"] == "samples"]
assert [row["FunctionNames"] for row in left] == [["[filtered]"]], left
total = json.load(open(sys.argv[2]))["ticks"]
assert left[0]["Values"] == [total["filtered"]]
assert sum(row["Values"][0] for row in rows if row["SampleType"] == "samples") == total["total"]
' "$work/rows" "$work/sum.json"
verdict $? agent_left_out_is_one_sample

test=agent_include
run_agent --include 'pod=api-*' --label team=shop --label 'x.y=a"b' --service '{pod}@{namespace}'
cat "$work/read.py" - >"$work/test.py" <<'end'
assert len(ours) == 1 and set(binned) - unnamed == set(ours), binned
assert filtered == left_out > 0, (filtered, left_out)
# The last one ends when the agent does, and may be too short for a tick.
whole = max(profiles[2:], key=lambda profile: profile["duration_ns"])
assert of(whole, ours[0]) > 0
assert sys.argv[4] not in json.dumps(profiles)
labels = {(label["cgroup"], label["key"]): label["value"] for label in whole["labels"]}
assert labels[None, "team"] == "shop" and labels[None, "x.y"] == 'a"b', labels
assert labels[ours[0], "service.name"] == "api-0@bpfprofil-names", labels
assert labels[ours[0], "k8s.container.name"] == "nginx", labels
end
python3 "$work/test.py" "$work/files" "$work/err" "$group" "$other"
verdict $? $test
"$bin" merge -o "$work/sum.json" "$work"/files/*.gz &&
	"$bin" export --format clickhouse -o "$work/rows" "$work/sum.json" &&
	python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
(of,) = {json.dumps(row["ResourceAttributes"]) for row in rows if row["ServiceName"] != "[left out]"
         and row["ResourceAttributes"].get("k8s.pod.uid") == sys.argv[3]}
of = json.loads(of)
assert of["service.name"] == "api-0@bpfprofil-names" and of["team"] == "shop", of
assert of["k8s.namespace.name"] == "bpfprofil-names" and of["k8s.pod.name"] == "api-0", of
assert of["container.id"] == sys.argv[2] and of["k8s.pod.uid"] == sys.argv[3], of
' "$work/rows" "$id" "$uid"
verdict $? agent_names_reach_rows

# As a host has it that knows version 2 alone: it is all that is at /sys/fs/cgroup, whatever there is here.
# shellcheck disable=SC2016 # the inner shell's
host=(unshare --mount --propagation private sh -c 'umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup &&
	mount -t tmpfs none /var/log && mkdir -p "/var/log/pods/$1/web" "/var/log/pods/$1/proxy" /var/log/containers &&
	: >"/var/log/containers/$2" && shift 2 && exec "$@"' sh "bpfprofil-pure_db-0_$other" "db-0_bpfprofil-pure_proxy-$id.log")
test=agent_of_version_2
if grep -q ' cgroup2 ' /proc/mounts; then
	in_group "$scope" "${spin[@]}" &
	run_agent --include namespace=bpfprofil-pure
	cat "$work/read.py" - >"$work/test.py" <<'end'
whole = max(profiles[2:], key=lambda profile: profile["duration_ns"])
assert of(whole, group) > 0, binned
labels = {label["key"]: label["value"] for label in whole["labels"] if label["cgroup"] == group}
assert labels["service.name"] == "bpfprofil-pure/proxy" and labels["k8s.pod.name"] == "db-0", labels
end
	python3 "$work/test.py" "$work/files" "$work/err" "$scope"
	verdict $? $test
else
	echo "SKIP cli::$test: no cgroup2 is mounted"
fi

hint='must be namespace=, pod=, container=, unit= or cgroup= and a pattern, like '"'namespace=shop-*'"
expect agent_rule_kind 2 "bpfprofil: agent: --include 'node=x': $hint" "$bin" agent --dir / --include node=x
expect agent_rule_empty 2 "bpfprofil: agent: --exclude 'pod=': $hint" "$bin" agent --dir / --exclude pod=
expect agent_rule_split 2 "bpfprofil: agent: --exclude: only cgroups can be chosen
try: leaving --split out" "$bin" agent --dir / --exclude pod=x --split process
expect agent_label 2 \
	"bpfprofil: agent: --label 'a b=c': must be KEY=VALUE, the key of letters, digits, _ . - and /" \
	"$bin" agent --dir / --label 'a b=c'
expect agent_label_of_service 2 \
	"bpfprofil: agent: --label 'service_name=x': --service sets the name of a service" \
	"$bin" agent --dir / --label service_name=x
expect agent_label_of_backends 2 \
	"bpfprofil: agent: --label '__name__=x': Pyroscope and Parca use this key themselves" \
	"$bin" agent --dir / --label __name__=x
expect agent_template 2 \
	"bpfprofil: agent: --service '{node}': may have {unit}, {container}, {pod}, {namespace}, {cgroup} and {host}" \
	"$bin" agent --dir / --service '{node}'

exit "$script_status"
