"""A forgotten password, a sign-in with a code, and a changed address, in the gallery by keyboard alone.

Reads the origin, the e-mail, the passwords and the folder of the outbox from standard input, as JSON. Prints the secrets that
the browser had. With a folder as the first argument, it leaves pictures of the pages there.
"""

import json
import pathlib
import re
import sys

from chromium import Browser, Keys

GIVEN = json.load(sys.stdin)
ORIGIN = GIVEN["origin"]
OUTBOX = pathlib.Path(GIVEN["outbox"])
PICTURES = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
SECRETS = set()
SEEN = set()


def code(browser, kind):
    """The code in the next mail of a kind."""

    def unseen():
        return [path for path in sorted(OUTBOX.glob(f"*-{kind}-*.eml")) if path not in SEEN]

    browser.wait(f"a mail {kind}", unseen)
    path = unseen()[0]
    SEEN.add(path)
    digits = re.search(r"^    (\d{6})\r$", path.read_bytes().decode(), re.MULTILINE)[1]
    SECRETS.add(digits)
    return digits


def picture(browser, name):
    if PICTURES:
        browser.driver.save_screenshot(str(PICTURES / f"{name}.png"))


def note_secrets(browser):
    SECRETS.update(cookie["value"] for cookie in browser.driver.get_cookies())


def sign_up(browser):
    browser.wait_for("#sign-in")
    picture(browser, "1-sign-in")
    browser.tab_to("[data-show=sign-up]")
    browser.press(Keys.ENTER)
    browser.press("Grace Hopper", Keys.TAB, GIVEN["email"], Keys.TAB, GIVEN["password"], Keys.ENTER)
    browser.wait_for("#gallery")


def sign_out(browser):
    note_secrets(browser)
    browser.tab_to("#account")
    browser.press(Keys.ENTER)
    browser.tab_to("#sign-out")
    browser.press(Keys.ENTER)
    browser.wait_for("#sign-in")


def recover(browser):
    browser.tab_to("[data-show=recover]")
    browser.press(Keys.ENTER)
    browser.wait("the field", lambda: browser.focused("#recover-email"))
    browser.expect_no_violation("a forgotten password")
    assert not browser.is_shown("#recover-code")
    browser.press(GIVEN["email"], Keys.ENTER)
    browser.wait("the second step", lambda: browser.focused("#recover-code"))
    assert GIVEN["email"] in browser.text("#recover .sent")
    browser.expect_no_violation("a code for a new password")
    digits = code(browser, "reset_code")
    wrong = "000000" if digits != "000000" else "000001"
    browser.press(wrong, Keys.TAB, GIVEN["new_password"], Keys.ENTER)
    browser.wait_for_text("#recover .problem", "This code is wrong, or too old.")
    picture(browser, "2-wrong-code")
    # The wrong one is marked.
    browser.press(digits, Keys.ENTER)
    browser.wait_for("#gallery")
    sign_out(browser)
    browser.press(GIVEN["email"], Keys.TAB, GIVEN["new_password"], Keys.ENTER)
    browser.wait_for("#gallery")
    sign_out(browser)


def sign_in(browser):
    browser.tab_to("[data-show=code]")
    browser.press(Keys.ENTER, GIVEN["email"], Keys.ENTER)
    browser.wait("the second step", lambda: browser.focused("#code-digits"))
    browser.expect_no_violation("a code for signing in")
    picture(browser, "3-sign-in-with-code")
    first = code(browser, "signin_code")
    browser.tab_to("#code .again")
    browser.press(Keys.ENTER)
    browser.wait("the first step", lambda: browser.focused("#code-email"))
    browser.press(GIVEN["email"], Keys.ENTER)
    browser.wait("the second step", lambda: browser.focused("#code-digits"))
    second = code(browser, "signin_code")
    # The code before is over.
    if first != second:
        browser.press(first, Keys.ENTER)
        browser.wait_for_text("#code .problem", "This code is wrong, or too old.")
    browser.press(second, Keys.ENTER)
    browser.wait_for("#gallery")


def change_address(browser):
    browser.tab_to("#account")
    browser.press(Keys.ENTER)
    browser.wait_for_text("#email-state", "You have confirmed this address.")
    assert browser.one("#new-email").get_attribute("value") == GIVEN["email"]
    browser.tab_to("#new-email")
    browser.press_with(Keys.CONTROL, "a")
    browser.press(GIVEN["new_email"], Keys.TAB, "not my password", Keys.ENTER)
    browser.wait_for_text("#email .problem", "The password is wrong.")
    browser.press(GIVEN["new_password"], Keys.ENTER)
    browser.wait("the second step", lambda: browser.focused("#email-code"))
    browser.expect_no_violation("a code to a new address")
    picture(browser, "4-new-address")
    browser.press(code(browser, "email_code"), Keys.ENTER)
    browser.wait_for_text("#settings-status", "Your address is confirmed.")
    assert GIVEN["new_email"] in browser.text("#settings-who")
    browser.expect_no_violation("a confirmed address")
    picture(browser, "5-account")
    browser.press(Keys.ESCAPE)
    browser.wait("the grid", lambda: not browser.is_shown("#settings"))


with Browser() as browser:
    browser.open(ORIGIN)
    sign_up(browser)
    sign_out(browser)
    recover(browser)
    sign_in(browser)
    change_address(browser)
    sign_out(browser)
    browser.expect_no_message(but=["/gallery/"])
print(json.dumps(sorted(SECRETS)))
