import { element } from "/files/dom.js";

/** The answer to a call. */
export class AnswerView {
    constructor(credential) {
        this.credential = credential;
        // Screen readers announce the status. The rest follows it.
        this.status = element("p", { class: "status", role: "status" });
        this.root = element("div", { class: "answer", hidden: true }, this.status);
    }

    wait() {
        this.#forgetPhoto();
        this.root.hidden = false;
        this.#say("Waiting for the answer…", false);
    }

    fail(error) {
        this.#say(`There was no answer: ${error.message}`, true);
    }

    #say(text, isRefusal, ...rest) {
        this.status.textContent = text;
        this.status.classList.toggle("refused", isRefusal);
        while (this.status.nextSibling) this.status.nextSibling.remove();
        this.root.append(...rest);
    }

    async show({ response, blob, milliseconds }) {
        if (response.type === "opaqueredirect") {
            return this.#say("The service redirects to the bucket. Open the photo by its link in the list.", false);
        }
        const isRefusal = response.status >= 400;
        const status = `${response.status} ${response.statusText} · ${milliseconds} ms · ${blob.size} bytes`;
        const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
        return this.#say(
            status,
            isRefusal,
            element("details", {}, element("summary", {}, "Headers"), element("pre", { tabindex: "0" }, element("code", {}, headers))),
            ...(await this.#body(response, blob)),
        );
    }

    async #body(response, blob) {
        const type = response.headers.get("content-type") ?? "";
        if (type.startsWith("image/")) {
            this.photo = URL.createObjectURL(blob);
            return [element("img", { src: this.photo, alt: "The photo in the answer" })];
        }
        const text = await blob.text();
        if (!type.startsWith("application/json")) return text ? [pre(text)] : [];
        const value = JSON.parse(text);
        const parts = [pre(JSON.stringify(value, null, 2))];
        if (typeof value.api_authtoken === "string") {
            this.credential.token = value.api_authtoken;
            parts.push(element("p", {}, "The token is filled in above. The other calls now use it."));
        }
        for (const photo of Array.isArray(value) ? value.slice(0, 20) : [value]) {
            if (!photo.image_url) continue;
            parts.push(element("p", {}, element("a", { href: photo.image_url, target: "_blank", rel: "noopener noreferrer" }, `Open ${photo.title || photo.name}`)));
        }
        return parts;
    }

    #forgetPhoto() {
        if (this.photo) URL.revokeObjectURL(this.photo);
        this.photo = undefined;
    }
}

function pre(text) {
    return element("pre", { tabindex: "0", "aria-label": "The answer's body" }, element("code", {}, text));
}
