import Foundation
import Glibc
import Renderer
import Testing

@Suite("Pictures that are rendered", .timeLimit(.minutes(3)))
struct PictureTests {
    @Test("Every format is shown upright, in its colors, with its first picture")
    func upright() async throws {
        let names = [
            "turned-1.jpg", "turned-2.jpg", "turned-3.jpg", "turned-4.jpg", "turned-5.jpg", "turned-6.jpg",
            "turned-7.jpg", "turned-8.jpg", "progressive.jpg", "broken-profile.jpg", "rgb.png", "deep.png",
            "palette.png", "turned.png", "opaque.png", "animated.png", "still.gif", "animated.gif", "lossy.webp",
            "turned.webp", "animated.webp", "still.avif", "deep.avif", "turned.avif", "sequence.avif",
        ]
        var renditions: [Rendition] = []
        for name in names { renditions.append(try #require(try await TestPicture.render(name).rendition, "\(name)")) }
        for ((name, rendition), seen) in zip(zip(names, renditions), try await SeenColors.of(renditions)) {
            #expect(rendition.contentType == "image/jpeg", "\(name)")
            #expect((rendition.width, rendition.height) == (32, 21), "\(name)")
            #expect((seen.width, seen.height) == (32, 21), "\(name)")
            #expect(seen.areAbout(SeenColors.fields), "\(name): \(seen)")
        }
    }

    @Test(
        "A HEIC shows its primary picture, turned once, never its thumbnail",
        arguments: ["still.heic", "turned.heic", "thumbnail.heic", "burst.heic"]
    )
    func heic(name: String) async throws {
        let rendition = try #require(try await TestPicture.render(name).rendition)
        #expect((rendition.width, rendition.height) == (32, 24))
        let seen = try await SeenColors.of(rendition)
        #expect(seen.areAbout(SeenColors.fields), "\(seen)")
    }

    @Test("Transparency makes a WebP", arguments: ["half.png", "half.webp", "half.avif"])
    func transparent(name: String) async throws {
        let rendition = try #require(try await TestPicture.render(name).rendition)
        #expect(rendition.contentType == "image/webp")
        let seen = try await SeenColors.of(rendition)
        #expect(seen.areAbout([[220, 40, 40, 255], [0, 0, 0, 0], [40, 60, 220, 255], [0, 0, 0, 0]]), "\(seen)")
    }

    @Test("A grey picture stays grey")
    func grey() async throws {
        for name in ["grey.jpg", "grey.png", "grey-profile.jpg"] {
            let seen = try await SeenColors.of(try #require(try await TestPicture.render(name).rendition))
            #expect(seen.areAbout([93, 136, 71, 203].map { [$0, $0, $0, 255] }, tolerance: 4), "\(seen)")
        }
        let half = try #require(try await TestPicture.render("grey-half.png").rendition)
        #expect(half.contentType == "image/webp")
        let seen = try await SeenColors.of(half)
        #expect(seen.areAbout([[93, 93, 93, 255], [0, 0, 0, 0], [71, 71, 71, 255], [0, 0, 0, 0]], tolerance: 4))
    }

    @Test("The colors of a P3 picture are those of sRGB that look the same", arguments: ["p3.jpg", "p3.png"])
    func p3(name: String) async throws {
        let seen = try await SeenColors.of(try #require(try await TestPicture.render(name).rendition))
        // What littlecms makes of the four fields through Pillow.
        let wanted = [[240, 0, 21, 255], [0, 204, 12, 255], [34, 61, 229, 255], [232, 220, 0, 255]]
        #expect(seen.areAbout(wanted, tolerance: 8), "\(seen)")
    }

    @Test("A CMYK picture is not inverted")
    func cmyk() async throws {
        let seen = try await SeenColors.of(try #require(try await TestPicture.render("cmyk.jpg").rendition))
        // Inks can't show these colors: they only look similar.
        #expect(seen.areAbout(SeenColors.fields, tolerance: 90), "\(seen)")
    }

    @Test("Nothing of the metadata is in the result", arguments: ["metadata.jpg", "metadata.png"])
    func metadata(name: String) async throws {
        let bytes = try #require(try await TestPicture.render(name).rendition).bytes
        for word in ["PLANTED", "Exif", "ICC_PROFILE", "xmp", "Comment"] {
            #expect(try TestPicture.bytes("metadata.jpg").contains(bytesOf: word) || word == "Comment")
            #expect(!bytes.contains(bytesOf: word), "\(word)")
        }
    }

    @Test("The longer side is as long as asked for, and no picture is enlarged")
    func sizes() async throws {
        let lying = try #require(try await TestPicture.render("rgb.png", longerSide: 95).rendition)
        #expect((lying.width, lying.height) == (95, 63))
        #expect(try await TestPicture.render("rgb.png", longerSide: 96) == .smallEnough)
        #expect(try await TestPicture.render("turned-6.jpg", longerSide: 96) == .smallEnough)
        #expect(try await TestPicture.render("rgb.png", longerSide: 1).rendition?.width == 1)
        #expect(try await TestPicture.render("still.heic", longerSide: 4096) == .smallEnough)
        await #expect(throws: RenderFailure.notStarted) { try await TestPicture.render("rgb.png", longerSide: 0) }
        await #expect(throws: RenderFailure.notStarted) { try await TestPicture.render("rgb.png", longerSide: 4097) }
    }

    @Test("A pipe is read to its end, a file from its start")
    func pipe() async throws {
        try await WaitingPicture.with { picture in
            let rendering = try picture.rendering()
            try picture.write(try TestPicture.bytes("rgb.png"))
            picture.closeWriteEnd()
            #expect(try await rendering.value.rendition?.width == 32)
        }
        try await TestPicture.withFile(TestPicture.folder.appending(path: "rgb.png")) { file in
            lseek(file, 100, SEEK_SET)
            let outcome = try await TestPicture.renderer().render(file, longerSide: 32)
            #expect(outcome.rendition?.width == 32)
            #expect(lseek(file, 0, SEEK_CUR) == 100)
        }
    }
}
