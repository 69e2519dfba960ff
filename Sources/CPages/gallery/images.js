/** How many photos are loaded at once: the service has so many places for the downloads of an address. */
const atOnce = 12;
/** How long to wait before each further try. */
const pauses = [1000, 5000];
/** What not every browser can show. */
const rareKinds = ["HEIC", "HEIF", "AVIF"];

/** What is to be shown in an image: the last that was asked for. */
const tasks = new WeakMap();
const running = new Set();
let waiting = [];

/**
 * Loads a photo into an image when it is its turn, and tries again when that fails.
 *
 * @param options `isFirst` goes before all others. `onLoad` is called when the photo is there, `onFail` with a sentence for
 *     people when it can't be had.
 */
export function showPhoto(image, photo, options) {
    forgetPhoto(image);
    const task = { image, photo, options, tries: 0 };
    tasks.set(image, task);
    waiting = options.isFirst ? [task, ...waiting] : [...waiting, task];
    queueMicrotask(next);
}

/** Stops loading what nobody looks at any more. */
export function forgetPhoto(image) {
    running.delete(tasks.get(image));
    tasks.delete(image);
    image.removeAttribute("src");
    // Later, since the ones that wait may be forgotten with it.
    queueMicrotask(next);
}

function next() {
    waiting = waiting.filter((task) => tasks.get(task.image) === task);
    while (running.size < atOnce && waiting.length) start(waiting.shift());
}

function start(task) {
    running.add(task);
    task.image.onload = () => end(task, () => task.options.onLoad?.());
    task.image.onerror = () => end(task, () => failed(task));
    task.image.src = task.photo.url;
}

function end(task, then) {
    // Another one may be wanted there by now.
    if (!running.delete(task)) return;
    then();
    next();
}

function failed(task) {
    task.image.removeAttribute("src");
    const pause = pauses[task.tries];
    if (pause === undefined) {
        const { kind } = task.photo;
        const isRare = rareKinds.includes(kind);
        return task.options.onFail?.(
            isRare ? `This browser may be unable to show ${kind}.` : "The photo can't be loaded at the moment.",
        );
    }
    task.tries += 1;
    return setTimeout(() => { waiting.push(task); next() }, pause);
}
