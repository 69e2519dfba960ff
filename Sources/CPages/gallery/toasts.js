import { element } from "/files/dom.js";

const root = document.getElementById("toasts");
const milliseconds = 7000;

/**
 * Shows a sentence for a few seconds, with a button for the action, if any.
 *
 * @param action `label`, `run`, and optionally `milliseconds` and `onGone`, which is called if the toast had the focus.
 */
export function toast(text, action) {
    const shown = element("div", { class: "toast" }, element("p", {}, text));
    const remove = () => {
        const hadFocus = shown.contains(document.activeElement);
        shown.remove();
        if (hadFocus) action?.onGone?.();
    };
    if (action) {
        shown.append(element("button", { type: "button", onclick: () => { shown.remove(); action.run() } }, action.label));
    }
    root.append(shown);
    setTimeout(remove, action?.milliseconds ?? milliseconds);
    return { remove, focus: () => shown.querySelector("button")?.focus() };
}
