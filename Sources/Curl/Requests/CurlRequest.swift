package import NIOHTTP1

/// A request to send.
package struct CurlRequest: Sendable {
    /// `GET`, `PUT` and so on.
    package var method: HTTPMethod = .GET
    /// `http` or `https`, visible ASCII only; sent as it is spelled.
    package var url: String
    /// Sent as they are, besides `Content-Length` and, if it is missing, `Host`.
    package var headers: HTTPHeaders = [:]
    package var body: RequestBody?
    /// What is sent instead, by SMTP; its message is ``body``.
    var mail: MailRequest?

    /// Makes a `GET` without headers.
    ///
    /// Change single values after making this.
    package init(url: String) { self.url = url }

    var usesTLS: Bool {
        if let mail { mail.protection != .none } else { url.lowercased().hasPrefix("https:") }
    }

    init(_ mail: MailRequest) {
        url = mail.url
        body = mail.message.map { .bytes($0) }
        self.mail = mail
    }
}
