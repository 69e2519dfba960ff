import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Several processes behind nginx", .timeLimit(.minutes(4)))
struct SeveralProcessesTests {
    /// Two services on one database and one bucket, and nginx before them.
    private struct Scene: Sendable {
        let processes: [SelfieProcess]
        let ports: [Int]
        /// Calls by way of nginx.
        let service: TestService

        static func with(_ body: (Scene) async throws -> Void) async throws {
            try await TestCluster.withEmptyDatabase { databaseURL in
                try await ServedSelfie.withObjects(.s3) { objects in
                    try await migrateTwice(databaseURL)
                    try await TestCluster.withClient(databaseURL) { postgres in
                        var served: [ServedSelfie] = []
                        for _ in 0..<2 {
                            served.append(
                                try await ServedSelfie.start(
                                    databaseURL: databaseURL,
                                    objects: objects,
                                    settings: ["TRUSTED_PROXIES": "1", "UPLOADS_AT_ONCE_PER_USER_MAX": "60"],
                                    postgres: postgres
                                )
                            )
                        }
                        try await NginxProxy.with(served.map(\.service.port)) { port in
                            let service = ServedSelfie.attach(
                                port: port,
                                databaseURL: databaseURL,
                                objects: objects,
                                postgres: postgres
                            )
                            try await body(
                                Scene(
                                    processes: served.map(\.process),
                                    ports: served.map(\.service.port),
                                    service: service
                                )
                            )
                            for process in served.map(\.process) { service.secrets.expectNone(in: process.output) }
                        }
                    }
                }
            }
        }

        /// Migrations of both at the same moment.
        private static func migrateTwice(_ databaseURL: String) async throws {
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await SelfieProcess.run(
                            ["migrate", "--migrations", ServedSelfie.migrationsPath],
                            environment: ["DATABASE_URL": databaseURL]
                        ).status
                    }
                }
                for try await status in group { #expect(status == 0) }
            }
        }
    }

    /// What the tasks of a test share.
    private final class Progress: Sendable {
        let isDone = Atomic(false)
        let started = Atomic(0)
    }

    /// A request, when it was sent, and its status; 0 for none.
    private struct Attempt {
        let start: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        let status: Int
        var randomID: String?
    }

    @Test("A kill under load costs only requests in progress, and no photo that was answered is lost")
    func killed() async throws {
        try await Scene.with { scene in
            let token = try await scene.service.makeToken()
            let progress = Progress()
            let attempts = try await withThrowingTaskGroup(of: [Attempt].self) { group in
                for client in 0..<8 {
                    group.addTask {
                        var attempts: [Attempt] = []
                        while !progress.isDone.load(ordering: .relaxed) {
                            attempts.append(await Self.attempt(scene.service, token, uploads: client.isMultiple(of: 2)))
                        }
                        return attempts
                    }
                }
                group.addTask {
                    // Both must have had work.
                    try await poll("both work") {
                        scene.processes.allSatisfy { $0.output.contains("endpoint=/api/upload_photo") }
                    }
                    let kill = ContinuousClock.now
                    scene.processes[0].signal(SIGKILL)
                    _ = try await scene.processes[0].waitForExit()
                    let dead = ContinuousClock.now
                    try await poll("the other goes on") {
                        try await scene.service.list(token: token).status == 200
                    }
                    try await Task.sleep(for: .milliseconds(500))
                    progress.isDone.store(true, ordering: .relaxed)
                    return [Attempt(start: kill, end: dead, status: -1)]
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let death = try #require(attempts.first { $0.status == -1 })
            let requests = attempts.filter { $0.status != -1 }
            let failed = requests.filter { $0.status != 200 }
            for attempt in failed {
                #expect(
                    attempt.start < death.end && attempt.end > death.start,
                    "it was not under way: \(attempt.status)"
                )
                #expect(attempt.status == 503, "\(attempt.status)")
            }
            // Each client has one request at a time.
            #expect(failed.count <= 8)
            #expect(requests.count { $0.start > death.end } > 8)
            let listed = Set(
                try #require(try await scene.service.list(token: token).jsonArray).map { $0["random_id"] as? String }
            )
            let answered = requests.compactMap(\.randomID)
            #expect(answered.count > 4 && answered.allSatisfy { listed.contains($0) })
        }
    }

    @Test("SIGTERM during fifty uploads loses none of them, and ends the process with status 0")
    func terminated() async throws {
        try await Scene.with { scene in
            let token = try await scene.service.makeToken()
            let body = TestMultipart.body(image: TestImage.jpeg + Data(repeating: 7, count: 300_000), title: "slow")
            let progress = Progress()
            let answers = try await withThrowingTaskGroup(of: HTTPAnswer?.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await Self.upload(body, token: token, port: scene.service.port) {
                            progress.started.add(1, ordering: .relaxed)
                            try await poll("the rest may come") { progress.isDone.load(ordering: .relaxed) }
                        }
                    }
                }
                try await poll("both have half of some uploads") {
                    let counts = try scene.ports.map { try SocketTable.openCount(at: $0) }
                    return progress.started.load(ordering: .relaxed) == 50 && counts.allSatisfy { $0 > 10 }
                }
                scene.processes[0].signal(SIGTERM)
                try await poll("it has heard") { scene.processes[0].output.contains("stopping: no new connections") }
                progress.isDone.store(true, ordering: .relaxed)
                #expect(try await scene.processes[0].waitForExit() == 0)
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let end = try #require(scene.processes[0].output.range(of: "msg=\"stopping: no new connections"))
            let finished = scene.processes[0].output[end.upperBound...].split(separator: "\n")
            #expect(
                finished.contains { $0.contains("endpoint=/api/upload_photo") && $0.contains("status=200") },
                "some were under way"
            )
            #expect(scene.processes[0].output.hasSuffix("msg=stopped\n"))
            #expect(
                answers.allSatisfy { $0?.status == 200 },
                "\(Dictionary(grouping: answers, by: \.?.status).mapValues(\.count))"
            )
            let stored = try await scene.service.count("SELECT count(*) FROM photos WHERE state = 'ready'")
            #expect(stored == 50)
            #expect(try await scene.service.count("SELECT count(*) FROM photos WHERE state <> 'ready'") == 0)
        }
    }

    /// Uploads a photo, and does something when half of it is sent.
    private static func upload(
        _ body: Data,
        token: String,
        port: Int,
        inTheMiddle: @Sendable () async throws -> Void
    ) async throws -> HTTPAnswer? {
        try await RawConnection.open(port: port) { connection in
            var connection = connection
            try await connection.send(RawRequest.uploadHeader(token: token, bodyBytes: body.count))
            try await connection.send(body.prefix(body.count / 2))
            try await inTheMiddle()
            try await connection.send(body.dropFirst(body.count / 2))
            return try await connection.readResponse()
        }
    }

    @Test("The proxy refuses in JSON what reaches no process, and its log quotes no URL")
    func proxyRefusals() async throws {
        try await Scene.with { scene in
            let large = try await RawConnection.open(port: scene.service.port) { connection in
                var connection = connection
                try await connection.send(
                    "POST /api/upload_photo HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n"
                )
                return try await connection.readResponse()
            }
            #expect(large?.status == 413)
            #expect(large?.json["message"] as? String == "The request is too large (maximum is 41943040 bytes)")
            let long = try await RawConnection.open(port: scene.service.port) { connection in
                var connection = connection
                let header = String(repeating: "a", count: 40_000)
                try await connection.send("GET / HTTP/1.1\r\nHost: a\r\nX-Long: \(header)\r\n\r\n")
                return try await connection.readResponse()
            }
            #expect(long?.status == 400 && long?.json["status"] as? Int == 400)
            for process in scene.processes {
                process.signal(SIGKILL)
                _ = try await process.waitForExit()
            }
            let refused = try await scene.service.send("GET", "/photos/x?signature=0123456789abcdef")
            #expect(refused.status == 503 && refused.headers["retry-after"] == "5")
            #expect(refused.json["status"] as? Int == 503)
            #expect(refused.headers["content-type"] == "application/json")
        }
    }

    private static func attempt(_ service: TestService, _ token: String, uploads: Bool) async -> Attempt {
        let start = ContinuousClock.now
        let answer = uploads ? try? await service.upload(token: token) : try? await service.list(token: token)
        return Attempt(
            start: start,
            end: .now,
            status: answer?.status ?? 0,
            randomID: answer?.status == 200 ? answer?.json["random_id"] as? String : nil
        )
    }
}
