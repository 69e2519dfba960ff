/**
 * Where a text is not valid JSON (RFC 8259): line, column and what was expected; undefined for valid JSON.
 *
 * Browsers report the place in different ways, and for some errors not at all.
 */
export function jsonProblem(text) {
    let at = 0;
    const fail = (expected) => { throw new Broken(at, expected) };
    const take = (pattern) => {
        pattern.lastIndex = at;
        const found = pattern.exec(text)?.[0];
        at += found?.length ?? 0;
        return found;
    };
    const space = () => take(/[ \t\r\n]*/y);
    const string = () => {
        if (!take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y)) fail('a text in "quotes"');
        if (!take(/"/y)) fail("the text's closing quote");
    };
    const list = (end, element) => {
        space();
        if (take(end)) return;
        for (;;) {
            element();
            space();
            if (take(end)) return;
            if (!take(/,/y)) fail(`a comma or ${end.source.replace("\\", "")}`);
            space();
        }
    };
    const value = () => {
        space();
        if (take(/\{/y)) {
            list(/\}/y, () => {
                string();
                space();
                if (!take(/:/y)) fail("a colon");
                value();
            });
        } else if (take(/\[/y)) list(/\]/y, value);
        else if (text[at] === '"') string();
        else if (!take(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y)) fail("a value");
    };
    try {
        value();
        space();
        if (at < text.length) fail("the end");
        return undefined;
    } catch (error) {
        if (!(error instanceof Broken)) throw error;
        const lines = text.slice(0, error.at).split("\n");
        return { at: error.at, line: lines.length, column: lines.at(-1).length + 1, expected: error.expected };
    }
}

class Broken extends Error {
    constructor(at, expected) {
        super(expected);
        Object.assign(this, { at, expected });
    }
}
