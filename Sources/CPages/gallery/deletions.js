import * as api from "/files/api.js";

/** How long a deletion can be undone. */
export const undoMilliseconds = 6000;

/** The deletions that can still be undone. The calls are made after some seconds. */
export class Deletions {
    #waiting = new Map();

    constructor({ onFailed }) {
        this.onFailed = onFailed;
    }

    add(photo, toast) {
        const timer = setTimeout(() => this.#finish(photo), undoMilliseconds);
        this.#waiting.set(photo.random_id, { photo, timer, toast });
    }

    /** Undoes a deletion. Returns whether there was still time. */
    takeBack(photo) {
        clearTimeout(this.#waiting.get(photo.random_id)?.timer);
        return this.#waiting.delete(photo.random_id);
    }

    /** A photo was deleted on another device, so its deletion can't be undone. */
    forget(id) {
        const { photo, toast } = this.#waiting.get(id) ?? {};
        if (photo && this.takeBack(photo)) toast.remove();
    }

    /** Makes all calls now. */
    finishAll() {
        return Promise.all([...this.#waiting.values()].map(({ photo }) => this.#finish(photo)));
    }

    async #finish(photo) {
        const { toast, timer } = this.#waiting.get(photo.random_id) ?? {};
        if (!this.#waiting.delete(photo.random_id)) return;
        clearTimeout(timer);
        toast?.remove();
        try {
            // `keepalive` finishes the call even if the page is closed.
            await api.deletePhoto(photo.random_id, { keepalive: true });
        } catch (error) {
            if (error.code !== "photo_not_found") this.onFailed(photo, error);
        }
    }
}
