# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""guard.py HOST PORT URL FILE: hands requests to the server at URL if they have the bearer token in FILE.

Others get 401, as from a gateway in front of a backend.
"""
import http.server
import sys
import urllib.error
import urllib.request

host, port, url, token_file = sys.argv[1:]


class Guard(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(token_file, encoding="utf-8") as file:
            if self.headers["Authorization"] != "Bearer " + file.read().strip():
                self.answer(401, b"the token has expired")
                return
        kept = {name: self.headers[name] for name in ("Content-Type", "Content-Encoding") if name in self.headers}
        try:
            with urllib.request.urlopen(urllib.request.Request(url + self.path, body, kept)) as reply:
                self.answer(reply.status, reply.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.read())
        except OSError:
            self.answer(503, b"")

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer((host, int(port)), Guard).serve_forever()
