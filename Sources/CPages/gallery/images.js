/** How many photos are loaded in parallel. The service limits the downloads of an address. */
const atOnce = 12;
/** How long to wait before each retry. */
const pauses = [1000, 5000];
/** Formats that not every browser can show. */
const rareKinds = ["HEIC", "HEIF", "AVIF"];

/** What each image should show: the last photo requested for it. */
const tasks = new WeakMap();
const running = new Set();
let waiting = [];

/**
 * Loads a photo into an image when it is its turn. Retries if that fails.
 *
 * @param options `size` is `small` or `medium`, for a small picture of the photo. `isFirst` puts it before all others. `onLoad` is called when the photo is loaded, `onFail` with a sentence
 *     for people when it can't be loaded.
 */
export function showPhoto(image, photo, options) {
    forgetPhoto(image);
    const task = { image, photo, options, tries: 0 };
    tasks.set(image, task);
    waiting = options.isFirst ? [task, ...waiting] : [...waiting, task];
    queueMicrotask(next);
}

/** Stops loading a photo that is no longer visible. */
export function forgetPhoto(image) {
    running.delete(tasks.get(image));
    tasks.delete(image);
    image.removeAttribute("src");
    // Later, because the waiting ones may be forgotten at the same time.
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
    const { photo, options } = task;
    task.image.src = options.size ? `${photo.url}&size=${options.size}` : photo.url;
}

function end(task, then) {
    // The image may be for another photo by now.
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
            isRare ? `This browser may be unable to show ${kind}.` : "The photo can't be loaded.",
        );
    }
    task.tries += 1;
    return setTimeout(() => { waiting.push(task); next() }, pause);
}
