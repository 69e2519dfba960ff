const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });

/** A photo of a list with what the page shows of it. */
export function described(photo) {
    const date = photo.created_at ? dates.format(new Date(photo.created_at)) : "";
    const kind = (photo.content_type ?? "an unknown format").replace("image/", "").toUpperCase();
    const url = new URL(photo.image_url, location.href);
    return {
        ...photo,
        // The service may tell its public address. This page reaches it at its own.
        url: url.pathname + url.search,
        date,
        kind,
        label: [photo.title || photo.name, date].filter(Boolean).join(", "),
        dimensions: photo.width ? `${photo.width} × ${photo.height}` : "",
    };
}
