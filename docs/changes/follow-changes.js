/**
 * Follows what changes, until the session is over or `signal` breaks it off.
 *
 * @param options `cursor` is the one that was kept, if any. `onChange` gets each change, and the cursor to keep with it.
 *     `onCursor` gets a cursor to keep in place of the last one: others wrote what this user has no part in. `onReset`
 *     throws away what the app has, and its cursor.
 */
export async function followChanges(url, token, { cursor, onChange, onCursor, onReset, signal }) {
    let pause = 3000;
    while (!signal?.aborted) {
        const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
        if (cursor) headers["Last-Event-ID"] = cursor;
        // Without a network, it is tried again.
        const answer = await fetch(`${url}/api/changes`, { headers, signal }).catch(() => undefined);
        if (answer?.status === 401) return;
        if (answer?.status === 400 || answer?.status === 404) throw new Error((await answer.json()).message);
        if (answer?.status === 200) {
            for await (const { event, id, data, retry } of events(answer.body)) {
                if (retry) pause = Number(retry);
                if (event === "change") await onChange(JSON.parse(data), id);
                else if (id) await onCursor(id);
                if (event === "reset") {
                    await onReset();
                    cursor = undefined;
                }
                if (id) cursor = id;
            }
        }
        const seconds = Number(answer?.headers.get("Retry-After") ?? 0);
        await new Promise((done) => setTimeout(done, Math.max(pause, seconds * 1000)));
    }
}

/** The server-sent events of a body, until the connection breaks off. */
async function* events(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
        for (;;) {
            // The service says something every 15 seconds, so a longer silence is the end.
            const silence = setTimeout(() => reader.cancel(), 45_000);
            const part = await reader.read().catch(() => ({ done: true }));
            clearTimeout(silence);
            if (part.done) return;
            const blocks = (text + part.value).split("\n\n");
            text = blocks.pop();
            for (const block of blocks) {
                yield Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
            }
        }
    } finally {
        // A client that stops listening, as after an error, leaves no connection open.
        reader.cancel().catch(() => {});
    }
}
