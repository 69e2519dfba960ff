import { changesAfter } from "/files/api.js";

/** How long to wait before connecting again, in milliseconds, until the service tells. */
const usualPause = 3000;
/** The service says something every 15 seconds. After a longer silence, the connection is dead. In milliseconds. */
const maxSilence = 45000;

/** Nobody can tell what was missed. */
class Reset extends Error {}

/**
 * Follows what happens to the photos elsewhere, from a cursor on.
 *
 * A hidden page has no stream: browsers have few connections to a host, and all tabs share them.
 */
export class Changes {
    #cursor;
    #pause = usualPause;
    #connection;

    /**
     * @param options `onChange` gets each change. `onReset` is called when all must be loaded again. `onRefused` finds out
     *     who is signed in, and calls `stop` when that is nobody.
     */
    constructor(options) {
        Object.assign(this, options);
        addEventListener("visibilitychange", () => this.#restart());
    }

    /** Tells of what comes after a cursor. */
    begin(cursor) {
        this.#cursor = cursor;
        this.#restart();
    }

    stop() {
        this.#cursor = undefined;
        this.#connection?.abort();
    }

    #restart() {
        this.#connection?.abort();
        if (!this.#cursor || document.visibilityState === "hidden") return;
        this.#connection = new AbortController();
        this.#follow(this.#connection.signal);
    }

    async #follow(signal) {
        while (!signal.aborted) {
            try {
                await this.#read(await changesAfter(this.#cursor, signal), signal);
            } catch (error) {
                if (signal.aborted) return;
                if (error.isSignedOut) await this.onRefused();
                if (error instanceof Reset) return this.onReset();
                // Without a connection, or a place, it is tried again.
            }
            await new Promise((done) => setTimeout(done, this.#pause));
        }
    }

    async #read(response, signal) {
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        try {
            for (let part; !(part = await next(reader)).done && !signal.aborted;) {
                const events = (text + part.value).split("\n\n");
                text = events.pop();
                for (const event of events) this.#take(Object.fromEntries(event.split("\n").map(field)));
            }
        } finally {
            reader.cancel().catch(() => {});
        }
    }

    /** An `end` needs nothing: the next connection tells why. */
    #take({ event, id, data, retry }) {
        if (retry) this.#pause = Number(retry);
        if (event === "reset") throw new Reset();
        if (event === "change") this.onChange(JSON.parse(data));
        if (id) this.#cursor = id;
    }
}

/** The next part of the text. */
async function next(reader) {
    let timer;
    const silence = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error("silence")), maxSilence) });
    try {
        return await Promise.race([reader.read(), silence]);
    } finally {
        clearTimeout(timer);
    }
}

/** The name and the value of an event's line. */
function field(line) {
    const colon = line.indexOf(": ");
    return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 2)];
}
