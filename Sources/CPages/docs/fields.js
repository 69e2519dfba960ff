import { element, inline } from "/files/dom.js";

/** The table of a collection's fields, from the bodies that its calls take. */
export function fieldTable(operations) {
    const bodies = operations.map((operation) => operation.requestBody?.content["application/json"].schema.properties?.data);
    // In a merge patch no field is required, so the body of a whole record says more.
    const data = bodies.filter(Boolean).sort((a, b) => (b.required?.length ?? 0) - (a.required?.length ?? 0))[0];
    // The description may continue with limits.
    const rules = (operations[0].description ?? "").split(/\n{2,}/).find((text) => text.startsWith("Access: ")) ?? "";
    const words = element("p", {}, ...inline(rules));
    if (!data?.properties) return [words, element("p", {}, "A record's data is any JSON object.")];
    const rows = Object.entries(data.properties).map(([name, schema]) => {
        const kind = schema.anyOf?.[0] ?? schema;
        const notes = [kind.maxLength && `At most ${kind.maxLength} characters.`, kind.description].filter(Boolean).join(" ");
        return element("tr", {},
            element("td", {}, name),
            element("td", {}, kind.format === "date-time" ? "time" : (kind.type ?? "any JSON")),
            element("td", {}, data.required?.includes(name) ? "required" : "optional"),
            element("td", {}, ...inline(notes)));
    });
    const head = ["Field", "Type", "", "Meaning"].map((text) => (text ? element("th", { scope: "col" }, text) : element("td", {})));
    const more = data.additionalProperties ? [element("p", {}, "Other fields are stored, too.")] : [];
    return [words, element("table", { class: "record-fields" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)), ...more];
}
