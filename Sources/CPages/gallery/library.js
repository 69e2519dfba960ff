import { photoPages } from "/files/api.js";
import { described } from "/files/photos.js";

/** The photos of the signed-in user, newest first. */
export class Library {
    #photos = new Map();
    /** The photos uploaded since the list was requested. The list may lack them. */
    #arrived = new Map();
    /** The ids of hidden photos, whose deletion can be undone. */
    #hidden = new Set();
    /** The ids of photos deleted since the list was requested. The list may still have them. */
    #deleted = new Set();
    /** Increases with each load, so that answers to older requests are ignored. */
    #turn = 0;

    constructor(onChange) {
        this.onChange = onChange;
    }

    get visible() { return [...this.#photos.values()].filter(({ random_id: id }) => !this.#hidden.has(id)) }

    /** Loads all photos, and shows each page as it arrives. */
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
            // The last photo of a page was deleted before the next page was requested.
            if (error.code === "after_invalid") await this.load();
            else throw error;
        }
    }

    /** Adds a photo: at the front, unless it is there already. */
    add(photo) {
        this.apply([{ type: "created", id: photo.random_id, photo }]);
    }

    /** Applies changes, the oldest first. */
    apply(changes) {
        const arrived = new Map();
        for (const { type, id, photo } of changes) {
            if (type === "deleted") {
                this.#deleted.add(id);
                arrived.delete(id);
            } else {
                this.#deleted.delete(id);
                // A photo that is shown keeps its position.
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
