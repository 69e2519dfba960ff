"""A day with the gallery, by keyboard alone.

Reads the origin, the e-mail and the passwords from standard input, as JSON. Prints the secrets that the browser had.
"""

import json
import pathlib
import re
import sys
import time
import urllib.error
import urllib.request

from chromium import Browser, Keys

GIVEN = json.load(sys.stdin)
ORIGIN = GIVEN["origin"]
ROOT = pathlib.Path(__file__).parents[3]
SAMPLES = ROOT / "Tests" / "ImageFilesTests" / "Samples"
PHOTOS = [ROOT / "docs" / "example.jpg", SAMPLES / "turned-17x31.jpg", SAMPLES / "rgb-31x17.png"]
SECRETS = set()


def call(method, path, cookie="", **values):
    """A call of the gallery's from elsewhere than the browser: the status, and the cookie that is set."""
    request = urllib.request.Request(
        ORIGIN + path,
        method=method,
        data=json.dumps(values).encode() if values else None,
        headers={"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin", "Cookie": cookie},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, (answer.headers["Set-Cookie"] or "").split(";")[0]
    except urllib.error.HTTPError as error:
        return error.code, ""


def sign_in_elsewhere(device):
    """The cookie of another device of the same person."""
    status, cookie = call("POST", "/gallery/signin", email=GIVEN["email"], password=GIVEN["password"], device=device)
    assert status == 200, status
    SECRETS.add(cookie.split("=")[1])
    return cookie


def upload_elsewhere(cookie, title):
    """Uploads a photo from elsewhere than the browser: its id."""
    form = b"".join(
        f"--part\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n".encode() + value + b"\r\n"
        for name, more, value in [("title", "", title.encode()), ("image", f'; filename="{title}.png"', PHOTOS[2].read_bytes())]
    )
    request = urllib.request.Request(
        ORIGIN + "/gallery/photos",
        data=form + b"--part--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=part", "Sec-Fetch-Site": "same-origin", "Cookie": cookie},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["random_id"]


def delete_elsewhere(cookie, photo_id):
    assert call("DELETE", f"/gallery/photos?photo_id={photo_id}", cookie)[0] == 200


def set_visibility(browser, state):
    """What happens when another tab is looked at. A browser without a screen hides no page."""
    browser.driver.execute_script(
        """
        Object.defineProperty(document, "visibilityState", { value: arguments[0], configurable: true });
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
        """,
        state,
    )


def note_secrets(browser):
    SECRETS.update(cookie["value"] for cookie in browser.driver.get_cookies())
    for image in browser.all(".cell img"):
        SECRETS.update(re.findall(r"signature=([\w-]+)", image.get_attribute("src") or ""))


def names(browser):
    return [button.get_attribute("aria-label") for button in browser.all(".cell button")]


def sign_up(browser):
    browser.wait_for("#sign-in")
    browser.expect_no_violation("signing in")
    browser.tab_to("[data-show=sign-up]")
    browser.press(Keys.ENTER)
    browser.wait_for("#sign-up")
    browser.expect_no_violation("signing up")
    browser.press("Grace Hopper", Keys.TAB, GIVEN["email"], Keys.TAB, "short", Keys.ENTER)
    assert browser.is_shown("#sign-up"), "a password that is too short is not sent"
    browser.press_with(Keys.CONTROL, "a")
    browser.press(GIVEN["password"], Keys.ENTER)
    browser.wait_for("#gallery")
    assert browser.text("#initials") == "GH"
    browser.expect_no_violation("no photos")


def upload(browser):
    browser.run("document.getElementById('files').addEventListener('click', () => { window.isAsked = true })")
    browser.tab_to("#add")
    browser.press(Keys.ENTER)
    browser.wait("the file picker", lambda: browser.driver.execute_script("return window.isAsked"))
    # The picker is the browser's own. This is what it does once files are chosen.
    browser.one("#files").send_keys("\n".join(str(path) for path in PHOTOS))
    browser.wait_for_text("#count", "3 photos")
    browser.wait("three photos that are drawn", lambda: len(browser.all(".cell.loaded")) == 3)
    assert {name.split(",")[0] for name in names(browser)} == {path.stem for path in PHOTOS}, names(browser)
    assert not browser.is_shown("#uploads")
    browser.expect_no_violation("three photos")


def look(browser):
    browser.tab_to(".cell button")
    first, second, _ = names(browser)
    browser.press(Keys.ENTER)
    browser.wait("the photo", lambda: browser.driver.execute_script(
        "const image = document.getElementById('viewer-image'); return image.complete && image.naturalWidth > 0"))
    assert browser.one("#viewer-image").get_attribute("alt") == first
    assert "1 of 3" in browser.text("#viewer-facts")
    browser.expect_no_violation("a photo")
    browser.press(Keys.ARROW_RIGHT)
    browser.wait("the next photo", lambda: browser.one("#viewer-image").get_attribute("alt") == second)
    browser.press(Keys.ESCAPE)
    browser.wait("the grid", lambda: not browser.is_shown("#viewer"))
    assert browser.focused(f".cell button[aria-label='{second}']"), "the keyboard is where it was left"


def bring_back(browser):
    before = names(browser)
    browser.press(Keys.DELETE, Keys.ENTER)
    browser.wait_for_text("#count", "3 photos")
    assert names(browser) == before
    browser.press(Keys.DELETE)
    browser.wait_for_text("#count", "2 photos")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#count", "3 photos")
    browser.driver.refresh()
    browser.wait_for_text("#count", "3 photos")


def wait_for_four(browser):
    """What is deleted elsewhere while it is loaded is a failure that a browser notes."""
    browser.wait_for_text("#count", "4 photos")
    browser.wait("four photos that are drawn", lambda: len(browser.all(".cell.loaded")) == 4)


def follow_elsewhere(browser):
    """What a phone does appears by itself."""
    phone = sign_in_elsewhere("A phone")
    first = upload_elsewhere(phone, "From the phone")
    wait_for_four(browser)
    assert names(browser)[0].startswith("From the phone"), names(browser)
    browser.tab_to(".cell button")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#viewer-facts", "1 of 4")
    second = names(browser)[1]
    delete_elsewhere(phone, first)
    browser.wait_for_text("#viewer-facts", "1 of 3")
    assert browser.one("#viewer-image").get_attribute("alt") == second, "another takes its place"
    browser.press(Keys.ESCAPE)
    browser.wait_for_text("#count", "3 photos")

    # One that is being deleted here, too, can't be brought back.
    both = upload_elsewhere(phone, "Twice")
    wait_for_four(browser)
    browser.press(Keys.HOME, Keys.DELETE)
    browser.wait_for_text("#count", "3 photos")
    delete_elsewhere(phone, both)
    browser.wait("nothing to undo", lambda: "Undo" not in browser.text("#toasts"))

    # A hidden page has no connection. It hears of what it has missed once it is seen again.
    set_visibility(browser, "hidden")
    missed = upload_elsewhere(phone, "Missed")
    time.sleep(0.5)
    assert browser.text("#count") == "3 photos"
    set_visibility(browser, "visible")
    wait_for_four(browser)
    delete_elsewhere(phone, missed)
    browser.wait_for_text("#count", "3 photos")
    assert call("POST", "/gallery/signout", phone, all=False)[0] == 200


def delete_what_is_seen(browser):
    """Deletes a photo in the viewer, while another arrives in front of it."""
    browser.tab_to(".cell button")
    browser.press(Keys.END, Keys.ENTER)
    last = browser.one("#viewer-image").get_attribute("alt")
    browser.drop_image("Arriving.png")
    browser.wait_for_text("#count", "4 photos")
    browser.press(Keys.DELETE)
    browser.wait_for_text("#count", "3 photos")
    browser.expect_no_violation("a deleted photo")
    assert last not in names(browser)
    assert names(browser)[0].startswith("Arriving")


def break_off(browser):
    browser.set_network(upload_bytes_a_second=2_000)
    browser.drop_image("Slow.png")
    browser.wait_for_text("#uploads .state", "%")
    browser.expect_no_violation("an upload under way")
    browser.tab_to("[aria-label='Cancel Slow.png']")
    browser.press(Keys.ENTER)
    browser.wait("nothing under way", lambda: not browser.is_shown("#uploads"))
    assert browser.focused("#add"), "the keyboard is not lost"
    browser.set_network(offline=True)
    browser.drop_image("Lost.png")
    browser.wait_for_text("#uploads .failed .state", "The connection was lost.")
    assert browser.text("#uploads-status") == "Lost.png: The connection was lost."
    browser.expect_no_violation("an upload that failed")
    assert browser.text("#count") == "3 photos"
    browser.set_network()
    browser.tab_to("[aria-label='Try Lost.png again']")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#count", "4 photos")
    browser.tab_to(".cell button")
    browser.press(Keys.DELETE)
    browser.wait_for_text("#count", "3 photos")


def take_selfie(browser):
    browser.tab_to("#take")
    browser.press(Keys.ENTER)
    browser.wait("the camera", lambda: browser.focused("#camera-shoot"))
    browser.expect_no_violation("the camera")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#count", "4 photos")
    browser.wait("the selfie, first in the gallery", lambda: names(browser)[0].startswith("Selfie "))


def open_account(browser):
    browser.tab_to("#account")
    browser.press(Keys.ENTER)


def end_other_session(browser):
    other = sign_in_elsewhere("A tablet")
    browser.tab_to("#account", back=True)
    browser.press(Keys.ENTER)
    browser.wait_for("#sessions li:nth-child(2)")
    browser.expect_no_violation("the account")
    assert call("GET", "/gallery/photos", other)[0] == 200
    browser.tab_to("[aria-label='End the session of A tablet']")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#settings", "A tablet is signed out.")
    assert call("GET", "/gallery/photos", other)[0] == 401
    assert len(browser.all("#sessions li")) == 1


def change_password(browser):
    browser.press(Keys.ESCAPE)
    browser.tab_to(".cell button")
    browser.press(Keys.DELETE)
    browser.wait_for_text("#count", "3 photos")
    open_account(browser)
    browser.tab_to("#leave-proof")
    browser.press("half typed", Keys.ESCAPE, Keys.ENTER)
    assert browser.one("#leave-proof").get_attribute("value") == "", "nothing stays for the next one to find"
    browser.tab_to("#old-password")
    browser.press("not my password", Keys.TAB, GIVEN["new_password"], Keys.ENTER)
    browser.wait_for_text("#password .problem", "The password is wrong.")
    # The wrong one is marked.
    browser.press(GIVEN["password"], Keys.ENTER)
    browser.wait_for_text("#settings", "The password is changed.")
    note_secrets(browser)
    browser.press(Keys.ESCAPE)
    browser.wait("the grid", lambda: not browser.is_shown("#settings"))
    assert browser.focused("#account")
    browser.driver.refresh()
    browser.wait_for_text("#count", "3 photos")


def change_password_meanwhile(browser):
    """A refusal of what began with the old password leaves the page, and its new session, alone."""
    browser.set_network(upload_bytes_a_second=60_000)
    browser.drop_image("Meanwhile.png")
    browser.wait_for_text("#uploads .state", "%")
    cookie = browser.driver.get_cookies()[0]
    status, fresh = call(
        "POST",
        "/gallery/password",
        f"selfie={cookie['value']}",
        old_password=GIVEN["new_password"],
        new_password=GIVEN["new_password"],
    )
    assert status == 200, status
    browser.driver.add_cookie({**cookie, "value": fresh.split("=")[1]})
    browser.wait_for_text("#uploads .failed .state", "You were signed out.")
    browser.set_network()
    note_secrets(browser)
    browser.tab_to("[aria-label='Try Meanwhile.png again']")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#count", "4 photos")


def use_two_tabs(browser):
    """Where another tab signs somebody else in, this one shows nobody's photos but theirs."""
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.open(ORIGIN)
    browser.wait_for_text("#count", "4 photos")
    sign_out_by_keyboard(browser)
    second = browser.driver.current_window_handle
    browser.driver.switch_to.window(first)
    browser.wait_for("#sign-in")
    assert not browser.all(".cell")
    browser.driver.switch_to.window(second)
    browser.press(GIVEN["email"], Keys.TAB, GIVEN["new_password"], Keys.ENTER)
    browser.wait_for_text("#count", "4 photos")
    note_secrets(browser)
    browser.driver.close()
    browser.driver.switch_to.window(first)
    browser.wait_for_text("#count", "4 photos")


def sign_out_by_keyboard(browser):
    open_account(browser)
    browser.tab_to("#sign-out")
    browser.press(Keys.ENTER)
    browser.wait_for("#sign-in")


def sign_out(browser):
    browser.tab_to(".cell button")
    browser.press(Keys.DELETE)
    browser.wait_for_text("#count", "3 photos")
    # What is deleted when somebody signs out is not waited for.
    sign_out_by_keyboard(browser)
    assert not browser.driver.get_cookies()
    assert not browser.all(".cell"), "no photo stays in the page"
    browser.driver.refresh()
    browser.wait_for("#sign-in")


def leave(browser):
    browser.press(GIVEN["email"], Keys.TAB, GIVEN["new_password"], Keys.ENTER)
    browser.wait_for_text("#count", "3 photos")
    note_secrets(browser)
    open_account(browser)
    browser.tab_to("#leave-proof")
    browser.press(GIVEN["new_password"], Keys.ENTER)
    browser.wait_for_text("#toasts", "Your account and all photos are deleted.")
    assert call("POST", "/gallery/signin", email=GIVEN["email"], password=GIVEN["new_password"])[0] == 401


with Browser() as browser:
    browser.open(ORIGIN)
    browser.wait_for("#sign-in")
    browser.expect_no_message()
    sign_up(browser)
    upload(browser)
    note_secrets(browser)
    look(browser)
    bring_back(browser)
    follow_elsewhere(browser)
    delete_what_is_seen(browser)
    break_off(browser)
    take_selfie(browser)
    end_other_session(browser)
    change_password(browser)
    change_password_meanwhile(browser)
    use_two_tabs(browser)
    sign_out(browser)
    leave(browser)
    # Asking who is signed in, and a wrong password, are refusals that a browser notes.
    REFUSED = "Failed to load resource: the server responded with a status of"
    expected = [
        "/gallery/account ",
        "/gallery/password ",
        "/gallery/photos ",
        "/gallery/sessions ",
        f"/gallery/changes?collections=photos - {REFUSED} 401",
        "net::ERR_INTERNET_DISCONNECTED",
    ]
    browser.expect_no_message(but=expected)
    print(json.dumps(sorted(SECRETS)))
