import * as api from "/files/api.js";
import { Camera } from "/files/camera.js";
import { onSubmit } from "/files/forms.js";
import { Grid } from "/files/grid.js";
import { described } from "/files/photos.js";
import { Settings } from "/files/settings.js";
import { toast } from "/files/toasts.js";
import { Uploads } from "/files/uploads.js";
import { Viewer } from "/files/viewer.js";

const find = (id) => document.getElementById(id);
/** How long a deleted photo can be brought back. */
const undoMilliseconds = 6000;

let user;
let photos = [];
/** The deletions that can still be taken back, by the photos' ids. */
const deletions = new Map();

const grid = new Grid(find("grid"), { onOpen: (index) => viewer.open(visible(), index), onDelete: deleteAt });
const viewer = new Viewer({ onDelete: deleteAt, onClose: (index) => grid.focus(index) });
const uploads = new Uploads(find("uploads"), { onStored: added, onSignedOut: (error) => signedOut(error.message) });
const camera = new Camera({ onPhoto: (file) => uploads.add([file]), onFile: () => find("files").click() });
const settings = new Settings({ onSignedOut: signedOut });
settings.onPasswordChanged = load;
settings.beforeSignOut = () => Promise.all(photos.filter(({ random_id: id }) => deletions.has(id)).map(finishDeletion));

const visible = () => photos.filter((photo) => !deletions.has(photo.random_id));

function show() {
    const shown = visible();
    grid.photos = shown;
    find("count").textContent = shown.length ? `${shown.length.toLocaleString()} ${shown.length === 1 ? "photo" : "photos"}` : "";
    find("empty").hidden = shown.length > 0;
}

function added(photo) {
    photos.unshift(described(photo));
    show();
}

/** Loads all photos, and shows each page as it comes. */
async function load() {
    try {
        const loaded = [];
        for await (const page of api.photoPages()) {
            loaded.push(...page.map(described));
            photos = loaded;
            show();
        }
    } catch (error) {
        if (error.isSignedOut) signedOut(error.message);
        else toast(error.message, { label: "Try again", run: load });
    }
}

/** Hides a photo at once, and deletes it when nobody took that back for some seconds. */
function deleteAt(index) {
    const photo = visible()[index];
    if (!photo) return;
    const timer = setTimeout(() => finishDeletion(photo), undoMilliseconds);
    const shown = toast("The photo is deleted.", {
        label: "Bring it back",
        milliseconds: undoMilliseconds,
        onGone: () => grid.focus(index),
        run: () => {
            clearTimeout(timer);
            deletions.delete(photo.random_id);
            show();
            grid.focus(visible().indexOf(photo));
        },
    });
    deletions.set(photo.random_id, { timer, shown });
    show();
    shown.focus();
}

async function finishDeletion(photo) {
    clearTimeout(deletions.get(photo.random_id)?.timer);
    try {
        await api.deletePhoto(photo.random_id);
    } catch (error) {
        if (error.isSignedOut) return signedOut(error.message);
        if (error.code !== "photo_not_found") {
            deletions.delete(photo.random_id);
            show();
            return toast(`The photo is still there. ${error.message}`);
        }
    }
    photos = photos.filter((other) => other !== photo);
    deletions.delete(photo.random_id);
    return undefined;
}

/** Whoever closes the page wants the photos gone that are hidden already. */
function finishDeletionsAtEnd() {
    for (const [id, { timer }] of deletions) {
        clearTimeout(timer);
        api.deletePhotoAtEnd(id);
    }
}

function signedIn(account) {
    user = account;
    find("initials").textContent = (user.first_name[0] ?? "") + (user.last_name[0] ?? "");
    find("welcome").hidden = true;
    find("gallery").hidden = false;
    show();
    load();
}

function signedOut(text) {
    finishDeletionsAtEnd();
    deletions.clear();
    uploads.cancelAll();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    [user, photos] = [undefined, []];
    show();
    find("gallery").hidden = true;
    showForm("sign-in");
    if (text) toast(text);
}

function showForm(name) {
    find("welcome").hidden = false;
    for (const form of [find("sign-in"), find("sign-up")]) {
        form.hidden = form.id !== name;
        form.reset();
        form.querySelector(".problem").textContent = "";
    }
    find(name).querySelector("input").focus();
}

for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => showForm(button.dataset.show));
}
onSubmit(find("sign-in"), async (values) => signedIn(await api.signIn(values)));
onSubmit(find("sign-up"), async (values) => {
    await api.signUp(values);
    signedIn(await api.signIn({ email: values.email, password: values.password }));
});
find("take").addEventListener("click", () => camera.open());
find("add").addEventListener("click", () => find("files").click());
find("account").addEventListener("click", () => settings.open(user));
find("files").addEventListener("change", (event) => {
    uploads.add(event.target.files);
    event.target.value = "";
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
addEventListener("pagehide", finishDeletionsAtEnd);
addEventListener("beforeunload", (event) => { if (uploads.areUnderWay) event.preventDefault() });

try {
    signedIn(await api.account());
} catch (error) {
    showForm("sign-in");
    if (!error.isSignedOut) toast(error.message);
}
