const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });

/** A photo of a list, with the texts that the page shows. */
export function described(photo) {
    const date = photo.created_at ? dates.format(new Date(photo.created_at)) : "";
    const kind = (photo.content_type ?? "an unknown format").replace("image/", "").toUpperCase();
    const url = new URL(photo.image_url, location.href);
    return {
        ...photo,
        // The URL may have the public origin. This page uses its own origin.
        url: url.pathname + url.search,
        date,
        kind,
        label: [photo.title || photo.name, date].filter(Boolean).join(", "),
        dimensions: photo.width ? `${photo.width} × ${photo.height}` : "",
    };
}
