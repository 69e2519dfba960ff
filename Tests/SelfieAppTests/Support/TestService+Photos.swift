import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

/// The ways in which a client gets a photo's bytes.
enum TestDelivery: String, CaseIterable, Sendable {
    case disk, proxy, redirect

    /// Those where the service itself answers with the bytes.
    static let direct: [TestDelivery] = [.disk, .proxy]

    var store: TestStore { self == .disk ? .disk : .s3 }

    var settings: [String: String] { self == .proxy ? ["PHOTO_DELIVERY": "proxy"] : [:] }

    /// The status of an answer that is no refusal.
    var status: Int { self == .redirect ? 302 : 200 }
}

/// A photo that a test has uploaded.
struct UploadedPhoto: Sendable {
    let randomID: String
    /// Path and query of its URL.
    let target: String
    let token: String

    var tag: String { "\"\(randomID)\"" }
}

extension TestService {
    /// Makes an account and uploads its first photo.
    func uploadedPhoto(
        _ image: Data = TestImage.jpeg,
        fileName: String = "photo",
        email: String = "ada@example.com"
    ) async throws -> UploadedPhoto {
        let token = try await makeToken(email: email)
        let answer = try await upload(image, token: token, fileName: fileName)
        return UploadedPhoto(
            randomID: try #require(answer.json["random_id"] as? String, "\(answer.text)"),
            target: try target(of: try #require(answer.json["image_url"] as? String)),
            token: token
        )
    }

    /// Makes a photo's row as railsauth would have left it.
    func forgetDetails(of photo: UploadedPhoto) async throws {
        let id = photo.randomID
        try await postgres.write("UPDATE photos SET content_type = NULL, byte_count = NULL WHERE random_id = \(id)")
    }
}
