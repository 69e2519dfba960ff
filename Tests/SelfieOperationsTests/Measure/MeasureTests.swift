import ConnectionTestSupport
import Foundation
import Logging
import Postgres
import S3TestSupport
import SelfieConfiguration
import SelfieOperations
import SelfiePhotos
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Measuring photos")
struct MeasureTests {
    private static func measure(
        _ service: TestService,
        settings: [String: String] = [:]
    ) async throws -> OutcomeCounts<MeasurePhoto.Outcome> {
        let settings = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
            .merging(settings) { $1 }
        let result = try await Installation.measure(
            configuration: try ServiceConfiguration(from: ConfigurationSource(values: settings)),
            logger: TestLog().logger(level: .info)
        )
        if let failure = result.failure { throw failure }
        return result.report
    }

    @Test("Photos without a size get it from their objects, and lists show it at once", arguments: TestStore.allCases)
    func sizes(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let token = try await service.makeToken()
            var sizes: [String: [Int?]] = [:]
            for (name, bytes) in try TestImage.samples() {
                let answer = try await service.upload(bytes, token: token, title: name)
                let parts = try #require(name.wholeMatch(of: /\w+-(\d+)x(\d+)\.\w+/)).output
                sizes[try #require(answer.json["random_id"] as? String)] = [Int(parts.1), Int(parts.2)]
            }
            // One lost its object, one never was a photo, and one has a size that must stay.
            let ids = sizes.keys.sorted()
            try await service.objects.write(Data("no photo".utf8), key: ids[0])
            try await service.objects.remove(key: ids[1])
            try await service.postgres.write("UPDATE photos SET width = NULL, height = NULL")
            try await service.postgres.write("UPDATE photos SET width = 1, height = 2 WHERE random_id = \(ids[2])")
            (sizes[ids[0]], sizes[ids[1]], sizes[ids[2]]) = ([nil, nil], [nil, nil], [1, 2])
            let before = try await service.list(token: token)

            let report = try await Self.measure(service)
            #expect(report[.measured] == 17 && report[.noImage] == 1 && report[.missing] == 1)

            let after = try await service.list(token: token)
            #expect(after.headers["etag"] != before.headers["etag"])
            let listed = try #require(after.jsonArray).map { photo in
                (photo["random_id"] as? String ?? "", [photo["width"] as? Int, photo["height"] as? Int])
            }
            #expect(Dictionary(uniqueKeysWithValues: listed) == sizes)
            let again = try await Self.measure(service)
            #expect(again[.measured] == 0 && again[.noImage] == 1 && again[.missing] == 1)
        }
    }

    @Test("An object that the store refuses to send does not stop the others")
    func archived() async throws {
        try await VersionedBucket.withService { service, bucket in
            let token = try await service.makeToken()
            var ids: [String] = []
            for _ in 0..<3 {
                ids.append(try #require(try await service.upload(token: token).json["random_id"] as? String))
            }
            try await service.postgres.write("UPDATE photos SET width = NULL, height = NULL")
            let name = try #require(bucket.settings["S3_BUCKET_NAME"])
            try await bucket.client.archive(key: ids[0], of: name)
            let report = try await Self.measure(service, settings: bucket.settings)
            #expect(report[.measured] == 2 && report[.refused] == 1 && report[.missing] == 0)

            let wrong = bucket.settings.merging(["AWS_SECRET_ACCESS_KEY": "another-secret-access-key"]) { $1 }
            await #expect(throws: (any Error).self) { try await Self.measure(service, settings: wrong) }
        }
    }

    @Test("A photo that was stored when it was cut off has its size all the same")
    func cutOff() async throws {
        try await TestService.run { service in
            let photo = try await service.addPhoto(TestImage.jpeg.prefix(3_000))
            let report = try await Self.measure(service)
            #expect(report[.measured] == 1 && report[.noImage] == 0)
            let listed = try #require(try await service.list(token: photo.token).jsonArray?.first)
            #expect(listed["width"] as? Int == 480 && listed["height"] as? Int == 480)
        }
    }

    @Test("A photo of railsauth gets its type and its size when it is first opened")
    func opened() async throws {
        try await TestService.run { service in
            let (_, bytes) = try #require(try TestImage.samples().first { $0.name == "turned-17x31.jpg" })
            let photo = try await service.addPhoto(bytes)
            try await service.postgres.write("UPDATE photos SET content_type = NULL, byte_count = NULL")
            #expect(try await service.send("GET", photo.target).headers["content-type"] == "image/jpeg")
            let listed = try #require(try await service.list(token: photo.token).jsonArray?.first)
            #expect(listed["width"] as? Int == 17 && listed["height"] as? Int == 31)
            #expect(listed["content_type"] as? String == "image/jpeg" && listed["byte_count"] as? Int == bytes.count)
        }
    }
}
