import { element } from "/files/dom.js";
import { forgetPhoto, showPhoto } from "/files/images.js";

const gap = 4;
/** How many rows outside of the window are in the page. */
const spareRows = 3;
const range = (first, end) => Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);

/**
 * A grid of photos. Only the visible ones are in the page, so 5,000 photos scroll as smoothly as five.
 */
export class Grid {
    #photos = [];
    #cells = new Map();
    /** The index of the photo that Tab focuses. */
    #focused = 0;

    constructor(root, { onOpen, onDelete, onEmpty }) {
        this.root = root;
        this.onOpen = onOpen;
        this.onDelete = onDelete;
        this.onEmpty = onEmpty;
        root.setAttribute("role", "list");
        root.setAttribute("aria-label", "Photos");
        addEventListener("scroll", () => this.#schedule(), { passive: true });
        new ResizeObserver(() => this.#schedule()).observe(root);
        root.addEventListener("keydown", (event) => this.#move(event));
    }

    set photos(photos) {
        // The focus stays on its photo when photos before it are added or deleted.
        const focused = this.root.contains(document.activeElement) ? this.#photos[this.#focused] : undefined;
        const index = photos.findIndex((photo) => photo.random_id === focused?.random_id);
        this.#photos = photos;
        if (index >= 0) this.#focused = index;
        this.#schedule();
    }

    /** Focuses a photo, or the position of the last one. */
    focus(photo, { isScrolled = true } = {}) {
        const index = this.#photos.findIndex((other) => other.random_id === photo?.random_id);
        this.#focus(index < 0 ? this.#focused : index, isScrolled);
    }

    #focus(index, isScrolled) {
        this.#focused = this.#within(index);
        const { size, columns } = this.#layout();
        const top = this.root.offsetTop + Math.floor(this.#focused / columns) * size;
        const isAbove = top < scrollY + 80;
        if (isScrolled && (isAbove || top + size > scrollY + innerHeight)) {
            scrollTo({ top: isAbove ? top - 90 : top + size - innerHeight + 20 });
        }
        this.#render();
        this.#cells.get(this.#photos[this.#focused]?.random_id)?.firstChild.focus({ preventScroll: true });
    }

    #within(index) {
        return Math.max(0, Math.min(index, this.#photos.length - 1));
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
        this.#focused = this.#within(this.#focused);
        const { columns, size } = this.#layout();
        const rowCount = Math.ceil(this.#photos.length / columns);
        this.root.style.height = `${Math.max(0, rowCount * size - gap)}px`;
        const indexes = this.root.clientWidth > 0 ? this.#visibleIndexes(columns, size) : [];
        const hadFocus = this.root.contains(document.activeElement);
        this.#keepOnly(new Set(indexes.map((index) => this.#photos[index].random_id)));
        // Screen readers use the order in the page.
        let following = this.root.firstElementChild;
        for (const index of indexes) {
            const photo = this.#photos[index];
            const cell = this.#cells.get(photo.random_id) ?? this.#make(photo);
            // After a new password, a photo that is not loaded yet has another URL.
            if (cell.url !== photo.url && !cell.classList.contains("loaded")) this.#load(cell, photo);
            if (cell === following) following = cell.nextElementSibling;
            else this.root.insertBefore(cell, following);
            cell.style.transform = `translate(${(index % columns) * size}px, ${Math.floor(index / columns) * size}px)`;
            cell.style.width = cell.style.height = `${size - gap}px`;
            cell.setAttribute("aria-posinset", index + 1);
            cell.setAttribute("aria-setsize", this.#photos.length);
            cell.firstChild.tabIndex = index === this.#focused ? 0 : -1;
        }
        if (hadFocus && !this.root.contains(document.activeElement)) this.#keepFocus();
    }

    /** The focused photo was deleted on another device. The photo at its position gets the focus. */
    #keepFocus() {
        const cell = this.#cells.get(this.#photos[this.#focused]?.random_id);
        if (cell) cell.firstChild.focus({ preventScroll: true });
        else this.onEmpty();
    }

    /** The photos in the window and some rows around it. The one that Tab focuses is always included. */
    #visibleIndexes(columns, size) {
        const top = scrollY - this.root.offsetTop;
        const first = Math.max(0, Math.floor(top / size) - spareRows) * columns;
        const end = Math.min(this.#photos.length, (Math.ceil((top + innerHeight) / size) + spareRows) * columns);
        return [...new Set([...range(first, end), this.#focused])].sort((one, other) => one - other)
            .filter((index) => index < this.#photos.length);
    }

    #keepOnly(ids) {
        for (const [id, cell] of this.#cells) {
            if (ids.has(id)) continue;
            forgetPhoto(cell.querySelector("img"));
            cell.remove();
            this.#cells.delete(id);
        }
    }

    #make(photo) {
        const image = element("img", { alt: "", decoding: "async", draggable: "false" });
        const unseen = element("span", { class: "unseen", hidden: true });
        const button = element("button", { type: "button", "aria-label": photo.label }, image, unseen);
        const cell = element("div", { class: "cell", role: "listitem" }, button);
        button.addEventListener("click", () => this.onOpen(photo));
        button.addEventListener("focus", () => {
            this.#focused = this.#photos.findIndex((other) => other.random_id === photo.random_id);
            this.#schedule();
        });
        this.#cells.set(photo.random_id, cell);
        return cell;
    }

    #load(cell, photo) {
        const [image, unseen] = cell.firstChild.children;
        const show = (isSeen) => { [image.hidden, unseen.hidden] = [!isSeen, isSeen] };
        cell.url = photo.url;
        unseen.textContent = photo.kind;
        show(true);
        showPhoto(image, photo, {
            size: "small",
            onLoad: () => cell.classList.add("loaded"),
            onFail: () => show(false),
        });
    }

    #move(event) {
        if (!event.target.closest(".cell") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        const { columns } = this.#layout();
        const last = this.#photos.length - 1;
        const targets = {
            ArrowRight: this.#focused + 1,
            ArrowLeft: this.#focused - 1,
            ArrowDown: this.#focused + columns,
            ArrowUp: this.#focused - columns,
            Home: 0,
            End: last,
        };
        if (event.key in targets) this.#focus(targets[event.key], true);
        else if (event.key === "Delete" || event.key === "Backspace") this.onDelete(this.#photos[this.#focused]);
        else return;
        event.preventDefault();
    }
}
