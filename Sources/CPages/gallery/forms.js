/** Sends a form's values, with its button at rest meanwhile, and shows what was wrong. */
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
            form.querySelector("input[type=password]")?.select();
        }
        button.disabled = false;
    });
}
