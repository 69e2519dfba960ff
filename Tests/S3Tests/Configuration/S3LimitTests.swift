import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// The numbers that others rely on, so that none is changed by accident.
struct S3LimitTests {
    @Test("Deadlines: a router gives up after 30 seconds, and the sweeper a put after 40")
    func deadlines() {
        let deadlines = S3Deadlines()
        #expect(deadlines.connect == .seconds(2))
        #expect(deadlines.idle == .seconds(3))
        #expect(deadlines.silence == .seconds(4))
        #expect(deadlines.retryWindow == .seconds(3))
        #expect(deadlines.giveUp == .milliseconds(4_400))
        #expect(deadlines.put == .seconds(20))
        #expect(deadlines.putInParts == .seconds(25))
        #expect(deadlines.call == .seconds(5))
        #expect(deadlines.list == .seconds(15))
    }

    @Test("Credentials: a fetch that fails leaves a call some of its 4.4 seconds")
    func credentials() {
        let deadlines = S3CredentialDeadlines()
        #expect(deadlines.attempt == .seconds(2))
        #expect(deadlines.fetch == .seconds(4))
        #expect(deadlines.pause == .milliseconds(200))
        #expect(S3CredentialDeadlines.maxAttempts == 3)
        #expect(S3CredentialDeadlines.maxAnswerBytes == 65_536)
        #expect(CredentialCacheState.refreshSeconds == 300)
        #expect(CredentialCacheState.waitSeconds == 30)
        #expect(CredentialCacheState.pauseSeconds == 10)
    }

    @Test("Sizes: those of AWS, and from which size on uploads are in parts")
    func sizes() {
        #expect(S3Client.maxKeyBytes == 1_024)
        #expect(S3Client.maxPageCount == 1_000)
        #expect(S3UploadPolicy.maxPartCount == 10_000)
        #expect(S3UploadPolicy().maxSinglePutBytes == 33_554_432)
        #expect(S3UploadPolicy().partBytes == 8_388_608)
        #expect(S3UploadPolicy().partsInFlight == 4)
        #expect(S3UploadPolicy().partsInFlightTogether == 16)
        #expect(S3Body.chunkBytes == 262_144)
        #expect(ErrorDocument.maxBytes == 65_536)
        #expect(ErrorDocument.maxFieldCharacters == 300)
        #expect(Signer.maxExpirySeconds == 604_800)
    }

    @Test("Tries: three, after a tenth of a second and at most a second")
    func tries() {
        #expect(S3RetryPolicy.maxAttempts == 3)
        #expect(S3RetryPolicy.firstPause == .milliseconds(100))
        #expect(S3RetryPolicy.maxPause == .seconds(1))
    }

    @Test("Connections are many, are used again for a few seconds, and speak HTTP/1.1")
    func connections() {
        let configuration = S3Client.connections()
        #expect(configuration.idle == .seconds(3))
        #expect(configuration.maxConnectionsPerHost == 1_024)
        #expect(configuration.version == .http1)
        #expect(S3Deadlines().connect == .seconds(2))
    }

    @Test("An unused connection is closed by the client")
    func idleConnection() async throws {
        var deadlines = S3Deadlines.patient
        deadlines.idle = .milliseconds(20)
        try await ScriptedServer.with([.send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint, deadlines: deadlines) { client in
                try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                try await poll("the connection is closed", within: .seconds(40)) { server.connectionsLeft == 1 }
            }
        }
    }

    @Test("Arguments beyond their limits are refused before anything is sent")
    func limits() async throws {
        try await withS3Client(endpoint: "http://127.0.0.1:1") { client in
            let long = String(repeating: "ü", count: 512)
            await #expect(throws: Never.self) { () async throws in
                _ = try await client.presignedGet(key: long, expires: 604_800, at: .now)
            }
            await #expect(throws: Never.self) { () async throws in
                _ = try await client.presignedGet(key: "a", expires: 1, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: long + "a", expires: 1, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: "", expires: 1, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: "a", expires: 0, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: "a", expires: 604_801, at: .now)
            }
            for type in ["", "a\r\nx-amz-acl: public-read", "a\u{7F}"] {
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: S3Body("x"), contentType: type)
                }
                guard case .invalidArgument(.contentType) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            for range in [-1..<4, 2..<2] {
                let error = await failure { () async throws(S3Error) in _ = try await client.get(key: "a", range: range)
                }
                guard case .invalidArgument(.range) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
    }
}
