/** Sends a form's values. Its button is disabled meanwhile. Shows errors. */
export function onSubmit(form, send) {
    const button = form.querySelector("button:not([type=button])");
    const problem = form.querySelector(".problem");
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        problem.textContent = "";
        button.disabled = true;
        try {
            await send(Object.fromEntries(new FormData(form)));
        } catch (error) {
            problem.textContent = error.message;
            wrongField(form, error.code ?? "")?.select();
        }
        button.disabled = false;
    });
}

/** The field that an error is about. */
function wrongField(form, code) {
    if (code === "code_invalid") return form.elements.code;
    const passwords = [...form.querySelectorAll("input[type=password]")];
    if (code.endsWith("password_wrong")) return passwords[0];
    if (code.startsWith("password_")) return passwords.at(-1);
    return [...form.querySelectorAll("input:not([hidden])")].find(({ name }) => code.startsWith(`${name}_`));
}
