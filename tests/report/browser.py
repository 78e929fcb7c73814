#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py CHROMIUM [--shots DIR] PAGE.html...: opens pages in headless Chromium and demands, at
1280 and 400 pixels, light and dark, that every chart is drawn, with ink that is not the ground's and
no label upon another, that pointing at a mark finds its title, that nothing was logged or thrown,
that nothing was requested but the page, that nothing is wider than the window, and that a printed
sheet cuts nothing off. Without CHROMIUM ("-") it only reads the charts, as XML. Speaks the DevTools protocol over a pipe: JSON, each message
ended by a zero byte."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
READABLE = 3  # contrast that WCAG asks of large text, and of graphics
SHEET = 717  # pixels of A4 between margins of a centimetre
PATIENCE = 600  # seconds for a page, on a machine that is busy with other things too

LOADED = "document.readyState + ' ' + location"
# overlap: labels of a chart that lie upon each other (a pixel is let pass)
# wide: what is wider than the window, but for the inside of boxes that scroll
STATE = """(() => {
  const root = document.documentElement, charts = [...document.querySelectorAll('svg.plot')];
  const isSeen = (element) => {
    const style = getComputedStyle(element);
    return [style.fill, style.stroke].some((paint) => paint.startsWith('rgb('));
  };
  const isDrawn = (svg) => {
    const box = svg.getBoundingClientRect(), image = svg.querySelector('image');
    const marks = [...svg.querySelectorAll('path')].filter((path) => path.querySelector('title'));
    return box.width > 100 && box.height > 50 && svg.querySelectorAll('text').length > 2 &&
      (image ? image.getBoundingClientRect().width > 50 : marks.some(isSeen));
  };
  const overlaps = (svg) => {
    const boxes = [...svg.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
    return boxes.some((a, i) => boxes.some((b, j) => i < j && a.right - 1 > b.left &&
      b.right - 1 > a.left && a.bottom - 4 > b.top && b.bottom - 4 > a.top));
  };
  const wide = [...document.querySelectorAll('main *')].filter((element) =>
    !element.closest('.scroll, svg') && element.getBoundingClientRect().right > innerWidth + 0.5);
  /* a scroll bar that reaches nothing, or names of rows that leave the window with their numbers */
  const boxes = [...document.querySelectorAll('.scroll')].filter((box) => box.clientWidth > 0);
  const idle = boxes.filter((box) => box.scrollWidth > box.clientWidth &&
    box.querySelector('table').getBoundingClientRect().width <= box.clientWidth);
  const lost = boxes.filter((box) => {
    const first = box.querySelector('tbody tr').cells[0], before = box.scrollLeft;
    box.scrollLeft = 1e6;
    const away = Math.abs(first.getBoundingClientRect().left - box.getBoundingClientRect().left);
    box.scrollLeft = before;
    return away > 1;
  });
  const nested = document.querySelectorAll('.scroll .scroll, .tall .scroll').length;
  return {
    tables: idle.length + lost.length + nested,
    charts: Number(document.body.dataset.charts), drawn: charts.filter(isDrawn).length,
    overlap: charts.filter(overlaps).map((svg) => svg.querySelector('title').textContent),
    untitled: document.querySelectorAll('svg.plot:not(:has(> title + desc)), .bars > :not(:has(> title)), ' +
      '.dots > :not(:has(> title)), .cells > :not(:has(> title)), image:not(:has(> title))').length,
    ink: getComputedStyle(document.querySelector('.plot text')).fill,
    ground: getComputedStyle(document.body).backgroundColor,
    dark: matchMedia('(prefers-color-scheme: dark)').matches, width: innerWidth,
    overflow: root.scrollWidth - innerWidth,
    wide: wide.slice(0, 3).map((element) => element.tagName + '.' + element.className),
    height: root.scrollHeight, alerts: window.hostile || 0,
  };
})()"""

# the lowest contrast (of WCAG) of a number upon the cell of a map that it stands on
CONTRAST = """(() => {
  const parts = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
  const light = (rgb) => rgb.map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = parts(getComputedStyle(document.querySelector('.plot .zero') || document.body).stopColor || 'rgb(0,0,0)');
  let lowest = 21;
  for (const text of document.querySelectorAll('.numbers text')) {
    text.scrollIntoView({ block: 'center', inline: 'center' });
    const box = text.getBoundingClientRect();
    const cell = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2), style = getComputedStyle(cell);
    if (!style.fill.startsWith('rgb(')) continue;
    const share = Number(style.opacity), fill = parts(style.fill);
    const pair = [light(fill.map((c, i) => share * c + (1 - share) * ground[i])), light(parts(getComputedStyle(text).fill))];
    lowest = Math.min(lowest, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05));
  }
  return lowest;
})()"""

# what reaches over the right edge of a printed sheet: boxes do not scroll there
CUT_OFF = """[...document.querySelectorAll('main *:not(svg *)')].filter((element) =>
  element.getClientRects().length > 0 && element.getBoundingClientRect().right > innerWidth + 0.5)
  .slice(0, 3).map((element) => element.tagName + ' ' + element.textContent.slice(0, 20))"""

# the title that is found by pointing at a mark (or at one upon it), of one mark of each chart
POINTED = """[...document.querySelectorAll('svg.plot')].map((svg) => {
  const kinds = '.bars path, .dots path, .squares path, .cells path, .strips path';
  const mark = svg.querySelector(kinds) || svg.querySelector('.line, .area, .dash');
  if (!mark)
    return ''; /* none of all, as of a histogram without bars and without a curve */
  mark.scrollIntoView({ block: 'center' });
  const box = mark.getBoundingClientRect(), steps = [0.5, 0.1, 0.9];
  const found = steps.flatMap((x) => steps.map((y) =>
    document.elementFromPoint(box.x + x * box.width, box.y + y * box.height)));
  const titles = found.filter((element) => element && element !== svg && svg.contains(element))
    .map((element) => element.querySelector(':scope > title'));
  return titles.map((title) => title ? title.textContent : '').join('');
})"""


def read_charts(path):
    """All charts of a page as XML; what is wrong with them."""
    with open(path, encoding="utf-8") as file:
        charts = re.findall("<svg.*?</svg>", file.read(), re.S)
    for number, chart in enumerate(charts, 1):
        try:
            root = xml.etree.ElementTree.fromstring(chart)
        except xml.etree.ElementTree.ParseError as error:
            yield "chart %d is no XML: %s" % (number, error)
            continue
        if [child.tag for child in root[:2]] != ["title", "desc"]:
            yield "chart %d does not begin with its title and its description" % number
    if not charts:
        yield "no chart"


class Browser:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()

        def arrange():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        os.set_inheritable(to_read, True)
        os.set_inheritable(to_write, True)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
             "--user-data-dir=" + self.folder, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=arrange, close_fds=True, pass_fds=(3, 4, to_read, to_write))
        os.close(to_read)
        os.close(to_write)
        self.rest = b""
        self.last = 0
        self.session = None
        self.events = []

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError("Chromium ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.events.append(answer)

    def start(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        shutil.rmtree(self.folder, ignore_errors=True)


def complaints(events, url):
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            yield "threw " + details.get("exception", {}).get("description", details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            yield "logged " + " ".join(str(a.get("value", a.get("description"))) for a in params["args"])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            yield "logged " + params["entry"]["text"]
        elif method == "Page.javascriptDialogOpening":
            yield "opened a dialog"
        elif method == "Network.requestWillBeSent":
            wanted = params["request"]["url"]
            if wanted != url and not wanted.startswith(("data:", "blob:")):
                yield "requested " + wanted


def lightness(colour):
    return sum(float(number) for number in re.findall("[0-9.]+", colour)[:3])


def look(browser, path, width, scheme, shots):
    url = "file://" + os.path.abspath(path)
    browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                mobile=False)
    browser.ask("Emulation.setEmulatedMedia",
                features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.ask("Page.navigate", url="about:blank")
    browser.events.clear()
    browser.ask("Page.navigate", url=url)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and browser.evaluate(LOADED) != "complete " + url:
        time.sleep(0.05)
    state, pointed = browser.evaluate(STATE), browser.evaluate(POINTED)
    wrong = list(complaints(browser.events, url))
    if state["charts"] == 0 or state["drawn"] != state["charts"]:
        return wrong + ["%(drawn)d of %(charts)d charts drawn" % state]
    if len(pointed) != state["charts"] or "" in pointed:
        wrong.append("%d marks have no title where one points at them" % pointed.count(""))
    if state["untitled"]:
        wrong.append("%(untitled)d charts or marks without a title" % state)
    if state["overlap"]:
        wrong.append("labels upon each other: " + ", ".join(state["overlap"]))
    if state["overflow"] > 0 or state["wide"]:
        wrong.append("%d pixels too wide: %s" % (state["overflow"], ", ".join(state["wide"])))
    if state["dark"] != (scheme == "dark") or state["width"] != width:
        wrong.append("the browser is not %s at %d" % (scheme, width))
    if (lightness(state["ink"]) > lightness(state["ground"])) != (scheme == "dark"):
        wrong.append("%(ink)s on %(ground)s" % state)
    if state["tables"]:
        wrong.append("%(tables)d tables scroll for nothing, or lose the names of their rows" % state)
    contrast = browser.evaluate(CONTRAST)
    if contrast < READABLE:
        wrong.append("a number of a map has a contrast of %.2f" % contrast)
    if state["alerts"]:
        wrong.append("a column's name was run as a script")
    if shots:
        browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=state["height"],
                    deviceScaleFactor=1, mobile=False)
        time.sleep(0.3)
        picture = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        name = "%s_%d_%s.png" % (os.path.basename(path).rsplit(".", 1)[0], width, scheme)
        with open(os.path.join(shots, name), "wb") as file:
            file.write(base64.b64decode(picture["data"]))
    return wrong


def look_printed(browser):
    """At the page that is open."""
    browser.ask("Emulation.setDeviceMetricsOverride", width=SHEET, height=1000, deviceScaleFactor=1,
                mobile=False)
    browser.ask("Emulation.setEmulatedMedia", media="print", features=[])
    cut = browser.evaluate(CUT_OFF)
    browser.ask("Emulation.setEmulatedMedia", media="", features=[])
    return ["the edge of the sheet cuts off " + ", ".join(cut)] if cut else []


def main(arguments):
    program, pages, shots = arguments[0], arguments[1:], None
    if pages[0] == "--shots":
        shots, pages = pages[1], pages[2:]
        os.makedirs(shots, exist_ok=True)
    complaints_of = [(path, wrong) for path in pages for wrong in read_charts(path)]
    browser = Browser(program) if program != "-" else None
    try:
        if browser:
            browser.start()
        for path in pages if browser else ():
            for width in WIDTHS:
                for scheme in SCHEMES:
                    complaints_of += [("%s at %d, %s" % (path, width, scheme), wrong)
                                      for wrong in look(browser, path, width, scheme, shots)]
            complaints_of += [(path + ", printed", wrong) for wrong in look_printed(browser)]
    finally:
        if browser:
            browser.close()
    for where, wrong in complaints_of:
        print("%s: %s" % (where, wrong))
    print("%d pages, %d complaints" % (len(pages), len(complaints_of)))
    return 1 if complaints_of else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
