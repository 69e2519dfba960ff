import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport

/// The messages between two users of a cluster.
struct ClusterMessages {
    let members: ClusterMembers

    /// The most that a user leaves in the inbox.
    private static let maxCount = 10

    /// What a run must have had.
    static let calls = ["send message", "inbox", "delete message"]

    /// Sends a message to the partner.
    func send(_ client: inout ClusterClient) async throws {
        let partner = ClusterMembers.partner(of: client.number)
        guard let member = members.id(of: partner) else { return }
        let id = "\(client.name)-m\(client.next())"
        let text = "\(id) to u\(partner)"
        members.begin(id, text, to: partner)
        // Sent again, it is the same message.
        let settled = try await client.succeed(
            "send message",
            "PUT",
            "/api/members/\(member)/records/inbox/\(id)",
            json: #"{"data":{"text":"\#(text)"}}"#
        )
        guard settled.answer.status == 200 else { return }
        client.expect(settled.answer.json["version"] as? Int == 1, "\(id) is \(settled.answer.text.prefix(200))")
        members.sent(id, to: partner)
    }

    /// Lists the inbox, which shows what the user has not deleted.
    ///
    /// A standby may answer, which does not have the newest messages yet.
    func list(_ client: ClusterClient) async throws {
        let answer = try await client.succeed("inbox", "GET", "/api/records/inbox?limit=200").answer
        let texts = members.texts(to: client.number)
        let strange = answer.records.filter { record in
            let text = (record["data"] as? [String: Any])?["text"] as? String
            return text == nil || texts[record["id"] as? String ?? ""] != text
        }
        client.expect(strange.isEmpty, "the inbox has what nobody sent, or what is deleted: \(strange)")
    }

    /// Expects that the feed had all messages that must be there, and no others.
    ///
    /// - Parameters:
    ///   - received: The versions by id that the feed had.
    ///   - due: What was sent before the feed was read.
    ///   - client: The recipient.
    func expect(_ received: [String: Int], due: Set<String>, _ client: ClusterClient) {
        let texts = members.texts(to: client.number)
        let missed = due.filter { received[$0] != 1 }.sorted()
        let extra = received.keys.filter { texts[$0] == nil }.sorted()
        client.expect(missed.isEmpty && extra.isEmpty, "the feed of inbox misses \(missed), and has \(extra)")
    }

    /// Deletes a message that the feed had, if there are many.
    func deleteOne(of received: [String: Int], _ client: inout ClusterClient) async throws {
        let present = members.texts(to: client.number)
        let ids = received.keys.filter { present[$0] != nil }.sorted()
        guard ids.count > Self.maxCount, let id = ids.randomElement(using: &client.generator) else { return }
        _ = try await client.succeed("delete message", "DELETE", "/api/records/inbox/\(id)", allows: [404])
        members.deleted(id, of: client.number)
    }
}
