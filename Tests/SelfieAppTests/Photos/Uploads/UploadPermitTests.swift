import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Uploads at the same time", .timeLimit(.minutes(2)))
struct UploadPermitTests {
    @Test("A user has four, a fifth is refused before its body is read, and other users can upload")
    func perUser() async throws {
        try await TestService.run { service in
            let ada = try await service.makeToken()
            let bob = try await service.makeToken(email: "bob@example.com")
            try await service.withBegunUploads(4, token: ada) {
                let refused = try await RawConnection.open(port: service.port) { connection in
                    try await connection.send(TestService.uploadHead(token: ada))
                    var connection = connection
                    return try #require(try await connection.readResponse())
                }
                #expect(refused.status == 429 && refused.headers["retry-after"] == "2")
                #expect(refused.message == "Too many requests. Please try again later!")
                #expect(try await service.upload(token: bob).status == 200)
            }
            try await poll("the permits are free again") { try await service.upload(token: ada).status == 200 }
            #expect(try await service.count("SELECT count(*) FROM photos WHERE state = 'pending'") == 0)
        }
    }

    @Test("Uploads with expired tokens have four permits of their own, since their bodies are read")
    func expired() async throws {
        try await TestService.run { service in
            let old = [try await service.makeToken(), try await service.newToken()]
            service.clock.advance(by: 25 * 3600)
            let new = try await service.newToken()
            try await service.withBegunUploads(2, token: old[0]) {
                try await service.withBegunUploads(2, token: old[1]) {
                    for token in old {
                        let refused = try await service.upload(token: token)
                        #expect(refused.status == 429)
                    }
                    let status = try await service.upload(token: new).status
                    #expect(status == 200)
                }
            }
            try await poll("the permits are free again") { try await service.upload(token: old[0]).status == 401 }
        }
    }

    @Test("A process has a limit, and further uploads are told to retry")
    func perProcess() async throws {
        let settings = ["UPLOADS_AT_ONCE_MAX": "3", "UPLOADS_AT_ONCE_PER_USER_MAX": "2"]
        try await TestService.run(settings: settings) { service in
            let (ada, bob) = (try await service.makeToken(), try await service.makeToken(email: "bob@example.com"))
            try await service.withBegunUploads(2, token: ada) {
                #expect(try await service.upload(token: bob).status == 200)
                try await service.withBegunUploads(1, token: bob) {
                    let refused = try await service.upload(token: bob)
                    #expect(refused.status == 503 && refused.headers["retry-after"] == "5")
                    #expect(try await service.upload(token: ada).status == 429)
                }
            }
            try await poll("the permits are free again") { try await service.upload(token: bob).status == 200 }
        }
    }

    @Test("An upload that fails in any way releases its permit")
    func givenBack() async throws {
        try await TestService.run(settings: ["UPLOADS_AT_ONCE_PER_USER_MAX": "1"]) { service in
            let token = try await service.makeToken()
            for body in [Data(), Data("no photo".utf8)] {
                #expect(try await service.upload(body, token: token).status >= 400)
            }
            let malformed = try await service.send(
                "POST",
                "/api/upload_photo",
                headers: [("Authorization", tokenHeader(token)), ("Content-Type", TestMultipart.contentType)],
                body: Data("no multipart".utf8)
            )
            #expect(malformed.status == 400)
            #expect(try await service.upload(token: token).status == 200)
        }
    }
}
