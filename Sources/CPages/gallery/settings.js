import { element } from "/files/dom.js";
import { changePassword, endSession, leave, sessions, signOut } from "/files/api.js";
import { onSubmit } from "/files/forms.js";

const find = (id) => document.getElementById(id);
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The account in a dialog: sessions, password, deletion. */
export class Settings {
    constructor({ beforeSessionEnds, onPasswordChanged, onSignedOut, onSignedOutElsewhere }) {
        this.dialog = find("settings");
        Object.assign(this, { beforeSessionEnds, onSignedOut, onSignedOutElsewhere });
        find("settings-close").addEventListener("click", () => this.dialog.close());
        this.dialog.addEventListener("close", () => this.#forget());
        find("sign-out").addEventListener("click", () => this.#signOut(false));
        find("sign-out-all").addEventListener("click", () => this.#signOut(true));
        onSubmit(find("password"), async ({ old_password, new_password }) => {
            // With the old session, these calls would be refused.
            await this.beforeSessionEnds();
            await changePassword({ old_password, new_password });
            find("password").reset();
            onPasswordChanged();
            await this.#showSessions();
            this.#say("The password is changed.");
        });
        onSubmit(find("leave"), async ({ password }) => {
            await leave(password);
            this.onSignedOut("Your account and all photos are deleted.");
        });
    }

    /** Somebody else may open the dialog next. */
    #forget() {
        for (const form of [find("password"), find("leave")]) {
            form.reset();
            form.querySelector(".problem").textContent = "";
        }
        find("sessions").replaceChildren();
    }

    open(user) {
        this.#forget();
        find("settings-who").textContent = `${user.first_name} ${user.last_name} · ${user.email}`;
        for (const form of [find("password"), find("leave")]) form.elements.email.value = user.email;
        this.#say("");
        this.dialog.showModal();
        this.#showSessions();
    }

    async #showSessions() {
        try {
            find("sessions").replaceChildren(...(await sessions()).map((session) => this.#row(session)));
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
                await endSession(session.id);
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
            await signOut(all);
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
