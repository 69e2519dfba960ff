/** A request as code. The code reads credentials from the environment. */
export const languages = { curl, Swift: swift, JavaScript: javascript };

const shellQuote = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const quote = (text) => JSON.stringify(String(text));
const fileName = (value) => (value instanceof File ? value.name : "photo.jpg");
const isFile = (value) => value instanceof File;
/** A Swift string literal. JSON's escapes are the same, except those of four digits. */
const swiftQuote = (text) => quote(text).replaceAll(/\\u([0-9a-f]{4})/g, "\\u{$1}");
/** The name of a file in a part's header (WHATWG, HTML, "multipart/form-data"). */
const partName = (name) => name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

function curl(request, origin) {
    const lines = [`curl ${shellQuote(origin + request.target)}`];
    if (request.method !== "GET") lines.push(`-X ${request.method}`);
    if (request.authentication === "apiCredential") lines.push('-u "$API_AUTH_NAME:$API_AUTH_PASSWORD"');
    if (request.authentication === "token") lines.push('-H "Authorization: Bearer $TOKEN"');
    for (const [name, value] of Object.entries(request.headers)) lines.push(`-H ${shellQuote(`${name}: ${value}`)}`);
    for (const [name, value] of request.form ?? []) {
        // In quotes, a name may have commas and semicolons.
        const quoted = fileName(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
        lines.push(isFile(value) ? `-F ${shellQuote(`${name}=@"${quoted}"`)}` : `--form-string ${shellQuote(`${name}=${value}`)}`);
    }
    if (request.json !== undefined) {
        lines.push("-H 'Content-Type: application/json'", `-d ${shellQuote(JSON.stringify(request.json))}`);
    }
    return lines.join(" \\\n    ");
}

function swift(request, origin) {
    const lines = [
        "import Foundation",
        "#if canImport(FoundationNetworking)",
        "import FoundationNetworking",
        "#endif",
        "",
        "let environment = ProcessInfo.processInfo.environment",
        `var request = URLRequest(url: URL(string: ${swiftQuote(origin + request.target)})!)`,
        `request.httpMethod = ${quote(request.method)}`,
    ];
    const set = (name, value) => lines.push(`request.setValue(${value}, forHTTPHeaderField: ${quote(name)})`);
    if (request.authentication === "apiCredential") {
        lines.push('let credential = "\\(environment["API_AUTH_NAME"]!):\\(environment["API_AUTH_PASSWORD"]!)"');
        set("Authorization", '"Basic \\(Data(credential.utf8).base64EncodedString())"');
    }
    if (request.authentication === "token") set("Authorization", '"Bearer \\(environment["TOKEN"]!)"');
    for (const [name, value] of Object.entries(request.headers)) set(name, swiftQuote(value));
    if (request.json !== undefined) {
        set("Content-Type", '"application/json"');
        const isObject = typeof request.json === "object" && request.json && !Array.isArray(request.json);
        const values = isObject ? Object.entries(request.json) : [];
        if (!isObject || values.some(([, value]) => typeof value !== "string")) {
            lines.push(`request.httpBody = Data(${swiftQuote(JSON.stringify(request.json))}.utf8)`);
        } else {
            const members = values.map(([name, value]) => `    ${swiftQuote(name)}: ${swiftQuote(value)},`);
            lines.push("let values: [String: String] = [", ...(members.length ? members : ["    :"]), "]");
            lines.push("request.httpBody = try JSONEncoder().encode(values)");
        }
    }
    if (request.form) {
        lines.push("let boundary = UUID().uuidString", "var body = Data()");
        for (const [name, value] of request.form) {
            const file = isFile(value) ? `; filename="${partName(fileName(value))}"` : "";
            const head = swiftQuote(`Content-Disposition: form-data; name="${name}"${file}\r\n\r\n`);
            lines.push(
                `body += Data(("--\\(boundary)\\r\\n" + ${head}).utf8)`,
                isFile(value)
                    ? `body += try Data(contentsOf: URL(filePath: ${swiftQuote(fileName(value))}))`
                    : `body += Data(${swiftQuote(value)}.utf8)`,
                'body += Data("\\r\\n".utf8)',
            );
        }
        lines.push('body += Data("--\\(boundary)--\\r\\n".utf8)', "request.httpBody = body");
        set("Content-Type", '"multipart/form-data; boundary=\\(boundary)"');
    }
    lines.push("let (data, response) = try await URLSession.shared.data(for: request)");
    return lines.join("\n");
}

function javascript(request, origin) {
    const headers = { ...request.headers };
    const photo = (request.form ?? []).find(([, value]) => isFile(value))?.[1];
    // For Node.js, where the environment and files are.
    const lines = photo ? ['import { openAsBlob } from "node:fs";'] : [];
    if (request.authentication === "apiCredential") {
        lines.push("const { API_AUTH_NAME, API_AUTH_PASSWORD } = process.env;");
    }
    if (request.authentication === "token") lines.push("const { TOKEN } = process.env;");
    if (photo) lines.push(`const photo = await openAsBlob(${quote(fileName(photo))});`);
    const written = Object.entries(headers).map(([name, value]) => `        ${quote(name)}: ${quote(value)},`);
    if (request.authentication === "apiCredential") {
        lines.push('const credential = Buffer.from(`${API_AUTH_NAME}:${API_AUTH_PASSWORD}`).toString("base64");');
        written.push("        Authorization: `Basic ${credential}`,");
    }
    if (request.authentication === "token") written.push("        Authorization: `Bearer ${TOKEN}`,");
    if (request.json !== undefined) written.push('        "Content-Type": "application/json",');
    if (request.form) {
        lines.push("const body = new FormData();");
        for (const [name, value] of request.form) {
            lines.push(
                isFile(value)
                    ? `body.append(${quote(name)}, photo, ${quote(fileName(value))});`
                    : `body.append(${quote(name)}, ${quote(value)});`,
            );
        }
    }
    lines.push(`const response = await fetch(${quote(origin + request.target)}, {`, `    method: ${quote(request.method)},`);
    if (written.length) lines.push("    headers: {", ...written, "    },");
    if (request.json !== undefined) lines.push(`    body: JSON.stringify(${JSON.stringify(request.json)}),`);
    if (request.form) lines.push("    body,");
    lines.push("});", "console.log(response.status, await response.text());");
    return lines.join("\n");
}
