import ConnectionTestSupport
import Foundation
import Synchronization
import Testing

@testable import Encodings
@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("A bucket that misbehaves, examined", .timeLimit(.minutes(3)))
struct BucketCheckTests {
    @Test("Another region is named with the line to set, and each denial with its permission")
    func region() async throws {
        let (findings, _) = try await examine { request in
            guard request.headers["authorization"]?.contains("/us-east-1/") == true else {
                return .failure("403 Forbidden", code: "AccessDenied")
            }
            let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"
            return .answer("400 Bad Request", body: body)
        }
        let region = findings.first { $0.text == "it is in the region eu-west-1, not in us-east-1" }
        #expect(region?.grade == .warning)
        #expect(region?.remedy?.hasPrefix("Set AWS_REGION=eu-west-1. ") == true)
        let list = findings.first { $0.text.hasPrefix("the keys may not list objects") }
        #expect(list?.grade == .warning && list?.remedy?.contains("s3:ListBucket") == true)
        let put = findings.first { $0.text.hasPrefix("putting an object failed") }
        #expect(put?.grade == .failed && put?.remedy?.contains("s3:PutObject") == true)
        #expect(findings.contains { $0.grade == .skipped })
    }

    @Test("A store's clock that differs much is a failure, with the command to set ours", arguments: [-5_400, 12_700])
    func clock(offset: Int) async throws {
        let (findings, _) = try await examine { request in
            let date = HTTPDate.text(of: time(nil) + offset)
            let body = "<Error><Code>SignatureDoesNotMatch</Code></Error>"
            return .answer("403 Forbidden", ["Date": date], body: body)
        }
        let clock = findings.first { $0.text.hasPrefix("the store's clock is") }
        #expect(clock?.grade == .failed)
        #expect(clock?.text.contains(offset < 0 ? "behind ours" : "3 hours ahead of ours") == true)
        #expect(clock?.remedy?.contains("timedatectl set-ntp true") == true)
    }

    @Test("The object is deleted although a check in the middle fails")
    func failureInTheMiddle() async throws {
        let (findings, requests) = try await examine { request in
            request.method == "GET" && request.isOfObject
                ? .failure("500 Internal Server Error", code: "InternalError") : .ordinary(request)
        }
        let get = findings.first { $0.text.hasPrefix("getting an object failed") }
        #expect(get?.grade == .failed && get?.text.contains("InternalError") == true)
        #expect(findings.contains { $0.grade == .skipped && $0.text.hasPrefix("public access") })
        let stored = requests.filter { $0.method == "PUT" }.map(\.target)
        let deleted = requests.filter { $0.method == "DELETE" }.map(\.target)
        #expect(stored.count == 1 && deleted == stored)
        #expect(stored.first?.hasPrefix("/photos/selfie-doctor-") == true)
    }

    @Test("An object that can't be deleted is reported by its key")
    func noDeletion() async throws {
        let (findings, requests) = try await examine { request in
            request.method == "DELETE" && request.isOfObject
                ? .failure("403 Forbidden", code: "AccessDenied") : .ordinary(request)
        }
        let key = try #require(requests.first { $0.method == "PUT" }?.target.dropFirst("/photos/".count))
        let deletion = findings.first { $0.text.hasPrefix("deleting an object failed") }
        #expect(deletion?.grade == .failed)
        #expect(deletion?.remedy?.contains("Delete the object \(key) by hand.") == true)
        #expect(deletion?.remedy?.contains("s3:DeleteObject") == true)
    }

    @Test(
        "If a store refuses everything, the keys may be wrong; if it refuses only lists, it does not say so",
        arguments: [true, false]
    )
    func nothingAllowed(isAll: Bool) async throws {
        let (findings, _) = try await examine { request in
            let isList = request.target.contains("list-type=2")
            return isAll || isList ? .failure("403 Forbidden", code: "AccessDenied") : .ordinary(request)
        }
        let put = findings.first { $0.text.hasPrefix("putting an object failed") }
        #expect((put != nil) == isAll)
        #expect(put?.text.hasSuffix("the keys themselves may be wrong") ?? true)
        #expect(findings.contains { $0.text.hasPrefix("the keys may not list objects") })
    }

    @Test("A bucket that keeps versions is warned about, and deleting them tried", arguments: [true, false])
    func versions(mayDelete: Bool) async throws {
        let (findings, requests) = try await examine { request in
            if request.target.contains("versions=") {
                let key = request.target.firstMatch(of: /prefix=([\w-]+)/)?.1 ?? ""
                let version = """
                    <Version><Key>\(key)</Key><VersionId>v</VersionId><IsLatest>true</IsLatest>\
                    <LastModified>2026-11-23T00:00:00Z</LastModified></Version>
                    """
                return mayDelete
                    ? .answer("200 OK", body: "<ListVersionsResult>\(version)</ListVersionsResult>")
                    : .failure("403 Forbidden", code: "AccessDenied")
            }
            if request.method == "DELETE" {
                return "HTTP/1.1 204 No Content\r\nx-amz-delete-marker: true\r\nx-amz-version-id: m\r\n\r\n"
            }
            return .ordinary(request)
        }
        #expect(requests.contains { $0.target.contains("versions=") })
        let warning = findings.first { $0.text.hasPrefix("the bucket keeps old versions") }
        let failure = findings.first { $0.text.hasPrefix("deleting an object's versions failed") }
        #expect((warning != nil) == mayDelete && (failure != nil) == !mayDelete)
        #expect(warning?.remedy?.contains("selfie photos reconcile --versions") ?? true)
        #expect(failure?.remedy?.contains("s3:DeleteObjectVersion") ?? true)
        #expect(failure?.remedy?.contains("by hand") ?? true)
    }

    @Test("The signed URL works for an hour at least, as photos' URLs do, so that no clock is blamed on permissions")
    func signedURL() async throws {
        let (_, requests) = try await examine { .ordinary($0) }
        let target = try #require(requests.first { $0.target.contains("X-Amz-Signature") }?.target)
        let items = URLComponents(string: target)?.queryItems ?? []
        let value = { (name: String) in items.first { $0.name == name }?.value ?? "" }
        let start = try Date(
            value("X-Amz-Date"),
            strategy: .iso8601.year().month().day().dateSeparator(.omitted)
                .time(includingFractionalSeconds: false).timeSeparator(.omitted)
        )
        let end = start + (TimeInterval(value("X-Amz-Expires")) ?? 0)
        #expect(end.timeIntervalSinceNow > 3_500)
    }

    @Test("A port that does not speak HTTP is reported as such")
    func noHTTP() async throws {
        let greeting = ScriptedServer.Reply.sendAndClose("SSH-2.0-OpenSSH_9.2\r\n")
        let findings = try await ScriptedServer.with([greeting, greeting]) { server in
            try await examine(server)
        }
        #expect(findings.contains { $0.grade == .failed && $0.text.hasSuffix("does not speak S3") })
    }

    @Test("A server that is not an S3 store is reported as such")
    func webPage() async throws {
        let (findings, requests) = try await examine { _ in .answer("200 OK", body: "<html>Hello!</html>") }
        #expect(findings.contains { $0.grade == .failed && $0.text.hasSuffix("does not speak S3") })
        #expect(requests.allSatisfy { $0.method == "GET" })
    }

    /// Has a bucket examined whose store answers so.
    private func examine(
        _ answer: @escaping @Sendable (ScriptedServer.Request) -> String
    ) async throws -> ([Finding], [ScriptedServer.Request]) {
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: .answer(answer), count: 200)) { server in
            (try await examine(server), server.received)
        }
    }

    private func examine(_ server: ScriptedServer) async throws -> [Finding] {
        let source = ConfigurationSource(values: [
            "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "s3cr3t/X",
            "AWS_ENDPOINT_URL_S3": server.endpoint,
        ])
        let findings = Log()
        await InstallationCheck(migrations: .success([])).run(on: source) { findings.add($0) }
        return findings.all.filter { $0.subject == .bucket }
    }
}

private final class Log: Sendable {
    private let findings = Mutex<[Finding]>([])

    var all: [Finding] { findings.withLock { $0 } }

    func add(_ finding: Finding) { findings.withLock { $0.append(finding) } }
}

extension ScriptedServer.Request {
    fileprivate var method: String { line.split(separator: " ").first.map(String.init) ?? "" }
    fileprivate var isOfObject: Bool { target.hasPrefix("/photos/selfie-doctor-") }
}

extension String {
    /// What a store answers that has forgotten all but the length of what it was given.
    fileprivate static func ordinary(_ request: ScriptedServer.Request) -> String {
        switch request.method {
        case "PUT": stored
        case "HEAD": "HTTP/1.1 200 OK\r\nContent-Length: 3072\r\n\r\n"
        case "DELETE": "HTTP/1.1 204 No Content\r\n\r\n"
        case _ where request.headers["authorization"] == nil: failure("403 Forbidden", code: "AccessDenied")
        case _ where request.isOfObject: answer("200 OK", body: "nothing like it")
        default: answer("200 OK", body: "<ListBucketResult/>")
        }
    }
}
