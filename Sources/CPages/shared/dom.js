/** Creates an element. Texts are never parsed as HTML. */
export function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === false) continue;
        if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
        else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== undefined && child !== null));
    return made;
}

/** The paragraphs of a text. Of Markdown, only `code` and **bold** are supported. */
export function paragraphs(text) {
    return text.split(/\n{2,}/).filter(Boolean).map((paragraph) => element("p", {}, ...inline(paragraph)));
}

/** The parts of such a paragraph. */
export function inline(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map((part) => {
        if (part.startsWith("`")) return element("code", {}, part.slice(1, -1));
        if (part.startsWith("**")) return element("strong", {}, part.slice(2, -2));
        return part;
    });
}
