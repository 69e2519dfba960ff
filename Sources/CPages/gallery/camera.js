const find = (id) => document.getElementById(id);

/** The camera in a dialog: what it sees, mirrored as people know their face, and a button to take it. */
export class Camera {
    constructor({ onPhoto, onFile }) {
        this.dialog = find("camera");
        this.video = find("camera-video");
        find("camera-close").addEventListener("click", () => this.dialog.close());
        find("camera-shoot").addEventListener("click", () => this.#shoot(onPhoto));
        find("camera-file").addEventListener("click", () => { this.dialog.close(); onFile() });
        this.dialog.addEventListener("close", () => this.#stop());
    }

    async open() {
        this.#trouble("");
        find("camera-shoot").disabled = true;
        this.dialog.showModal();
        if (!navigator.mediaDevices?.getUserMedia) {
            this.#trouble("Browsers open the camera on pages of https:// and of localhost only. Choose a file instead.");
            return;
        }
        try {
            const wanted = { video: { facingMode: "user", width: { ideal: 1920 }, height: { ideal: 1440 } } };
            this.stream = await navigator.mediaDevices.getUserMedia(wanted);
            if (!this.dialog.open) return this.#stop();
            this.video.srcObject = this.stream;
            await this.video.play();
            find("camera-shoot").disabled = false;
            find("camera-shoot").focus();
        } catch (error) {
            const isForbidden = error.name === "NotAllowedError";
            this.#trouble(isForbidden ? "This page may not use the camera. Allow it in the browser, or choose a file." : "There is no camera that works. Choose a file instead.");
        }
    }

    #shoot(onPhoto) {
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
        for (const track of this.stream?.getTracks() ?? []) track.stop();
        this.stream = undefined;
        this.video.srcObject = null;
    }

    #trouble(text) {
        find("camera-trouble").textContent = text;
        find("camera-trouble").hidden = !text;
    }
}
