# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Chromium without a window, spoken to in its DevTools protocol over two pipes.

Nothing but the standard library: messages are JSON, each ends with a NUL.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {
    "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
    "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, "Tab": 9,
}


def high(pipe):
    """The same pipe, out of the way of descriptors 3 and 4."""
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe]
    for end in pipe:
        os.close(end)
    return ends


class Failed(Exception):
    pass


class Browser:
    """One tab. Everything that goes over the network or onto the console is kept."""

    def __init__(self, patience=60):
        self.patience = patience
        self.profile = tempfile.mkdtemp()
        # Chromium needs its ends as descriptors 3 and 4, which may be in use here.
        down, self.to = high(os.pipe())
        self.back, up = high(os.pipe())
        argv = [
            shutil.which("chromium"), "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
            "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio",
            "--disable-extensions", "--disable-background-networking", "--disable-sync",
            "--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb",
            "--user-data-dir=" + self.profile, "about:blank",
        ]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec 3<&{down} 4>&{up} {down}<&- {up}>&-; exec "$@"', "chromium"] + argv,
            pass_fds=(down, up), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        self.requests = []
        self.complaints = []
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(p for p in pages if p["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- the protocol ---

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.back], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.back, 1 << 20) if ready else b""
            if not data:
                raise Failed("chromium does not answer" if not ready else "chromium has gone")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method:
            self.events.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(a.get("value", a)) for a in params["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog: " + params["message"])

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.patience
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]

    # --- what a user does ---

    def open(self, path):
        self.requests, self.complaints, self.events = [], [], []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + self.patience
        while "Page.loadEventFired" not in self.events:
            self.receive(deadline)
        self.settle()

    def run(self, script):
        """The value of an expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def settle(self):
        """Until two frames have been drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = KEYS.get(key, ord(key[0].upper()))
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def click_at(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def drag(self, start, end):
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1,
                      clickCount=1)
        self.settle()

    def box(self, selector):
        """Where an element is in the window: x, y, width, height."""
        place = self.run(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            if (!e) return null;
            e.scrollIntoView({{ block: 'nearest' }});
            const b = e.getBoundingClientRect();
            return [b.x, b.y, b.width, b.height];
        }})()""")
        if not place:
            raise Failed("there is no " + selector)
        return place

    def click(self, selector):
        x, y, w, h = self.box(selector)
        self.click_at(x + w / 2, y + h / 2)

    def picture(self, path, full=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
