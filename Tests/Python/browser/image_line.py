"""The line in which the grid's images wait to be loaded. Reads the origin from standard input, as JSON."""

import json
import sys

from chromium import Browser

# More than are loaded at once. Those under way are forgotten as a fast scroll does it, and no other is asked for after them.
FORGET_THOSE_UNDER_WAY = """
    const { forgetPhoto, showPhoto } = await import("/files/images.js");
    const images = Array.from({ length: 30 }, () => new Image());
    const loaded = images.map((image) => new Promise((resolve, reject) => {
        showPhoto(image, { url: "/favicon.ico", kind: "PNG" }, { onLoad: resolve, onFail: reject });
    }));
    await null;
    const underWay = images.filter((image) => image.src);
    underWay.forEach(forgetPhoto);
    await Promise.all(loaded.filter((_, index) => !underWay.includes(images[index])));
    return [underWay.length, underWay.filter((image) => image.src).length];
"""

with Browser() as browser:
    browser.open(json.load(sys.stdin)["origin"])
    result = browser.run(FORGET_THOSE_UNDER_WAY)
    assert result == {"value": [12, 0]}, result
