import { photoPages } from "/files/api.js";
import { described } from "/files/photos.js";

/** The photos of whoever is signed in, the newest first. */
export class Library {
    #photos = new Map();
    /** Those that were uploaded since the list was asked for, which it may lack. */
    #arrived = new Map();
    /** The ids of those that are hidden, and may come back. */
    #hidden = new Set();
    /** The ids of those that were deleted since the list was asked for, which it may still have. */
    #deleted = new Set();
    /** Tells apart what was asked for before everything began afresh. */
    #turn = 0;

    constructor(onChange) {
        this.onChange = onChange;
    }

    get visible() { return [...this.#photos.values()].filter(({ random_id: id }) => !this.#hidden.has(id)) }

    /** Loads all photos, and shows each page as it comes. */
    async load() {
        this.#turn += 1;
        const turn = this.#turn;
        this.#arrived.clear();
        this.#deleted.clear();
        const loaded = new Map();
        try {
            for await (const page of photoPages()) {
                if (turn !== this.#turn) return;
                for (const photo of page) loaded.set(photo.random_id, described(photo));
                this.#show(loaded, this.#photos);
            }
            if (turn === this.#turn) this.#show(loaded);
        } catch (error) {
            if (turn !== this.#turn) return;
            // The last photo of a page was deleted before the next page was asked for.
            if (error.code === "after_invalid") await this.load();
            else throw error;
        }
    }

    /** A photo is there: first of all, unless it was there before. */
    add(photo) {
        this.apply([{ type: "created", id: photo.random_id, photo }]);
    }

    /** Takes changes, the oldest first. */
    apply(changes) {
        const arrived = new Map();
        for (const { type, id, photo } of changes) {
            if (type === "deleted") {
                this.#deleted.add(id);
                arrived.delete(id);
            } else {
                this.#deleted.delete(id);
                // One that is shown stays where it is.
                const shown = [this.#arrived, this.#photos].filter((photos) => photos.has(id));
                for (const photos of shown) photos.set(id, described(photo));
                if (!shown.length) arrived.set(id, described(photo));
            }
        }
        this.#arrived = new Map([...[...arrived].reverse(), ...this.#arrived]);
        this.#show(this.#photos);
    }

    hide(id) {
        this.#hidden.add(id);
        this.onChange();
    }

    bringBack(id) {
        this.#hidden.delete(id);
        this.onChange();
    }

    clear() {
        this.#turn += 1;
        this.#photos.clear();
        this.#arrived.clear();
        this.#hidden.clear();
        this.#deleted.clear();
        this.onChange();
    }

    #show(...lists) {
        const photos = new Map(this.#arrived);
        for (const list of lists) {
            for (const [id, photo] of list) {
                if (!photos.has(id)) photos.set(id, photo);
            }
        }
        for (const id of this.#deleted) photos.delete(id);
        this.#photos = photos;
        this.onChange();
    }
}
