import { forgetPhoto, showPhoto } from "/files/images.js";

const find = (id) => document.getElementById(id);

/** A photo as large as the window, with the previous and the next one. */
export class Viewer {
    #photos = [];
    #index = 0;

    constructor({ onDelete, onClose }) {
        this.dialog = find("viewer");
        this.image = find("viewer-image");
        this.neighbour = new Image();
        find("viewer-close").addEventListener("click", () => this.dialog.close());
        find("viewer-previous").addEventListener("click", () => this.#go(-1));
        find("viewer-next").addEventListener("click", () => this.#go(1));
        find("viewer-delete").addEventListener("click", () => {
            this.isDeleting = true;
            this.dialog.close();
        });
        this.dialog.addEventListener("keydown", (event) => {
            if (event.altKey || event.ctrlKey || event.metaKey) return;
            if (event.key === "ArrowLeft") this.#go(-1);
            if (event.key === "ArrowRight") this.#go(1);
            if (event.key === "Delete") find("viewer-delete").click();
        });
        this.dialog.addEventListener("close", () => {
            forgetPhoto(this.image);
            forgetPhoto(this.neighbour);
            const after = this.isDeleting ? onDelete : onClose;
            this.isDeleting = false;
            after(this.#photos[this.#index]);
        });
        this.#followSwipes();
    }

    open(photos, photo) {
        this.#photos = photos;
        this.#index = Math.max(0, photos.findIndex((other) => other.random_id === photo.random_id));
        this.#show();
        if (!this.dialog.open) this.dialog.showModal();
    }

    /** A photo was deleted on another device: the next one takes its place. */
    remove(id) {
        const index = this.#photos.findIndex((photo) => photo.random_id === id);
        if (!this.dialog.open || index < 0) return;
        const seen = this.#photos[this.#index];
        this.#photos = this.#photos.filter((photo) => photo.random_id !== id);
        if (this.#photos.length === 0) return this.dialog.close();
        if (index < this.#index || this.#index === this.#photos.length) this.#index -= 1;
        if (this.#photos[this.#index] === seen) this.#describe();
        else this.#show();
    }

    #go(step) {
        const next = this.#index + step;
        if (next < 0 || next >= this.#photos.length) return;
        this.#index = next;
        this.#show();
    }

    #show() {
        const photo = this.#photos[this.#index];
        this.#say("");
        this.image.alt = photo.label;
        showPhoto(this.image, photo, {
            size: "medium",
            isFirst: true,
            onFail: (text) => this.#say(`${text} You can download the photo.`),
        });
        const download = find("viewer-download");
        download.href = photo.url;
        download.download = photo.name;
        this.#describe();
    }

    /** Shows the photo's title and position, and loads the next photo. */
    #describe() {
        const photo = this.#photos[this.#index];
        find("viewer-title").textContent = photo.title || photo.name;
        find("viewer-facts").textContent = [photo.date, photo.dimensions, `${this.#index + 1} of ${this.#photos.length}`]
            .filter(Boolean).join(" · ");
        // Disabled buttons would lose the focus.
        find("viewer-previous").ariaDisabled = `${this.#index === 0}`;
        find("viewer-next").ariaDisabled = `${this.#index === this.#photos.length - 1}`;
        // So the next photo shows at once.
        const neighbour = this.#photos[this.#index + 1];
        if (neighbour) showPhoto(this.neighbour, neighbour, { size: "medium" });
        else forgetPhoto(this.neighbour);
    }

    #say(text) {
        this.image.hidden = text !== "";
        find("viewer-message").hidden = text === "";
        find("viewer-message").textContent = text;
    }

    #followSwipes() {
        let start;
        this.image.addEventListener("pointerdown", (event) => { start = event.clientX });
        this.image.addEventListener("pointerup", (event) => {
            const distance = event.clientX - start;
            if (Math.abs(distance) > 60) this.#go(distance < 0 ? 1 : -1);
        });
    }
}
