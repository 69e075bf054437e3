# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# shellcheck disable=SC2034 # the variables are the scripts'
#
# What the scripts of the node share. BUILD_DIR is absolute; all that they write is in its folder kubernetes.

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
work=${BUILD_DIR:?}/kubernetes
bin=$work/bin run=$work/run etc=$work/etc logs=$work/log
# The node's address, name, its pods' network, and the control group of its pods.
ip=10.99.0.2 node_name=node-1 pods=10.245.0 root=bpfprofil-node
unified=/sys/fs/cgroup
[ -e $unified/cgroup.controllers ] || unified=/sys/fs/cgroup/unified
export KUBECONFIG=$etc/kubeconfig PATH=$bin:/usr/lib/cni:/usr/sbin:$PATH

# in_node COMMAND...: in the namespaces of the node.
in_node() {
	nsenter -t "$(cat "$run/ns.pid")" -m -n -u -- "$@"
}

kubectl() {
	in_node "$bin/kubectl" "$@"
}

# start NAME COMMAND...: in a control group of version 2 of its own, as systemd would have it, so that it ends with
# the node, of which nothing is said.
start() {
	local name=$1 group=$unified/$root.slice/$1.service

	shift
	mkdir -p "$group"
	(
		echo $BASHPID >"$group/cgroup.procs"
		exec "$@" >>"$logs/$name.log" 2>&1 </dev/null 8>&- 9>&-
	) &
	disown
}

# until_true SECONDS COMMAND...: until it is, for so long at most.
until_true() {
	local end=$((SECONDS + $1))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.3
	done
}
