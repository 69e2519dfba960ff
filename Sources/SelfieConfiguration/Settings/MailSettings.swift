import Encodings
package import Mail
package import SelfieAccounts

/// How mails are sent: `SMTP_URL`, `MAIL_FROM`, `MAIL_TEMPLATES`, `APP_NAME`, `APP_URL` and `NOTICES`.
package struct MailSettings: Sendable {
    /// Where mails go.
    package enum Destination: Sendable {
        case server(MailServer)
        /// A folder, for development.
        case outbox(folder: String)
    }

    package let destination: Destination
    package let sender: MailSender
    /// The folder with texts that replace the built-in ones; nil for none.
    package let templates: String?
    package let appName: String
    package let appURL: String?
    /// Whether users are told of sign-ins from new places.
    package let tellsOfSignIns: Bool
}

extension ConfigurationSource {
    /// Tells users what a command did to their accounts.
    ///
    /// - Parameter outbox: A folder that gets all mails instead of a server; nil for none.
    /// - Returns: nil when the settings for that are missing or malformed.
    package func notices(outbox: String?) -> Notices? {
        guard
            let (mail, secret) = try? read({ settings in
                settings.mail(outbox: outbox).flatMap { mail in settings.secretKeyBase().map { (mail, $0) } }
            })
        else { return nil }
        return Notices(secret: secret, includesSignIns: mail.tellsOfSignIns)
    }
}

extension SettingsReader {
    package mutating func secretKeyBase() -> String? {
        required("SECRET_KEY_BASE", "at least 32 characters", isSecret: true) { $0.count >= 32 ? $0 : nil }
    }

    /// How mails are sent.
    ///
    /// - Parameter outbox: A folder that gets all mails instead of a server; nil for none.
    /// - Returns: nil when none are sent.
    package mutating func mail(outbox: String? = nil) -> MailSettings? {
        let server = optional("SMTP_URL", Self.expectedServer, isSecret: true) { try? MailServer($0) }
        let sender = optional("MAIL_FROM", Self.expectedSender) { try? MailSender($0) }
        let templates = text("MAIL_TEMPLATES")
        let appName = optional(
            "APP_NAME",
            "a line of at most \(Self.maxAppNameCharacters) characters",
            default: "Selfie"
        ) { name in
            name.unicodeScalars.count <= Self.maxAppNameCharacters && !name.unicodeScalars.contains(where: \.isControl)
                ? name : nil
        }
        let appURL = optional("APP_URL", "an http:// or https:// URL", parse: Self.origin)
        let tellsOfSignIns = optional("NOTICES", "signin, or not set", default: false) { $0 == "signin" ? true : nil }
        if server != nil, outbox == nil, source.value(of: "MAIL_FROM") == nil {
            invalid.append(.missing(key: "MAIL_FROM", hint: "whom mails are from"))
        }
        let destination: MailSettings.Destination
        if let outbox {
            destination = .outbox(folder: outbox)
        } else if let server {
            destination = .server(server)
        } else {
            return nil
        }
        guard let sender = sender ?? (outbox == nil ? nil : try? MailSender(Self.senderInDevelopment)) else {
            return nil
        }
        return MailSettings(
            destination: destination,
            sender: sender,
            templates: templates,
            appName: appName,
            appURL: appURL,
            tellsOfSignIns: tellsOfSignIns
        )
    }

    /// Whether a sign-in needs an address that is proven; that needs mails.
    mutating func needsVerifiedEmail(hasMail: Bool) -> Bool {
        let isNeeded = optional("VERIFIED_EMAIL", "required, or not set", default: false) {
            $0 == "required" ? true : nil
        }
        if isNeeded { requireMail(hasMail, for: "VERIFIED_EMAIL=required") }
        return isNeeded
    }

    /// Whether accounts may be made without a password; that needs mails.
    mutating func signsUpWithoutPassword(hasMail: Bool) -> Bool {
        let isAllowed = boolean("SIGNUP_WITHOUT_PASSWORD", default: false)
        if isAllowed { requireMail(hasMail, for: "SIGNUP_WITHOUT_PASSWORD=true") }
        return isAllowed
    }

    private mutating func requireMail(_ hasMail: Bool, for setting: String) {
        let isReported = invalid.contains { error in
            switch error {
            case .missing(let key, _), .malformed(let key, _): ["SMTP_URL", "MAIL_FROM"].contains(key)
            }
        }
        if !hasMail, !isReported { invalid.append(.missing(key: "SMTP_URL", hint: "\(setting) sends codes by mail")) }
    }

    private static let maxAppNameCharacters = 60
    private static let expectedServer = """
        a URL such as smtps://user:password@mail.example.com:465 or smtp://user:password@mail.example.com:587
        """
    private static let expectedSender = "an address, perhaps with a name: Selfie <no-reply@example.com>"
    /// A name that no server has (RFC 6761, section 6.4).
    private static let senderInDevelopment = "Selfie <selfie@selfie.invalid>"
}
