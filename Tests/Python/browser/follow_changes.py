"""Runs the JavaScript of the page about changes in a browser, at a page of another origin.

Reads the service's origin, the page's port, a token and how many changes to wait for from standard input, as JSON. Prints what
the code was told.
"""

import json
import pathlib
import sys

from chromium import Browser
from pages import served

GIVEN = json.load(sys.stdin)
FOLDER = pathlib.Path(__file__).parents[3] / "docs" / "changes"

with Browser() as browser, served(FOLDER, GIVEN["port"]) as port:
    browser.open(f"http://127.0.0.1:{port}/")
    told = browser.run(
        """
        const [origin, token, count] = given;
        const { followChanges } = await import("/follow-changes.js");
        const told = [];
        const enough = new AbortController();
        // An app whose database is full, say.
        await followChanges(origin, token, {
            onChange: () => { throw new Error("full") },
            onCursor: () => {},
            onReset: () => {},
        }).catch((error) => told.push([error.message]));
        await followChanges(origin, token, {
            // A cursor of another database.
            cursor: "AgEAAAA",
            onChange: (change, cursor) => {
                told.push([change.type, change.collection, change.id, cursor.length > 0]);
                if (told.length === count) enough.abort();
            },
            onCursor: (cursor) => { told.push(["cursor", cursor.length > 0]) },
            onReset: () => { told.push(["reset"]) },
            signal: enough.signal,
        });
        return told;
        """,
        GIVEN["origin"],
        GIVEN["token"],
        GIVEN["count"],
    )
    assert "value" in told, told
    print(json.dumps(told["value"]))
