import Encodings
import FoundationEssentials
package import Push

/// How pushes are sent: `APNS_…`, `FCM_…` and `PUSH_CONTENTS`.
package struct PushSettings: Sendable {
    /// Apple's service.
    package struct APNs: Sendable {
        package let key: APNsKey
        /// The bundle id of devices that name none.
        package let topic: String
        /// The server for apps of the App Store and TestFlight.
        package let productionOrigin: String
        /// The server for apps that Xcode has installed.
        package let sandboxOrigin: String
    }

    /// Google's service.
    package struct FCM: Sendable {
        package let account: FCMAccount
        package let origin: String
    }

    /// nil where Apple is not spoken to.
    package let apns: APNs?
    /// nil where Google is not spoken to.
    package let fcm: FCM?
    /// Whether fields of records may go to Apple, Google and mail servers.
    package let sendsContents: Bool
}

extension SettingsReader {
    /// How pushes are sent.
    package mutating func push() -> PushSettings {
        let sendsContents = optional("PUSH_CONTENTS", "ids or contents", default: false) { text in
            ["ids": false, "contents": true][text]
        }
        return PushSettings(apns: apns(), fcm: fcm(), sendsContents: sendsContents)
    }

    /// One of the four brings the others along.
    private mutating func apns() -> PushSettings.APNs? {
        let keys = ["APNS_KEY", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_TOPIC"]
        let origins = [
            optional("APNS_URL", "an http:// or https:// URL", default: APNsClient.production, parse: Self.origin),
            optional("APNS_SANDBOX_URL", "an http:// or https:// URL", default: APNsClient.sandbox, parse: Self.origin),
        ]
        let pem = optional(
            "APNS_KEY",
            "a private key for ES256 in PEM, such as AuthKey_ABC123DEFG.p8 has, or the path of such a file",
            isSecret: true
        ) { text in
            Self.contents(text).flatMap { pem in (try? APNsKey(pem: pem, id: "", teamID: "")).map { _ in pem } }
        }
        let isWord = { (text: String) in
            text.utf8.count == 10 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
        }
        let id = optional("APNS_KEY_ID", "ten capital letters and digits") { isWord($0) ? $0 : nil }
        let team = optional("APNS_TEAM_ID", "ten capital letters and digits") { isWord($0) ? $0 : nil }
        let topic = optional("APNS_TOPIC", "the app's bundle id, such as com.example.app") { text in
            Self.isTopic(text) ? text : nil
        }
        let missing = keys.filter { source.value(of: $0) == nil }
        if missing.count < keys.count {
            invalid += missing.map { .missing(key: $0, hint: "\(keys.joined(separator: ", ")) belong together") }
        }
        guard let pem, let id, let team, let topic, let key = try? APNsKey(pem: pem, id: id, teamID: team) else {
            return nil
        }
        return PushSettings.APNs(key: key, topic: topic, productionOrigin: origins[0], sandboxOrigin: origins[1])
    }

    private mutating func fcm() -> PushSettings.FCM? {
        let origin = optional("FCM_URL", "an http:// or https:// URL", default: FCMClient.origin, parse: Self.origin)
        let account = optional(
            "FCM_SERVICE_ACCOUNT",
            "the JSON of a service account, or the path of such a file",
            isSecret: true
        ) { text in
            Self.contents(text).flatMap { try? FCMAccount(json: $0) }
        }
        return account.map { PushSettings.FCM(account: $0, origin: origin) }
    }

    /// A key itself, or the contents of the file that has it.
    ///
    /// Some hosters have one line for a setting: `\n` stands for a line's end.
    private static func contents(_ text: String) -> String? {
        if text.hasPrefix("/") { return try? String(contentsOfFile: text, encoding: .utf8) }
        return text.hasPrefix("-----BEGIN") ? text.replacing("\\n", with: "\n") : text
    }

    /// Whether a text may be a bundle id (Apple, "CFBundleIdentifier").
    private static func isTopic(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x2D || byte == 0x2E
            }
    }
}
