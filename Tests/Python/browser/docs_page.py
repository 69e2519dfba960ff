"""The page about the API, by keyboard alone.

Reads the origin, the credential and an account's e-mail and password from standard input, as JSON. Prints the token.
"""

import json
import os
import pathlib
import subprocess
import sys

from chromium import Browser, Keys

GIVEN = json.load(sys.stdin)
# What shells, curl and quotes stumble over.
TITLE = "it's @me; <3 \"x\" $HOME, a=b"
PHOTO = pathlib.Path(__file__).parents[3] / "docs" / "example.jpg"


def send(browser, operation, status, **values):
    """Fills in a call, sends it, and gives the answer's text."""
    browser.tab_to(f"#{operation} > summary")
    browser.press(Keys.ENTER)
    browser.wait_for(f"#{operation} form")
    for name, value in values.items():
        field = f"#{operation}-body-{name}, #{operation}-query-{name}"
        browser.tab_to(field)
        if browser.one(field).get_attribute("type") == "file":
            # What the browser's own picker does once a file is chosen.
            browser.one(field).send_keys(value)
        else:
            browser.press(value)
    browser.tab_to(f"#{operation} button[type=submit]")
    browser.press(Keys.ENTER)
    browser.wait("an answer", lambda: browser.text(f"#{operation} .answer").partition(" ")[0] not in ("", "Waiting"))
    answer = browser.text(f"#{operation} .answer")
    # Only the status may be in a failure's text: what follows can have a token.
    assert answer.startswith(f"{status} "), f"{operation}: {answer.split()[:1]}"
    return answer


def code(browser, operation, language):
    browser.tab_to(f"#{operation} .languages input:checked")
    for _ in range(3):
        if browser.focused(f"[value={language}]"):
            break
        browser.press(Keys.ARROW_RIGHT)
    selector = f"#{operation} pre[aria-label='The request as code'] code"
    beginning = {"curl": "curl ", "Swift": "import Foundation", "JavaScript": "const "}[language]
    browser.wait(language, lambda: browser.one(selector).get_attribute("textContent").startswith(beginning))
    return browser.one(selector).get_attribute("textContent")


def collections(browser):
    """A collection has its own fields and sample, and JSON that breaks is told with its place."""
    assert "houses" in browser.text("#contents")
    heads = [head for head in browser.all(".topic-head") if head.text.startswith("houses")]
    assert "address string required" in " ".join(heads[0].text.split()), heads[0].text
    assert "1000 characters" in heads[0].text
    # Limits stand in the descriptions, too, and are no rules of the collection.
    assert "Access: private" in heads[0].text and "Limit: " not in heads[0].text, heads[0].text
    assert "Limit: " in browser.one("#createRecords_houses").get_attribute("textContent")
    answer = send(browser, "createRecords_houses", 200)
    assert '"address": "a text"' in answer, answer
    assert run_curl(code(browser, "createRecords_houses", "curl"))["collection"] == "houses"
    body = "#createRecords_houses-body-body"
    browser.tab_to(body, back=True)
    assert browser.focused("textarea")
    browser.press_with(Keys.CONTROL, "a")
    browser.press('{"data": {', Keys.ENTER, '  "address": 5,', Keys.ENTER, "  oops", Keys.ENTER, "}}")
    browser.wait_for_text(f"{body}-problem", 'Line 3, column 3: a text in "quotes" was expected.')
    browser.expect_no_violation("bodies of JSON", "#changeProfile", "#createRecords_houses")
    browser.tab_to("#createRecords_houses button[type=submit]")
    browser.press(Keys.ENTER)
    browser.wait("the field of the problem", lambda: browser.focused(body))
    plain_json(browser, body)
    # A change has the sample, too, and needs none of it.
    browser.tab_to("#patchRecord_houses > summary")
    browser.press(Keys.ENTER)
    assert '"address":"a text"' in code(browser, "patchRecord_houses", "curl")
    # What is answered is of the collection, too.
    answers = browser.one("#getRecord_bugs").get_attribute("textContent")
    assert '"collection": "bugs"' in answers and '"title": "a text"' in answers, answers


def plain_json(browser, body):
    """A body may be any JSON: it is shown and sent as it is."""
    for text in ('"hello"', "null", "0", "false"):
        browser.tab_to(body, back=True)
        browser.press_with(Keys.CONTROL, "a")
        browser.press(text)
        assert f"-d '{text}'" in code(browser, "createRecords_houses", "curl")
        assert f"JSON.stringify({text})" in code(browser, "createRecords_houses", "JavaScript")
        swift = code(browser, "createRecords_houses", "Swift")
        assert f"request.httpBody = Data({json.dumps(text)}.utf8)" in swift, swift
    browser.tab_to("#createRecords_houses button[type=submit]", back=True)
    browser.press(Keys.ENTER)
    browser.wait_for_text("#createRecords_houses .answer", "record_malformed")


def search(browser):
    browser.tab_to("#search", back=True)
    browser.press("upload photo")
    browser.wait_for_text("#found", "call")
    # The rules look at each pair of elements: with all calls, that takes half a minute.
    assert browser.is_shown("#uploadPhoto .answer") and not browser.is_shown("#signUp")
    browser.expect_no_violation("answers")
    browser.press_with(Keys.CONTROL, "a")
    browser.press("houses delete")
    browser.wait_for_text("#found", "2 calls")
    assert browser.is_shown("#deleteRecord_houses") and not browser.is_shown("#signUp")
    browser.press_with(Keys.CONTROL, "a")
    browser.press("zebra")
    browser.wait_for_text("#nothing-found", "No call matches.")
    browser.press_with(Keys.CONTROL, "a")
    browser.press(Keys.BACKSPACE)
    browser.wait_for("#signUp")


def run_curl(code):
    """Runs what the page shows, in the folder of the photo."""
    environment = {"PATH": os.environ["PATH"], "TOKEN": TOKEN}
    command = ["sh", "-c", code]
    run = subprocess.run(command, env=environment, cwd=PHOTO.parent, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


with Browser() as browser:
    browser.open(f"{GIVEN['origin']}/docs")
    browser.wait_for("#signUp")
    browser.tab_to("#api-name")
    browser.press(GIVEN["name"], Keys.TAB, GIVEN["api_password"])
    account = {"email": GIVEN["email"], "password": GIVEN["password"]}
    assert GIVEN["email"] in send(browser, "signUp", 200, full_name="Grace Hopper", **account)
    send(browser, "signIn", 200, **account)
    TOKEN = browser.one("#token").get_attribute("value")
    assert len(TOKEN) > 40, "signing in fills in the token"
    upload = send(browser, "uploadPhoto", 200, title=TITLE, image=str(PHOTO))
    assert "image_url" in upload, upload
    browser.tab_to("#uploadPhoto .answer summary")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#uploadPhoto .answer", "content-type")
    assert run_curl(code(browser, "uploadPhoto", "curl"))["title"] == TITLE
    listed = send(browser, "listPhotos", 200, limit="5")
    assert json.dumps(TITLE)[1:-1] in listed, listed
    shown = code(browser, "listPhotos", "curl")
    assert TOKEN not in shown
    assert run_curl(shown)[0]["title"] == TITLE
    assert "URLSession.shared.data" in code(browser, "listPhotos", "Swift")
    assert "await fetch(" in code(browser, "listPhotos", "JavaScript")
    assert "photo_not_found" in send(browser, "deletePhoto", 401, photo_id="of-nobody")
    # A body that is JSON has values of all kinds.
    profile = {"title": TITLE, "shows_email": "true", "fields": '{"a": [1.5, "it\'s"]}'}
    assert "shows_email" in send(browser, "changeProfile", 200, **profile)
    changed = run_curl(code(browser, "changeProfile", "curl"))
    assert changed["shows_email"] is True and changed["fields"] == {"a": [1.5, "it's"]}, changed
    assert "request.httpBody = Data(" in code(browser, "changeProfile", "Swift")
    assert '"shows_email":true' in code(browser, "changeProfile", "JavaScript")
    # What only the gallery's pages call is not here, and what several methods do is one call.
    assert not browser.all("#gallerySignIn") and "Gallery" not in browser.text("#contents")
    assert browser.text("#contents").count("Sign out") == 1, browser.text("#contents")
    collections(browser)
    search(browser)
    # Refusals that were asked for.
    browser.expect_no_message(but=["/api/delete_photo?", "/api/records/houses"])
    print(json.dumps([TOKEN]))
