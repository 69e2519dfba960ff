import { photoPages } from "/files/api.js";
import { described } from "/files/photos.js";

/** The photos of whoever is signed in, the newest first. */
export class Library {
    #photos = new Map();
    /** Those that were uploaded since the list was asked for, which it may lack. */
    #arrived = new Map();
    /** The ids of those that are hidden or deleted, which a list may still have. */
    #gone = new Set();
    /** Tells apart what was asked for before everything began afresh. */
    #turn = 0;

    constructor(onChange) {
        this.onChange = onChange;
    }

    get visible() { return [...this.#photos.values()].filter(({ random_id: id }) => !this.#gone.has(id)) }

    /** Loads all photos, and shows each page as it comes. */
    async load() {
        this.#turn += 1;
        const turn = this.#turn;
        this.#arrived.clear();
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
        const { random_id: id } = photo;
        if (this.#photos.has(id)) this.#photos.set(id, described(photo));
        else this.#arrived = new Map([[id, described(photo)], ...this.#arrived]);
        this.#show(this.#photos);
    }

    hide(id) {
        this.#gone.add(id);
        this.onChange();
    }

    bringBack(id) {
        this.#gone.delete(id);
        this.onChange();
    }

    clear() {
        this.#turn += 1;
        this.#photos.clear();
        this.#arrived.clear();
        this.#gone.clear();
        this.onChange();
    }

    #show(...lists) {
        const photos = new Map(this.#arrived);
        for (const list of lists) {
            for (const [id, photo] of list) {
                if (!photos.has(id)) photos.set(id, photo);
            }
        }
        this.#photos = photos;
        this.onChange();
    }
}
