import { changesAfter } from "/files/api.js";

/** In milliseconds. The service sends something every 15 seconds, so after a longer silence the connection is dead. */
const maxSilence = 45000;

/** The service does not know which changes were missed. */
class Reset extends Error {}

/**
 * Follows changes of the photos on other devices, from a cursor on.
 *
 * A hidden page has no stream: browsers have few connections to a host, and all tabs share them.
 */
export class Changes {
    #cursor;
    /** How long to wait before reconnecting, in milliseconds. It is random, so that not all pages reconnect at once. */
    #pause = 1000 + 4000 * Math.random();
    #connection;

    /**
     * @param options `onChanges` gets changes that arrived together. `onReset` loads all photos again, and then calls
     *     `begin`. `onRefused` checks who is signed in, and calls `stop` if nobody is.
     */
    constructor(options) {
        Object.assign(this, options);
        addEventListener("visibilitychange", () => this.#restart());
    }

    /** Follows the changes after a cursor. */
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
            let failure;
            try {
                await this.#read(await changesAfter(this.#cursor, signal), signal);
            } catch (error) {
                failure = error;
            }
            if (signal.aborted) return;
            if (failure?.isSignedOut) await this.onRefused();
            await new Promise((done) => setTimeout(done, Math.max(this.#pause, (failure?.seconds || 0) * 1000)));
            // A newer version of the service may refuse the cursor of an older one.
            if (!signal.aborted && (failure instanceof Reset || failure?.status === 400)) await this.onReset();
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

    /** Handles events. An `end` needs nothing: the next connection gets the reason. */
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
