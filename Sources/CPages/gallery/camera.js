const find = (id) => document.getElementById(id);

/** A dialog with the camera's picture, mirrored as in a mirror, and a button to take a photo. */
export class Camera {
    /** How often it was opened. */
    attempt = 0;

    constructor({ onPhoto, onFile }) {
        this.dialog = find("camera");
        this.video = find("camera-video");
        find("camera-close").addEventListener("click", () => this.dialog.close());
        find("camera-shoot").addEventListener("click", () => this.#shoot(onPhoto));
        find("camera-file").addEventListener("click", () => { this.dialog.close(); onFile() });
        this.dialog.addEventListener("close", () => this.#stop());
    }

    async open() {
        this.#say("");
        find("camera-shoot").disabled = true;
        this.dialog.showModal();
        if (!navigator.mediaDevices?.getUserMedia) {
            this.#say("Browsers allow the camera only on pages from https:// and localhost. Choose a file instead.");
            return;
        }
        this.attempt += 1;
        const { attempt } = this;
        const isOver = () => attempt !== this.attempt || !this.dialog.open;
        try {
            const wanted = { video: { facingMode: "user", width: { ideal: 1920 }, height: { ideal: 1440 } } };
            const stream = await navigator.mediaDevices.getUserMedia(wanted);
            // The dialog was closed while the browser asked for permission.
            if (isOver()) return stop(stream);
            this.stream = stream;
            this.video.srcObject = stream;
            await this.video.play();
            if (isOver()) return;
            find("camera-shoot").disabled = false;
            find("camera-shoot").focus();
        } catch (error) {
            if (isOver()) return;
            const isForbidden = error.name === "NotAllowedError";
            this.#say(isForbidden ? "This page may not use the camera. Allow it in the browser, or choose a file." : "No camera is working. Choose a file instead.");
        }
    }

    #shoot(onPhoto) {
        find("camera-shoot").disabled = true;
        const canvas = document.createElement("canvas");
        canvas.width = this.video.videoWidth;
        canvas.height = this.video.videoHeight;
        canvas.getContext("2d").drawImage(this.video, 0, 0);
        canvas.toBlob((blob) => {
            this.dialog.close();
            const time = new Date().toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".");
            if (blob) onPhoto(new File([blob], `Selfie ${time}.jpg`, { type: "image/jpeg" }));
        }, "image/jpeg", 0.92);
    }

    #stop() {
        if (this.stream) stop(this.stream);
        this.stream = undefined;
        this.video.srcObject = null;
    }

    #say(text) {
        find("camera-message").textContent = text;
        find("camera-message").hidden = !text;
    }
}

function stop(stream) {
    for (const track of stream.getTracks()) track.stop();
}
