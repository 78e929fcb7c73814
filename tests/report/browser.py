#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py CHROMIUM [--shots DIR] PAGE.html...: opens pages in headless Chromium and demands, at
1280 and 400 pixels, light and dark, that every chart drew, that nothing was logged or thrown, that
nothing was requested but the page, and that nothing is wider than the window. Speaks the DevTools
protocol over a pipe: JSON, each message ended by a zero byte."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
PATIENCE = 60  # seconds for one answer, or for all charts of a page

# what is wider than the window, but for the inside of boxes that scroll
STATE = """(() => {
  const root = document.documentElement, plots = [...document.querySelectorAll('figure.chart')];
  const ink = (canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    .data.some((byte) => byte);
  const isDrawn = (figure) => {
    const svg = figure.querySelector('svg.marks'), canvas = figure.querySelector('canvas.marks');
    return svg ? svg.querySelectorAll('path, line, text').length > 3
      : canvas ? canvas.width > 0 && ink(canvas) : false;
  };
  const wide = [...document.querySelectorAll('main *')].filter((element) =>
    !element.closest('.scroll, svg') && element.getBoundingClientRect().right > innerWidth + 0.5);
  return {
    specs: Number(document.body.dataset.charts), done: root.dataset.drawn !== undefined,
    failed: Number(root.dataset.failed), drawn: plots.filter(isDrawn).length,
    dark: matchMedia('(prefers-color-scheme: dark)').matches, width: innerWidth,
    overflow: root.scrollWidth - innerWidth,
    wide: wide.slice(0, 3).map((element) => element.tagName + '.' + element.className),
    height: root.scrollHeight, alerts: window.hostile || 0,
  };
})()"""


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
    state = {}
    while time.monotonic() < end and not state.get("done"):
        time.sleep(0.1)
        state = browser.evaluate("document.readyState === 'complete' && document.body ? %s : {}" % STATE) or {}
    wrong = list(complaints(browser.events, url))
    if not state.get("done"):
        return wrong + ["not drawn after %d s" % PATIENCE]
    if state["specs"] == 0 or state["drawn"] != state["specs"] or state["failed"]:
        wrong.append("%(drawn)d of %(specs)d charts drawn, %(failed)d failed" % state)
    if state["overflow"] > 0 or state["wide"]:
        wrong.append("%d pixels too wide: %s" % (state["overflow"], ", ".join(state["wide"])))
    if state["dark"] != (scheme == "dark") or state["width"] != width:
        wrong.append("the browser is not %s at %d" % (scheme, width))
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


def main(arguments):
    program, pages, shots = arguments[0], arguments[1:], None
    if pages[0] == "--shots":
        shots, pages = pages[1], pages[2:]
        os.makedirs(shots, exist_ok=True)
    failures = 0
    browser = Browser(program)
    try:
        browser.start()
        for path in pages:
            for width in WIDTHS:
                for scheme in SCHEMES:
                    for wrong in look(browser, path, width, scheme, shots):
                        failures += 1
                        print("%s at %d, %s: %s" % (path, width, scheme, wrong))
    finally:
        browser.close()
    print("%d pages, %d complaints" % (len(pages), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
