import Curl
import S3

/// Why no answer came over HTTP, as far as the error shows.
enum NetworkFailure: Equatable {
    case hostNotFound
    case refused
    case unreachable
    case proxy
    case silent
    case tls(TLSFailure)
    case broken
    case notS3

    /// - Parameter cause: The error of the HTTP client or the store's client. The result is nil for an unknown one.
    init?(_ cause: any Error) {
        switch cause {
        case let failure as CurlFailure: self.init(failure.reason)
        case let error as CurlError:
            switch error {
            case .unresolved: self = .hostNotFound
            case .refused: self = .refused
            case .unreachable, .addressNotAllowed: self = .unreachable
            case .proxy: self = .proxy
            case .timedOut(.resolving): self = .hostNotFound
            case .timedOut(.handshake): self = .tls(.handshake("it did not end in time"))
            case .timedOut, .silent, .overdue: self = .silent
            case .tls(let failure): self = .tls(failure)
            case .cutOff: self = .broken
            case .tooLarge, .notHTTP: self = .notS3
            case .loginNotOffered, .cancelled, .source, .invalidRequest, .noDescriptor, .other: return nil
            }
        case S3NoAnswer.silent, S3NoAnswer.overdue: self = .silent
        case S3NoAnswer.malformed: self = .notS3
        default: return nil
        }
    }

    func diagnosis(url: String) -> Diagnosis { Diagnosis(cause: "\(url) can't be used: \(cause)", remedy: remedy) }

    private var cause: String {
        switch self {
        case .hostNotFound: "there is no such host"
        case .refused: "nothing listens there"
        case .unreachable: "there is no route to it"
        case .proxy: "the proxy that the environment names can't be used"
        case .silent: "it does not answer in time"
        case .tls(let failure): "no encrypted connection can be set up, because \(failure)"
        case .broken: "the connection broke off"
        case .notS3: "the server does not speak S3"
        }
    }

    private var remedy: String {
        switch self {
        case .hostNotFound:
            "Check AWS_ENDPOINT_URL_S3 and AWS_REGION. Many stores need S3_FORCE_PATH_STYLE=true. See docs/stores.md#settings."
        case .refused: "Start the store, or correct AWS_ENDPOINT_URL_S3."
        case .unreachable, .silent: "Check AWS_ENDPOINT_URL_S3, and the network and firewall in between."
        case .proxy: "Check https_proxy and http_proxy. Name hosts in no_proxy that need no proxy."
        case .tls(.trustFile): "Set SSL_CERT_FILE to a file with certificates in PEM, or remove it."
        case .tls(.selfSigned), .tls(.unknownIssuer):
            "Set SSL_CERT_FILE to a file with the certificate of the store's authority. See docs/stores.md#errors."
        case .tls: "Check the store's certificate, and https:// in AWS_ENDPOINT_URL_S3. See docs/stores.md#errors."
        case .broken:
            "Run selfie doctor again. If that does not help, the store may need https:// in AWS_ENDPOINT_URL_S3."
        case .notS3: "Set AWS_ENDPOINT_URL_S3 to the store's S3 interface, not to its web console."
        }
    }
}
