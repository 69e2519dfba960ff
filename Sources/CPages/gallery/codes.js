import { requestCode } from "/files/api.js";
import { onSubmit } from "/files/forms.js";

/** A form with two steps: it asks for a code, and then takes it. */
export class CodeForm {
    constructor(form, { ask, enter, sentText }) {
        this.form = form;
        this.sentText = sentText;
        this.button = form.querySelector("button:not([type=button])");
        this.askText = this.button.textContent;
        form.querySelector(".again").addEventListener("click", () => {
            this.reset();
            this.#focus(".ask");
        });
        onSubmit(form, async (values) => {
            if (this.isEntering) return enter({ ...values, email: values.email ?? this.email });
            this.email = values.email;
            await ask(values);
            this.#show(true);
            this.#focus(".enter");
        });
        this.#show(false);
    }

    /** Back to the first step, with empty fields. */
    reset() {
        this.form.reset();
        this.form.querySelector(".problem").textContent = "";
        this.#show(false);
    }

    #show(isEntering) {
        this.isEntering = isEntering;
        for (const [step, isShown] of [[".ask", !isEntering], [".enter", isEntering]]) {
            for (const part of this.form.querySelectorAll(step)) {
                part.hidden = !isShown;
                // A hidden field that is required would keep the form from being sent.
                for (const field of part.querySelectorAll("input")) field.disabled = !isShown;
            }
        }
        this.button.textContent = isEntering ? this.button.dataset.enter : this.askText;
        this.form.querySelector(".sent").textContent = isEntering
            ? `${this.sentText(this.email)} The code works for ten minutes.`
            : "";
    }

    #focus(step) {
        const field = this.form.querySelector(`${step} input:not([hidden])`) ?? this.button;
        field.focus();
    }
}

/** The field for a password, or for a code if the account has no password. */
export class Proof {
    constructor(container, { onSent, onFailed }) {
        [this.label, this.input, this.button] = ["label", "input", "button"].map((name) => container.querySelector(name));
        this.button.addEventListener("click", async () => {
            this.button.disabled = true;
            try {
                await requestCode({ email: this.email, purpose: "signin" });
                onSent("A mail with a code is on its way to your address.");
                this.input.focus();
            } catch (error) {
                onFailed(error);
            }
            this.button.disabled = false;
        });
    }

    set user({ email, has_password }) {
        this.email = email;
        this.button.hidden = has_password;
        this.label.textContent = has_password ? "Password" : "Code";
        const attributes = has_password
            ? { name: "password", type: "password", autocomplete: "current-password" }
            : { name: "code", type: "text", autocomplete: "one-time-code", inputmode: "numeric", maxlength: "20" };
        for (const name of ["inputmode", "maxlength"]) this.input.removeAttribute(name);
        for (const [name, value] of Object.entries(attributes)) this.input.setAttribute(name, value);
    }
}
