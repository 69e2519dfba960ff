import ConnectionTestSupport
import Foundation
import Glibc
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

/// The numbers are those that the service promises.
@Suite("Many slow readers of pages", .timeLimit(.minutes(4)))
struct SlowPageReadersSoakTests {
    private static let readerCount = 1_000
    private static let memberCount = 25
    /// The 128 MiB of all answers, and 64 KiB for each connection: itself, and what the system holds unsent.
    private static let maxMebibytes = 128 + 62

    @Test("A thousand that ask for a megabyte and take next to nothing hold 190 MiB at most, and others are served")
    func pages() async throws {
        OpenFileLimit.raise()
        try await ServedSelfie.run { served in
            let service = served.service
            try await service.apply(try TestService.exampleSchema)
            var members: [TestMember] = []
            for number in 0..<Self.memberCount { members.append(try await service.addMember("m\(number)")) }
            let (all, other) = (members, try await service.addMember("other"))
            let text = String(repeating: "x", count: 60_000)
            for number in 0..<20 {
                try await service.put("news/n\(number)", as: all[0], #"{"data":{"title":"t","text":"\#(text)"}}"#)
            }
            let target = "/api/records/news?limit=50"
            // What comes first makes statements and opens connections.
            #expect(try await service.call("GET", target, as: all[0]).body.count > 1_000_000)
            let systemBefore = try Self.systemKibibytes()
            var (system, taken) = (0, [String]())
            let growth = try await ProcessMemory.growth(of: served.process.processID) {
                let readers = try SlowReaders(Self.readerCount, port: service.port) { number in
                    """
                    GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(all[number % all.count].token)\r\n\r\n
                    """
                }
                try await poll("all are answered, or refused") {
                    system = max(system, try Self.systemKibibytes() - systemBefore)
                    return readers.begunCount == Self.readerCount
                }
                #expect(try await service.call("GET", "/api/me", as: other).status == 200)
                let page = try await service.call("GET", target, as: other)
                #expect(page.status == 200 && page.body.count > 1_000_000, "\(page.text.prefix(200))")
                try await service.put("news/other", as: other, #"{"data":{"title":"t"}}"#)
                taken = await readers.close()
            }
            let statuses = Dictionary(grouping: taken) { $0.prefix("HTTP/1.1 200".count) }.mapValues(\.count)
            print("\(growth) MiB, and \(system / 1024) in the system: \(statuses)")
            #expect(growth + system / 1024 <= Self.maxMebibytes)
            #expect(Set(statuses.keys).isSubset(of: ["HTTP/1.1 200", "HTTP/1.1 429", "HTTP/1.1 503"]))
            // All the memory is given out, in shares of two MiB, but for what stays free for others.
            #expect((32...200).contains(statuses["HTTP/1.1 200"] ?? 0))
        }
    }

    /// What the sockets of this machine have of its memory (Linux, Documentation/filesystems/proc.rst).
    private static func systemKibibytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/net/sockstat", encoding: .utf8)
        guard let match = text.firstMatch(of: /TCP: .* mem (\d+)/), let pages = Int(match.output.1) else {
            throw NotInTime(what: "the memory of sockets")
        }
        return pages * Int(sysconf(CInt(_SC_PAGESIZE))) / 1024
    }
}
