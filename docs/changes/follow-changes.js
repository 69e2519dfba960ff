/**
 * Follows changes until the session has ended or `signal` aborts it.
 *
 * @param options `cursor` is the saved cursor, if any. `onChange` gets each change, and the cursor to save with it.
 *     `onCursor` gets a cursor to save instead of the last one: there were only changes that this user does not get.
 *     `onReset` deletes the app's copies, and its cursor.
 */
export async function followChanges(url, token, { cursor, onChange, onCursor, onReset, signal }) {
    let pause = 3000;
    while (!signal?.aborted) {
        const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
        if (cursor) headers["Last-Event-ID"] = cursor;
        // Retries when there is no network.
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

/** The server-sent events of a body, until the connection ends. */
async function* events(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
        for (;;) {
            // The service sends something every 15 seconds. After a longer silence, the connection is dead.
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
        // A client that stops listening, for example after an error, closes its connection.
        reader.cancel().catch(() => {});
    }
}
