import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport

/// The photos of a user of a cluster.
struct ClusterPhotos {
    private struct Photo {
        let title: String
        /// The path and the signed query.
        var target: String
        let bytes: Data
        /// Its small picture, once it was sent.
        var small: Data?
    }

    private var photos: [String: Photo] = [:]
    /// Paths and signed queries of photos that are deleted.
    private var deletedTargets: [String] = []

    /// The most that a user has at the same time.
    static let maxCount = 12

    /// What a run must have had, beside the calls of railsauth.
    static let calls = ["part of photo", "small picture", "made small picture", "deleted photo"]

    var count: Int { photos.count }
    var ids: [String] { Array(photos.keys) }

    // MARK: - Uploads

    /// Uploads a photo, and now and then one that is large enough for small pictures.
    mutating func upload(_ client: inout ClusterClient, mayBeLarge: Bool) async throws {
        let count = client.next()
        let title = "\(client.name)-\(count)"
        let isLarge = mayBeLarge && count % 16 == 0
        let bytes = isLarge ? Self.largePhoto(of: client.number) : Self.photo(count, client.number)
        let settled = try await client.settle(
            "upload_photo",
            "POST",
            "/api/upload_photo",
            headers: [("Content-Type", TestMultipart.contentType), ("Idempotency-Key", title)],
            body: TestMultipart.body(image: bytes, title: title)
        )
        client.expect(settled, "upload_photo")
        let json = settled.answer.json
        guard let id = json["random_id"] as? String, let target = Self.target(json) else { return }
        client.expect(photos[id] == nil, "two uploads have the id \(id)")
        photos[id] = Photo(title: title, target: target, bytes: bytes)
    }

    /// A PNG of 64 by 48 pixels, whose size and contents tell whose it is.
    private static func photo(_ count: Int, _ number: Int) -> Data {
        var bytes = TestImage.png(bytes: 4096 + number * 64 + count % 64, seed: UInt8(number % 251))
        bytes.replaceSubrange(16..<33, with: header)
        return bytes
    }

    /// The contents of the chunk `IHDR`, and its checksum.
    private static let header: [UInt8] = [0, 0, 0, 64, 0, 0, 0, 48, 8, 2, 0, 0, 0, 0x2E, 0x29, 0xEB, 0x48]

    /// A JPEG of 480 by 480 pixels, whose last quantizer tells whose it is.
    private static func largePhoto(of number: Int) -> Data {
        var bytes = TestImage.jpeg
        bytes[lastQuantizer] = UInt8(1 + number % 250)
        return bytes
    }

    /// Where the first table of quantizers ends: it follows the headers SOI and APP0.
    private static let lastQuantizer = 88

    private static func target(_ json: [String: Any]) -> String? {
        (json["image_url"] as? String).flatMap(URL.init).map { "\($0.path)?\($0.query ?? "")" }
    }

    // MARK: - The list

    mutating func list(_ client: ClusterClient) async throws {
        let answer = try await client.succeed("get_photos", "GET", "/api/get_photos").answer
        guard let list = answer.jsonArray else {
            return client.expect(false, "the list is \(answer.text.prefix(200))")
        }
        let titles = list.map { "\($0["random_id"] as? String ?? "") \($0["title"] as? String ?? "")" }.sorted()
        let own = photos.map { "\($0.key) \($0.value.title)" }.sorted()
        for photo in list {
            if let id = photo["random_id"] as? String { photos[id]?.target = Self.target(photo) ?? "" }
        }
        let (lost, extra) = (Set(own).subtracting(titles), titles.filter { !own.contains($0) })
        client.expect(titles == own, "lost \(lost), too many \(extra)")
    }

    // MARK: - One photo

    func get(_ client: inout ClusterClient) async throws {
        guard let (id, photo) = photos.randomElement(using: &client.generator) else { return }
        let answer = try await client.settle("photo", "GET", photo.target).answer
        client.expect(
            answer.status == 200 && answer.body == photo.bytes,
            "photo \(id): \(answer.status), other bytes"
        )
    }

    /// Reads some bytes of a photo.
    func getPart(_ client: inout ClusterClient) async throws {
        guard let (id, photo) = photos.randomElement(using: &client.generator) else { return }
        let start = Int.random(in: 0..<photo.bytes.count, using: &client.generator)
        let end = Int.random(in: start..<photo.bytes.count, using: &client.generator)
        let headers = [("Range", "bytes=\(start)-\(end)")]
        let answer = try await client.settle("part of photo", "GET", photo.target, headers: headers).answer
        let range = "bytes \(start)-\(end)/\(photo.bytes.count)"
        client.expect(
            answer.status == 206 && answer.body == photo.bytes[start...end]
                && answer.headers["content-range"] == range,
            "\(range) of photo \(id): \(answer.status), \(answer.headers["content-range"] ?? ""), other bytes"
        )
    }

    /// Reads a small picture: the photo itself, if it is no larger, or if its small picture is not made yet.
    mutating func getSmall(_ client: inout ClusterClient) async throws {
        guard let (id, photo) = photos.randomElement(using: &client.generator) else { return }
        let answer = try await client.settle("small picture", "GET", "\(photo.target)&size=small").answer
        if answer.status == 200, answer.body == photo.bytes {
            return client.expect(photo.small == nil, "the small picture of photo \(id) is lost")
        }
        let isPicture =
            answer.status == 200 && photo.bytes == Self.largePhoto(of: client.number)
            && answer.headers["content-type"] == "image/jpeg" && answer.body.starts(with: [0xFF, 0xD8])
        client.expect(isPicture, "the small picture of photo \(id): \(answer.status), other bytes")
        client.expect(photo.small == nil || photo.small == answer.body, "photo \(id) has two small pictures")
        if isPicture {
            photos[id]?.small = answer.body
            client.count("made small picture")
        }
    }

    // MARK: - Deletions

    mutating func delete(_ client: inout ClusterClient) async throws {
        guard let (id, photo) = photos.randomElement(using: &client.generator) else { return }
        _ = try await client.succeed(
            "delete_photo",
            "DELETE",
            "/api/delete_photo",
            json: #"{"photo_id":"\#(id)"}"#,
            allows: [400, 401, 404]
        )
        photos[id] = nil
        deletedTargets = deletedTargets.suffix(20) + [photo.target]
    }

    func openDeleted(_ client: inout ClusterClient) async throws {
        guard let target = deletedTargets.randomElement(using: &client.generator) else { return }
        let status = try await client.settle("deleted photo", "GET", target).answer.status
        client.expect(status == 404, "a deleted photo was answered with \(status)")
    }

    /// Expects that the URLs of a deleted account's photos have ended.
    func expectNone(_ client: ClusterClient) async throws {
        for (id, photo) in photos.prefix(2) {
            let status = try await client.settle("deleted photo", "GET", photo.target).answer.status
            // 403 while the account's records are being deleted.
            client.expect([403, 404].contains(status), "photo \(id) of no account was answered with \(status)")
        }
    }

    /// Expects to find the bytes of each photo.
    func expectAll(_ client: ClusterClient) async throws {
        for (id, photo) in photos {
            let answer = try await client.settle("photo", "GET", photo.target).answer
            let isThere = answer.status == 200 && answer.body == photo.bytes
            client.expect(isThere, "photo \(id) at the end: \(answer.status)")
        }
    }
}
