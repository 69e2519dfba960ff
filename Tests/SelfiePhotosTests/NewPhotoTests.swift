import NIOCore
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfiePhotos

@Suite("Photos that are new")
struct NewPhotoTests {
    @Test("The id of each is unguessable")
    func names() async throws {
        var spool = Spool()
        try await spool.append(ByteBuffer(bytes: TestImage.jpeg))
        let object = try await spool.finish()
        var ids: [String] = []
        for _ in 0..<200 {
            ids.append(try await NewPhoto(title: "A", fileName: "photo", object: object, userID: 1).randomID)
        }
        #expect(Set(ids).count == 200)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9]{48}/) != nil })
        #expect(Set(ids.joined()).count == 62)
    }
}
