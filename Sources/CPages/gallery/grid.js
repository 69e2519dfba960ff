import { element } from "/files/dom.js";

const gap = 4;
/** How many rows beyond the window are kept ready. */
const spareRows = 3;
const range = (first, end) => Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);

/**
 * A grid of photos, of which only the visible ones are in the page. So it is as smooth with 5,000 photos as with five.
 */
export class Grid {
    #photos = [];
    #cells = new Map();
    #focused = 0;

    constructor(root, { onOpen, onDelete }) {
        this.root = root;
        this.onOpen = onOpen;
        this.onDelete = onDelete;
        root.setAttribute("role", "list");
        root.setAttribute("aria-label", "Photos");
        addEventListener("scroll", () => this.#schedule(), { passive: true });
        new ResizeObserver(() => this.#schedule()).observe(root);
        root.addEventListener("keydown", (event) => this.#move(event));
    }

    set photos(photos) {
        // The keyboard stays with its photo when others come or go in front of it.
        const id = this.root.contains(document.activeElement) ? this.#photos[this.#focused]?.random_id : undefined;
        const index = photos.findIndex((photo) => photo.random_id === id);
        this.#photos = photos;
        this.#focused = Math.max(0, Math.min(index < 0 ? this.#focused : index, photos.length - 1));
        this.#schedule();
    }

    /** Moves the keyboard to a photo, after it was opened or its neighbour was deleted. */
    focus(index) {
        this.#focused = Math.max(0, Math.min(index, this.#photos.length - 1));
        const { size, columns } = this.#layout();
        const top = this.root.offsetTop + Math.floor(this.#focused / columns) * size;
        const isAbove = top < scrollY + 80;
        if (isAbove || top + size > scrollY + innerHeight) scrollTo({ top: isAbove ? top - 90 : top + size - innerHeight + 20 });
        this.#render();
        this.#cells.get(this.#photos[this.#focused]?.random_id)?.querySelector("button").focus({ preventScroll: true });
    }

    #layout() {
        const width = this.root.clientWidth;
        const columns = Math.max(3, Math.floor(width / 200));
        return { columns, size: (width + gap) / columns };
    }

    #schedule() {
        if (this.scheduled) return;
        this.scheduled = requestAnimationFrame(() => {
            this.scheduled = undefined;
            this.#render();
        });
    }

    #render() {
        const { columns, size } = this.#layout();
        if (!(size > 0)) return;
        const rowCount = Math.ceil(this.#photos.length / columns);
        this.root.style.height = `${Math.max(0, rowCount * size - gap)}px`;
        const top = scrollY - this.root.offsetTop;
        const first = Math.max(0, Math.floor(top / size) - spareRows) * columns;
        const last = Math.min(this.#photos.length, (Math.ceil((top + innerHeight) / size) + spareRows) * columns);
        // The one with the keyboard stays, so that Tab comes back to it.
        const indexes = [...new Set([...range(first, last), this.#focused])].sort((one, other) => one - other)
            .filter((index) => index < this.#photos.length);
        this.#keepOnly(new Set(indexes.map((index) => this.#photos[index].random_id)));
        // Screen readers go by the order in the page.
        let following = this.root.firstElementChild;
        for (const index of indexes) {
            const photo = this.#photos[index];
            const cell = this.#cells.get(photo.random_id) ?? this.#make(photo);
            if (cell === following) following = cell.nextElementSibling;
            else this.root.insertBefore(cell, following);
            cell.style.transform = `translate(${(index % columns) * size}px, ${Math.floor(index / columns) * size}px)`;
            cell.style.width = cell.style.height = `${size - gap}px`;
            cell.setAttribute("aria-posinset", index + 1);
            cell.setAttribute("aria-setsize", this.#photos.length);
            cell.firstChild.tabIndex = index === this.#focused ? 0 : -1;
            cell.index = index;
        }
    }

    #keepOnly(ids) {
        for (const [id, cell] of this.#cells) {
            if (ids.has(id)) continue;
            // What is scrolled past quickly is not to be waited for.
            cell.querySelector("img")?.removeAttribute("src");
            cell.remove();
            this.#cells.delete(id);
        }
    }

    #make(photo) {
        const image = element("img", { src: photo.url, alt: "", decoding: "async", draggable: "false" });
        const button = element("button", { type: "button", "aria-label": photo.label }, image);
        image.addEventListener("load", () => cell.classList.add("loaded"));
        image.addEventListener("error", () => {
            image.remove();
            button.append(element("span", { class: "unseen" }, photo.kind));
        });
        const cell = element("div", { class: "cell", role: "listitem" }, button);
        button.addEventListener("click", () => this.onOpen(cell.index));
        button.addEventListener("focus", () => { this.#focused = cell.index; this.#schedule() });
        this.#cells.set(photo.random_id, cell);
        return cell;
    }

    #move(event) {
        const { columns } = this.#layout();
        const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
        const last = this.#photos.length - 1;
        let target;
        if (event.key in steps) target = this.#focused + steps[event.key];
        else if (event.key === "Home") target = 0;
        else if (event.key === "End") target = last;
        else if (event.key === "Delete" || event.key === "Backspace") {
            event.preventDefault();
            return this.onDelete(this.#focused);
        } else return undefined;
        event.preventDefault();
        return this.focus(Math.max(0, Math.min(target, last)));
    }
}
