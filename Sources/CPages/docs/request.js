import { encryptPassword } from "/files/encrypt-password.js";

/** A call with its values, ready to be shown and sent. */
export class PreparedRequest {
    constructor({ method, path, query, headers, json, form, authentication }) {
        Object.assign(this, { method, path, query, headers, json, form, authentication });
    }

    get target() {
        const query = new URLSearchParams(this.query).toString();
        return query ? `${this.path}?${query}` : this.path;
    }

    /** Sends it with a credential. Returns the response, and how long it took. */
    async send(credential) {
        const headers = new Headers(this.headers);
        if (this.authentication === "apiCredential") {
            headers.set("Authorization", `Basic ${base64(`${credential.name}:${credential.password}`)}`);
        } else if (this.authentication === "token") {
            headers.set("Authorization", `Bearer ${credential.token}`);
        }
        let body;
        if (this.form) {
            body = new FormData();
            for (const [name, value] of this.form) body.append(name, value);
        } else if (this.json !== undefined) {
            headers.set("Content-Type", "application/json");
            body = JSON.stringify(this.json);
        }
        const start = performance.now();
        // This page sends the credential, so the browser must not ask for one. And it must not follow redirects to the bucket.
        const credentials = this.authentication ? "omit" : "same-origin";
        const options = { cache: "no-store", credentials, redirect: "manual" };
        const response = await fetch(this.target, { method: this.method, headers, body, ...options });
        const blob = await response.blob();
        return { response, blob, milliseconds: Math.round(performance.now() - start) };
    }
}

function base64(text) {
    return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** The members of a body's schema. A body without members is one field. */
export const bodyMembers = (schema) => Object.entries(schema.properties ?? { [wholeBody]: { ...schema, type: "object" } });
export const wholeBody = "body";

/** The value of a member in a JSON body. Values that are not strings are typed as JSON. */
function jsonValue(schema, text) {
    if (!schema.type || isText(schema)) return text;
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}

/** Whether a field's value is typed as JSON on several lines. */
export const isJSON = (schema) => [schema.type].flat().some((type) => type === "object" || type === "array") && !isText(schema);
const isText = (schema) => [schema.type].flat().includes("string");

const isEncrypted = (schema) => schema.format?.startsWith("aescrypt");
export const isSecret = (schema) => isEncrypted(schema) || Boolean(schema.format?.startsWith("password"));

/**
 * Builds the request of an operation.
 *
 * @param operation The operation of the description, with its method and path.
 * @param values The fields' values by name: texts, or a file.
 * @param apiPassword Encrypts passwords. If it is empty, they are sent unchanged.
 * @param options `hidesPasswords` replaces passwords that are not encrypted.
 */
export async function prepare(operation, values, apiPassword, { hidesPasswords = false } = {}) {
    const request = { method: operation.method, path: operation.path, query: [], headers: {} };
    const encoded = async (schema, value) => {
        if (isEncrypted(schema) && apiPassword && globalThis.crypto?.subtle) return encryptPassword(value, apiPassword);
        return hidesPasswords && isSecret(schema) ? "the password" : value;
    };
    for (const parameter of operation.parameters ?? []) {
        const value = values[parameter.name];
        if (value === undefined || value === "") continue;
        const text = await encoded(parameter.schema, value);
        if (parameter.in === "path") {
            request.path = request.path.replace(`{${parameter.name}}`, encodeURIComponent(text));
        } else if (parameter.in === "query") request.query.push([parameter.name, text]);
        else request.headers[parameter.name] = text;
    }
    const contents = operation.requestBody?.content ?? {};
    const content = contents["application/json"] ?? contents["multipart/form-data"];
    if (content) {
        const fields = [];
        for (const [name, schema] of bodyMembers(content.schema)) {
            const value = values[name];
            const isNeeded = content.schema.required?.includes(name);
            if (schema.format === "binary" && value === undefined) {
                // No file is chosen yet. The code shows an example name, and the service refuses an empty file.
                fields.push([name, new File([], "photo.jpg")]);
                continue;
            }
            if (value === undefined || (value === "" && !isNeeded)) continue;
            const sent = await encoded(schema, value);
            fields.push([name, contents["application/json"] ? jsonValue(schema, sent) : sent]);
        }
        if (!contents["application/json"]) request.form = fields;
        else if (content.schema.properties) request.json = Object.fromEntries(fields);
        else request.json = fields.length ? fields[0][1] : {};
    }
    request.authentication = Object.keys(operation.security?.[0] ?? {})[0];
    return new PreparedRequest(request);
}
