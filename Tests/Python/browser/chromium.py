"""Chromium without a window, for pages of this machine."""

import os
import pathlib
import shutil

import axe_playwright_python
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE_SECONDS = 60
AXE = pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js"

DROP = """
    const canvas = Object.assign(document.createElement("canvas"), { width: 300, height: 200 });
    const pixels = canvas.getContext("2d").createImageData(300, 200);
    pixels.data.forEach((_, index) => { pixels.data[index] = Math.random() * 256 });
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([blob], given[0]));
    for (const type of ["dragover", "drop"]) {
        document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
    }
"""

# About how often Tab is to be pressed until an element is reached; 0 when that is not known.
DISTANCE = """
    const focusable = "a[href], button, input, select, textarea, summary, [tabindex]";
    const stops = [...document.querySelectorAll(focusable)].filter((element) =>
        element.checkVisibility() && !element.disabled && element.tabIndex >= 0
        && (element.type !== "radio" || element.checked));
    const here = stops.indexOf(document.activeElement);
    const there = stops.findIndex((element) => element.matches(arguments[0]));
    if (there < 0) return 0;
    const steps = arguments[1] ? here - there : there - here;
    return steps < 0 ? steps + stops.length : steps;
"""


class Browser:
    """A browser that is used by its keyboard."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
        arguments = [
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
            "--disable-background-networking",
            # No network but this machine's own.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        for argument in arguments:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(PATIENCE_SECONDS)
        self.driver.set_page_load_timeout(PATIENCE_SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    # What is seen

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return " ".join(self.one(selector).text.split())

    def is_shown(self, selector):
        return any(element.is_displayed() for element in self.all(selector))

    def wait(self, what, condition):
        WebDriverWait(self.driver, PATIENCE_SECONDS, 0.05).until(lambda _: condition(), f"waited for: {what}")

    def wait_for(self, selector):
        self.wait(selector, lambda: self.is_shown(selector))

    def wait_for_text(self, selector, text):
        self.wait(f"{text!r} in {selector}", lambda: text in self.text(selector))

    # What is done

    def open(self, address):
        self.driver.get(address)

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def press_with(self, modifier, key):
        ActionChains(self.driver).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def focused(self, selector):
        return self.driver.execute_script("return document.activeElement.matches(arguments[0])", selector)

    def tab_to(self, selector, back=False):
        """Presses Tab until the keyboard is there, as people who have no mouse do."""
        # Most of the way at once, since each look at the page takes long. The last steps are looked at.
        if self.focused("body"):
            # What was focused is gone or can't be used. Nobody but the browser knows where it was.
            self.press_with(Keys.SHIFT, Keys.TAB) if back else self.press(Keys.TAB)
        far = self.driver.execute_script(DISTANCE, selector, back) - 3
        if far > 0:
            actions = ActionChains(self.driver, duration=0)
            if back:
                actions.key_down(Keys.SHIFT)
            actions.send_keys(Keys.TAB * far)
            if back:
                actions.key_up(Keys.SHIFT)
            actions.perform()
        for _ in range(500):
            if self.focused(selector):
                return
            if back:
                self.press_with(Keys.SHIFT, Keys.TAB)
            else:
                self.press(Keys.TAB)
        raise AssertionError(f"Tab never comes to {selector}")

    def run(self, script, *arguments):
        """The value of a script's promise."""
        return self.driver.execute_async_script(
            f"const done = arguments[arguments.length - 1];"
            f"(async (...given) => {{ {script} }})(...[...arguments].slice(0, -1))"
            f".then((value) => done({{ value }}), (error) => done({{ error: `${{error}}` }}))",
            *arguments,
        )

    def drop_image(self, name):
        """What happens when somebody drops a file on the page."""
        self.run(DROP, name)

    def set_network(self, offline=False, upload_bytes_a_second=-1):
        self.driver.execute_cdp_cmd("Network.enable", {})
        conditions = {
            "offline": offline,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": upload_bytes_a_second,
        }
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)

    # What is right

    def expect_no_violation(self, state, *parts):
        """Checks parts of the page, or all of it, by axe's rules, in a light and in a dark scheme."""
        if not self.driver.execute_script("return 'axe' in window"):
            self.driver.execute_script(AXE.read_text())
        for scheme in ("light", "dark"):
            features = [
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ]
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            # Colors are what differs.
            only = None if scheme == "light" else {"type": "rule", "values": ["color-contrast"]}
            options = {"resultTypes": ["violations"], **({"runOnly": only} if only else {})}
            context = {"include": [[part] for part in parts or ("html",)]}
            found = self.run("return (await axe.run(...given)).violations", context, options)
            assert "error" not in found, found
            violations = [
                f"{violation['id']} ({violation['impact']}): {violation['nodes'][0]['html'][:200]}"
                for violation in found["value"]
            ]
            assert not violations, f"{state}, {scheme}: " + "; ".join(violations)

    def expect_no_message(self, but=()):
        """Expects that the browser reported no error, such as a broken Content-Security-Policy.

        `but` has parts of the messages that are expected.
        """
        severe = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        unexpected = [message for message in severe if not any(part in message for part in but)]
        assert not unexpected, unexpected
