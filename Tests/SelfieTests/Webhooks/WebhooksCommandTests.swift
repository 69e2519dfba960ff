import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie webhooks", .timeLimit(.minutes(3)))
struct WebhooksCommandTests {
    private static func run(_ url: String, _ arguments: [String], networks: String? = nil) async throws
        -> ProgramOutcome
    {
        var environment = ["DATABASE_URL": url, "SECRET_KEY_BASE": String(repeating: "secret-key-base-", count: 4)]
        environment["WEBHOOK_NETWORKS"] = networks
        return try await SelfieProcess.run(["webhooks"] + arguments, environment: environment)
    }

    @Test("A webhook is added, shown, tried, disabled, enabled, given another secret, and removed")
    func life() async throws {
        try await WebhookReceiver.with { receiver in
            try await TestCluster.withDatabase { url in
                let inside = "127.0.0.1"
                let added = try await Self.run(
                    url,
                    ["add", receiver.url, "--on", "photos.created,users"],
                    networks: inside
                )
                let secret = try #require(added.output.firstMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/)).0
                try receiver.reply(.init(secret: String(secret)))
                let list = try await Self.run(url, ["list"]).output
                #expect(list.contains("photos.created,users") && list.contains("enabled") && !list.contains("whsec_"))
                let shown = try await Self.run(url, ["show", "1", "--json"]).output
                let json = try #require(try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: Any])
                #expect(json["url"] as? String == receiver.url && json["is_full"] as? Bool == false)
                #expect(json["waiting_count"] as? Int == 0 && json["secret"] == nil)

                #expect(
                    try await Self.run(url, ["test", "1"], networks: inside).output == "The receiver answered 200.\n"
                )
                #expect(try receiver.requests().map(\.isVerified) == [true])
                #expect(try receiver.requests()[0].body.hasPrefix(#"{"type":"test","timestamp":"#))
                let forbidden = try await Self.run(url, ["test", "1"])
                #expect(forbidden.status == 1 && forbidden.errors.contains("the host's address is not allowed"))
                try receiver.reply(.init(status: 500))
                let failed = try await Self.run(url, ["test", "1"], networks: inside)
                #expect(failed.status == 1 && failed.errors.contains("The receiver answered 500."))

                #expect(try await Self.run(url, ["disable", "1"]).output == "Webhook 1 is disabled.\n")
                #expect(try await Self.run(url, ["disable", "1"]).output == "Webhook 1 was already disabled.\n")
                #expect(try await Self.run(url, ["list"]).output.contains(" disabled "))
                #expect(try await Self.run(url, ["enable", "1"]).output == "Webhook 1 is enabled.\n")
                let rotated = try await Self.run(url, ["rotate", "1", "--json"]).output
                #expect(rotated.contains("whsec_") && !rotated.contains(secret))
                #expect(try await Self.run(url, ["show", "1"]).output.contains("old secret until"))
                #expect(try await Self.run(url, ["remove", "1"]).output == "Webhook 1 is removed.\n")
                for command in ["show", "test", "disable", "enable", "rotate", "remove"] {
                    let missing = try await Self.run(url, [command, "1"])
                    #expect(missing.status == 1 && missing.errors.contains("There is no such webhook."), "\(command)")
                }
            }
        }
    }

    @Test(
        "What can't be a webhook is refused, with the reason",
        arguments: [
            (["ftp://example.com", "--on", "users"], "must begin with https://"),
            (["https://a:b@example.com", "--on", "users"], "no user and no fragment"),
            (["http://example.com", "--on", "users"], "only for networks that WEBHOOK_NETWORKS names"),
            (["https://example.com", "--on", "cats"], "There is no event \"cats\""),
            (["https://example.com", "--on", "users.updated"], "There is no event \"users.updated\""),
            (["https://example.com", "--on", "photos.disabled"], "There is no event"),
            (["https://example.com", "--on", ","], "Name at least one event"), (["https://example.com"], "--on"),
        ]
    )
    func refusals(arguments: [String], text: String) async throws {
        try await TestCluster.withDatabase { url in
            let outcome = try await Self.run(url, ["add"] + arguments)
            #expect(outcome.status != 0 && outcome.errors.contains(text), "\(outcome.errors)")
            #expect(try await Self.run(url, ["list", "--json"]).output.filter { !$0.isWhitespace } == "[]")
        }
    }

    @Test("doctor names what keeps events from a webhook, and sends none")
    func doctor() async throws {
        try await WebhookReceiver.with { receiver in
            try await TestCluster.withDatabase { url in
                try await TemporaryFolder.with { folder in
                    let inside = "127.0.0.0/8"
                    let settings = DoctorRun.settings(databaseURL: url, objects: .disk(folder))
                    let doctor = { (more: [String: String]) in
                        try await DoctorRun(settings.merging(more) { $1 }).text
                    }
                    #expect(try await doctor([:]).contains("ok Webhooks: there are none"))
                    _ = try await SelfieProcess.run(
                        ["webhooks", "add", receiver.url, "--on", "users"],
                        environment: settings.merging(["WEBHOOK_NETWORKS": inside]) { $1 }
                    )
                    let host = "webhook 1 at 127.0.0.1:\(receiver.port)"
                    #expect(
                        try await doctor(["WEBHOOK_NETWORKS": inside]).contains("ok Webhooks: \(host) can be reached")
                    )
                    let forbidden = try await doctor([:])
                    #expect(forbidden.contains("\(host) can't be reached: the host's address is not allowed"))
                    #expect(forbidden.contains("What to do: Its address is in no public network."))
                    let other = [
                        "SECRET_KEY_BASE": String(repeating: "another-", count: 8), "WEBHOOK_NETWORKS": inside,
                    ]
                    #expect(try await doctor(other).contains("sealed with another SECRET_KEY_BASE"))
                    try await TestCluster.withClient(url) { postgres in
                        try await postgres.write("UPDATE webhooks SET failing_since = now()")
                        #expect(
                            try await doctor(["WEBHOOK_NETWORKS": inside]).contains("can be reached, and takes nothing")
                        )
                        for (reason, text) in [
                            ("gone", "its receiver answered 410"), ("failing", "nothing was taken for days"),
                            ("by_hand", "ok Webhooks: webhook 1 is disabled"),
                        ] {
                            try await postgres.write(
                                "UPDATE webhooks SET disabled_at = now(), disabled_reason = \(reason)"
                            )
                            #expect(try await doctor([:]).contains(text), "\(reason)")
                        }
                    }
                    #expect(try receiver.requests().isEmpty)
                }
            }
        }
    }
}
