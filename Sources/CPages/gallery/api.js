/** A refusal of the service, with its code and a text for people. */
export class Refusal extends Error {
    constructor(status, code, message, seconds) {
        super(texts[code]?.(seconds) ?? message);
        Object.assign(this, { status, code, seconds });
    }

    /** Whether nobody is signed in any more. */
    get isSignedOut() { return this.code === "token_invalid" || this.code === "token_expired" }
}

const wait = (seconds) => (seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds || 5} seconds`);

/** What people read for each code. Others have the service's own text. */
const texts = {
    email_or_password_wrong: () => "This e-mail and this password do not belong together.",
    password_wrong: () => "The password is wrong.",
    account_disabled: () => "This account is disabled.",
    full_name_blank: () => "Please tell your name.",
    email_blank: () => "Please tell your e-mail.",
    email_invalid: () => "This is no e-mail address.",
    email_taken: () => "There is an account with this e-mail already.",
    email_too_long: () => "This e-mail is too long.",
    password_too_short: () => "The password needs at least 6 characters.",
    password_too_long: () => "The password may have 72 bytes at most.",
    password_invalid: () => "The password has a character that can't be taken.",
    full_name_too_long: () => "This name is too long.",
    full_name_invalid: () => "This name has a character that can't be taken.",
    image_blank: () => "The file is empty.",
    photo_format_unknown: () => "This is no whole photo that can be kept: JPEG, PNG, GIF, WebP, HEIC or AVIF.",
    photo_quota_reached: () => "There is no room for more photos. Delete some first.",
    request_too_large: () => "This photo is too large.",
    photo_not_found: () => "This photo is gone already.",
    token_invalid: () => "You were signed out.",
    token_expired: () => "You were signed out after a day.",
    too_many_requests: (seconds) => `That was too often. Try again in ${wait(seconds)}.`,
    too_many_at_once: (seconds) => `That was too much at once. Try again in ${wait(seconds)}.`,
    service_unavailable: () => "The service is not available at the moment. Try again soon.",
};

async function refusal(response) {
    let body = {};
    try { body = await response.json() } catch { /* A proxy's own answer. */ }
    return new Refusal(response.status, body.code, body.message ?? `The service answered ${response.status}.`,
        Number(response.headers.get("Retry-After")));
}

/** Logs of proxies have the query, so passwords go in the body. */
async function call(method, path, { query, body, ...options } = {}) {
    let response;
    try {
        response = await fetch(query ? `${path}?${new URLSearchParams(query)}` : path, {
            method,
            credentials: "same-origin",
            ...options,
            ...(body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
        });
    } catch {
        throw new Refusal(0, "no_answer", "There is no connection to the service.");
    }
    if (!response.ok) throw await refusal(response);
    return response;
}

/** What people call this browser, for the list of sessions. */
function deviceName() {
    const agent = navigator.userAgent;
    const first = (pairs) => pairs.find(([pattern]) => pattern.test(agent))?.[1];
    const browser = first([[/Edg\//, "Edge"], [/OPR\//, "Opera"], [/Firefox|FxiOS/, "Firefox"], [/Chrome|CriOS/, "Chrome"], [/Safari/, "Safari"]]);
    const system = first([[/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/Windows/, "Windows"], [/Mac OS/, "Mac"], [/Linux/, "Linux"]]);
    return [browser ?? "A browser", system].filter(Boolean).join(" on ");
}

const json = async (...request) => (await call(...request)).json();

/**
 * Whether somebody signed in with this browser, as far as it knows. Pages can't read the cookie. Without the mark nobody asks
 * who is signed in, which would be refused, and each refusal is in the console.
 */
const mark = {
    name: "selfie-signed-in",
    /** Another one for each sign-in; null for nobody. Where nothing can be kept, it counts as set. */
    get value() { try { return localStorage.getItem(this.name) } catch { return "" } },
    set() { try { localStorage.setItem(this.name, crypto.getRandomValues(new Uint32Array(2)).join("-")) } catch { /* See above. */ } },
    /** Removes it, unless somebody has signed in since it had the value. */
    remove(value = this.value) {
        if (this.value !== value) return;
        try { localStorage.removeItem(this.name) } catch { /* See above. */ }
    },
};

export const signUp = (values) => json("POST", "/gallery/signup", { body: values });
export const signIn = async (values) => {
    const account = await json("POST", "/gallery/signin", { body: { ...values, device: deviceName() } });
    mark.set();
    return account;
};
export const signOut = async (all) => {
    await json("POST", "/gallery/signout", { body: { all } });
    mark.remove();
};

/** Who is signed in; undefined for nobody. */
export async function account() {
    const asked = mark.value;
    if (asked === null) return undefined;
    try {
        return await json("GET", "/gallery/account");
    } catch (error) {
        if (error.isSignedOut) mark.remove(asked);
        throw error;
    }
}

export const changePassword = async (values) => {
    const account = await json("POST", "/gallery/password", { body: { ...values, device: deviceName() } });
    mark.set();
    return account;
};
export const leave = async (password) => {
    await json("DELETE", "/gallery/account", { body: { password } });
    mark.remove();
};
export const sessions = () => json("GET", "/gallery/sessions");
export const endSession = (id) => json("DELETE", `/gallery/sessions/${encodeURIComponent(id)}`);
export const deletePhoto = (id, options) => json("DELETE", "/gallery/photos", { query: { photo_id: id }, ...options });

/** The photos, the newest first, a page at a time. */
export async function* photoPages() {
    let after;
    do {
        const page = await json("GET", "/gallery/photos", { query: { order: "newest", limit: 500, ...(after && { after }) } });
        yield page;
        after = page.length === 500 ? page.at(-1).random_id : undefined;
    } while (after);
}

const changesPath = "/gallery/changes";
const photoChanges = { collections: "photos" };

/** Where the changes of photos are now. */
export const presentCursor = async () => (await json("GET", changesPath, { query: { ...photoChanges, since: "now" } })).cursor;

/** The changes of photos after a cursor, as server-sent events. `signal` breaks them off. */
export const changesAfter = (cursor, signal) => call("GET", changesPath, {
    query: photoChanges,
    headers: { Accept: "text/event-stream", "Last-Event-ID": cursor },
    signal,
});

/** Sends a photo, and tells how far it is. `signal` breaks it off. */
export function upload(file, title, { onProgress, signal }) {
    return new Promise((resolve, reject) => {
        const form = new FormData();
        form.append("title", title);
        form.append("image", file, file.name || "selfie.jpg");
        const request = new XMLHttpRequest();
        request.open("POST", "/gallery/photos");
        request.responseType = "json";
        request.upload.addEventListener("progress", (event) => event.lengthComputable && onProgress(event.loaded / event.total));
        request.addEventListener("load", () => {
            if (request.status === 200) return resolve(request.response);
            const { code, message } = request.response ?? {};
            const seconds = Number(request.getResponseHeader("Retry-After"));
            reject(new Refusal(request.status, code, message ?? `The service answered ${request.status}.`, seconds));
        });
        request.addEventListener("error", () => reject(new Refusal(0, "no_answer", "The connection broke off.")));
        request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
        signal.addEventListener("abort", () => request.abort());
        request.send(form);
    });
}
