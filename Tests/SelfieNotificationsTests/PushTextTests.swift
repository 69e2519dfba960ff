import Foundation
import JSON
import Push
import SelfieRecords
import Testing

@testable import SelfieNotifications

@Suite("What a push says")
struct PushTextTests {
    private static let values = PushText.Values(
        collection: "bugs",
        fields: ["title": "{collection} a", "empty": "", "lines": "a\nb"],
        ownerFirstName: "Ada"
    )

    @Test(
        "Placeholders are filled once; what has no value leaves nothing",
        arguments: [
            ("{collection}: {title}", "bugs: {collection} a"),
            ("{owner.first_name} wrote {missing} now", "Ada wrote now"),
            ("a { b } c {", "a c {"), ("{title", "{title"), ("}{title}", "}{collection} a"), ("{lines}", "a b"),
            ("{missing}", nil), ("{empty} {missing}", nil), ("plain", "plain"),
        ] as [(String, String?)]
    )
    func filled(text: String, expected: String?) {
        #expect(PushText(text).filled(with: Self.values) == expected)
    }

    @Test("A text has 200 characters at most, cut between characters")
    func cut() {
        for count in [199, 200, 201, 5_000] {
            let values = PushText.Values(collection: "bugs", fields: ["a": String(repeating: "🙂", count: count)])
            let text = PushText("{a}").filled(with: values) ?? ""
            #expect(text.unicodeScalars.count == min(count, 200) && text.hasSuffix(count > 200 ? "…" : "🙂"))
        }
    }

    @Test("A long field that is named often is cut before it is put together")
    func often() {
        let values = PushText.Values(collection: "bugs", fields: ["a": String(repeating: " ", count: 1 << 20)])
        let start = ContinuousClock.now
        for _ in 0..<100 { _ = PushText(String(repeating: "{a}", count: 66)).filled(with: values) }
        // Uncut, it takes minutes.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    /// A push with the longest of everything.
    private static func longest(alert: String, isSilent: Bool = false) -> ComposedPush {
        ComposedPush(
            id: UUID(),
            device: Device(
                id: 1,
                sessionID: 1,
                platform: .apns,
                token: "ab12",
                environment: .production,
                topic: nil,
                badge: 0,
                registeredAt: Date()
            ),
            alert: isSilent ? nil : alert,
            sound: isSilent ? nil : String(repeating: "s", count: Subscription.maxSoundBytes),
            badge: isSilent ? nil : 9_999,
            isSilent: isSilent,
            collapse: String(repeating: "c", count: Subscription.maxCollapseBytes),
            hint: ComposedPush.Hint(
                collection: String(repeating: "c", count: 255),
                id: String(repeating: "i", count: 255),
                type: .created,
                subscription: String(repeating: "n", count: 255)
            ),
            expiresAt: Date(timeIntervalSince1970: 1_800_000_000)
        )
    }

    @Test("The longest push is no longer than Apple takes", arguments: ["\u{10FFFF}", "\"", "\u{1F642}"])
    func longest(character: String) {
        let request = Self.longest(alert: String(repeating: character, count: 200)).apnsRequest(
            topic: "com.example.app"
        )
        #expect(request.payload.utf8.count <= APNsRequest.maxPayloadBytes, "\(request.payload.utf8.count)")
        #expect((request.collapseID ?? "").utf8.count <= APNsRequest.maxCollapseBytes)
        #expect(request.kind == .alert && request.topic == "com.example.app")
    }

    @Test("A silent push shows nothing, at Apple and at Google")
    func silent() throws {
        let push = Self.longest(alert: "", isSilent: true)
        #expect(
            push.apnsRequest(topic: "t").payload.hasPrefix(#"{"aps":{"content-available":1},"selfie":{"collection":"c"#)
        )
        #expect(push.apnsRequest(topic: "t").kind == .background)
        let message = push.fcmMessage.text
        #expect(!message.contains("\"notification\"") && message.contains(#""priority":"normal""#))
        #expect(message.contains(#""apns-push-type":"background","apns-priority":"5""#))
    }

    @Test("Google gets the same, for Android and for Apple's devices")
    func google() {
        let message = Self.longest(alert: "Hello").fcmMessage.text
        for part in [
            #""notification":{"body":"Hello"}"#, #""collapse_key":"ccc"#, #""notification_count":9999"#,
            #""priority":"high""#, #""aps":{"alert":"Hello","sound":"sss"#, #""apns-collapse-id":"ccc"#,
        ] {
            #expect(message.contains(part), "\(part)")
        }
    }
}
