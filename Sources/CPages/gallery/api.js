/** An error of the service, with its code and a text for people. */
export class Refusal extends Error {
    constructor(status, code, message, seconds) {
        super(texts[code]?.(seconds) ?? message);
        Object.assign(this, { status, code, seconds });
    }

    /** Whether the session has ended. */
    get isSignedOut() { return this.code === "token_invalid" || this.code === "token_expired" }
}

const wait = (seconds) => (seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds || 5} seconds`);

/** The text for each code. Other codes use the service's message. */
const texts = {
    email_or_password_wrong: () => "The e-mail address or the password is wrong.",
    password_wrong: () => "The password is wrong.",
    code_invalid: () => "This code is wrong, or too old.",
    password_exists: () => "Your account has a password already.",
    email_unverified: () => "Please confirm your address: we send you a code.",
    account_disabled: () => "This account is disabled.",
    full_name_blank: () => "Please enter your name.",
    email_blank: () => "Please enter your e-mail address.",
    email_invalid: () => "This is not an e-mail address.",
    email_taken: () => "There is already an account with this e-mail address.",
    email_too_long: () => "This e-mail address is too long.",
    password_too_short: () => "The password needs at least 6 characters.",
    password_too_long: () => "The password may have at most 72 bytes.",
    password_invalid: () => "The password has a character that is not allowed.",
    full_name_too_long: () => "This name is too long.",
    full_name_invalid: () => "This name has a character that is not allowed.",
    image_blank: () => "The file is empty.",
    photo_format_unknown: () => "This is not a complete photo. Use JPEG, PNG, GIF, WebP, HEIC or AVIF.",
    photo_quota_reached: () => "You have the maximum number of photos. Delete some first.",
    request_too_large: () => "This photo is too large.",
    photo_not_found: () => "This photo was already deleted.",
    token_invalid: () => "You were signed out.",
    token_expired: () => "Your session has expired. Sign in again.",
    too_many_requests: (seconds) => `Too many attempts. Try again in ${wait(seconds)}.`,
    too_many_at_once: (seconds) => `Too many requests at once. Try again in ${wait(seconds)}.`,
    service_unavailable: () => "The service is not available. Try again soon.",
};

async function refusal(response) {
    let body = {};
    try { body = await response.json() } catch { /* The answer of a proxy. */ }
    return new Refusal(response.status, body.code, body.message ?? `The service answered ${response.status}.`,
        Number(response.headers.get("Retry-After")));
}

/** Makes a call. Proxies log the query, so passwords go into the body. */
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

/** The name of this browser in the list of sessions. */
function deviceName() {
    const agent = navigator.userAgent;
    const first = (pairs) => pairs.find(([pattern]) => pattern.test(agent))?.[1];
    const browser = first([[/Edg\//, "Edge"], [/OPR\//, "Opera"], [/Firefox|FxiOS/, "Firefox"], [/Chrome|CriOS/, "Chrome"], [/Safari/, "Safari"]]);
    const system = first([[/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/Windows/, "Windows"], [/Mac OS/, "Mac"], [/Linux/, "Linux"]]);
    return [browser ?? "A browser", system].filter(Boolean).join(" on ");
}

const json = async (...request) => (await call(...request)).json();

/**
 * Whether somebody signed in with this browser. Pages can't read the cookie, so this mark is stored beside it. Without the
 * mark, the page does not ask who is signed in: the call would fail, and browsers log each failure in the console.
 */
const mark = {
    name: "selfie-signed-in",
    /** A new value for each sign-in; null for nobody. If the browser can't store it, it counts as set. */
    get value() { try { return localStorage.getItem(this.name) } catch { return "" } },
    set() { try { localStorage.setItem(this.name, crypto.getRandomValues(new Uint32Array(2)).join("-")) } catch { /* The browser stores nothing. */ } },
    /** Removes it, unless somebody has signed in since. */
    remove(value = this.value) {
        if (this.value !== value) return;
        try { localStorage.removeItem(this.name) } catch { /* The browser stores nothing. */ }
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

/** The account that is signed in; undefined for none. */
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
export const requestCode = (values) => json("POST", "/gallery/code", { body: values });
export const recover = async (values) => {
    const account = await json("POST", "/gallery/recover", { body: { ...values, device: deviceName() } });
    mark.set();
    return account;
};
export const changeEmail = (values) => json("POST", "/gallery/email", { body: values });
export const confirmEmail = (code) => json("POST", "/gallery/email/confirm", { body: { code } });
export const chooseFirstPassword = (values) => json("POST", "/gallery/password/first", { body: values });
/** Deletes the account, with the password or a code. */
export const leave = async (proof) => {
    await json("DELETE", "/gallery/account", { body: proof });
    mark.remove();
};
export const sessions = () => json("GET", "/gallery/sessions");
export const endSession = (id) => json("DELETE", `/gallery/sessions/${encodeURIComponent(id)}`);
export const deletePhoto = (id, options) => json("DELETE", "/gallery/photos", { query: { photo_id: id }, ...options });

/** The photos, newest first, page by page. */
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

/** The present cursor of the photos' changes. */
export const presentCursor = async () => (await json("GET", changesPath, { query: { ...photoChanges, since: "now" } })).cursor;

/** The changes of photos after a cursor, as server-sent events. `signal` aborts them. */
export const changesAfter = (cursor, signal) => call("GET", changesPath, {
    query: photoChanges,
    headers: { Accept: "text/event-stream", "Last-Event-ID": cursor },
    signal,
});

/** A key for an upload: the same photo, sent again with its key, is stored once. */
export const newUploadKey = () => Array.from(
    crypto.getRandomValues(new Uint8Array(16)),
    (byte) => byte.toString(16).padStart(2, "0"),
).join("");

/** Uploads a photo, and reports its progress. `signal` aborts it. */
export function upload(file, title, { key, onProgress, signal }) {
    return new Promise((resolve, reject) => {
        const form = new FormData();
        form.append("title", title);
        form.append("image", file, file.name || "selfie.jpg");
        const request = new XMLHttpRequest();
        request.open("POST", "/gallery/photos");
        request.setRequestHeader("Idempotency-Key", key);
        request.responseType = "json";
        request.upload.addEventListener("progress", (event) => event.lengthComputable && onProgress(event.loaded / event.total));
        request.addEventListener("load", () => {
            if (request.status === 200) return resolve(request.response);
            const { code, message } = request.response ?? {};
            const seconds = Number(request.getResponseHeader("Retry-After"));
            reject(new Refusal(request.status, code, message ?? `The service answered ${request.status}.`, seconds));
        });
        request.addEventListener("error", () => reject(new Refusal(0, "no_answer", "The connection was lost.")));
        request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
        signal.addEventListener("abort", () => request.abort());
        request.send(form);
    });
}
