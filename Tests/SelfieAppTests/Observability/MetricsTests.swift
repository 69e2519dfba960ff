import ConnectionTestSupport
import Foundation
import NIOCore
import Postgres
import ProcessTestSupport
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Metrics", .timeLimit(.minutes(2)))
struct MetricsTests {
    /// The value of each series, by its name and labels.
    private struct Scrape {
        let values: [String: Double]
        let text: String

        init(_ answer: HTTPAnswer) throws {
            text = answer.text
            var values: [String: Double] = [:]
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                let space = try #require(line.lastIndex(of: " "))
                values[String(line[..<space])] = Double(line[line.index(after: space)...])
            }
            self.values = values
        }

        subscript(series: String) -> Double? { values[series] }
    }

    private func withMetrics(
        store: TestStore = .disk,
        settings: [String: String] = [:],
        _ body: @Sendable (TestService, @Sendable () async throws -> Scrape) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        try await TestService.run(
            store: store,
            settings: settings.merging(["METRICS_PORT": "0"]) { $1 },
            adjust: { $0.onMetricsRunning = { continuation.yield($0) } }
        ) { service in
            let port = try #require(await ports.first { _ in true })
            try await body(service) {
                try Scrape(try await service.send("GET", "http://127.0.0.1:\(port)/metrics"))
            }
        }
    }

    @Test(
        "A scripted hundred requests are counted exactly, and no label identifies a user",
        arguments: TestStore.allCases
    )
    func hundred(store: TestStore) async throws {
        try await withMetrics(store: store) { service, scrape in
            let token = try await service.makeToken(email: "ada@example.com")
            var randomIDs: [String] = []
            for _ in 0..<10 { randomIDs.append(try await Self.upload(service, token)) }
            for _ in 0..<50 { _ = try await service.list(token: token) }
            for _ in 0..<20 { _ = try await service.list(token: "unknown") }
            for number in 0..<8 { _ = try await service.send("GET", "/nowhere/\(number)") }
            for randomID in randomIDs.prefix(5) { _ = try await service.delete(randomID, token: token) }
            for _ in 0..<5 { _ = try await service.send("PROPFIND", "/") }
            let metrics = try await scrape()
            for (labels, count) in [
                (#"endpoint="/api/signup",method="POST",status="200""#, 1),
                (#"endpoint="/api/signin",method="POST",status="200""#, 1),
                (#"endpoint="/api/upload_photo",method="POST",status="200""#, 10),
                (#"endpoint="/api/get_photos",method="GET",status="200""#, 50),
                (#"endpoint="/api/get_photos",method="GET",status="401""#, 20),
                (#"endpoint="none",method="GET",status="404""#, 8),
                (#"endpoint="/api/delete_photo",method="DELETE",status="200""#, 5),
                (#"endpoint="none",method="other",status="404""#, 5),
            ] as [(String, Double)] {
                #expect(metrics["http_requests_total{\(labels)}"] == count, "\(labels)")
            }
            let total = metrics.values.filter { $0.key.hasPrefix("http_requests_total{") }.map(\.value).reduce(0, +)
            #expect(total == 100)
            #expect(metrics[#"http_request_duration_seconds_count{endpoint="/api/get_photos",method="GET"}"#] == 70)
            #expect(metrics["http_requests_in_progress"] == 0)
            #expect(metrics["store_call_duration_seconds_count{call=\"put\",outcome=\"ok\"}"] == 10)
            #expect(metrics[#"selfie_build_info{schema="unknown",version="\#(SelfieVersion.current)"}"#] == 1)
            for name in [
                "http_received_bytes_total", "http_sent_bytes_total", "http_connections", "postgres_connections",
                "process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_cpu_seconds_total",
            ] {
                #expect(metrics[name] ?? 0 > 0, "\(name)")
            }
            for name in [
                "spool_memory_bytes", "spool_disk_bytes", "password_hashes_waiting", "object_deletions_waiting",
                "http_connections_refused_total", "postgres_waiting", "change_streams", "changes_delivered_total",
                #"change_resets_total{reason="database"}"#, "change_notifications_lost_total",
                #"renditions_total{outcome="made"}"#, #"renditions_failed{reason="memory_exceeded"}"#,
            ] {
                #expect(metrics[name] == 0, "\(name)")
            }
            for secret in ["ada@", token] + randomIDs { #expect(!metrics.text.contains(secret), "\(secret)") }
        }
    }

    @Test("Each metric has a sentence, and operators find it in the documents")
    func declared() async throws {
        let page = try String(contentsOf: ProjectFolder.root.appending(path: "docs/operations.md"), encoding: .utf8)
        #expect(Observability.help.keys.filter { !page.contains("`\($0)`") }.sorted() == [])
        try await withMetrics { _, scrape in
            let lines = try await scrape().text.split(separator: "\n")
            let served = lines.filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) }
            #expect(served.count > 20 && served.filter { Observability.help[$0] == nil } == [])
            #expect(lines.count { $0.hasPrefix("# HELP ") } == served.count)
        }
    }

    @Test("Streams, changes, delays and resets are counted")
    func changes() async throws {
        try await withMetrics(settings: ["RATE_LIMITS": "off"]) { service, scrape in
            try await service.apply(try TestService.exampleSchema)
            let ada = try await service.addMember("ada", role: "team")
            try await service.put("priorities/p", as: ada, #"{"data":{"name":"p"}}"#)
            try await EventClient.open(service, as: ada) { client in
                _ = try await client.summaries(until: "synced")
                // What was there before was waited for by nobody.
                var metrics = try await scrape()
                #expect(metrics["changes_delivered_total"] == 1 && metrics["change_streams"] == 1)
                #expect(metrics["change_delivery_duration_seconds_count"] ?? 0 == 0)
                try await service.put("houses/h", as: ada, #"{"data":{"address":"a"}}"#)
                _ = try await client.summaries(until: "created houses h")
                try await poll("a delay") { try await scrape()["change_delivery_duration_seconds_count"] == 1 }
                metrics = try await scrape()
                #expect(metrics["changes_delivered_total"] == 2)
                #expect(metrics["change_delivery_duration_seconds_sum"].map { $0 > 0 && $0 < 9 } == true)
                try await service.postgres.write("DELETE FROM role_members")
                try await service.put("houses/i", as: ada, #"{"data":{"address":"a"}}"#)
                #expect(try await client.summaries(until: "reset").last == "reset access")
            }
            let cursor = try await service.changes("?collections=photos", as: ada).cursor
            #expect(try await service.changes("?since=\(cursor)", as: ada).status == 410)
            try await poll("no stream") { try await scrape()["change_streams"] == 0 }
            let metrics = try await scrape()
            #expect(metrics[#"change_resets_total{reason="access"}"#] == 1)
            #expect(metrics[#"change_resets_total{reason="collections"}"#] == 1)
        }
    }

    @Test("Notifications that fail, and losses of the connection that receives them, are counted")
    func lostNotifications() async throws {
        try await withMetrics { service, scrape in
            let token = try await service.addSession()
            try await poll("a listener") {
                try await service.count(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
                ) == 1
            }
            #expect(try await scrape()["change_notifications_lost_total"] == 0)
            try await service.postgres.write(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE 'LISTEN%'
                """
            )
            try await poll("a lost connection") { try await scrape()["change_notifications_lost_total"] == 1 }
            // From now on, whoever connects finds another function by that name.
            try await service.postgres.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE plpgsql
                            AS 'BEGIN RAISE EXCEPTION ''no notification''; END';
                        DO $$ BEGIN
                            EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
                        END $$;
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                            WHERE datname = current_database() AND pid <> pg_backend_pid();
                        """
                )
            }
            try await poll("two lost connections") { try await scrape()["change_notifications_lost_total"] == 2 }
            try await poll("a lost notification") {
                _ = try await service.upload(token: token)
                return try await scrape()["change_notifications_lost_total"] ?? 0 >= 3
            }
        }
    }

    @Test("Prometheus' own parser reads the metrics")
    func parser() async throws {
        try await withMetrics { service, scrape in
            let token = try await service.makeToken()
            _ = try await Self.upload(service, token)
            let families = try await PythonScript.run("prometheus_families.py", input: try await scrape().text)
            for family in [
                "http_requests counter", "http_request_duration_seconds histogram", "http_connections gauge",
                "postgres_statement_duration_seconds histogram", "process_resident_memory_bytes gauge",
                "selfie_build_info gauge",
            ] {
                #expect(families.split(separator: "\n").contains { $0 == family }, "\(family)")
            }
        }
    }

    private static func upload(_ service: TestService, _ token: String) async throws -> String {
        try #require(try await service.upload(token: token).json["random_id"] as? String)
    }

    @Test("Each limit that refuses is counted by its name")
    func refusals() async throws {
        try await withMetrics(settings: ["RATE_LIMITS": "on", "RATE_LIMIT_UPLOADS_PER_USER": "1/1h"]) {
            service,
            scrape in
            // Whoever reads the log for the API's port finds one.
            #expect(service.log.entries.count { $0.contains("listening on") } == 1)
            #expect(service.log.entries.count { $0.contains("metrics for Prometheus") } == 1)
            let token = try await service.makeToken()
            for _ in 0..<3 { _ = try await service.upload(token: token) }
            #expect(try await scrape()[#"refusals_total{limit="UPLOADS_PER_USER"}"#] == 2)
            #expect(try await service.uploadByGallery(cookie: "selfie=\(token)").status == 429)
            #expect(try await scrape()[#"refusals_total{limit="UPLOADS_PER_USER"}"#] == 3)
        }
    }

    @Test("Refusals for lack of permits, and of bodies that are too large, are counted by the limit's name")
    func permits() async throws {
        let settings = ["UPLOADS_AT_ONCE_PER_USER_MAX": "1", "UPLOAD_BYTES_MAX": "200000"]
        try await withMetrics(settings: settings) { service, scrape in
            let token = try await service.makeToken()
            try await service.withBegunUploads(1, token: token) {
                let refused = try await service.upload(token: token)
                #expect(refused.status == 429)
            }
            try await poll("the place is free again") { try await service.upload(token: token).status == 200 }
            #expect(try await service.upload(TestImage.png(bytes: 200_001), token: token).status == 413)
            let metrics = try await scrape()
            #expect(metrics[#"refusals_total{limit="UPLOADS_AT_ONCE_PER_USER"}"#] ?? 0 >= 1)
            #expect(metrics[#"refusals_total{limit="REQUEST_BYTES"}"#] == 1)
        }
    }

    @Test("What a connection answers itself is counted, and has its line")
    func connectionAnswers() async throws {
        try await withMetrics { service, scrape in
            for _ in 0..<3 {
                try await RawConnection.open(port: service.port) { connection in
                    try await connection.send("no request\r\n\r\n")
                    _ = try await connection.readToEnd()
                }
            }
            #expect(try await scrape()[#"http_requests_total{endpoint="none",method="none",status="400"}"#] == 3)
            let line = try #require(service.log.entries.first { $0.contains("status=400") })
            for part in ["method=none", "endpoint=none", "ms=", "bytes=", "network=127.0.0.0/24", "request_id="] {
                #expect(line.contains(part), "\(part)")
            }
        }
    }

    @Test("A photo whose client disconnects counts as broken off, with its bytes, and no longer as in progress")
    func brokenOff() async throws {
        try await withMetrics { service, scrape in
            let token = try await service.makeToken()
            let upload = try await service.upload(TestImage.png(bytes: 20_000_000), token: token)
            let target = try service.target(of: try #require(upload.json["image_url"] as? String))
            try await RawConnection.open(port: service.port) { connection in
                var connection = connection
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                // More than the first pieces, whose end the service has seen then.
                var count = 0
                while count < 3_000_000 { count += try await connection.readSome().count }
            }
            try await poll("its line is there") { service.log.entries.contains { $0.contains("broken_off=true") } }
            let line = try #require(service.log.entries.first { $0.contains("broken_off=true") })
            let bytes = try #require(line.firstMatch(of: /bytes=(\d+)/).flatMap { Int($0.output.1) })
            #expect((1..<20_000_000).contains(bytes))
            #expect(try await scrape()["http_requests_in_progress"] == 0)
        }
    }

    @Test("Waiting deletions, and a store that is down, show")
    func deletions() async throws {
        try await withMetrics(store: .ownS3) { service, scrape in
            let token = try await service.makeToken()
            let randomID = try await Self.upload(service, token)
            guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a bucket") }
            server.stop()
            #expect(try await service.delete(randomID, token: token).status == 200)
            let metrics = try await scrape()
            #expect(metrics["object_deletions_waiting"] == 1)
            #expect(metrics["store_retries_total"] ?? 0 > 0)
            #expect(metrics[#"store_call_duration_seconds_count{call="delete",outcome="unavailable"}"#] ?? 0 > 0)
        }
    }

    @Test("Small pictures are counted, and those that can't be made, by the reason")
    func renditions() async throws {
        try await withMetrics(settings: ["RENDITIONS_AT_ONCE": "1"]) { service, scrape in
            let token = try await service.makeToken()
            _ = try await Self.upload(service, token)
            try await poll("it is made") { try await scrape()[#"renditions_total{outcome="made"}"#] == 1 }
            try await service.postgres.write("UPDATE renditions SET state = 'failed', reason = 'unreadable'")
            let metrics = try await scrape()
            #expect(metrics[#"renditions_failed{reason="unreadable"}"#] == 1)
            #expect(metrics[#"renditions_failed{reason="killed"}"#] == 0)
        }
    }

    @Test("Without METRICS_PORT there are no metrics, and the API's port never has them")
    func off() async throws {
        try await TestService.run { service in
            let answer = try await service.send("GET", "/metrics")
            #expect(answer.status == 404)
        }
        try await withMetrics { service, _ in
            let answer = try await service.send("GET", "/metrics")
            #expect(answer.status == 404)
        }
    }
}
