# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""pages.py BUILD: clicks through the pages; a verdict a line."""
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import samples
from browser import Browser, Failed

GOLDEN = "tests/golden/profile.json"
CALLERS = "tests/golden/callers.json" # a tree with cut chains and the kernel's frames
WAITS = "tests/golden/waits.json" # the same tree, and waits
SPLIT = "tests/golden/split.json" # with the CPU time of each process
WINDOW = 1440, 3200 # high enough for all rows of a small profile


def same(got, wanted, what):
    if got != wanted:
        raise Failed(f"{what}: {str(got)[:300]}, not {str(wanted)[:300]}")


def true(fact, what):
    if not fact:
        raise Failed(what)


class Site:
    """The profiler, a folder for its files, and a browser."""

    def __init__(self, build, folder, browser):
        self.program = build + "/bpfprofil"
        self.workloads = "build/tests/live/workloads"
        self.folder = folder
        self.browser = browser

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *argv):
        done = subprocess.run([self.program, *argv], stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        if done.returncode:
            raise Failed(f"{' '.join(argv)}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def report(self, *argv):
        return json.loads(self.call("report", "--format", "json", *argv))

    def open(self, profile, *argv):
        page = self.path("page.html")
        self.call("report", "--html", page, *argv, profile)
        self.browser.open(page)
        return page

    def write(self, name, profile):
        samples.write(self.path(name), profile)
        return self.path(name)

    # What the page shows.

    def all(self, selector, what="textContent"):
        return self.browser.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.{what})")

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def rows(self):
        cells = self.browser.run("""[...document.querySelectorAll('#table tr[data-row]')].map((row) =>
            [...row.cells].map((cell) => cell.textContent))""")
        return [(number(row[1]), *row[3:]) for row in cells]

    def choose(self, kind, index):
        self.browser.run(f"""(() => {{
            const select = document.querySelector('#filter-{kind} select');
            select.value = {json.dumps(str(index))};
            select.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()""")
        self.browser.settle()

    def account(self):
        parts = self.browser.run("""[...document.querySelectorAll('#account-sum .part')].map((e) =>
            [e.dataset.part, Number(e.dataset.ticks)])""")
        return number(self.text("#account-sum b")), dict(parts)


def number(text):
    return int(re.sub(r"\D", "", text))


def quiet(site):
    """Nothing was fetched but the page, and nothing complained of."""
    others = [url for url in site.browser.requests if not url.startswith(("file:", "data:"))]
    same(others, [], "requests")
    same(len([url for url in site.browser.requests if url.startswith("file:")]), 1, "files read")
    same(site.browser.complaints, [], "complaints")


def rows_of(report):
    """As the table has them: ticks, function, object."""
    return sorted((row["ticks"], row["function"], os.path.basename(row["object"]))
                  for row in report["rows"])

class Calls:
    """The flame graph of the open page, by its keys and by what it says."""

    def __init__(self, site):
        self.browser = site.browser
        self.browser.run("document.querySelector('#calls-canvas').focus()")

    def at(self):
        """The bar that keys are at: row, name, ticks, and which it is."""
        row, node, name, text = self.browser.run("""(() => {
            const status = document.querySelector('#calls-status'), name = status.querySelector('b').textContent;
            return [Number(status.dataset.row), status.dataset.node, name, status.textContent.replace(name, '')];
        })()""")
        return row, name, number(re.search(r"([\d,]+) ticks?", text).group(1)), node

    def key(self, *keys):
        for key in keys:
            self.browser.key(key)
        return self.at()

    def sweep(self, key):
        seen = [self.at()]
        while self.key(key) != seen[-1]:
            seen.append(self.at())
        return seen

    def bars(self, away="ArrowDown"):
        """All bars that arrow keys reach on one side of the first: how far it is, name and ticks."""
        found = []
        self.key("Home")
        while True:
            self.sweep("ArrowLeft")
            found += self.sweep("ArrowRight")
            here = self.at()
            while self.key(away)[0] == here[0]:
                if self.key("ArrowLeft") == here:
                    return sorted((abs(row), name, ticks) for row, name, ticks, _ in found)
                here = self.at()

    def color(self, x, row):
        """Of the picture, at a share of its width."""
        return self.browser.run(f"""(() => {{
            const canvas = document.querySelector('#calls-canvas'), scale = canvas.width / canvas.clientWidth;
            const pixel = new OffscreenCanvas(1, 1).getContext('2d');
            pixel.drawImage(canvas, 6 - Math.round({x} * canvas.width), -({row} * 18 + 4) * scale);
            return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
        }})()""")

    def click(self, x, row):
        left, top, width, _ = self.browser.box("#calls-canvas")
        self.browser.click_at(left + x * width, top + row * 18 + 9)
        return self.at()


def bars_of(report, wanted=lambda row: True, below=0):
    return sorted((row["depth"] + below, row["function"] + f" x {row['recursion']}" * (row.get("recursion", 1) > 1), row["inclusive_ticks"])
                  for row in report["rows"] if wanted(row))


# --- tests: each gets a site with nothing open -------------------------------------------------------


def account_adds_up(site):
    site.open(GOLDEN)
    total, parts = site.account()
    with open(GOLDEN, encoding="utf-8") as file:
        ticks = json.load(file)["ticks"]
    lost = {cause: n for cause, n in ticks.pop("lost").items() if n}
    same(total, sum(parts.values()), "total")
    same((total, parts), (ticks.pop("total"), dict(ticks, lost=sum(lost.values()))), "account")
    causes = site.browser.run("""[...document.querySelectorAll('#notes .lost')].map((e) =>
        [e.dataset.cause, Number(e.dataset.ticks)])""")
    same(dict(causes), lost, "causes")
    quiet(site)


def table_is_the_report(site):
    site.open(site.profile)
    same(sorted(site.rows()), rows_of(site.report(site.profile)), "functions")
    site.browser.click("#by [data-key=objects]")
    wanted = sorted((row["ticks"], row["kind"], row["object"])
                    for row in site.report("--by", "objects", site.profile)["rows"])
    same(sorted(site.rows()), wanted, "objects")
    site.browser.click("#by [data-key=process]")
    wanted = sorted((row["ticks"], f"{row['process']} {row['pid']}")
                    for row in site.report("--by", "process", site.profile)["rows"])
    same(sorted(site.rows()), wanted, "processes")
    quiet(site)


def inlined_functions_have_rows(site):
    site.open(site.profile, "--inline")
    site.browser.click("#by [data-key=inlined]")
    report = site.report("--inline", site.profile)
    wanted = sorted((row["ticks"], row["function"] + " (inlined)" * (row["inlined"] == row["ticks"]),
                     os.path.basename(row["object"])) for row in report["rows"])
    same(sorted(site.rows()), wanted, "functions of the source")
    inlined = next(i for i, row in enumerate(site.rows()) if row[1] == "spin (inlined)")
    site.browser.click(f"#table tr[data-row='{inlined}']")
    same(site.text("#text-path b"), "alpha", "the function that has the most of it")
    site.choose("process", 0)
    same(sum(row[0] for row in site.rows()), number(site.text("#chosen").split(" of ")[0]), "a filter")
    quiet(site)


def table_sorts(site):
    site.open(site.profile)
    for column, place in (("name", 1), ("object", 2), ("ticks", 0)):
        orders = []
        for _ in range(2):
            site.browser.click(f"#table th.{column} button")
            rows = [row[place] for row in site.rows()]
            order = site.browser.run(f"document.querySelector('#table th.{column}').ariaSort")
            same(rows, sorted(rows, reverse=order == "descending"), column)
            orders.append(order)
        same(sorted(orders), ["ascending", "descending"], "both ways")
    quiet(site)


def search_narrows(site):
    site.open(site.profile)
    everything = site.rows()
    site.browser.key("/")
    same(site.browser.run("document.activeElement.id"), "search", "the focus")
    site.browser.type("ALPHA")
    found = site.rows()
    same(found, [row for row in everything if "alpha" in row[1] + row[2]], "what is found")
    true(0 < len(found) < len(everything), "some are found, not all")
    true(site.all("#map-cells .faded"), "the map fades the others")
    site.browser.key("Escape")
    same(site.rows(), everything, "after Escape")
    site.browser.key("Escape")
    same(site.browser.run("document.activeElement.id"), "table", "the focus")
    quiet(site)


def enter_opens_what_was_found(site):
    site.open(site.profile)
    site.browser.key("/")
    site.browser.type("BETA")
    site.browser.key("Enter")
    same(site.text("#text-path b"), "beta", "the text")
    same(site.browser.run("document.activeElement.id"), "table", "the focus")
    quiet(site)


def links_name_what_is_shown(site):
    page = site.open(site.profile)
    site.browser.click("#search")
    site.browser.type("beta")
    site.browser.key("Enter")
    linked = "new Promise((done) => { const at = setInterval(() => location.hash && (clearInterval(at), done(location.hash)), 50); })"
    same(site.browser.run(linked), "#beta", "the address line")
    opened = [page]

    def follow(link):
        # Needs another file: for the same one a browser only reports that the fragment has changed.
        opened.append(site.path(f"page{len(opened)}.html"))
        shutil.copy(page, opened[-1])
        site.browser.open(f"{opened[-1]}#{link}")

    follow("three:alpha")
    same(site.text("#text-path b"), "alpha", "an object's function")
    site.browser.run("location.hash = '#beta'")
    site.browser.settle()
    same(site.text("#text-path b"), "beta", "a link within the page")
    follow("three")
    true(site.text("#text-path b").endswith("/three"), "an object")
    follow("%ff</b>")
    true(site.text("#text-path b"), "no such function")
    same(site.browser.complaints, [], "complaints")


def names_have_the_room(site):
    with open(GOLDEN, encoding="utf-8") as file:
        profile = json.load(file)
    name, folder = "n" * 31, "/usr/lib/" + "long/" * 30
    profile["functions"][0]["name"] = name
    profile["objects"][0]["path"] = folder + "cc1plus"
    profile["objects"][2].update(kind="file", path=folder + "cc1")
    site.browser.size(1400, 900)
    try:
        site.open(site.write("room.json", profile))
        cut = "(() => { const e = document.querySelector('#table tr[data-row=\"0\"] %s'); return e.scrollWidth > e.clientWidth; })()"
        true(not site.browser.run(cut % "td.name"), "31 characters of a function are shown")
        site.browser.click("#by [data-key=objects]")
        true(site.browser.run(cut % ".folder"), "the folders are cut")
        same(site.all("#table .base")[:1], ["cc1plus"], "the name")
        true(not site.browser.run(cut % ".base"), "is not cut")
    finally:
        site.browser.size(*WINDOW)
    quiet(site)


def places_are_as_in_report(site):
    site.open(GOLDEN)
    wanted = site.call("report", "--limit", "0", GOLDEN).decode()
    for name in filter(lambda name: "+0x" in name, site.all("#table td.name")):
        true(name in wanted, f"{name} is in the report")
    site.browser.click("#search")
    site.browser.type("work+0x")
    site.browser.key("Enter")
    same(site.text("#text-path b"), "work+0x8fff", "the label")
    true("0x408fff" in site.text("#text-facts"), "the place")
    same(site.text("#strip-range"), "0x408ffe – 0x409000, 2 bytes", "the range")
    same(site.all("#code td.address")[:1], ["0x408fff"], "the bin")
    site.browser.key("Escape")
    site.browser.click("#search")
    site.browser.type("0x408fff")
    same(site.all("#table td.name"), ["work+0x8fff"], "its address finds it")
    site.browser.run("location.hash = '#main'")
    site.browser.settle()
    site.browser.run("location.hash = '#work+0x8fff'")
    site.browser.settle()
    same(site.text("#text-path b"), "work+0x8fff", "and so does a link")
    quiet(site)


def rest_of_the_map_opens(site):
    site.open(site.write("large.json", samples.large(objects=4)))
    rest = "#map-cells .rest"
    seen, skipped = set(), []
    for _ in range(3):
        skipped.append(int(site.browser.run(f"document.querySelector('{rest}').dataset.skip")))
        site.browser.click(rest)
        cells = set(site.all("#map-cells button", "dataset.key"))
        functions = {key for key in cells if key[0] == "f"}
        true(functions and not functions & seen, "functions that were not shown")
        seen |= functions
    same(skipped, sorted(skipped), "further and further")
    true("hottest" in site.text("#map-path"), "the path tells")
    of_object = int(site.browser.run("document.querySelector('#table table').ariaRowCount")) - 1
    same(of_object, 2000 - skipped[-1], "the table has the same")
    site.browser.key("Escape")
    true("hottest" not in site.text("#map-path") and "›" in site.text("#map-path"), "Escape: the object")
    site.browser.key("Escape")
    same(site.text("#map-path"), "all objects", "and again: all")
    quiet(site)


def map_zooms(site):
    site.open(site.profile)
    whole = site.all("#map-cells button", "dataset.key")
    objects = [key for key in whole if key[0] == "o"]
    true(objects, "objects have labels")
    site.browser.click(f"#map-cells [data-key={objects[0]}]")
    inside = site.all("#map-cells button", "dataset.key")
    true(inside and not [key for key in inside if key[0] == "o"], "only functions of one object")
    true("›" in site.text("#map-path"), "the path tells")
    site.browser.key("Escape")
    same(site.all("#map-cells button", "dataset.key"), whole, "after Escape")
    share = site.browser.run("""[...document.querySelectorAll('#map-cells button:not(.object)')]
        .reduce((sum, e) => sum + e.offsetWidth * e.offsetHeight, 0) /
        (document.querySelector('#map-cells').clientWidth * document.querySelector('#map-cells').clientHeight)""")
    true(0.7 < share < 1.1, f"the cells fill the map: {share}")
    quiet(site)


def keys_walk(site):
    site.open(site.profile)
    browser = site.browser
    names = [row[1] for row in site.rows()]
    browser.run("document.querySelector('#table').focus()")
    browser.key("ArrowDown")
    same(site.text("#text-path b"), names[1], "the text follows")
    same(browser.run("document.querySelector('#table:focus-visible') !== null"), True, "the ring")
    browser.key("End")
    same(site.text("#text-path b"), names[-1], "End")
    browser.key("Home")
    same(site.text("#text-path b"), names[0], "Home")
    browser.run("document.querySelector('#map-cells button[tabindex=\"0\"]').focus()")
    seen = set()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp"):
        browser.key(key)
        seen.add(browser.run("document.activeElement.dataset.key"))
    true(len(seen) > 1 and None not in seen, f"arrow keys move through the map: {seen}")
    browser.key("?")
    true(browser.run("document.querySelector('#keys').open"), "? opens the list of keys")
    browser.key("Escape")
    true(not browser.run("document.querySelector('#keys').open"), "Escape closes it")
    quiet(site)


def code_is_the_annotation(site):
    site.open(site.profile)
    browser = site.browser
    for name in ("alpha", "beta"):
        browser.click("#search")
        browser.run("document.querySelector('#search').select()")
        browser.type(name)
        browser.click("#table tr[data-row='0']")
        same(site.text("#text-path b"), name, "the text")
        for fold in range(len(site.all("#code [data-fold]"))):
            browser.run("document.querySelector('#code [data-fold]').click()")
            true(fold < 50, "folds end")
        rows = browser.run("""[...document.querySelectorAll('#code tr[data-offset]')].map((row) =>
            [Number(row.dataset.offset), Number(row.dataset.ticks), row.querySelector('.words, .jump').textContent.trim()])""")
        wanted = site.report("--annotate", name, site.profile)["rows"]
        same([row[:2] for row in rows], [[row["offset"], row["ticks"] or 0] for row in wanted],
             "ticks of the instructions of " + name)
        true(all(got[2].startswith(row["instruction"]) for got, row in zip(rows, wanted)), "their text")
        true(any("spin.h:" in text or "three.c:" in text for text in site.all("#code .source")), "source beside")
    browser.run("document.activeElement.blur()")
    browser.key("n")
    ticks = [row["ticks"] or 0 for row in wanted]
    same(browser.run("Number(document.querySelector('#code tr.at').dataset.ticks)"), max(ticks),
         "n goes to the hottest")
    quiet(site)


def missing_code_is_explained(site):
    site.open(GOLDEN, "--limit", "1")
    for name, why in (("late", "in no file"), ("main", "only those of the hottest")):
        site.browser.click("#search")
        site.browser.run("document.querySelector('#search').select()")
        site.browser.type(name)
        site.browser.key("Enter")
        true(why in site.text("#code .note"), "why there is no code of " + name)
    # The hottest is the one with the most time, as in the table, and not the one with most ticks.
    site.open(SPLIT, "--limit", "1")
    site.browser.click("#table tr[data-row='0']")
    true("only those" not in site.text("#code .note"), "the first of the table is in the page")
    quiet(site)


def nameless_text_keeps_its_ticks(site):
    with open(site.profile, encoding="utf-8") as file:
        profile = json.load(file)
    three = next(of for of in profile["objects"] if of["path"].endswith("/three"))
    stripped = site.path("three") # else its names are found again
    subprocess.run(["strip", "-o", stripped, three["path"]], check=True)
    three["path"] = stripped
    text = next(of for of in three["text"] if of["size"])
    inside = [of for of in profile["functions"] if of["object"] == three["id"]]
    first, last = text["offset"], text["offset"] + text["size"] - 1
    ticks = sum(of["ticks"] for of in inside)
    row = {"object": three["id"], "name": f"three+{first:#x}..{last:#x}", "offset": first,
           "size": text["size"], "ticks": ticks}
    profile["functions"] = [row] + [of for of in profile["functions"] if of not in inside]
    nameless = site.write("nameless.json", profile)
    wanted = site.report("--annotate", row["name"], nameless)
    same(sum(of["ticks"] or 0 for of in wanted["rows"]), ticks, "ticks of the annotation")
    site.open(nameless)
    site.browser.click("#search")
    site.browser.type("three+0x")
    site.browser.key("Enter")
    same(site.text("#text-path b"), f"three+{first:#x}..{last:#x}", "the label")
    same(sorted(filter(None, site.all("#code tr[data-ticks]", "dataset.ticks * 1"))),
         sorted(of["ticks"] for of in wanted["rows"] if of["ticks"]), "ticks of the instructions")
    quiet(site)


def strip_zooms(site):
    site.open(site.profile)
    browser = site.browser

    def span():
        return int(browser.run("document.querySelector('#strip-range').dataset.bytes"))

    browser.click("#strip [data-strip=whole]")
    whole = span()
    browser.click("#strip [data-strip=in]")
    true(span() < whole, "a button zooms in")
    x, y, w, h = browser.box("#strip-window")
    before = span()
    browser.drag((x + w * 0.25, y + h / 2), (x + w * 0.5, y + h / 2))
    true(span() < before * 0.5, f"a drag chooses the window: {span()} of {before}")
    browser.run("document.querySelector('#strip-window').focus()")
    browser.key("Escape")
    same(span(), whole, "Escape shows all")
    browser.key("+")
    true(span() < whole, "+ zooms in")
    browser.key("0")
    same(span(), whole, "0 shows all")
    browser.key("Enter")
    true(site.text("#text-path b") and span() < whole, "Enter opens the hottest function")
    colored = browser.run("""(() => {
        const c = document.querySelector('#strip-window');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        return new Set(Array.from({ length: d.length / 4 }, (_, i) => d.slice(4 * i, 4 * i + 3).join())).size;
    })()""")
    true(colored > 4, f"the strip is painted: {colored} colours")
    quiet(site)


def filters_choose(site):
    site.open(site.profile)
    everything = site.rows()
    # One that ran for a millisecond may have no tick, and then there is nothing of it to choose.
    processes = [row for row in site.report("--by", "process", site.profile)["rows"] if row["ticks"]]
    options = site.all("#filter-process option")
    same(len(options), len(processes) + 1, "a word for each process")
    for i, row in enumerate(processes[:3]):
        site.choose("process", options.index(next(
            o for o in options if o.startswith(f"{row['process']} {row['pid']} "))) - 1)
        same(sum(r[0] for r in site.rows()), row["ticks"], f"ticks of process {i}")
    true(not site.browser.run("document.querySelector('#filter-clear').hidden"), "there is a way back")
    site.browser.click("#filter-clear")
    same(site.rows(), everything, "after Clear")
    site.browser.click("#by [data-key=comm]")
    comms = site.report("--by", "comm", site.profile)["rows"]
    same(site.rows(), [(row["ticks"], row["comm"]) for row in comms], "by name")
    site.browser.click("#table tr[data-row='0']")
    same(site.browser.run("document.querySelector('#filter-comm select').value"), "0", "its filter")
    site.browser.click("#by [data-key=functions]")
    same(sum(r[0] for r in site.rows()), comms[0]["ticks"], "ticks of the name")
    site.open(GOLDEN)
    for target in (0, 1):
        report = site.report("--target", str(target), GOLDEN)
        site.choose("target", target)
        same(site.account()[0], report["ticks"]["total"], "the target's account")
        same([row[0] for row in site.rows()], [row["ticks"] for row in report["rows"]], "its rows")
        shares = site.browser.run("[...document.querySelectorAll('#table td.share')].map((e) => e.textContent)")
        same(shares, [f"{row['percent']:.2f}%" for row in report["rows"]], "its shares")
    site.choose("target", "")
    options = site.all("#filter-cgroup option")
    site.choose("cgroup", next(i for i, o in enumerate(options) if o.startswith("/café")) - 1)
    wanted = {row["cgroup"]: row["ticks"] for row in site.report("--by", "cgroup", GOLDEN)["rows"]}
    same(sum(row[0] for row in site.rows()), wanted["/café"], "ticks of the cgroup")
    quiet(site)


def threads_are_no_processes(site):
    """All that has a pid in this profile is a JIT's text, which has one even without a split."""
    with open(GOLDEN, encoding="utf-8") as file:
        profile = json.load(file)
    site.open(GOLDEN)
    same(site.browser.run("document.querySelector('#filter-process').hidden"), True, "without a split")
    profile["sampling"]["split"] = "thread"
    site.open(site.write("threads.json", profile))
    same(site.browser.run("document.querySelector('#filter-process').hidden"), False, "with a split")
    same(site.text("#filter-process").split()[0], "Thread", "the filter")
    same(site.text("#by [data-key=process]"), "threads", "the tab")
    site.browser.click("#by [data-key=process]")
    true("Thread" in " ".join(site.all("#table th")), "the column")
    quiet(site)


def seconds_are_the_schedulers(site):
    def seconds():
        return site.all("#table td.seconds")

    site.open(SPLIT)
    report = site.report(SPLIT)
    true("1.515 s of CPU time" in site.text("#account-sum .seconds"), "the account's time")
    true(report["notes"][0] in site.all("#notes li"), "where ticks and time are apart")
    same(seconds(), [f"{row['seconds']:.3f}" for row in report["rows"]], "of functions")
    shares = site.all("#table td.share")
    same(shares, [f"{row['percent']:.2f}%" for row in report["rows"]], "their shares")
    site.browser.click("#by [data-key=process]")
    wanted = site.report("--by", "process", SPLIT)["rows"]
    same(seconds(), [f"{row['seconds']:.3f}" for row in wanted], "of processes")
    # 410 ticks of 1 s, and 500 of half a second.
    for name, process in (("redis-server 200", 0), ("steady 100", 1)):
        options = site.all("#filter-process option")
        site.choose("process", next(i for i, o in enumerate(options) if o.startswith(name)) - 1)
        same(seconds(), [f"{wanted[process]['seconds']:.3f}"], name)
        site.browser.click("#by [data-key=objects]")
        of_objects = sum(float(text) for text in seconds())
        # steady has 5 ticks outside.
        true(abs(of_objects - wanted[process]["seconds"]) < 0.006, f"{name}: {of_objects} s in objects")
        site.browser.click("#by [data-key=process]")
    quiet(site)


def series_is_over_time(site):
    with open(GOLDEN, encoding="utf-8") as file:
        profile = json.load(file)
    next(f for f in profile["functions"] if f["name"] == "late")["name"] = "main"
    folder = site.path("series")
    os.mkdir(folder)
    for minute in range(30):
        profile["started"] = f"2026-01-31T20:{minute:02}:00Z"
        site.write(f"series/{minute}.json", profile)
    page = site.path("page.html")
    site.call("report", "--html", page, folder)
    site.browser.open(page)
    browser = site.browser
    same(site.account()[0], 30 * profile["ticks"]["total"], "all of them")
    objects = {0: " work", 1: " [jit 77]\\x0asecond line"}
    wanted = [f["name"] + (objects[f["object"]] if f["name"] == "main" else "") for f in profile["functions"]]
    same(site.all("#time-rows .name"), ["all", *wanted], "a row for each function, of two with one name by their objects")
    same(site.all("#time .bar span")[::2], ["2026-01-31 20:00:00Z", "2026-01-31 20:29:00Z"], "the axis")
    colors = browser.run("""(() => {
        const c = document.querySelector('#time-rows button:nth-child(2) canvas');
        const d = c.getContext('2d').getImageData(0, c.height / 2, c.width, 1).data;
        const color = (x) => d.slice(4 * x, 4 * x + 3).join(), hot = color(Math.round(c.width / 60));
        return Array.from({ length: c.width }, (_, x) => color(x) === hot && (!x || color(x - 1) !== hot)).filter(Boolean).length;
    })()""")
    same(colors, 30, "a cell for each file")
    x, y, w, h = browser.box("#time-rows button:nth-child(2) canvas")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + w * 10.5 / 30, y=y + h / 2)
    browser.settle()
    true("20:10:00Z" in site.text("#time-status") and wanted[0] in site.text("#time-status"),
         site.text("#time-status"))
    browser.click("#time-rows button:nth-child(3) .name")
    same(site.text("#text-path b"), "main", "a click opens")
    browser.click("#map-view [data-key=functions]")
    true(site.all("#map-cells button") and not browser.run("document.querySelector('#time').offsetHeight"), "and there is the other map")
    quiet(site)
    os.mkdir(site.path("uneven"))
    for second, length in ((0, 1), (1, 3)):
        profile["started"] = f"2026-01-31T20:00:0{second}.5Z"
        profile["duration_ns"] = length * 10**9
        site.write(f"uneven/{9 - second}.json", profile)
    site.call("report", "--html", page, site.path("uneven"))
    site.browser.open(page)
    x, y, w, h = browser.box("#time-rows button:nth-child(2) canvas")
    for place, wanted in ((0.2, "20:00:00Z, 1.0 s"), (0.3, "20:00:01Z, 3.0 s"), (0.99, "20:00:01Z, 3.0 s")):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + w * place, y=y + h / 2)
        browser.settle()
        true(wanted in site.text("#time-status"), site.text("#time-status"))
    quiet(site)
    site.open(GOLDEN)
    true(browser.run("document.querySelector('#map-view').hidden"), "one file has no time")


def themes_differ(site):
    browser = site.browser

    def ground():
        return browser.run("getComputedStyle(document.body).backgroundColor")

    browser.prefer("light")
    site.open(site.profile)
    light = ground()
    browser.prefer("dark")
    browser.settle()
    dark = ground()
    true(light != dark, f"the system's theme: {light}, {dark}")
    browser.click("#theme")
    same(ground(), light, "the switch")
    browser.key("t")
    same(ground(), dark, "t")
    browser.prefer("light")
    browser.settle()
    same(ground(), dark, "the switch outlives the system's change")
    quiet(site)
    site.open(CALLERS)
    bar = Calls(site).color(0.2, 2)
    browser.prefer("dark")
    browser.settle()
    true(sum(Calls(site).color(0.2, 2)) < sum(bar) / 2, "the flame graph follows")
    browser.prefer("light")


def phone_fits(site):
    site.browser.size(390, 844, phone=True)
    try:
        site.open(site.profile)
        same(site.browser.run("document.documentElement.scrollWidth"), 390, "the page's width")
        name = site.rows()[1][1]
        site.browser.click("#table tr[data-row='1'] td.name")
        same(site.text("#text-path b"), name, "a tap opens a function")
        true(-1 < site.browser.run("document.querySelector('#text').getBoundingClientRect().top") < 400,
             "and goes there")
        same(site.browser.run("document.documentElement.scrollWidth"), 390, "the width then")
        site.open(CALLERS)
        same(site.browser.run("document.documentElement.scrollWidth"), 390, "the width with callers")
        true(site.browser.box("#table tr[data-row='0'] .inclusive")[2] > 30, "a column of them")
        same(Calls(site).click(0.2, 3)[1], "node::Start(int, char**)", "a tap zooms in")
        site.browser.click("#text-calls")
        true(-1 < site.browser.box("#calls-canvas")[1] < 844, "a button shows the callers")
        quiet(site)
    finally:
        site.browser.size(*WINDOW)


def large_opens(site):
    profile = samples.large()
    site.open(site.write("large.json", profile))
    rows = site.browser.run("document.querySelector('#table table').ariaRowCount")
    same(int(rows), len(profile["functions"]) + 1, "rows")
    true(len(site.rows()) < 200, "only those in view are in the document")
    same(site.account()[0], profile["ticks"]["total"], "ticks")
    site.browser.run("document.querySelector('#table').focus()")
    site.browser.key("End")
    last = min(function["ticks"] for function in profile["functions"])
    same(site.rows()[-1][0], last, "the last row")
    site.choose("process", 0)
    true(0 < number(site.text("#chosen").split(" of ")[0]) < profile["ticks"]["total"], "a filter")
    quiet(site)


def names_are_harmless(site):
    profiles = []
    for source in (GOLDEN, CALLERS):
        with open(source, encoding="utf-8") as file:
            profiles.append(json.load(file))
    for name, profile in itertools.product(samples.NAMES, profiles):
        page = site.open(site.write("names.json", samples.renamed(profile, name)))
        what = repr(name[:40])
        if "callers" in profile:
            calls = Calls(site)
            true(calls.key("ArrowDown", "ArrowDown", "Enter")[0] == 2, what + ": frames")
            calls.key("c", "ArrowUp")
        with open(page, "rb") as file:
            text = file.read()
        text.decode()  # all of it is UTF-8
        same(len(re.findall(rb"[\0-\x08\x0b-\x1f\x7f]", text)), 0, what + ": control characters")
        true(site.rows(), what + ": rows")
        site.browser.click("#table tr[data-row='0']")
        site.browser.click("#by [data-key=process]")
        same(site.browser.run("typeof window.pwned"), "undefined", what + ": ran")
        same(site.browser.run("document.querySelectorAll('img, iframe, [onmouseover], [onfocus], body script[src]').length"),
             0, what + ": markup")
        unseen = site.browser.run(r"/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)")
        true(not unseen, what + ": shown as it is")
        same(site.browser.run("document.documentElement.scrollWidth <= innerWidth"), True, what + ": too wide")
        quiet(site)
        if "callers" not in profile:
            continue
        site.call("diff", "--html", site.path("names.html"), site.path("names.json"), site.path("names.json"))
        site.browser.open(site.path("names.html"))
        Calls(site).key("ArrowDown", "ArrowDown", "Enter", "c", "ArrowUp")
        same(site.browser.run("typeof window.pwned"), "undefined", what + ": ran in a diff")
        quiet(site)


def diff_sorts(site):
    page = site.path("diff.html")
    site.call("diff", "--html", page, GOLDEN, site.profile)
    site.browser.open(page)
    report = json.loads(site.call("diff", "--format", "json", GOLDEN, site.profile))
    rows = site.browser.run("""[...document.querySelectorAll('#table tr[data-row]')].map((row) =>
        row.querySelector('.name').textContent)""")
    same(rows, [row["function"] or row["object"].split("/")[-1] + "+0x..." for row in report["rows"]], "rows")
    site.browser.click("#table th.new button")
    shares = [float(text.strip("%")) for text in site.all("#table td.side.new")]
    same(shares, sorted(shares, reverse=True), "sorted by the new share")
    seconds = [[f"{row[side]['seconds']:.3f}" for row in report["rows"]] for side in ("old", "new")]
    site.browser.click("#table th.change button")
    same([site.all(f"#table td.seconds.{side}") for side in ("old", "new")], seconds, "seconds")
    sides = site.all("#sides dd")
    true("profile.json ./work" in sides[0] and site.profile in sides[1], f"the profiles' names: {sides}")
    site.browser.size(390, 844, phone=True)
    for column in ("change", "side.old", "side.new", "seconds.old", "seconds.new", "p", "name", "object"):
        true(site.browser.box(f"#table tr[data-row='0'] .{column}")[2] > 30, f"a phone shows {column}")
    same(site.browser.run("""[...document.querySelectorAll('#table th')].filter((of) =>
        of.scrollWidth > of.clientWidth).map((of) => of.textContent)"""), [], "headings that are cut")
    same(site.browser.run("document.documentElement.scrollWidth"), 390, "its width")
    site.browser.size(*WINDOW)
    site.browser.click("#beyond")
    same(len(site.all("#table td.side.new")), report["significant"], "beyond noise")
    quiet(site)

def inclusive_ticks_are_the_reports(site):
    called = site.path("called.json")
    site.call("run", "-q", "-F", "4595", "--force", "--callers", "-o", called, "--", f"{site.workloads}/three", "300")
    for profile in (CALLERS, called):
        site.open(profile)
        site.browser.click("#map-view [data-key=functions]") # room for all rows
        cells = site.browser.run("""[...document.querySelectorAll('#table tr[data-row]')].map((row) =>
            [row.querySelector('.name').textContent, row.querySelector('.inclusive').title, row.querySelector('.inclusive').textContent])""")
        wanted = site.report("--limit", "0", profile)["rows"]
        same(sorted((name, number(title.split(" tick")[0]), share) for name, title, share in cells),
             sorted((row["function"], row["inclusive_ticks"], f"{row['inclusive_percent']:.2f}%") for row in wanted), "inclusive")
    site.browser.click("#table th.inclusive button")
    shares = [float(text.strip("%")) for text in site.all("#table td.inclusive")]
    same(shares, sorted(shares, reverse=True), "sorted")
    walks = next(line for line in site.call("report", called).decode().split("\n") if line.startswith("callers")).split(maxsplit=1)[1]
    true(f"callers: {walks}" in site.all("#notes li"), "how the walks ended")
    quiet(site)


def code_of_a_jit_is_one_function(site):
    """What a JIT compiled twice has two places and one name."""
    with open(CALLERS, encoding="utf-8") as file:
        profile = json.load(file)
    next(function for function in profile["functions"] if function["name"] == "late")["name"] = "fib"
    twice = site.write("twice.json", profile)
    site.open(twice)
    rows = site.report("--limit", "0", twice)["rows"]
    same([site.all("#table td.ticks"), site.all("#table td.inclusive")],
         [[str(row["ticks"]) for row in rows], [f"{row['inclusive_percent']:.2f}%" for row in rows]], "rows")
    site.browser.click("#table tr[data-row='0']")
    same(sorted(site.all("#code tr[data-ticks]", "dataset.ticks * 1")), [110, 250], "the bins of both")
    quiet(site)


def flame_graph_is_the_tree(site):
    site.open(CALLERS)
    site.browser.click("#calls-apart") # the report's tree is of all programs together
    true(("fib", 170) in [bar[1:] for bar in Calls(site).bars() if bar[0] == 5], "recursion as it is")
    site.browser.click("#calls-fold") # as the report does
    calls = Calls(site)
    tree = site.report("--tree", "--min", "0", CALLERS)
    top = sum(row["inclusive_ticks"] for row in tree["rows"] if not row["depth"])
    same(calls.bars(), [(0, "all", top)] + bars_of(tree, below=1), "bars")
    site.browser.click("#calls-flip")
    calls = Calls(site)
    same(calls.bars("ArrowUp"), [(0, "all", top)] + bars_of(tree, below=1), "upside down")
    site.browser.click("#calls-flip")
    options = site.all("#filter-comm option")
    site.choose("comm", next(i for i, option in enumerate(options) if option.startswith("node ")) - 1)
    tree = site.report("--tree", "--min", "0", "--comm", "node", CALLERS)
    same(Calls(site).bars()[1:], bars_of(tree, below=1), "of one command")
    quiet(site)


def callers_stand_above_callees(site):
    site.open(CALLERS)
    site.browser.click("#calls-fold") # as the report does
    for name in ("write", "fib", "node::Start(int, char**)"):
        site.browser.click("#search")
        site.browser.run("document.querySelector('#search').select()")
        site.browser.type(name)
        site.browser.key("Enter")
        site.browser.key("c")
        same(site.browser.run("document.activeElement.id"), "calls-canvas", "the focus")
        calls = Calls(site)
        # The report counts a recursion in the function's own row, too.
        same(calls.bars("ArrowUp"), [(0, name, bar[2]) if not bar[0] else bar for bar in bars_of(site.report("--callers", name, "--min", "0", CALLERS))], f"callers of {name}")
        same(calls.bars(), [(0, name, bar[2]) if not bar[0] else bar for bar in bars_of(
            site.report("--callees", name, "--min", "0", CALLERS), lambda row: row["function"] != "[self]")], f"callees of {name}")
    calls.key("Home", "ArrowUp")
    same(calls.key("Enter")[1:3], ("__libc_start_call_main", 775), "Enter goes to a caller")
    same(site.text("#text-path b"), "__libc_start_call_main", "and opens its code")
    same(calls.key("Escape", "Escape")[1], "all", "Escape leaves the search, and goes back to all")
    site.browser.click("#text-calls")
    same(calls.at()[1], "__libc_start_call_main", "a button")
    site.browser.click("#table tr[data-row='0'] td.name")
    same(calls.at()[1], "fib", "the table")
    quiet(site)


def flame_graph_zooms(site):
    site.open(CALLERS)
    calls = Calls(site)
    same(calls.click(0.2, 3)[1], "node::Start(int, char**)", "a click")
    same(site.text("#text-path b"), "node::Start(int, char**)", "opens its code")
    same(site.text("#calls-path"), "all › node › __libc_start_call_main › node::Start(int, char**)", "the way there")
    color = calls.color(1, 2)
    same(calls.color(0.1, 2), color, "it is as wide as the picture")
    calls.key("ArrowDown", "Enter")
    true(site.text("#calls-path").endswith("fib"), "Enter")
    same([calls.key("ArrowUp", "ArrowUp")[1], calls.key("ArrowDown", "ArrowDown")[1]], ["__libc_start_call_main", "fib"], "up and down its callers")
    same(calls.key("Escape")[1], "node::Start(int, char**)", "Escape")
    calls.key("Home", "ArrowDown", "ArrowRight", "Enter")
    same(site.text("#calls-path b"), "steady", "what is not the widest")
    same(calls.key("ArrowUp", "ArrowDown")[1], "steady", "stays in view")
    site.browser.click("#calls-path button")
    same((calls.at()[1], site.text("#calls-path")), ("all", "all"), "the first of the path")
    calls.key("ArrowDown", "ArrowDown", "ArrowDown", "o")
    same(site.text("#text-path b"), "node::Start(int, char**)", "o opens the code")
    quiet(site)


def programs_stand_apart(site):
    site.open(CALLERS)
    wanted = {}
    for line in site.call("export", "--format", "folded", "-o", "-", CALLERS).decode().splitlines():
        process = line.split("-")[0]
        wanted[process] = wanted.get(process, 0) + int(line.split(" ")[-1])
    calls = Calls(site)
    found = calls.bars()
    same({name: ticks for row, name, ticks in found if row == 1}, wanted, "processes")
    site.choose("comm", 0)
    true(site.browser.run("document.querySelector('#calls-apart').parentNode.hidden"), "nothing stands apart from one process")
    true(not wanted.keys() & {bar[1] for bar in Calls(site).bars()}, "one process")
    programs = site.write("programs.json", samples.chains({"main;f": 30, "other_main;f": 12}, {"main": "/bin/one", "f": "/lib/libf.so.1", "other_main": "/bin/two"}))
    site.open(programs)
    same(Calls(site).bars(), [(0, "all", 42), (1, "one", 30), (1, "two", 12), (2, "main", 30), (2, "other_main", 12), (3, "f", 12), (3, "f", 30)], "programs")
    site.browser.click("#calls-apart")
    same(Calls(site).bars(), [(0, "all", 42), (1, "main", 30), (1, "other_main", 12), (2, "f", 12), (2, "f", 30)], "together")
    quiet(site)


def search_has_a_share_of_calls(site):
    site.open(CALLERS)
    everything = Calls(site).color(0.45, 2)
    site.browser.key("/")
    site.browser.type("write")
    # fib, main and a cut chain called it; 99 % of the time are in the tree.
    share = site.report("--callers", "write", "--min", "0", CALLERS)["rows"][0]
    whole = sum(row["inclusive_percent"] for row in site.report("--tree", "--min", "0", CALLERS)["rows"] if not row["depth"])
    wanted = next(row for row in site.report(CALLERS)["rows"] if row["function"] == "write")
    same(share["inclusive_ticks"], wanted["inclusive_ticks"], "of all callers")
    same(site.text("#calls-found"), f"3 found, {100 * wanted['inclusive_percent'] / whole:.2f}%", "the share")
    true(Calls(site).color(0.45, 2) != everything, "others are faded")
    site.browser.click("#search")
    site.browser.key("Escape")
    true(site.browser.run("document.querySelector('#calls-found').hidden"), "Escape")
    same(Calls(site).color(0.45, 2), everything, "none is faded")
    quiet(site)


def recursion_folds(site):
    stacks = {"main" + ";f" * 101 + ";g": 40, "main;f": 2, "main" + ";a;b" * 50: 30, "main" + ";a;b" * 9 + ";a;g": 20}
    profile = site.write("recursion.json", samples.chains(stacks))
    site.open(profile)
    before = site.browser.run("[...document.querySelectorAll('#table td.inclusive')].map((cell) => cell.title)")
    deep = site.browser.run("document.querySelector('#calls-space').offsetHeight / 18")
    same(deep, 104, "rows")
    site.browser.click("#calls-fold")
    calls = Calls(site)
    same(calls.bars(), [(0, "all", 92), (1, "main", 92), (2, "a", 50), (2, "f x 101", 42), (3, "b x 50", 50), (3, "g", 40),
                        (4, "a", 20), (5, "g", 20)], "bars")
    same(calls.bars()[1:], bars_of(site.report("--tree", "--min", "0", profile), below=1), "as in the report")
    same(site.browser.run("[...document.querySelectorAll('#table td.inclusive')].map((cell) => cell.title)"), before, "inclusive ticks")
    for name, ticks in (("f", 42), ("g", 60), ("b", 50)):
        same(site.report("--callers", name, "--min", "0", profile)["rows"][0]["inclusive_ticks"], ticks, name)
    site.browser.click("#calls-fold")
    same(calls.browser.run("document.querySelector('#calls-space').offsetHeight / 18"), deep, "unfolded")
    quiet(site)


def flame_graph_of_a_diff(site):
    old = samples.chains({"main;render;lookup": 1000, "main;parse;lookup": 6000, "main;rest": 3000})
    old["targets"][0]["cpu_ns"] = 7_777_777_777 # so that sums are rounded
    old = site.write("old.json", old)
    new = site.write("new.json", samples.chains({"main;render;lookup": 3000, "main;parse;lookup": 4000, "main;rest": 3030}))
    page = site.path("diff.html")
    site.call("diff", "--html", page, old, new)
    site.browser.open(page)
    calls = Calls(site)
    true(max(calls.color(0.5, 1)) - min(calls.color(0.5, 1)) < 12, f"all of both is the same: {calls.color(0.5, 1)}")
    red, _, blue = calls.color(0.99, 2)
    same(calls.click(0.9, 2)[1], "render", "the third bar")
    true(red > blue + 60, f"more is red: {red}, {blue}")
    calls.key("Escape")
    red, _, blue = calls.color(0.2, 2)
    same(calls.click(0.2, 2)[1], "parse", "the first bar")
    true(blue > red + 20, f"less is blue: {red}, {blue}")
    calls.key("Escape")
    red, green, blue = calls.color(0.6, 2)
    true(max(red, green, blue) - min(red, green, blue) < 12, f"what chance explains has no colour: {red}, {green}, {blue}")
    same(calls.click(0.6, 2)[1], "rest", "the second bar")
    true("as chance may have it" in site.text("#calls-status"), "and says so")
    same(len(site.all("#calls-legend i")), 7, "the legend")
    row = next(i for i, name in enumerate(site.all("#table td.name")) if name == "lookup")
    site.browser.click(f"#table tr[data-row='{row}']")
    same(calls.at()[1], "lookup", "a row shows its callers and callees")
    calls.key("ArrowUp")
    true("60.00% → 39.88% of the time" in site.text("#calls-status"), "the caller: " + site.text("#calls-status"))
    same(calls.key("ArrowRight")[1], "render", "the other caller")
    true("10.00% → 29.91% of the time" in site.text("#calls-status"), "the caller: " + site.text("#calls-status"))
    same(calls.key("Escape")[1], "all", "Escape shows all")
    site.browser.key("/")
    site.browser.type("render")
    true(site.text("#calls-found").startswith("1 found"), "search")
    quiet(site)


def diff_has_the_tables_of_calls(site):
    with open(CALLERS, encoding="utf-8") as file:
        profile = json.load(file)
    profile["functions"][0]["name"] = "turn"
    new = site.write("turned.json", profile)
    page = site.path("diff.html")
    site.call("diff", "--html", page, CALLERS, new)
    site.browser.open(page)

    def name(row):
        return (row["caller"] + " → " if "caller" in row else "") + row["function"]

    for key, argv in (("inclusive", ["--inclusive"]), ("calls", ["--by", "calls"]), ("alone", [])):
        if key != "inclusive": # which comes first, as in the text
            site.browser.click(f"#by [data-key={key}]")
        report = json.loads(site.call("diff", "--format", "json", *argv, CALLERS, new))
        cells = list(zip(site.all("#table td.name"), site.all("#table td.old.side"), site.all("#table td.new.side")))
        same(cells, [(name(row), f"{row['old']['percent']:.2f}%", f"{row['new']['percent']:.2f}%") for row in report["rows"]], key)
        true(site.text("#facts").startswith(f"{report['significant']} of {report['of']} "), "how many changed")
    site.call("diff", "--html", page, "--by", "objects", CALLERS, new)
    site.browser.open(page)
    true(site.browser.run("document.querySelector('#by-bar').hidden"), "by objects there is one table")
    true(not site.browser.run("document.querySelector('#map').hidden"), "and the flame graph")
    quiet(site)


def calls_of_one_side_only(site):
    page = site.path("diff.html")
    site.call("diff", "--html", page, GOLDEN, CALLERS)
    site.browser.open(page)
    true(site.browser.run("document.querySelector('#map').hidden"), "no flame graph")
    site.open(GOLDEN)
    for key in ("f", "c"):
        site.browser.key(key)
        true(site.browser.run("document.querySelector('#calls').hidden"), "no flame graph")
    same(site.all("#table th.inclusive"), [], "no column")
    quiet(site)


def large_flame_graph_draws_what_is_seen(site):
    profile = samples.calls()
    site.browser.size(1400, 900)
    try:
        site.open(site.write("calls.json", profile))
        calls = Calls(site)
        same(calls.at()[2], profile["ticks"]["total"], "ticks")

        def drawn():
            return int(site.browser.run("document.querySelector('#calls-canvas').dataset.drawn"))

        whole = drawn()
        # Half a pixel each, in the rows that are in view.
        rows = site.browser.run("Math.ceil(document.querySelector('#calls-box').clientHeight / 18)")
        true(500 < whole < 1400 * 2 * rows and whole < 10_000, f"{whole} bars of 100,000 are drawn")
        true(site.browser.run("document.querySelectorAll('*').length") < 3000, "none is an element")
        calls.key("ArrowDown", "ArrowDown", "ArrowDown", "Enter")
        zoomed = site.browser.run("[...document.querySelectorAll('#calls-path b')].map((of) => of.textContent).join()")
        true(drawn() != whole and zoomed, "zoomed in there are others")
        site.browser.key("/")
        site.browser.type("function_12")
        found = number(site.text("#calls-found").split(" ")[0])
        true(1000 < found < 2500, f"{found} found")
    finally:
        site.browser.size(*WINDOW)
    quiet(site)


def waits_have_a_switch(site):
    site.open(CALLERS)
    true(site.browser.run("document.querySelector('#kind').hidden"), "no switch without waits")
    site.open(WAITS)
    before = site.all("#table td.ticks")
    site.browser.click("#kind [data-key=waits]")
    rows = site.report("--waits", WAITS)["rows"]
    wanted = {}
    for row in rows:
        wanted[f"[{row['class']}]"] = wanted.get(f"[{row['class']}]", 0) + row["ns"]
    names, seconds = site.all("#table td.name"), site.all("#table td.seconds")
    found = {name: text for name, text in zip(names, seconds, strict=True) if name[0] == "["}
    same(found, {name: f"{ns / 1e9:.3f}" for name, ns in wanted.items()}, "classes")
    times = site.browser.run("[...document.querySelectorAll('#account-sum .part')].map((of) => [of.dataset.class, Number(of.dataset.time)])")
    same({f"[{name}]": ns for name, ns in times}, wanted, "the account")
    spin = sum(row["inclusive_ns"] for row in rows if row["function"] == "spin")
    title = next(title for name, title in zip(names, site.all("#table td.inclusive", "title"), strict=True) if name == "spin")
    true(f": {spin / 1e9:.3f} s" in title, f"inclusive: {title}")
    true(f"{sum(wanted.values()) / 1e9:.3f} s" in site.text("#calls-status"), "the flame graph")
    site.browser.click("#kind [data-key=wall]")
    times = dict(site.browser.run("[...document.querySelectorAll('#account-sum .part')].map((of) => [of.dataset.class, Number(of.dataset.time)])"))
    same({f"[{name}]": ns for name, ns in times.items() if name != "CPU"}, wanted, "waits in wall time")
    true(abs(times["CPU"] - site.report(WAITS)["cpu_ns"]) < 1e3, f"CPU time in wall time: {times['CPU']}")
    site.browser.key("w")
    same(site.all("#table td.ticks"), before, "CPU time is as before")
    quiet(site)


TESTS = [account_adds_up, table_is_the_report, inlined_functions_have_rows, table_sorts, search_narrows, enter_opens_what_was_found,
         links_name_what_is_shown, names_have_the_room, places_are_as_in_report, rest_of_the_map_opens, map_zooms, keys_walk,
         code_is_the_annotation, missing_code_is_explained, nameless_text_keeps_its_ticks, strip_zooms, filters_choose, threads_are_no_processes, seconds_are_the_schedulers, series_is_over_time, themes_differ, phone_fits, large_opens,
         names_are_harmless, diff_sorts, inclusive_ticks_are_the_reports, code_of_a_jit_is_one_function, flame_graph_is_the_tree, callers_stand_above_callees,
         flame_graph_zooms, programs_stand_apart, search_has_a_share_of_calls, recursion_folds, flame_graph_of_a_diff, diff_has_the_tables_of_calls, calls_of_one_side_only,
         large_flame_graph_draws_what_is_seen, waits_have_a_switch]


def sample(site):
    """Two programs whose time is known, told apart by process."""
    site.profile = site.path("profile.json")
    three = f"{site.workloads}/three"
    site.call("run", "-q", "-F", "4595", "--force", "--split", "process", "-o", site.profile, "--",
              "sh", "-c", f"{three} 300 >&2; {three} 200 >&2; gzip -c {site.program} | wc -c >&2")


def verdict(test, site):
    try:
        test(site)
    except Failed as why:
        print(f"FAIL html::{test.__name__}: {why}", flush=True)
        return False
    except Exception:
        traceback.print_exc()
        print(f"FAIL html::{test.__name__}: raised", flush=True)
        return False
    print(f"PASS html::{test.__name__}", flush=True)
    return True


def main():
    build, only = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        site = Site(build, folder, browser)
        browser.size(*WINDOW)
        sample(site)
        good = [verdict(test, site) for test in TESTS if not only or test.__name__ in only]
    return 0 if all(good) else 1


sys.exit(main())
