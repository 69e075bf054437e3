#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# image.sh BUILD: the container image that `make image` left, under runc with what the DaemonSet of
# user/kubernetes gives it: it names what a stranger's program in a closed folder does, and the
# kernel's functions, and without any one of its capabilities it does not. An image of another processor does not
# run here. build/image/bpfprofil.tar has it too.
set -uo pipefail

build=$(readlink -f "$1")
manifest=$(readlink -f user/kubernetes/bpfprofil-agent.yaml)
three=$build/tests/live/workloads/three
work=$(mktemp -d)
status=0
started=()
chmod 755 "$work"
trap 'kill -9 "${started[@]}" 2>/dev/null; wait "${started[@]}" 2>/dev/null; runc delete -f "bpfprofil-test-$$" 2>/dev/null; rm -rf "$work"' EXIT

verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS image::$2"
	else
		echo "FAIL image::$2: status $1"
		status=1
	fi
}

# bundle CAPABILITY...: as kubelet would have it made, but for the network, which is this host's.
bundle() {
	runc spec -b "$work" 2>/dev/null || { rm -f "$work/config.json" && runc spec -b "$work"; } || return
	python3 - "$work/config.json" "$build/image/rootfs" "$work" "$port" "$@" <<'end'
import json
import sys
path, root, work, port, *names = sys.argv[1:]
with open(path) as file:
    config = json.load(file)
process = config["process"]
process["terminal"] = False
process["noNewPrivileges"] = True
process["args"] = ["/usr/bin/bpfprofil", "agent", "--config=/etc/bpfprofil/agent.conf", "--duty=100",
                   f"--listen=127.0.0.1:{port}", "--insecure-listen"]
sets = ["bounding", "effective", "permitted"]
process["capabilities"] = {one: ["CAP_" + name for name in names] for one in sets}
process["rlimits"] = []
config["root"] = {"path": root, "readonly": True}
config["hostname"] = "node"
of = config["linux"]
of["namespaces"] = [one for one in of["namespaces"] if one["type"] not in ("pid", "network", "cgroup")]
of["resources"] = {"memory": {"limit": 512 << 20}}
config["mounts"] = [one for one in config["mounts"] if one["destination"] != "/sys/fs/cgroup"]
for source, to in ("/sys/fs/cgroup", "/sys/fs/cgroup"), ("/var/log", "/var/log"), (work + "/conf", "/etc/bpfprofil"):
    config["mounts"].append({"destination": to, "source": source, "type": "bind",
                             "options": ["rbind", "ro", "nosuid", "nodev", "noexec"]})
with open(path, "w") as file:
    json.dump(config, file)
end
}

# asked FILE CAPABILITY...: what the agent with these says of two seconds, as go's pprof shows it.
asked() {
	local file=$1 agent i

	shift
	rm -f "$work/config.json" "$file"
	bundle "$@"
	runc run -b "$work" "bpfprofil-test-$$" >"$file.said" 2>&1 &
	agent=$!
	for ((i = 0; i < 100; i++)); do
		curl -sf "http://127.0.0.1:$port/healthz" >/dev/null && break
		kill -0 "$agent" 2>/dev/null || break
		sleep 0.2
	done
	curl -sf -o "$file.pb" "http://127.0.0.1:$port/debug/pprof/profile?seconds=2" &&
		PATH=/usr/bin:$PATH go tool pprof -raw "$file.pb" >"$file" 2>/dev/null
	runc kill "bpfprofil-test-$$" TERM 2>/dev/null
	wait "$agent"
}

# A stranger's program that only he may read, and one that is in the kernel.
load() {
	install -d -o 65534 -g 65534 -m 700 "$work/closed"
	install -o 65534 -g 65534 -m 700 "$three" "$work/closed/three"
	# Its process is not root's either, and has no capabilities.
	setpriv --reuid 65534 --regid 65534 --clear-groups "$work/closed/three" 600000 >/dev/null &
	started+=($!)
	dd if=/dev/zero of=/dev/null bs=64k 2>/dev/null &
	started+=($!)
}

# named FILE OBJECT FUNCTION: a place in that object has that name.
named() {
	awk -v object="$2" -v wanted="$3" '
		/^Locations/ { at = 1 }
		/^Mappings/ { at = 2 }
		at == 1 && $0 ~ wanted { for (i = 1; i <= NF; i++) if ($i ~ /^M=/) of[substr($i, 3)] = 1 }
		at == 2 && index($0, object) { sub(":", "", $1); found = found || of[$1] }
		END { exit !found }' "$1" 2>/dev/null
}

names_program() {
	named "$1" "$work/closed/three" ' (alpha|beta|delta) '
}

names_kernel() {
	named "$1" '[kernel]' ' (read_zero|iov_iter_zero|__?clear_user|rep_stos_alternative|vfs_read|ksys_read)[ .]'
}

# The archive has whole images of the processors that values.yaml names: those that were made of the same sources.
archive() {
	local one same=()

	for one in build/image build/*-linux-*/image; do
		! cmp -s "$one/sources" "$build/image/sources" || same+=("$(cat "$one/architecture")")
	done
	python3 - build/image/bpfprofil.tar build/image/values.yaml "${same[@]}" <<'end'
import hashlib
import json
import sys
import tarfile
path, values, *same = sys.argv[1:]
with tarfile.open(path) as tar:
    def blob(entry):
        content = tar.extractfile("./blobs/" + entry["digest"].replace(":", "/")).read()
        assert "sha256:" + hashlib.sha256(content).hexdigest() == entry["digest"], entry
        assert len(content) == entry["size"], entry
        return content
    outer, = json.load(tar.extractfile("./index.json"))["manifests"]
    assert outer["annotations"]["org.opencontainers.image.ref.name"].startswith("localhost/bpfprofil:"), outer
    found = []
    for entry in json.loads(blob(outer))["manifests"]:
        manifest = json.loads(blob(entry))
        config = json.loads(blob(manifest["config"]))
        assert config["architecture"] == entry["platform"]["architecture"], entry
        assert all(blob(layer) for layer in manifest["layers"])
        found.append(config["architecture"])
print("  architectures: " + ", ".join(found))
with open(values) as file:
    assert file.read() == f"image:\n  architectures: [{','.join(found)}]\n"
assert sorted(found) == sorted(same), same
end
}

[ -d "$build/image/rootfs" ] || { echo "FAIL image::built: make image has not been run"; exit 1; }
port=$(tests/lib/free_port)
mkdir -p "$work/conf"
echo "otlp = http://127.0.0.1:9" >"$work/conf/agent.conf"
read -ra capabilities < <(sed -n 's/^ *add: \[\(.*\)\]$/\1/p' "$manifest" | tr -d ,)
[ ${#capabilities[@]} -gt 0 ]
verdict $? manifest
[ "$(find "$build/image/rootfs" -type f -perm /111 -path '*/bin/*')" = "$build/image/rootfs/usr/bin/bpfprofil" ]
verdict $? one_program
# The agent's own functions have names: it is the package's build, whose symbols are in the image.
build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
dpkg-deb -x "$build"/deb/bpfprofil_*.deb "$work/deb"
[ "$(build_id "$build/image/rootfs/usr/bin/bpfprofil")" = "$(build_id "$work/deb/usr/bin/bpfprofil")" ] &&
	readelf -sW "$build/image/rootfs/usr/bin/bpfprofil" | grep 'FUNC .* result_finish$' >/dev/null
verdict $? names_itself
archive
verdict $? archive
arch=$(cat "$build/image/architecture")
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
	echo "SKIP image::runs: the image is for $arch"
	exit $status
fi
load
asked "$work/all" "${capabilities[@]}"
names_program "$work/all"
verdict $? names_program
names_kernel "$work/all"
verdict $? names_kernel
grep -q 'trying again' "$work/all.said"
verdict $? has_curl
[ "$status" -eq 0 ] || head -n 30 "$work/all" "$work/all.said"
for without in "${capabilities[@]}"; do
	rest=()
	for name in "${capabilities[@]}"; do
		[ "$name" = "$without" ] || rest+=("$name")
	done
	asked "$work/less" "${rest[@]}"
	! { names_program "$work/less" && names_kernel "$work/less"; }
	verdict $? "needs_$without"
	printf '  without %s: %s; a stranger'"'"'s program %s, the kernel %s\n' "$without" \
		"$(grep -m1 'cannot profile' "$work/less.said" || echo 'it runs')" \
		"$(names_program "$work/less" && echo named || echo 'not named')" \
		"$(names_kernel "$work/less" && echo named || echo 'not named')"
done
exit $status
