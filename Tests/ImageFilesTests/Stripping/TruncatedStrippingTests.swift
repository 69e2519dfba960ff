import Testing

@testable import ImageFiles

@Suite("Photos that are cut off")
struct TruncatedStrippingTests {
    @Test(
        "No beginning of a photo is stripped",
        arguments: ImageFileTests.samples.keys.filter { name in
            [".jpg", ".png", ".webp"].contains { name.hasSuffix($0) }
        }
    )
    func truncated(name: String) async throws {
        let photo = try ImageFileTests.sample(name)
        #expect(try await Strip.accepts(photo))
        for count in 0..<photo.count {
            #expect(try await !Strip.accepts(Array(photo.prefix(count))), "\(count) of \(photo.count) bytes")
        }
    }
}
