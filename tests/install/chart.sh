#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# chart.sh BUILD: the chart's schema and the agent's options say the same, and helm has nothing to warn of.
# What needs helm and a cluster is in tests/kubernetes.
set -uo pipefail
bin=$(readlink -f "$1")/bpfprofil
chart=user/kubernetes/chart
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

verdict() {
	if [ "$1" -eq 0 ]; then
		echo "PASS install::$2"
	else
		echo "FAIL install::$2"
		status=1
	fi
}

# helm warns of links with each command, and a chart from elsewhere would not have what they lead to.
[ -z "$(find $chart -type l)" ]
verdict $? chart_has_no_links
cmp user/grafana/clickhouse.json $chart/files/clickhouse.json && cmp user/grafana/prometheus.json $chart/files/prometheus.json &&
	cmp user/prometheus/rules.yaml $chart/files/rules.yaml
verdict $? chart_has_the_dashboards

# Each option is a key of `config`, or the chart has a value of its own for it.
"$bin" agent --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | sed 's/.*--//' | sort >"$work/options"
cat >"$work/schema.py" <<'end'
import json, sys
schema = json.load(open(sys.argv[1]))["properties"]["config"]
options = set(open(sys.argv[2]).read().split())
own = {"otlp", "pyroscope", "parca", "token-file", "headers-file", "ca", "cert", "key", "include", "exclude", "label",
       "interval", "budget", "duty", "callers", "spool", "spool-size", "top-functions", "listen", "insecure-listen"}
# Files that are in no volume, and what means nothing in a pod.
none = {"listen-cert", "listen-key", "listen-token-file", "config", "color", "help", "version"}
assert schema["additionalProperties"] is False
keys = set(schema["properties"])
assert keys == options - own - none and own < options, (keys ^ (options - own - none), own - options)
for key, of in schema["properties"].items():
    for word in of.get("enum", []):
        print(key, word)
end
python3 "$work/schema.py" $chart/values.schema.json "$work/options" >"$work/words"
verdict $? chart_knows_the_options

# taken KEY WORD: an option that is wrong is found before a file that is not there.
taken() {
	"$bin" agent "--$1=$2" --config "$work/none" 2>"$work/err"
	[ $? = 1 ]
}
all=0
while read -r key word; do
	taken "$key" "$word" || { all=1; cat "$work/err"; }
	! taken "$key" "$word-x" || { all=1; echo "$key takes $word-x"; }
done <"$work/words"
[ $all = 0 ] && [ "$(wc -l <"$work/words")" -ge 10 ]
verdict $? chart_knows_the_words

exit $status
