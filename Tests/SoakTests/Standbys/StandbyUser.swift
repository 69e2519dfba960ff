import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import NIOHTTP1
import ServiceTestSupport
import TestSupport
import Testing

/// A user who writes and reads at several processes of the service, and what each read must show.
struct StandbyUser: Sendable {
    let name: String
    /// The tokens of two sessions.
    ///
    /// Both upload photos; the first one alone writes and reads records.
    let tokens: [String]

    private var photos: [Photo] = []
    private var records: [Record] = []
    /// The id of a record that was deleted last.
    private var deletedID: String?
    private var writeCount = 0

    private static let maxCount = 8

    private struct Photo: Codable, Equatable {
        let id: String
        let title: String

        enum CodingKeys: String, CodingKey {
            case id = "random_id"
            case title
        }
    }

    private struct Record: Codable, Equatable {
        struct Contents: Codable, Equatable { let address: String }

        let id: String
        var data: Contents
    }

    private struct Page: Decodable { let records: [Record] }

    init(name: String, tokens: [String]) {
        (self.name, self.tokens) = (name, tokens)
    }

    /// Adds, changes or deletes a photo or a record.
    mutating func write(to services: [TestService]) async throws {
        writeCount += 1
        let text = "\(name) \(writeCount)"
        switch Int.random(in: 0..<6) {
        case 0 where !photos.isEmpty, 1 where photos.count >= Self.maxCount:
            let photo = photos.remove(at: .random(in: photos.indices))
            let target = "/api/delete_photo?photo_id=\(photo.id)"
            try await done("DELETE", target, by: tokens.randomElement(), services)
        case 0, 1:
            let body = try await done(
                "POST",
                "/api/upload_photo",
                by: tokens.randomElement(),
                services,
                (TestMultipart.contentType, TestMultipart.body(image: TestImage.jpeg, title: text))
            )
            photos.append(try JSONDecoder().decode(Photo.self, from: body))
        case 2 where !records.isEmpty, 3 where records.count >= Self.maxCount:
            let record = records.remove(at: .random(in: records.indices))
            deletedID = record.id
            try await done("DELETE", "/api/records/houses/\(record.id)", by: tokens[0], services)
        case 4 where !records.isEmpty, 5 where !records.isEmpty:
            let index = Int.random(in: records.indices)
            records[index].data = .init(address: text)
            try await put(records[index], services)
        default:
            let record = Record(id: "\(name)-\(writeCount)", data: .init(address: text))
            records.append(record)
            try await put(record, services)
        }
    }

    private func put(_ record: Record, _ services: [TestService]) async throws {
        let body = Data(#"{"data":{"address":"\#(record.data.address)"}}"#.utf8)
        try await done("PUT", "/api/records/houses/\(record.id)", by: tokens[0], services, ("application/json", body))
    }

    @discardableResult
    private func done(
        _ method: String,
        _ target: String,
        by token: String?,
        _ services: [TestService],
        _ content: (type: String, bytes: Data)? = nil
    ) async throws -> Data {
        let answer = try await Self.call(method, target, by: token, services, content)
        guard answer.status == 200 else {
            throw UnexpectedStatus(description: "\(method) \(target): \(answer.status) \(text(answer.body))")
        }
        return answer.body
    }

    /// Reads photos, records and one record at the same time, each at any process.
    ///
    /// - Returns: What was not as it had to be.
    /// - Throws: What a connection throws.
    func read(from services: [TestService]) async throws -> [String] {
        async let photos = readPhotos(services)
        async let records = readRecords(services)
        async let record = readRecord(services)
        return try await [photos, records, record].compactMap(\.self)
    }

    /// How many reads ``read(from:)`` makes.
    static let readCount = 3

    private func readPhotos(_ services: [TestService]) async throws -> String? {
        let (isNewest, limit) = (Bool.random(), [nil, 3].randomElement() ?? nil)
        let query = [isNewest ? "order=newest" : nil, limit.map { "limit=\($0)" }].compactMap(\.self)
        let answer = try await Self.call(
            "GET",
            "/api/get_photos?\(query.joined(separator: "&"))",
            by: tokens.randomElement(),
            services
        )
        let expected = Array((isNewest ? photos.reversed() : photos).prefix(limit ?? .max))
        return difference(answer, expected, try? JSONDecoder().decode([Photo].self, from: answer.body))
    }

    private func readRecords(_ services: [TestService]) async throws -> String? {
        let answer = try await Self.call("GET", "/api/records/houses?limit=100", by: tokens[0], services)
        return difference(answer, records, try? JSONDecoder().decode(Page.self, from: answer.body).records)
    }

    private func readRecord(_ services: [TestService]) async throws -> String? {
        let wanted = Bool.random() ? deletedID ?? records.randomElement()?.id : records.randomElement()?.id ?? deletedID
        let expected = records.first { $0.id == wanted }
        let answer = try await Self.call("GET", "/api/records/houses/\(wanted ?? "none")", by: tokens[0], services)
        if expected == nil, answer.status == 404 { return nil }
        return difference(answer, expected, try? JSONDecoder().decode(Record.self, from: answer.body))
    }

    private func difference<Value: Equatable>(
        _ answer: (status: Int, body: Data),
        _ expected: Value?,
        _ read: Value?
    ) -> String? {
        if answer.status == 200, let read, read == expected { return nil }
        return "\(name): \(answer.status) \(text(answer.body)) in place of \(String(describing: expected))"
    }

    private func text(_ body: Data) -> String { String(decoding: body, as: UTF8.self) }

    /// Sends a call to any of the processes.
    private static func call(
        _ method: String,
        _ target: String,
        by token: String?,
        _ services: [TestService],
        _ content: (type: String, bytes: Data)? = nil
    ) async throws -> (status: Int, body: Data) {
        var request = CurlRequest(url: (services.randomElement()?.origin ?? "") + target)
        request.method = HTTPMethod(rawValue: method)
        request.headers = ["Authorization": "Bearer \(token ?? "")"]
        if let content {
            request.headers.add(name: "Content-Type", value: content.type)
            request.body = .bytes(ByteBuffer(bytes: content.bytes))
        }
        let response = try await CurlClient.shared.answer(to: request, within: .seconds(60), maxBytes: 1 << 20)
        return (Int(response.status.code), Data(response.body.readableBytesView))
    }
}

/// A write was not done.
private struct UnexpectedStatus: Error, CustomStringConvertible {
    let description: String
}
