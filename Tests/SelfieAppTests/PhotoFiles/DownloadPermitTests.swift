import ConnectionTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Downloads at the same time", .timeLimit(.minutes(2)))
struct DownloadPermitTests {
    /// More than all sockets between hold.
    private static let image = TestImage.png(bytes: 30 << 20)

    /// Runs a body with a service with this many permits, and a photo of its own.
    private static func withPhoto(
        permits: Int,
        perAddress: Int,
        _ body: @Sendable (TestService, StoredPhoto) async throws -> Void
    ) async throws {
        let settings = [
            "DOWNLOADS_AT_ONCE_MAX": "\(permits)", "DOWNLOADS_AT_ONCE_PER_ADDRESS_MAX": "\(perAddress)",
            "TRUSTED_PROXIES": "1",
        ]
        try await TestService.run(settings: settings) { try await body($0, try await $0.addPhoto(image)) }
    }

    private static func status(of photo: StoredPhoto, _ service: TestService, from address: String) async throws -> Int
    {
        try await service.send("GET", photo.target, headers: [("X-Forwarded-For", address)]).status
    }

    /// Runs a body while so many clients have read the beginning of a photo, and no more.
    private func withBegunDownloads(
        _ count: Int,
        of photo: StoredPhoto,
        from address: String,
        _ service: TestService,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await RawConnection.open(port: service.port) { connection in
            try await connection.send(
                "GET \(photo.target) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(address)\r\n\r\n"
            )
            var connection = connection
            #expect(try await connection.readSome().starts(with: Data("HTTP/1.1 200 ".utf8)))
            try await withBegunDownloads(count - 1, of: photo, from: address, service, body)
        }
    }

    @Test("An address has a share of the permits, and a photo that is not sent needs none")
    func limits() async throws {
        try await Self.withPhoto(permits: 4, perAddress: 2) { service, photo in
            @Sendable func get(_ method: String = "GET", from address: String, tag: String? = nil) async throws
                -> HTTPAnswer
            {
                let headers = [("X-Forwarded-For", address)] + (tag.map { [("If-None-Match", $0)] } ?? [])
                return try await service.send(method, photo.target, headers: headers)
            }
            let whole = try await get(from: "192.0.2.1")
            let tag = try #require(whole.headers["etag"])
            try await withBegunDownloads(2, of: photo, from: "192.0.2.1", service) {
                let refused = try await get(from: "192.0.2.1")
                #expect(refused.status == 429 && refused.headers["retry-after"] == "2")
                // It asks the store, too.
                #expect(try await get("HEAD", from: "192.0.2.1").status == 429)
                #expect(try await get(from: "192.0.2.1", tag: tag).status == 304)
                #expect(try await get(from: "192.0.2.2").body == Self.image)
                try await withBegunDownloads(1, of: photo, from: "192.0.2.2", service) {
                    // The last place is for those who have none.
                    #expect(try await get(from: "192.0.2.2").status == 503)
                    try await withBegunDownloads(1, of: photo, from: "2001:db8::1", service) {
                        let refused = try await get(from: "192.0.2.3")
                        #expect(refused.status == 503 && refused.headers["retry-after"] == "5")
                    }
                }
            }
            try await poll("the permits are free again") { try await get(from: "192.0.2.1").status == 200 }
        }
    }

    @Test("An IPv6 /48 network has twice as many as a /64")
    func sites() async throws {
        try await Self.withPhoto(permits: 16, perAddress: 2) { service, photo in
            try await withBegunDownloads(2, of: photo, from: "2001:db8::1", service) {
                let refused = try await Self.status(of: photo, service, from: "2001:db8::2")
                #expect(refused == 429)
                try await withBegunDownloads(2, of: photo, from: "2001:db8:0:1::1", service) {
                    let (same, other) = (
                        try await Self.status(of: photo, service, from: "2001:db8:0:2::1"),
                        try await Self.status(of: photo, service, from: "2001:db8:1::1")
                    )
                    #expect(same == 429 && other == 200)
                }
            }
        }
    }

    @Test("However many /64 networks a /48 has, it leaves a part to others", arguments: [4, 8])
    func manyNetworks(perAddress: Int) async throws {
        try await Self.withPhoto(permits: 8, perAddress: perAddress) { service, photo in
            @Sendable func begin(_ number: Int) async throws {
                guard number < 6 else {
                    let (same, other) = (
                        try await Self.status(of: photo, service, from: "2001:db8:0:99::1"),
                        try await Self.status(of: photo, service, from: "2001:db8:1::1")
                    )
                    #expect(same == (perAddress == 8 ? 200 : 429) && other == 200)
                    return
                }
                try await withBegunDownloads(1, of: photo, from: "2001:db8:0:\(number)::1", service) {
                    try await begin(number + 1)
                }
            }
            try await begin(0)
        }
    }
}
