import Foundation
import Renderer
import TestSupport
import Testing

@Suite("Pictures that are made to do harm", .timeLimit(.minutes(3)))
struct HostilePictureTests {
    @Test("More than 100 megapixels, or a side of more than 30,000, are refused by the header")
    func limits() async throws {
        for (width, height) in [(64250, 64250), (30001, 1), (1, 30001), (10001, 10000)] as [(UInt16, UInt16)] {
            let bytes = try HostilePicture.jpeg("turned-1.jpg", width: width, height: height)
            await #expect(throws: RenderFailure.tooManyPixels) { try await TestPicture.render(bytes) }
        }
        for (width, height) in [(30000, 1), (1, 30000), (10000, 10000)] as [(UInt16, UInt16)] {
            // What is missing of the pixels is grey.
            let bytes = try HostilePicture.jpeg("turned-1.jpg", width: width, height: height)
            let rendition = try #require(try await TestPicture.render(bytes).rendition)
            #expect(max(rendition.width, rendition.height) == 320)
        }
    }

    @Test("Two gigabytes of zeros in a PNG are refused, or not decoded")
    func zeros() async throws {
        await #expect(throws: RenderFailure.tooManyPixels) {
            try await TestPicture.render(HostilePicture.png(width: 16384, height: 16384))
        }
        let more = try await TestPicture.render(HostilePicture.png(width: 400, height: 400, moreZeros: 2 << 30))
        #expect(more.rendition?.width == 320)
    }

    @Test("A GIF of 100,000 pictures shows the first one")
    func frames() async throws {
        let rendition = try #require(try await TestPicture.render(HostilePicture.gif(frames: 100_000)).rendition)
        #expect((rendition.width, rendition.height) == (320, 320))
    }

    @Test("An AVIF of 16 by 17,000 pixels is refused, or rendered as any other")
    func tall() async throws {
        do {
            // libheif 1.23 has another limit for sides.
            #expect(try await TestPicture.render("tall.avif").rendition?.height == 32)
        } catch RenderFailure.unreadable {
            // libheif 1.15 refuses sides of more than 16,384 pixels.
        }
    }

    @Test("What only looks like a picture is unreadable", arguments: HostilePicture.misleading.keys.sorted())
    func misleading(name: String) async throws {
        let bytes = try #require(HostilePicture.misleading[name])
        await #expect(throws: RenderFailure.unreadable) { try await TestPicture.render(bytes) }
    }

    @Test("A file of more than 64 MiB is refused")
    func bytes() async throws {
        let picture = try TestPicture.bytes("rgb.png")
        let allowed = picture + Data(count: (64 << 20) - picture.count)
        #expect(try await TestPicture.render(allowed, longerSide: 32).rendition != nil)
        await #expect(throws: RenderFailure.tooManyBytes) { try await TestPicture.render(allowed + Data(count: 1)) }
    }

    @Test("A progressive JPEG that needs much memory is stopped, and the next picture is rendered")
    func memory() async throws {
        let bytes = try HostilePicture.jpeg("full-progressive.jpg", width: 10000, height: 10000)
        await #expect(throws: RenderFailure.memoryExceeded) { try await TestPicture.render(bytes) }
        #expect(try await TestPicture.render("rgb.png").rendition != nil)
    }

    @Test("A progressive JPEG of thousands of scans is refused")
    func scans() async throws {
        // libvips gives up after a hundred.
        await #expect(throws: RenderFailure.unreadable) {
            try await TestPicture.render(HostilePicture.scans(4000, side: 4000))
        }
    }
}
