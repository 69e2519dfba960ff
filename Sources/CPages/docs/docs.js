import { element, paragraphs } from "/files/dom.js";
import { OperationView } from "/files/operation.js";

/** The credential, which is nowhere but in the page's fields. */
const credential = {
    get name() { return document.getElementById("api-name").value },
    get password() { return document.getElementById("api-password").value },
    get token() { return document.getElementById("token").value },
    set token(value) { document.getElementById("token").value = value },
};

/** The operations of the description, each with its method and path. */
function operationsOf(description) {
    return Object.entries(description.paths).flatMap(([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
    );
}

function show(description) {
    document.getElementById("version").textContent = description.info.version;
    document.getElementById("introduction").append(...paragraphs(description.info.description));
    const contents = document.getElementById("contents");
    const list = document.getElementById("operations");
    const operations = operationsOf(description);
    for (const tag of description.tags) {
        const ofTag = operations.filter((operation) => operation.tags.includes(tag.name));
        list.append(element("div", { class: "topic-head" }, element("h2", {}, tag.name), element("p", {}, tag.description)));
        const links = element("ul");
        for (const operation of ofTag) {
            const view = new OperationView(operation, credential);
            list.append(view.root);
            const link = element("a", { href: `#${operation.operationId}` }, operation.summary);
            link.addEventListener("click", () => view.open());
            links.append(element("li", {}, link));
        }
        contents.append(element("h2", {}, tag.name), links);
    }
    const linked = document.getElementById(location.hash.slice(1));
    if (linked?.matches("details.operation")) linked.open = true;
    linked?.scrollIntoView();
}

document.getElementById("credential").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("no-crypto").hidden = Boolean(globalThis.crypto?.subtle);
const loading = document.getElementById("loading");
try {
    const response = await fetch("/openapi.json");
    if (!response.ok) throw new Error(`the service answered ${response.status}`);
    show(await response.json());
    loading.hidden = true;
} catch (error) {
    loading.textContent = `The description can't be loaded: ${error.message}. Reload the page to try again.`;
}
