#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What rows of control groups are called: a container made of cgroups, runtimes that are scripts, and a
# pod of folders as a kubelet makes them.
set -uo pipefail
. tests/lib/cli.bash

can_sample container_names || exit "$script_status"

id=$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')
uid=$(cat /proc/sys/kernel/random/uuid)
top=/bpfprofil-$$
group=$top/$id
pod=/kubepods/pod$uid
logs=/var/log/pods/bpfprofil-shop_web-0_$uid
name=bpfprofil-shop-$$
unit=/bpfprofil$$.slice/bpfprofil-$$.service
users=/user@$$.service/bpfprofil-$$.service

clean_up() {
	remove_groups "$group/below" "$group" "$top" "$pod" /kubepods "$unit" "${unit%/*}" \
		"$users" "${users%/*}"
	rm -rf "$logs"
	rmdir /var/log/pods 2>/dev/null
}

spin=(sh -c 'while :; do :; done')
in_group "$group" "${spin[@]}" &
spinner=$!
in_group "$group/below" "${spin[@]}" &
in_group "$pod" "${spin[@]}" &
for group_of_unit in "$unit" "$users"; do
	in_group "$group_of_unit" "${spin[@]}" &
done
mkdir -p "$logs"

# in_its_groups: whether the programs are where they should be.
in_its_groups() {
	local groups=("$group" "$group/below" "$pod" "$unit" "$users") one

	for one in "${groups[@]}"; do
		grep -q ":$one\$" /proc/[0-9]*/cgroup || return 1
	done 2>/dev/null
}
until_true in_its_groups

# A docker that knows the container, and a podman that never answers.
mkdir "$work/bin"
cat >"$work/bin/docker" <<end
#!/bin/sh
[ "\$1" != ps ] || echo "$id $name"
end
cat >"$work/bin/podman" <<'end'
#!/bin/sh
exec sleep 1000
end
chmod +x "$work/bin/"*

test=attach_names_containers
PATH=$work/bin:$PATH "$bin" attach --all --split cgroup --duration 2 -q -o "$work/c.json" 2>"$work/err"
verdict $? $test
"$bin" report --by cgroup --format csv "$work/c.json" | cut -d, -f3,4 | sort >"$work/rows"
grep -qx "[^,]*$group,$name" "$work/rows" && grep -qx "[^,]*$group/below,$name/below" "$work/rows"
verdict $? report_csv_names_containers
grep -qx "[^,]*$pod,bpfprofil-shop/web-0" "$work/rows"
verdict $? report_csv_names_pods

# A container of ctr: only containerd's folder of its task says who it is.
test=attach_container_of_containerd
tasks=/run/containerd/io.containerd.runtime.v2.task
task=$tasks/bpfprofil-$$
mkdir -p "$task/$name.task"
echo "$spinner" >"$task/$name.task/init.pid"
"$bin" attach --container "$name.task" --duration 1 -q -o "$work/t.json" 2>"$work/err" &&
	grep -q "\"name\": \"$name.task\"" "$work/t.json"
verdict $? $test
rm -rf "$task"
rmdir -p "$tasks" 2>/dev/null

# Where nobody can be asked, or only a part is seen, that is said.
mkdir "$work/none"
PATH=$work/none "$bin" attach --container bpfprofil-none -q -o "$work/n.json" 2>"$work/err"
grep -q "^try: its id, or --cgroup: no runtime's command is here" "$work/err"
verdict $? attach_without_a_runtime
unshare -C "$bin" attach --container bpfprofil-none -q -o "$work/n.json" 2>"$work/err"
grep -q '^try: --cgroupns host' "$work/err"
verdict $? attach_in_a_cgroup_namespace

# The system's unit is meant, and a user's of that name is named.
"$bin" attach --unit "bpfprofil-$$" --duration 1 -o "$work/u.json" 2>"$work/err" &&
	grep -q "^bpfprofil: attach: --unit 'bpfprofil-$$.service': the system's own; for the other one: --cgroup .*$users\$" \
		"$work/err"
verdict $? attach_unit_of_two

test=report_names_containers
"$bin" report --by cgroup "$work/c.json" | awk '/%/ { print $NF }' >"$work/rows"
grep -qx "$name" "$work/rows" && grep -qx "$name/below" "$work/rows" && ! grep -q "$id" "$work/rows"
verdict $? $test

test=page_names_containers
"$bin" report --html "$work/c.html" "$work/c.json" &&
	grep -q "\"cgroup\": \"$name/below\"" "$work/c.html" && ! grep -q "$id" "$work/c.html"
verdict $? $test

test=top_names_containers
PATH=$work/bin:$PATH "$bin" top --all --by cgroups -d 1 -n 2 </dev/null >"$work/top" 2>"$work/err" &&
	grep -q " $name\$" "$work/top" && grep -q " $name/below\$" "$work/top"
verdict $? $test

# The agent asks when it meets a container, and not again within a minute.
test=agent_names_containers
mkdir "$work/alone" "$work/files"
sed "2i echo \$1 >>$work/asked" "$work/bin/docker" >"$work/alone/docker"
chmod +x "$work/alone/docker"
PATH=$work/alone:$PATH "$bin" agent -q --dir "$work/files" --interval 1 2>"$work/err" &
agent=$!
for ((i = 0; i < 100; i++)); do
	[ "$(find "$work/files" -name '*.gz' | wc -l)" -lt 4 ] || break
	sleep 0.2
done
kill -TERM "$agent"
wait "$agent"
verdict $? agent_ends_while_it_rests
grep -q "\"container.name\", \"value\": \"$name\"" < <(zcat "$work"/files/*.gz) &&
	[ "$(grep -cx ps "$work/asked")" -eq 1 ]
verdict $? $test

exit "$script_status"
