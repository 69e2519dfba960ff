import { element } from "/files/dom.js";
import { newUploadKey, upload } from "/files/api.js";

/** How many photos are uploaded in parallel. The service may allow a user fewer: then it answers how long to wait. */
const atOnce = 2;

/** The photos that are being uploaded, each with its progress, and buttons to cancel and to retry. */
export class Uploads {
    #waiting = [];
    #running = 0;

    /** @param parts The list, and the element that announces failures to screen readers. Progress would be too much. */
    constructor({ list, status }, { onStored, onSignedOut, onEmpty }) {
        this.list = list;
        this.status = status;
        this.onStored = onStored;
        this.onSignedOut = onSignedOut;
        this.onEmpty = onEmpty;
    }

    /** Whether closing the page would lose something. A selfie whose upload failed is nowhere else. */
    get areUnderWay() { return this.list.childElementCount > 0 }

    add(files) {
        for (const file of files) this.#waiting.push(this.#row(file));
        this.#next();
    }

    /** Cancels all uploads after a sign-out. */
    cancelAll() {
        for (const cancel of this.list.querySelectorAll("button.cancel")) cancel.click();
    }

    #row(file) {
        const name = file.name || "selfie.jpg";
        const bar = element("progress", { max: "1", value: "0", "aria-label": `Progress of ${name}` });
        const state = element("span", { class: "state" }, "Waiting");
        const cancel = element("button", { type: "button", class: "quiet cancel", "aria-label": `Cancel ${name}` }, "Cancel");
        const retry = element("button", { type: "button", hidden: true, "aria-label": `Try ${name} again` }, "Try again");
        const row = element("div", { class: "upload" }, element("span", { class: "name" }, name), bar, state, retry, cancel);
        const item = { file, name, row, bar, state, cancel, retry, controller: new AbortController() };
        cancel.addEventListener("click", () => {
            item.controller.abort();
            this.#waiting = this.#waiting.filter((other) => other !== item);
            this.#drop(item);
        });
        retry.addEventListener("click", () => {
            item.controller = new AbortController();
            cancel.focus();
            retry.hidden = true;
            row.classList.remove("failed");
            state.textContent = "Waiting";
            this.#waiting.push(item);
            this.#next();
        });
        this.list.append(row);
        this.list.hidden = false;
        return item;
    }

    #drop({ row }) {
        const hadFocus = row.contains(document.activeElement);
        row.remove();
        this.list.hidden = this.list.childElementCount === 0;
        if (!hadFocus) return;
        const other = this.list.querySelector("button.cancel");
        if (other) other.focus();
        else this.onEmpty();
    }

    #next() {
        while (this.#running < atOnce && this.#waiting.length) this.#send(this.#waiting.shift());
    }

    async #send(item) {
        this.#running += 1;
        item.state.textContent = "Uploading";
        try {
            item.key ??= newUploadKey();
            const photo = await upload(item.file, title(item.file), {
                key: item.key,
                signal: item.controller.signal,
                onProgress: (part) => {
                    item.bar.value = part;
                    item.state.textContent = part < 1 ? `${Math.round(part * 100)} %` : "Storing";
                },
            });
            this.#drop(item);
            this.onStored(photo);
        } catch (error) {
            if (["too_many_at_once", "upload_under_way"].includes(error.code)) this.#wait(item, error);
            else if (error.name !== "AbortError") this.#fail(item, error);
        }
        this.#running -= 1;
        this.#next();
    }

    #wait(item, { seconds }) {
        item.state.textContent = "Waiting";
        item.bar.value = 0;
        setTimeout(() => {
            if (item.controller.signal.aborted) return;
            this.#waiting.push(item);
            this.#next();
        }, (seconds || 1) * 1000);
    }

    #fail(item, error) {
        item.row.classList.add("failed");
        item.state.textContent = error.message;
        item.retry.hidden = false;
        item.bar.value = 0;
        this.status.textContent = `${item.name}: ${error.message}`;
        if (error.isSignedOut) this.onSignedOut(error);
    }
}

/** The file's name without its extension. */
function title(file) {
    return (file.name || "Selfie").replace(/\.[^.]+$/, "").replace(/[\u0000-\u001f\u007f-\u009f]/g, " ").slice(0, 255);
}
