import Multipart

extension Fixture {
    /// Bytes as a photo might have them: every value, and much that looks like a delimiter.
    static let photo: [UInt8] =
        Array(0...255) + Array("\r\n--\r\n---\r\r\n\n\r\n------------------------------1473\r".utf8)

    /// What the iOS client sends, byte by byte.
    static let referenceClient = Fixture(
        name: "the reference client's upload",
        boundary: "---------------------------14737809831466499882746641449",
        body: lines(
            "-----------------------------14737809831466499882746641449",
            "Content-Disposition: attachment; name=\"image\"; filename=\"photo\"",
            "Content-Type: application/octet-stream",
            "",
            ""
        ) + photo
            + lines(
                "",
                "-----------------------------14737809831466499882746641449",
                "Content-Disposition: form-data; name=\"title\"",
                "",
                "Me at the beach",
                "-----------------------------14737809831466499882746641449--"
            ),
        epilogue: lines("", ""),
        parts: [
            .file("image", "photo", photo, contentType: "application/octet-stream"),
            .field("title", "Me at the beach"),
        ]
    )

    static let minimal = Fixture(
        name: "one field",
        body: lines("--b", "Content-Disposition: form-data; name=a", "", "\r\n--", "--b--"),
        parts: [.field("a", "\r\n--")]
    )

    static let nearBoundaries = Fixture(
        name: "near-boundaries in the data",
        boundary: "xyz",
        body: lines("--xyz", "Content-Disposition: form-data; name=a", "", near, "--xyz--"),
        parts: [.field("a", near)]
    )

    private static let near =
        [
            "--xyzX", "--xyz-", "--xyz- -", "--xyz \t-", "--xyz --", "--xyz \r", "--xyz\r", "--xy", "-xyz", "--XYZ",
            "x--xyz", "\n--xyz", "\r--xyz", "\r\r",
        ].joined(separator: "\r\n") + "\r\n--xyz \t \r\r\n--xy\r\n--xyz!\r"

    static let surrounded = Fixture(
        name: "preamble, padding and epilogue",
        body: lines(
            "This is a message in MIME format. --b",
            "--bb",
            "--b \t ",
            "Content-Disposition: form-data; name=\"a\"",
            "",
            "1",
            "--b\t",
            "Content-Disposition: form-data; name=\"b\"",
            "",
            "2",
            "--b--"
        ),
        epilogue: lines(" \t", "--b", "Content-Disposition: form-data; name=\"c\"", "", "3", "--b--", ""),
        parts: [.field("a", "1"), .field("b", "2")]
    )

    static let empty = Fixture(
        name: "empty parts",
        body: lines(
            "--b",
            "Content-Disposition: form-data; name=\"a\"",
            "",
            "",
            "--b",
            "Content-Disposition: form-data; name=\"line end in common\"",
            "",
            "--b",
            "Content-Disposition: form-data; name=\"f\"; filename=\"f.png\"",
            "",
            "",
            "--b--"
        ),
        epilogue: lines("", ""),
        parts: [.field("a", ""), .field("line end in common", ""), .file("f", "f.png", [])]
    )

    static let skipped = Fixture(
        name: "parts that are skipped",
        body: lines(
            "--b",
            "Content-Disposition: form-data; name=f; filename=\"\"",
            "Content-Type: image/png",
            "",
            "",
            "--b",
            "Content-Disposition: form-data",
            "",
            "no name",
            "--b",
            "X-Other: no disposition",
            "",
            "",
            "\r",
            "--b",
            "",
            "no header",
            "--b",
            "",
            "--b",
            "content-disposition:form-data;name=last",
            "",
            "9",
            "--b--"
        ),
        parts: [.field("last", "9")]
    )

    static let valid: [Fixture] = [
        referenceClient, minimal, nearBoundaries, surrounded, empty, skipped,
        Fixture(name: "no parts", body: lines("--b--"), epilogue: lines("", "")),
        Fixture(name: "no parts after a preamble", body: lines("", "--b--")),
        Fixture(
            name: "a boundary of 70 dashes",
            boundary: String(repeating: "-", count: 70),
            body: lines(
                String(repeating: "-", count: 72),
                "Content-Disposition: form-data; name=a",
                "",
                String(repeating: "-", count: 71),
                String(repeating: "-", count: 74)
            ),
            parts: [.field("a", String(repeating: "-", count: 71))]
        ),
    ]
}
