// Encrypts a password for the API. Browsers have crypto.subtle only on pages from https:// and localhost.
export async function encryptPassword(password, apiPassword) {
    const text = new TextEncoder();
    const digest = await crypto.subtle.digest("SHA-256", text.encode(apiPassword));
    const key = await crypto.subtle.importKey("raw", digest, "AES-CBC", false, ["encrypt"]);
    const zeros = new Uint8Array(16);
    const encrypted = await crypto.subtle.encrypt({ name: "AES-CBC", iv: zeros }, key, text.encode(password));
    return btoa(String.fromCharCode(...new Uint8Array(encrypted)));
}
