"""A headless Chromium spoken to over its debugging pipe: real mouse and key events, and a list of what it asked the network
for. Needs nothing but the browser."""
import json
import os
import select
import shutil
import subprocess
import time

import pytest

TIMEOUT = 60


class Page:
    def __init__(self, browser, profile):
        command_read, self.commands = os.pipe()
        self.answers, answer_write = os.pipe()

        def connect():
            # The browser reads commands from 3 and writes answers to 4; above them nothing is in the way.
            read, write = os.dup(command_read), os.dup(answer_write)
            high_read, high_write = os.dup(read), os.dup(write)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--window-size=1000,700",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=connect,
            close_fds=False, start_new_session=True, env={**os.environ, "HOME": str(profile)})
        os.close(command_read)
        os.close(answer_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def read(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            got = os.read(self.answers, 1 << 16)
            assert got, "the browser went away"
            self.buffer += got
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        deadline = time.monotonic() + TIMEOUT
        while not any(event.get("method") == method for event in self.events):
            try:
                self.events.append(self.read(deadline))
            except AssertionError as error:
                raise AssertionError(f"{error}: no {method}; requests without an end: {self.unanswered()}; {self.complaints()}") from error

    def unanswered(self):
        ended = {event["params"]["requestId"] for event in self.events
                 if event.get("method") in ("Network.loadingFinished", "Network.loadingFailed")}
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent" and event["params"]["requestId"] not in ended]

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def eval(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key, text=""):
        codes = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=codes[key], text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=codes[key])

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        return [event for event in self.events
                if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(timeout=TIMEOUT)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        pytest.skip("chromium is not installed (the page of 'stats --html' is not clicked through)")
    page = Page(browser, tmp_path_factory.mktemp("profile"))
    yield page
    page.close()
