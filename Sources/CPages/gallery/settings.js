import { element } from "/files/dom.js";
import * as api from "/files/api.js";
import { CodeForm, Proof } from "/files/codes.js";
import { onSubmit } from "/files/forms.js";

const find = (id) => document.getElementById(id);
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const emailStates = {
    verified: "You have confirmed this address.",
    unverified: "You have not confirmed this address. Send a code to it, so that you can recover a forgotten password.",
    refuses: "Mails to this address come back. Correct it, or send a code to it once it works again.",
};

/** The account in a dialog: sessions, address, password, deletion. */
export class Settings {
    constructor({ beforeSessionEnds, onAccountChanged, onPasswordChanged, onSignedOut, onSignedOutElsewhere }) {
        this.dialog = find("settings");
        Object.assign(this, { beforeSessionEnds, onAccountChanged, onSignedOut, onSignedOutElsewhere });
        this.proofs = [...this.dialog.querySelectorAll(".proof")].map((container) => new Proof(container, {
            onSent: (text) => this.#say(text),
            onFailed: (error) => this.#fail(error),
        }));
        this.codeForms = [
            new CodeForm(find("email"), {
                sentText: (email) => `A mail with a code is on its way to ${email}.`,
                ask: ({ email, password, code }) => api.changeEmail({ email, ...(code ? { code } : { password }) }),
                enter: async ({ code }) => this.#changed(await api.confirmEmail(code), "Your address is confirmed."),
            }),
            new CodeForm(find("first-password"), {
                sentText: () => "A mail with a code is on its way to your address.",
                ask: () => api.requestCode({ email: this.user.email, purpose: "reset" }),
                enter: async ({ code, new_password }) => this.#changed(
                    await api.chooseFirstPassword({ code, new_password }),
                    "You have a password now.",
                ),
            }),
        ];
        find("settings-close").addEventListener("click", () => this.dialog.close());
        this.dialog.addEventListener("close", () => this.#forget());
        find("sign-out").addEventListener("click", () => this.#signOut(false));
        find("sign-out-all").addEventListener("click", () => this.#signOut(true));
        onSubmit(find("password"), async ({ old_password, new_password }) => {
            // With the old session, these calls would be refused.
            await this.beforeSessionEnds();
            await api.changePassword({ old_password, new_password });
            find("password").reset();
            onPasswordChanged();
            await this.#showSessions();
            this.#say("The password is changed.");
        });
        onSubmit(find("leave"), async ({ password, code }) => {
            await api.leave(code ? { code } : { password });
            this.onSignedOut("Your account and all photos are deleted.");
        });
    }

    /** Somebody else may open the dialog next. */
    #forget() {
        for (const form of [find("password"), find("leave")]) {
            form.reset();
            form.querySelector(".problem").textContent = "";
        }
        for (const form of this.codeForms) form.reset();
        find("sessions").replaceChildren();
    }

    open(user) {
        this.#forget();
        this.#show(user);
        this.#say("");
        this.dialog.showModal();
        this.#showSessions();
    }

    #show(user) {
        this.user = user;
        find("settings-who").textContent = `${user.first_name} ${user.last_name} · ${user.email}`;
        find("email-state").textContent = emailStates[user.email_state];
        find("new-email").value = user.email;
        for (const form of [find("password"), find("first-password"), find("leave")]) form.elements.email.value = user.email;
        for (const proof of this.proofs) proof.user = user;
        find("password").hidden = !user.has_password;
        find("first-password").hidden = user.has_password;
    }

    #changed(user, text) {
        for (const form of this.codeForms) form.reset();
        this.onAccountChanged(user);
        this.#show(user);
        this.#say(text);
        find("settings-close").focus();
    }

    async #showSessions() {
        try {
            find("sessions").replaceChildren(...(await api.sessions()).map((session) => this.#row(session)));
        } catch (error) {
            this.#fail(error);
        }
    }

    #row(session) {
        const device = session.device ?? "An unnamed device";
        const facts = session.current ? "This browser" : `Last used ${dates.format(new Date(session.last_used_at))}`;
        const row = element("li", {}, element("div", {}, element("strong", {}, device), element("span", {}, facts)));
        if (session.current) return row;
        const button = element("button", { type: "button", "aria-label": `End the session of ${device}` }, "End");
        button.addEventListener("click", async () => {
            button.disabled = true;
            try {
                await api.endSession(session.id);
                row.remove();
                this.#say(`${device} is signed out.`);
                find("settings-close").focus();
            } catch (error) {
                button.disabled = false;
                this.#fail(error);
            }
        });
        row.append(button);
        return row;
    }

    async #signOut(all) {
        try {
            await this.beforeSessionEnds();
            await api.signOut(all);
        } catch (error) {
            if (!error.isSignedOut) return this.#fail(error);
        }
        return this.onSignedOut(all ? "You are signed out everywhere." : "You are signed out.");
    }

    #fail(error) {
        this.#say(error.message);
        if (error.isSignedOut) this.onSignedOutElsewhere();
    }

    /** Shows a message in the dialog, because screen readers ignore everything outside of it. */
    #say(text) {
        find("settings-status").textContent = text;
    }
}
