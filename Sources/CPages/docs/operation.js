import { element, inline, paragraphs } from "/files/dom.js";
import { jsonProblem } from "/files/json.js";
import { bodyMembers, isJSON, isSecret, prepare, wholeBody } from "/files/request.js";
import { languages } from "/files/snippets.js";
import { AnswerView } from "/files/answer.js";

const whoMayCall = { apiCredential: "the API's credential", token: "a token" };

/** One call: what it takes and answers, a form to try it, and the request as code. */
export class OperationView {
    constructor(operation, credential) {
        this.operation = operation;
        this.credential = credential;
        this.fields = new Map();
        /** The element below each JSON field that shows its error. */
        this.problems = new Map();
        this.answer = new AnswerView(credential);
        this.code = element("code");
        this.root = this.#build();
    }

    /** Opens it, for a link that leads here. */
    open() {
        this.root.open = true;
        this.root.querySelector("summary").focus({ preventScroll: true });
    }

    #build() {
        const { operation } = this;
        const security = Object.keys(operation.security?.[0] ?? {})[0];
        const summary = element(
            "summary",
            {},
            element("span", { class: `method ${operation.method.toLowerCase()}` }, operation.method),
            element("h3", {}, operation.summary),
            element("span", { class: "path" }, operation.path),
            element("span", { class: "who" }, whoMayCall[security] ?? "everybody"),
        );
        const form = element("form", { novalidate: true });
        const rows = this.#parameters();
        if (rows.length) form.append(element("h4", {}, "Takes"), ...rows);
        this.sendButton = element("button", { class: "primary", type: "submit" }, "Send");
        form.append(element("div", { class: "actions" }, this.sendButton), this.answer.root);
        form.addEventListener("submit", (event) => this.#send(event));
        form.addEventListener("input", () => this.#showCode());
        const body = element(
            "div",
            { class: "body" },
            ...paragraphs(operation.description ?? ""),
            operation.also?.length ? element("p", {}, `${operation.also.join(" and ")} do the same.`) : undefined,
            form,
            ...this.#codeSection(),
            element("h4", {}, "Answers"),
            this.#answers(),
        );
        const details = element("details", { class: "operation", id: operation.operationId }, summary, body);
        details.addEventListener("toggle", () => details.open && this.#showCode());
        document.getElementById("credential").addEventListener("input", () => details.open && this.#showCode());
        return details;
    }

    #parameters() {
        const rows = (this.operation.parameters ?? []).map((parameter) =>
            this.#row(parameter.name, parameter.schema, parameter.description, parameter.required, parameter.in, parameter.example),
        );
        const contents = this.operation.requestBody?.content ?? {};
        const content = contents["application/json"] ?? contents["multipart/form-data"];
        for (const [name, schema] of content ? bodyMembers(content.schema) : []) {
            const isWhole = name === wholeBody && !content.schema.properties;
            const isNeeded = isWhole || content.schema.required?.includes(name);
            const example = isWhole ? content.example : content.example?.[name];
            rows.push(this.#row(name, schema, schema.description, isNeeded, "body", example));
        }
        return rows;
    }

    #row(name, schema, description, isRequired, place, example) {
        const id = `${this.operation.operationId}-${place}-${name}`;
        const facts = [place === "body" ? null : place, isRequired ? "required" : "optional", ...limits(schema)];
        // The example of a collection is filled in, to be edited.
        const isFilled = isRequired || (example !== undefined && Boolean(this.operation["x-collection"]));
        const field = makeField(id, schema, isRequired, example, isFilled);
        this.fields.set(name, field);
        const problem = isJSON(schema) ? element("p", { class: "problem", id: `${id}-problem`, role: "alert" }) : undefined;
        if (problem) this.problems.set(field, problem);
        return element(
            "div",
            { class: "parameter" },
            element("div", {},
                element("label", { for: id }, element("span", { class: "name" }, name)),
                element("div", { class: "facts", id: `${id}-facts` }, facts.filter(Boolean).join(" · ")),
            ),
            element("div", {}, field, problem, element("p", { id: `${id}-description` }, ...inline(description ?? ""))),
        );
    }

    #codeSection() {
        const group = `language-${this.operation.operationId}`;
        const choices = Object.keys(languages).map((language, index) => {
            const input = element("input", { type: "radio", name: group, value: language, checked: index === 0 });
            input.addEventListener("change", () => this.#showCode());
            return element("label", {}, input, language);
        });
        const copy = element("button", { type: "button", class: "quiet" }, "Copy");
        copy.addEventListener("click", async () => {
            // Browsers allow the clipboard only on pages from https:// and localhost.
            if (navigator.clipboard) await navigator.clipboard.writeText(this.code.textContent);
            else getSelection().selectAllChildren(this.code);
            copy.textContent = navigator.clipboard ? "Copied" : "Selected";
            setTimeout(() => { copy.textContent = "Copy" }, 1500);
        });
        this.languages = element("fieldset", { class: "languages" }, element("legend", { class: "visually-hidden" }, "Language"), ...choices);
        return [
            element("div", { class: "code-head" }, element("h4", {}, "The request"), this.languages, copy),
            element("pre", { tabindex: "0", "aria-label": "The request as code" }, this.code),
        ];
    }

    #answers() {
        const rows = Object.entries(this.operation.responses).map(([status, response]) => {
            const examples = Object.entries(response.content?.["application/json"]?.examples ?? {});
            const shown = examples.map(([name, example]) =>
                element("details", {}, element("summary", {}, element("code", {}, name)),
                    element("pre", { tabindex: "0" }, element("code", {}, JSON.stringify(example.value, null, 2)))),
            );
            return element("tr", {}, element("td", {}, status), element("td", {}, element("p", {}, ...inline(response.description)), ...shown));
        });
        const head = element("tr", {}, element("th", { scope: "col" }, "Status"), element("th", { scope: "col" }, "Meaning"));
        return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    }

    get #values() {
        const values = {};
        for (const [name, field] of this.fields) {
            values[name] = field.type === "file" ? field.files[0] : field.value;
        }
        return values;
    }

    /** Shows where fields are not valid JSON. Returns the first such field with its error; undefined if all are valid. */
    #checkJSON() {
        let first;
        for (const [field, element] of this.problems) {
            const problem = field.value || field.required ? jsonProblem(field.value) : undefined;
            element.textContent = problem ? `Line ${problem.line}, column ${problem.column}: ${problem.expected} was expected.` : "";
            field.setAttribute("aria-invalid", Boolean(problem));
            if (problem) first ??= { field, problem };
        }
        return first;
    }

    async #showCode() {
        if (this.#checkJSON()) {
            this.code.textContent = "The body is not JSON yet.";
            return;
        }
        const language = this.languages.querySelector(":checked").value;
        const request = await prepare(this.operation, this.#values, this.credential.password, { hidesPasswords: true });
        this.code.textContent = languages[language](request, location.origin);
    }

    async #send(event) {
        event.preventDefault();
        const broken = this.#checkJSON();
        if (broken) {
            broken.field.focus();
            broken.field.setSelectionRange(broken.problem.at, broken.problem.at + 1);
            return;
        }
        this.sendButton.disabled = true;
        this.answer.wait();
        try {
            const request = await prepare(this.operation, this.#values, this.credential.password);
            await this.answer.show(await request.send(this.credential));
        } catch (error) {
            this.answer.fail(error);
        }
        this.sendButton.disabled = false;
        await this.#showCode();
    }
}

/** The limits of a value, in a few words. */
function limits(schema) {
    const found = [];
    if (schema.format?.startsWith("aescrypt")) found.push("encrypted by this page");
    if (schema.maxLength) found.push(`at most ${schema.maxLength} characters`);
    if (schema.minimum !== undefined) found.push(`${schema.minimum} to ${schema.maximum}`);
    if (schema.$comment) found.push(schema.$comment);
    return found;
}

function makeField(id, schema, isRequired, example, isFilled) {
    const described = { id, "aria-describedby": `${id}-facts ${id}-description`, required: isRequired };
    if (schema.format === "binary") return element("input", { ...described, type: "file", accept: "image/*" });
    if (schema.enum) {
        const options = schema.enum.filter((value) => typeof value === "string" && value !== "");
        const none = isRequired && options.length === 1 ? undefined : element("option", { value: "" }, "");
        return element("select", described, none, ...options.map((value) => element("option", {}, value)));
    }
    if (isJSON(schema)) {
        const text = JSON.stringify(example, null, 2) ?? "";
        const area = element("textarea", {
            ...described,
            "aria-describedby": `${described["aria-describedby"]} ${id}-problem`,
            rows: isFilled ? Math.min(14, text.split("\n").length + 1) : 2,
            spellcheck: "false",
            autocapitalize: "none",
            placeholder: isFilled ? undefined : text.replaceAll(/\s+/g, " "),
        });
        if (isFilled) area.value = text;
        return area;
    }
    const isPassword = isSecret(schema);
    return element("input", {
        ...described,
        type: isPassword ? "password" : "text",
        autocomplete: isPassword ? "new-password" : "off",
        spellcheck: "false",
        placeholder: isPassword ? "the plain password" : example,
    });
}
