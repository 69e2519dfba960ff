import { changesAfter } from "/files/api.js";

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
    /** How long to wait before connecting again, in milliseconds. Not all pages come at once. */
    #pause = 1000 + 4000 * Math.random();
    #connection;

    /**
     * @param options `onChanges` gets changes that came together. `onReset` loads all photos again, and calls `begin` once
     *     they are there. `onRefused` finds out who is signed in, and calls `stop` when that is nobody.
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
            let trouble;
            try {
                await this.#read(await changesAfter(this.#cursor, signal), signal);
            } catch (error) {
                trouble = error;
            }
            if (signal.aborted) return;
            if (trouble?.isSignedOut) await this.onRefused();
            await new Promise((done) => setTimeout(done, Math.max(this.#pause, (trouble?.seconds || 0) * 1000)));
            // A later version may refuse what an earlier one gave out.
            if (!signal.aborted && (trouble instanceof Reset || trouble?.status === 400)) await this.onReset();
        }
    }

    async #read(response, signal) {
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        try {
            for (let part; !(part = await next(reader)).done && !signal.aborted;) {
                const events = (text + part.value).split("\n\n");
                text = events.pop();
                this.#take(events.map((event) => Object.fromEntries(event.split("\n").map(field))));
            }
        } finally {
            reader.cancel().catch(() => {});
        }
    }

    /** An `end` needs nothing: the next connection tells why. */
    #take(events) {
        const changes = events.filter(({ event }) => event === "change").map(({ data }) => JSON.parse(data));
        if (changes.length) this.onChanges(changes);
        for (const { id, retry } of events) {
            if (retry) this.#pause = Number(retry);
            if (id) this.#cursor = id;
        }
        if (events.some(({ event }) => event === "reset")) throw new Reset();
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
