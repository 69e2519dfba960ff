"""What a page of another origin can do to somebody who is signed in to the gallery.

Reads the origin, and an account's e-mail and password, from standard input, as JSON. Prints the secrets that the browser had.
"""

import json
import sys
import tempfile

from chromium import Browser
from pages import served

GIVEN = json.load(sys.stdin)
ORIGIN = GIVEN["origin"]

# Each tries to read, and gives what it read.
READS = {
    "fetch": "return await (await fetch(given[0] + given[1], { credentials: 'include' })).text()",
    "opaque fetch": "return await (await fetch(given[0] + given[1], { credentials: 'include', mode: 'no-cors' })).text()",
    "script": """
        const script = document.createElement("script");
        script.src = given[0] + given[1];
        return await new Promise((resolve) => {
            script.onload = () => resolve("ran");
            script.onerror = () => resolve("");
            document.body.append(script);
        });
    """,
    "frame": """
        const frame = document.createElement("iframe");
        frame.src = given[0] + given[1];
        await new Promise((resolve) => { frame.onload = resolve; document.body.append(frame) });
        return frame.contentWindow.document.body.textContent;
    """,
}

# Each tries to change something. None of them can see whether it did.
CHANGES = {
    "fetch": """
        for (const mode of ["cors", "no-cors"]) {
            const request = { method: given[1], credentials: "include", mode };
            if (given[1] === "POST") request.body = given[3];
            await fetch(given[0] + given[2], request).catch(() => undefined);
        }
    """,
    "form": """
        const frame = Object.assign(document.createElement("iframe"), { name: "target" });
        const form = Object.assign(document.createElement("form"), {
            action: given[0] + given[2], method: "POST", target: "target", enctype: "text/plain",
        });
        const [name, value] = given[3].split("=");
        form.append(Object.assign(document.createElement("input"), { name, value }));
        document.body.append(frame, form);
        form.submit();
        // Its document can be seen until there is an answer of the other origin.
        while (frame.contentDocument) await new Promise((resolve) => setTimeout(resolve, 20));
        frame.remove();
    """,
}

STATE = """
    const answers = await Promise.all(["account", "photos", "sessions"].map((name) => fetch(`/gallery/${name}`)));
    return [answers.map((answer) => answer.status), await Promise.all(answers.slice(0, 2).map((answer) => answer.text()))];
"""

PREPARE = """
    const post = (path, values) => fetch(path, {
        method: "POST", body: JSON.stringify(values), headers: { "Content-Type": "application/json" },
    });
    const { email, password } = given[0];
    await post("/gallery/signup", { full_name: "Grace Hopper", email, password });
    await post("/gallery/signin", { email, password });
    const form = new FormData();
    form.append("title", "Mine");
    const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 30 });
    form.append("image", await new Promise((resolve) => canvas.toBlob(resolve)), "mine.png");
    return (await (await fetch("/gallery/photos", { method: "POST", body: form })).json()).random_id;
"""


def expect_nothing_read(browser, place):
    for name, script in READS.items():
        for path in ("/gallery/account", "/gallery/photos", "/"):
            read = browser.run(script, ORIGIN, path)
            assert read.get("value") in ("", None), f"{name} of {path} from {place} read {read}"


def try_changes(browser, photo):
    # A form of plain text can pretend to be JSON but for its type.
    body = '{"all":true,"x":"=y"}'
    posts = [("POST", path, body) for path in ("/gallery/signout", "/gallery/signin", "/gallery/password", "/gallery/photos")]
    deletes = [("DELETE", f"/gallery/{path}", "") for path in (f"photos?photo_id={photo}", "account")]
    for name, script in CHANGES.items():
        for call in posts + (deletes if name == "fetch" else []):
            tried = browser.run(script, ORIGIN, *call)
            assert "error" not in tried, tried


def expect_no_hold(browser):
    """Expects that no page gets hold of the gallery's window, in a frame or beside it."""
    browser.run("document.body.append(Object.assign(document.createElement('iframe'), { src: given[0] }))", ORIGIN)
    browser.wait("a frame that is refused", lambda: any(
        "frame-ancestors" in entry["message"] for entry in browser.driver.get_log("browser")))
    browser.run("window.opened = window.open(given[0])", ORIGIN)
    browser.wait("a window that is cut off", lambda: browser.driver.execute_script("return window.opened.closed"))
    assert len(browser.driver.window_handles) == 2
    browser.driver.switch_to.window(browser.driver.window_handles[1])
    browser.driver.close()
    browser.driver.switch_to.window(browser.driver.window_handles[0])


with Browser() as browser, tempfile.TemporaryDirectory() as empty, served(empty) as port:
    browser.open(ORIGIN)
    photo = browser.run(PREPARE, GIVEN)["value"]
    before = browser.run(STATE)
    assert before["value"][0] == [200, 200, 200] and photo in before["value"][1][1], before
    secrets = [cookie["value"] for cookie in browser.driver.get_cookies()]
    # The same site on another port, for which a browser sends the cookie, and another site.
    for host in ("127.0.0.1", "localhost"):
        place = f"http://{host}:{port}"
        browser.open(place)
        expect_nothing_read(browser, place)
        expect_no_hold(browser)
        browser.open(place)
        try_changes(browser, photo)
    browser.open(ORIGIN)
    assert browser.run(STATE) == before
    print(json.dumps(secrets))
