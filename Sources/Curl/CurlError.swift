/// Why a transfer brought no answer, or not all of it.
///
/// No description of it holds a header, a body, or more of a URL than its host.
package enum CurlError: Error {
    /// The host's name has no address, or no name server answers.
    case unresolved
    /// Nothing listens at the address.
    case refused
    /// No network leads to the address.
    case unreachable
    /// The proxy of the environment can't be reached, or does not let the connection through.
    case proxy
    /// The guard does not allow the address that the host's name has.
    case addressNotAllowed
    /// No connection was there in time; which step took too long.
    case timedOut(ConnectionStep)
    /// TLS can't be had with this peer.
    case tls(TLSFailure)
    /// No byte went either way for the time that the deadlines allow.
    case silent
    /// The whole transfer took longer than the deadlines allow.
    case overdue
    /// The process, or the system, has no descriptor for another connection.
    case noDescriptor
    /// The connection ended before the answer did.
    case cutOff
    /// The answer's head is larger than ``ResponseHeadParser/maxBytes``, or its body than the caller allows.
    case tooLarge
    /// What answers does not speak HTTP, or SMTP to a mail.
    case notHTTP
    /// The mail server offers no way to sign in that libcurl knows.
    case loginNotOffered
    /// The task was cancelled.
    case cancelled
    /// The body to send can't be read, or has another length than it said.
    case source(any Error)
    /// The URL, the method or a header can't be sent, or the machine's libcurl can't send it.
    case invalidRequest(String)
    /// Another error of libcurl, by its number (`CURLcode`).
    case other(Int)
}

/// The steps until a request can be sent.
package enum ConnectionStep: Sendable, Hashable {
    /// All connections to the host are in use.
    case waiting
    case resolving
    case connecting
    case handshake
}

/// Why TLS can't be had with a peer.
package enum TLSFailure: Sendable, Hashable {
    /// The certificate's time is over, or has not come.
    case expired
    /// The certificate is its own issuer, and not among the trusted ones.
    case selfSigned
    /// No trusted authority has issued the certificate.
    case unknownIssuer
    /// The certificate is for other names.
    case wrongName
    /// The certificate is bad in another way, as libcrypto says.
    case badCertificate(String)
    /// The peer speaks no version from 1.2 on.
    case oldVersion
    /// What answers does not speak TLS.
    case notTLS
    /// The mail server offers no STARTTLS.
    case notOffered
    /// The handshake failed in another way, as libssl says.
    case handshake(String)
    /// The file of `SSL_CERT_FILE` can't be read, or holds no certificate.
    case trustFile(path: String)
}

extension CurlError: CustomStringConvertible {
    /// One line for a log.
    package var description: String {
        switch self {
        case .unresolved: "the host's name has no address"
        case .refused: "the connection was refused"
        case .unreachable: "no network leads to the address"
        case .proxy: "the proxy of the environment can't be used"
        case .addressNotAllowed: "the host's address is not allowed"
        case .timedOut(.waiting): "no connection was free in time"
        case .timedOut(.resolving): "the host's name was not resolved in time"
        case .timedOut(.connecting): "no connection was made in time"
        case .timedOut(.handshake): "the TLS handshake did not end in time"
        case .tls(let failure): "TLS failed: \(failure)"
        case .silent: "no byte came or went in time"
        case .overdue: "it took too long as a whole"
        case .noDescriptor: "there is no descriptor for another connection"
        case .cutOff: "the connection ended early"
        case .tooLarge: "the answer is too large"
        case .notHTTP: "what answers does not speak the protocol"
        case .loginNotOffered: "the mail server offers no way to sign in"
        case .cancelled: "cancelled"
        case .source(let error): "the body to send can't be read: \(error)"
        case .invalidRequest(let reason): "the request can't be sent: \(reason)"
        case .other(let code): "libcurl's error \(code)"
        }
    }
}

extension TLSFailure: CustomStringConvertible {
    /// A part of a sentence.
    package var description: String {
        switch self {
        case .expired: "the certificate has expired, or is not valid yet"
        case .selfSigned: "the certificate is self-signed"
        case .unknownIssuer: "the certificate's issuer is not trusted"
        case .wrongName: "the certificate is for another name"
        case .badCertificate(let reason): "the certificate is bad: \(reason)"
        case .oldVersion: "the peer does not speak TLS 1.2 or later"
        case .notTLS: "the peer does not speak TLS"
        case .notOffered: "the mail server offers no STARTTLS"
        case .handshake(let reason): "the handshake failed: \(reason)"
        case .trustFile(let path): "the file \(path) of SSL_CERT_FILE can't be read, or holds no certificate"
        }
    }
}

extension CurlError {
    var isCancellation: Bool {
        if case .cancelled = self { true } else { false }
    }
}
