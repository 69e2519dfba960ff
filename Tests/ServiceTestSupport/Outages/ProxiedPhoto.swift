package import ConnectionTestSupport
package import Foundation
package import SelfieApp
package import ServerProcesses

extension TestService {
    /// The store's server, which the test may end or halt.
    package var ownServer: RcloneServer {
        get throws {
            guard case .s3(let server, _) = objects else { throw NotInTime(what: "a server of its own") }
            return server
        }
    }

    /// Runs a body with a service that gives photos out itself, and a photo in a bucket of its own.
    ///
    /// - Parameters:
    ///   - image: The photo's bytes.
    ///   - adjust: Changes the service before it starts.
    ///   - body: Gets the service, the bucket's server and the photo.
    /// - Throws: What the body throws, or what keeps service or server from starting.
    package static func withProxiedPhoto(
        _ image: Data,
        adjust: @Sendable (inout SelfieService) -> Void = { _ in },
        _ body: @Sendable (TestService, RcloneServer, StoredPhoto) async throws -> Void
    ) async throws {
        try await run(store: .ownS3, settings: ["PHOTO_DELIVERY": "proxy"], adjust: adjust) { service in
            try await body(service, try service.ownServer, try await service.addPhoto(image))
        }
    }
}

extension RawConnection {
    /// Asks for a photo.
    ///
    /// - Parameter photo: Where it is.
    /// - Throws: What the connection throws.
    package func get(_ photo: StoredPhoto) async throws {
        try await send("GET \(photo.target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    /// Reads the rest of an answer with a photo.
    ///
    /// - Parameters:
    ///   - start: What was read of the answer.
    ///   - count: The photo's length.
    /// - Returns: The body, as far as the server sent it.
    /// - Throws: What the connection throws, or `NotInTime` when the start is no whole head.
    package mutating func readPhoto(_ start: Data, of count: Int) async throws -> Data {
        var received = start
        guard let end = received.range(of: Data("\r\n\r\n".utf8))?.upperBound else { throw NotInTime(what: "a head") }
        while received.count < end + count {
            let next = try await readSome()
            if next.isEmpty { break }
            received += next
        }
        return Data(received[end...])
    }
}
