import { element, paragraphs } from "/files/dom.js";
import { fieldTable } from "/files/fields.js";
import { OperationView } from "/files/operation.js";

/** The credential. It is only in the page's fields. */
const credential = {
    get name() { return document.getElementById("api-name").value },
    get password() { return document.getElementById("api-password").value },
    get token() { return document.getElementById("token").value },
    set token(value) { document.getElementById("token").value = value },
};

/**
 * The operations of the description, each with its method and path. Those of the gallery's pages are left out.
 *
 * Methods of a path that do the same are one operation. It is the one of POST, and `also` lists the other methods.
 */
function operationsOf(description) {
    return Object.entries(description.paths).flatMap(([path, item]) => {
        const all = Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }))
            .filter((operation) => !operation["x-internal"]);
        const groups = Map.groupBy(all, (operation) => operation.summary);
        return [...groups.values()].map((group) => {
            const shown = group.find((operation) => operation.method === "POST") ?? group[0];
            const also = group.filter((operation) => operation !== shown).map((operation) => operation.method);
            return { ...shown, also };
        });
    });
}

/** The sections of the page: one for each topic, and one for each collection. */
function sectionsOf(description) {
    const operations = operationsOf(description);
    return description.tags.flatMap((tag) => {
        const ofTag = operations.filter((operation) => operation.tags.includes(tag.name));
        const ofCollections = Map.groupBy(ofTag.filter((operation) => operation["x-collection"]), (operation) => operation["x-collection"]);
        const general = ofTag.filter((operation) => !operation["x-collection"]);
        const head = [element("h2", {}, tag.name), element("p", {}, tag.description)];
        const collections = [...ofCollections].map(([name, operations], index) => ({
            title: name,
            head: [...(index === 0 ? head : []), element("h3", { class: "collection" }, name), ...fieldTable(operations)],
            operations,
        }));
        return [...(general.length ? [{ title: tag.name, head, operations: general }] : []), ...collections];
    });
}

/** Shows the calls that match all words, and hides the others. */
function search(sections, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { parts, entries } of sections) {
        for (const { view, link, text } of entries) {
            const isFound = words.every((word) => text.includes(word));
            view.root.hidden = link.hidden = !isFound;
            if (isFound) count += 1;
        }
        for (const part of parts) part.hidden = entries.every(({ link }) => link.hidden);
    }
    document.getElementById("found").textContent = words.length ? `${count} ${count === 1 ? "call" : "calls"}` : "";
    document.getElementById("nothing-found").hidden = count > 0;
}

function show(description) {
    document.getElementById("version").textContent = description.info.version;
    document.getElementById("introduction").append(...paragraphs(description.info.description));
    const contents = document.getElementById("contents");
    const list = document.getElementById("operations");
    const sections = sectionsOf(description).map(({ title, head, operations }) => {
        const parts = [element("div", { class: "topic-head" }, ...head), element("h2", {}, title), element("ul")];
        list.append(parts[0]);
        contents.append(parts[1], parts[2]);
        const entries = operations.map((operation) => {
            const view = new OperationView(operation, credential);
            list.append(view.root);
            const anchor = element("a", { href: `#${operation.operationId}` }, operation.summary);
            anchor.addEventListener("click", () => view.open());
            const link = element("li", {}, anchor);
            parts[2].append(link);
            const { method, path, summary, operationId } = operation;
            return { view, link, text: `${title} ${method} ${path} ${summary} ${operationId}`.toLowerCase() };
        });
        return { parts, entries };
    });
    const box = document.getElementById("search");
    box.addEventListener("input", () => search(sections, box.value));
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
