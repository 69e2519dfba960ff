import * as api from "/files/api.js";
import { Camera } from "/files/camera.js";
import { Changes } from "/files/changes.js";
import { CodeForm } from "/files/codes.js";
import { Deletions, undoMilliseconds } from "/files/deletions.js";
import { onSubmit } from "/files/forms.js";
import { Grid } from "/files/grid.js";
import { Library } from "/files/library.js";
import { Settings } from "/files/settings.js";
import { toast } from "/files/toasts.js";
import { Uploads } from "/files/uploads.js";
import { Viewer } from "/files/viewer.js";

const find = (id) => document.getElementById(id);
/** Notifies other tabs that somebody signed in or out. All tabs share the cookie. */
const tabs = new BroadcastChannel("selfie");

let user;
/** Increases with each sign-in, sign-out and new password. Answers to older requests are ignored. */
let turn = 0;
/** The user whose photos are uploading. If a session expires, the uploads wait for the same user. */
let uploader;

const library = new Library(show);
const grid = new Grid(find("grid"), {
    onOpen: (photo) => viewer.open(library.visible, photo),
    onDelete: remove,
    onEmpty: () => find("take").focus(),
});
const viewer = new Viewer({ onDelete: remove, onClose: (photo) => grid.focus(photo) });
const deletions = new Deletions({
    onFailed: async (photo, error) => {
        library.bringBack(photo.random_id);
        if (error.isSignedOut) await checkSession();
        if (user) toast(`The photo was not deleted. ${error.message}`);
    },
});
const uploads = new Uploads({ list: find("uploads"), status: find("uploads-status") }, {
    onStored: (photo) => { if (user) library.add(photo) },
    onSignedOut: checkSession,
    onEmpty: () => find("add").focus(),
});
/** Changes of the photos on other devices. */
const changes = new Changes({
    onChanges: (list) => {
        library.apply(list);
        for (const { type, id } of list) {
            if (type !== "deleted") continue;
            deletions.forget(id);
            viewer.remove(id);
        }
    },
    // If it fails, it is called again.
    onReset: () => loadPhotos().catch(() => {}),
    onRefused: checkSession,
});
const camera = new Camera({ onPhoto: (file) => uploads.add([file]), onFile: () => find("files").click() });
const settings = new Settings({
    beforeSessionEnds: () => deletions.finishAll(),
    onAccountChanged: (account) => { user = account; uploader = account.email },
    onPasswordChanged: () => { turn += 1; tabs.postMessage("session"); load() },
    onSignedOut: (text) => { uploads.cancelAll(); signedOut(text); tabs.postMessage("session") },
    onSignedOutElsewhere: checkSession,
});

function show() {
    const photos = library.visible;
    grid.photos = photos;
    find("count").textContent = photos.length ? `${photos.length.toLocaleString()} ${photos.length === 1 ? "photo" : "photos"}` : "";
    find("empty").hidden = photos.length > 0;
}

async function loadPhotos() {
    const asked = turn;
    // Changes during the load are read afterwards.
    const cursor = await api.presentCursor();
    await library.load();
    if (asked === turn && user) changes.begin(cursor);
}

async function load() {
    try {
        await loadPhotos();
    } catch (error) {
        if (error.isSignedOut) checkSession();
        else toast(error.message, { label: "Try again", run: load });
    }
}

/** Hides a photo at once, and deletes it after some seconds unless that is undone. */
function remove(photo) {
    const shown = toast("Photo deleted.", {
        label: "Undo",
        milliseconds: undoMilliseconds,
        onGone: () => grid.focus(undefined, { isScrolled: false }),
        run: () => {
            if (!deletions.takeBack(photo)) return;
            library.bringBack(photo.random_id);
            grid.focus(photo);
        },
    });
    deletions.add(photo, shown);
    library.hide(photo.random_id);
    shown.focus();
}

function signedIn(account) {
    turn += 1;
    user = account;
    if (uploader !== account.email) uploads.cancelAll();
    uploader = account.email;
    for (const name of formNames) resetForm(name);
    find("initials").textContent = (user.first_name[0] ?? "") + (user.last_name[0] ?? "");
    find("welcome").hidden = true;
    find("gallery").hidden = false;
    library.clear();
    load();
}

function signedOut(text) {
    turn += 1;
    deletions.finishAll();
    changes.stop();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    user = undefined;
    library.clear();
    find("gallery").hidden = true;
    showForm("sign-in");
    if (text) toast(text);
}

/**
 * Asks who is signed in now. Another tab may have changed that, or the session may have ended.
 *
 * A refused request does not prove it: the request may have started before the password was changed here.
 */
async function checkSession() {
    const asked = turn;
    let account, failure;
    try {
        account = await api.account();
    } catch (error) {
        failure = error;
    }
    if (asked !== turn) return checkSession();
    if (failure && !failure.isSignedOut) return toast(failure.message);
    if (user && account?.email !== user.email) signedOut(failure?.message);
    if (account && !user) signedIn(account);
}

/** The forms of somebody who is not signed in. */
const formNames = ["sign-in", "sign-up", "code", "recover"];

function resetForm(name) {
    const form = find(name);
    form.reset();
    form.querySelector(".problem").textContent = "";
    codeForms[name]?.reset();
}

function showForm(name) {
    find("welcome").hidden = false;
    for (const other of formNames) {
        find(other).hidden = other !== name;
        resetForm(other);
    }
    find(name).querySelector("input").focus();
}

function begin(account) {
    signedIn(account);
    tabs.postMessage("session");
    find("take").focus();
}

async function signIn(values) {
    try {
        begin(await api.signIn(values));
    } catch (error) {
        if (error.code !== "email_unverified") throw error;
        showForm("code");
        find("code").elements.email.value = values.email;
        find("code").querySelector(".problem").textContent = error.message;
    }
}

const sentText = (email) => `If there is an account with ${email}, a mail with a code is on its way.`;
const codeForms = {
    code: new CodeForm(find("code"), {
        sentText,
        ask: ({ email }) => api.requestCode({ email, purpose: "signin" }),
        enter: ({ email, code }) => signIn({ email, code }),
    }),
    recover: new CodeForm(find("recover"), {
        sentText,
        ask: ({ email }) => api.requestCode({ email, purpose: "reset" }),
        enter: async ({ email, code, new_password }) => begin(await api.recover({ email, code, new_password })),
    }),
};

for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => showForm(button.dataset.show));
}
onSubmit(find("sign-in"), signIn);
onSubmit(find("sign-up"), async (values) => {
    await api.signUp(values);
    await signIn({ email: values.email, password: values.password });
});
find("take").addEventListener("click", () => camera.open());
find("add").addEventListener("click", () => find("files").click());
find("account").addEventListener("click", () => settings.open(user));
find("files").addEventListener("change", (event) => {
    uploads.add(event.target.files);
    event.target.value = "";
});
find("skip").addEventListener("click", (event) => {
    event.preventDefault();
    grid.focus();
});

const hasFiles = (event) => user && event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    find("drop").hidden = false;
});
addEventListener("dragleave", (event) => { if (!event.relatedTarget) find("drop").hidden = true });
addEventListener("drop", (event) => {
    find("drop").hidden = true;
    if (!hasFiles(event)) return;
    event.preventDefault();
    uploads.add(event.dataTransfer.files);
});

tabs.addEventListener("message", async () => {
    await checkSession();
    // After a new password, the photos have new URLs.
    if (user) load();
});
// Phones may end a hidden page without notice. Then a pending deletion would never be made.
addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") deletions.finishAll();
    else checkSession();
});
addEventListener("pagehide", () => deletions.finishAll());
addEventListener("beforeunload", (event) => { if (uploads.areUnderWay) event.preventDefault() });

try {
    const account = await api.account();
    if (account) signedIn(account);
    else showForm("sign-in");
} catch (error) {
    showForm("sign-in");
    if (!error.isSignedOut) toast(error.message);
}
