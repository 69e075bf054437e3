#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What a mistake costs whoever runs agents: a wrong key in a file of options, a wrong URL, a token that has
# expired and a full disk are said where one looks, and no tick is lost by them.
set -uo pipefail
. tests/lib/cli.bash

can_sample agent_config || exit "$script_status"

# A backend that wants a token, and counts what it was sent.
cat >"$work/backend.py" <<'end'
import http.server, sys
class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        good = self.headers.get("Authorization") in (None, "Bearer new")
        text = b"" if good else b"the token has expired\n"
        self.send_response(200 if good else 401)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend).serve_forever()
end

disk=$work/disk
clean_up() {
	umount -l "$disk" 2>/dev/null
}

# readyz CODE LINE: it is answered so, with that line
readyz() {
	[ "$(curl -s -o "$work/ready" -w '%{http_code}' "http://127.0.0.1:$listen/readyz")" = "$1" ] &&
		grep -q -e "$2" "$work/ready"
}

figure() {
	curl -s "http://127.0.0.1:$listen/metrics" | awk -v name="bpfprofil_$1" '
		$1 ~ "^" name "({|$)" { sum += $NF } END { print sum + 0 }'
}

# is FIGURE NUMBER
is() {
	[ "$(figure "$1")" = "$2" ]
}

begin() {
	: >"$work/err"
	"$bin" agent --config "$work/agent.conf" --listen "127.0.0.1:$listen" 2>>"$work/err" &
	agent=$!
}

end_agent() {
	kill -TERM "$agent"
	wait "$agent"
}

# write LINE...: into the file of options, as one that replaces it
write() {
	printf '%s\n' "duty = 100" "$@" "spool = $work/spool" >"$work/new.conf"
	mv "$work/new.conf" "$work/agent.conf"
}

port=$(tests/lib/free_port) listen=$(tests/lib/free_port)
python3 "$work/backend.py" "$port" &
good=$work/spool/last-good.conf
write "otlp = http://127.0.0.1:$port" 'interval = 1'
begin
until_true readyz 200 ': ok$' && is config_ok 1 && cmp "$work/agent.conf" "$good" && [ "$(stat -c %a "$good")" = 600 ]
verdict $? agent_keeps_a_good_config

# An unknown key, a value that is none, and a URL without a host, in an agent that runs.
n=0
while IFS='|' read -r line why; do
	write "otlp = http://127.0.0.1:$port" 'interval = 1' "$line"
	until_true readyz 503 "^config: .*$why.*; the former options are in force$" && until_true is config_ok 0 &&
		readyz 503 ': ok$' && said "$why" && ! grep -q -F "$line" "$good"
	verdict $? "agent_config_wrong_$((++n))"
done <<'end'
no-such-key = 3|:4: unknown option '--no-such-key'
interval = soon|:4: --interval 'soon': must be
otlp = collector:4318|URL 'collector...': neither http, https, grpc nor grpcs
otlp = http://:4318|URL: it names no host
end

# It stays so over a restart, with the spool known by the line behind the wrong one.
write 'no-such-key = 3' "otlp = http://127.0.0.1:$port" 'interval = 1'
until_true readyz 503 "^config: .*:2: unknown option '--no-such-key'"
end_agent
begin
until_true readyz 503 ': ok$' && readyz 503 "^config: .*:2: unknown option '--no-such-key'" && is config_ok 0 &&
	said "using the last options that worked, of $good" && said 'otlp .* every 1 s'
verdict $? agent_starts_with_the_last_good_config
write "otlp = http://127.0.0.1:$port" 'interval = 2'
until_true readyz 200 ': ok$' && is config_ok 1 && said 'otlp .* every 2 s' && grep -qx 'interval = 2' "$good"
verdict $? agent_config_mended_after_a_restart
end_agent

# refused NAME: a file that is wrong is an error, as always, where the last good one cannot be trusted.
refused() {
	: >"$work/err"
	timeout 60 "$bin" agent --config "$work/agent.conf" --listen "127.0.0.1:$listen" 2>>"$work/err"
	[ $? = 2 ] && said "unknown option '--no-such-key'" && ! said 'worked last'
	verdict $? "agent_last_good_config_$1"
}
write 'no-such-key = 3'
cp "$good" "$work/kept"
chmod 666 "$good"
refused of_anybody
chmod 600 "$good"
chown nobody "$good"
refused of_another
rm "$good"
ln -s "$work/kept" "$good"
refused that_is_a_link
rm "$good"
mkfifo "$good"
refused that_is_a_fifo
rm "$good"
refused that_is_not_there

# A token that has expired costs no tick: profiles wait, over a restart too, until its file is another one.
echo old >"$work/token"
write "otlp = http://127.0.0.1:$port" 'interval = 1' "token-file = $work/token"
begin
until_true readyz 503 ': refuses: HTTP 401: the token has expired; profiles that wait: [3-9]' &&
	said 'HTTP 401: the token has expired; profiles wait, and are tried again in up to 5 minutes, or when the token changes'
verdict $? agent_token_expired
end_agent
counted=$(sed -n 's/^\([0-9]*\) = .*/\1/p' "$work/err")
begin
until_true readyz 503 ': refuses: HTTP 401'
echo new >"$work/token.new"
mv "$work/token.new" "$work/token"
# Within the step that it waits for otherwise.
until_true readyz 200 ': ok$' && until_true is pending_ticks 0 && is undelivered_ticks_total 0 &&
	[ "$(figure export_ticks_total)" -gt "$counted" ] && [ "$counted" -gt 0 ]
verdict $? agent_token_renewed
end_agent

# What waits for a sink that is no more is reported, and is sent by another or dropped where that is wanted.
old() {
	find "$work/spool" -mindepth 1 -maxdepth 1 -name 'otlp-*' | wc -l
}
has_sent() {
	[ "$(old)" = 2 ] && is pending_ticks 0 && [ "$(figure export_ticks_total)" -ge $((delivered + waiting)) ]
}
options=("interval = 1" "token-file = $work/token")
write 'otlp = http://127.0.0.1:1/old' "${options[@]}"
begin
until_true readyz 503 'profiles that wait: [3-9]'
write "otlp = http://127.0.0.1:$port" "${options[@]}"
until_true readyz 200 ': ok$' && said "otlp http://127.0.0.1:1/old: [0-9]* ticks in $work/spool/otlp-.* wait for it, which is no sink any more" &&
	! is old_spool_bytes 0 && [ "$(old)" = 2 ]
verdict $? agent_reports_an_old_spool
waiting=$(sed -n 's/.*1\/old: \([0-9]*\) ticks in .*is no sink.*/\1/p' "$work/err") delivered=$(figure export_ticks_total)
# What others put there is nobody's profile: neither sent, counted nor removed.
planted=$work/spool/otlp-0123456789abcdef
cp -r "$(dirname "$(find "$work/spool" -name '*.json.gz' | head -n 1)")" "$planted"
chown nobody "$planted"
write "otlp = http://127.0.0.1:$port" "${options[@]}" 'old-spools = send'
until_true said "1/old: $waiting ticks in .* wait for another sink now" && until_true has_sent && is old_spool_bytes 0 &&
	[ "$waiting" -gt 0 ] && ! said "$planted" && [ -n "$(find "$planted" -name '*.json.gz')" ]
verdict $? agent_sends_an_old_spool
write 'otlp = http://127.0.0.1:1/other' "${options[@]}"
until_true readyz 503 'profiles that wait: [3-9]'
end_agent
write "${options[@]}" 'old-spools = drop'
begin
until_true said "1/other: [1-9][0-9]* ticks in .* are dropped" && [ "$(old)" = 1 ] && is old_spool_bytes 0 &&
	[ -n "$(find "$planted" -name '*.json.gz')" ]
verdict $? agent_drops_old_spools
end_agent

# A disk that is full, where the backend is away too.
mkdir "$disk"
mount -t tmpfs -o size=64k none "$disk"
head -c 60k /dev/zero >"$disk/others"
printf '%s\n' 'duty = 100' 'otlp = http://127.0.0.1:1' 'interval = 1' "spool = $disk" >"$work/agent.conf"
begin
until_true readyz 503 ': has accepted nothing yet: .*; profiles that wait: .*; the spool is full: they wait in memory$' &&
	is spool_ok 0 && said 'No space left on device; profiles wait in memory' && is undelivered_ticks_total 0
verdict $? agent_disk_is_full
said "$disk: others can write there: counters are not carried over"
verdict $? agent_spool_of_others
rm "$disk/others"
until_true is spool_ok 1 && said 'works again' && ! readyz 503 'the spool is full'
verdict $? agent_disk_has_room
end_agent

exit "$script_status"
