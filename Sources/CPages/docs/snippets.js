/** A request as code. The credential is read from the environment, so that no secret is in the code. */
export const languages = { curl, Swift: swift, JavaScript: javascript };

const shellQuote = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const quote = (text) => JSON.stringify(String(text));
const fileName = (value) => (value instanceof File ? value.name : "photo.jpg");
const isFile = (value) => value instanceof File;

function curl(request, origin) {
    const lines = [`curl ${shellQuote(origin + request.target)}`];
    if (request.method !== "GET") lines.push(`-X ${request.method}`);
    if (request.authentication === "apiCredential") lines.push('-u "$API_AUTH_NAME:$API_AUTH_PASSWORD"');
    if (request.authentication === "token") lines.push('-H "Authorization: Bearer $TOKEN"');
    for (const [name, value] of Object.entries(request.headers)) lines.push(`-H ${shellQuote(`${name}: ${value}`)}`);
    for (const [name, value] of request.form ?? []) {
        lines.push(isFile(value) ? `-F ${shellQuote(`${name}=@${fileName(value)}`)}` : `-F ${shellQuote(`${name}=${value}`)}`);
    }
    if (request.json) {
        lines.push("-H 'Content-Type: application/json'", `-d ${shellQuote(JSON.stringify(Object.fromEntries(request.json)))}`);
    }
    return lines.join(" \\\n    ");
}

function swift(request, origin) {
    const lines = [
        "import Foundation",
        "",
        "let environment = ProcessInfo.processInfo.environment",
        `var request = URLRequest(url: URL(string: ${quote(origin + request.target)})!)`,
        `request.httpMethod = ${quote(request.method)}`,
    ];
    const set = (name, value) => lines.push(`request.setValue(${value}, forHTTPHeaderField: ${quote(name)})`);
    if (request.authentication === "apiCredential") {
        lines.push('let credential = "\\(environment["API_AUTH_NAME"]!):\\(environment["API_AUTH_PASSWORD"]!)"');
        set("Authorization", '"Basic \\(Data(credential.utf8).base64EncodedString())"');
    }
    if (request.authentication === "token") set("Authorization", '"Bearer \\(environment["TOKEN"]!)"');
    for (const [name, value] of Object.entries(request.headers)) set(name, quote(value));
    if (request.json) {
        set("Content-Type", '"application/json"');
        const members = request.json.map(([name, value]) => `    ${quote(name)}: ${quote(value)},`);
        lines.push("request.httpBody = try JSONEncoder().encode([", ...members, "])");
    }
    if (request.form) {
        lines.push("let boundary = UUID().uuidString", "var body = Data()");
        for (const [name, value] of request.form) {
            const file = isFile(value) ? `; filename=\\"${fileName(value)}\\"` : "";
            lines.push(
                `body += Data("--\\(boundary)\\r\\nContent-Disposition: form-data; name=\\"${name}\\"${file}\\r\\n\\r\\n".utf8)`,
                isFile(value)
                    ? `body += try Data(contentsOf: URL(filePath: ${quote(fileName(value))}))`
                    : `body += Data(${quote(value)}.utf8)`,
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
    const lines = [];
    if (request.authentication === "apiCredential") {
        lines.push("const { API_AUTH_NAME, API_AUTH_PASSWORD } = process.env;");
    }
    if (request.authentication === "token") lines.push("const { TOKEN } = process.env;");
    const written = Object.entries(headers).map(([name, value]) => `        ${quote(name)}: ${quote(value)},`);
    if (request.authentication === "apiCredential") {
        written.push("        Authorization: `Basic ${btoa(`${API_AUTH_NAME}:${API_AUTH_PASSWORD}`)}`,");
    }
    if (request.authentication === "token") written.push("        Authorization: `Bearer ${TOKEN}`,");
    if (request.json) written.push('        "Content-Type": "application/json",');
    if (request.form) {
        lines.push("const body = new FormData();");
        for (const [name, value] of request.form) {
            lines.push(
                isFile(value)
                    ? `body.append(${quote(name)}, photo, ${quote(fileName(value))}); // a File or a Blob`
                    : `body.append(${quote(name)}, ${quote(value)});`,
            );
        }
    }
    lines.push(`const response = await fetch(${quote(origin + request.target)}, {`, `    method: ${quote(request.method)},`);
    if (written.length) lines.push("    headers: {", ...written, "    },");
    if (request.json) lines.push(`    body: JSON.stringify(${JSON.stringify(Object.fromEntries(request.json))}),`);
    if (request.form) lines.push("    body,");
    lines.push("});", "console.log(response.status, await response.text());");
    return lines.join("\n");
}
