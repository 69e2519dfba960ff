import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import S3

/// Why no answer came over HTTP, as far as the error shows.
enum NetworkFailure: String {
    case hostNotFound = "there is no such host"
    case refused = "nothing listens there"
    case unreachable = "there is no route to it"
    case silent = "it does not answer in time"
    case tls = "no encrypted connection can be set up"
    case broken = "the connection broke off"
    case notS3 = "the server does not speak S3"

    /// - Parameter cause: The error of the HTTP client or the system. The result is nil for an unknown one.
    init?(_ cause: any Error) {
        switch cause {
        case let error as NIOConnectionError:
            // One of the two look-ups may fail although the other finds an address.
            self = error.connectionErrors.first.map { NetworkFailure($0.error) ?? .unreachable } ?? .hostNotFound
        case let error as IOError: self = NetworkFailure(errno: error.errnoCode)
        case is SocketAddressError: self = .hostNotFound
        case S3NoAnswer.silent, S3NoAnswer.overdue: self = .silent
        case S3NoAnswer.malformed, is NIOTooManyBytesError: self = .notS3
        case let error where error.isOfOtherProtocol: self = .notS3
        case is HTTPParserError: self = .broken
        case is LimitExceeded: self = .silent
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .readTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout: self = .silent
            case .tlsHandshakeTimeout: self = .tls
            default: self = .broken
            }
        case ChannelError.connectTimeout: self = .silent
        case is ChannelError: self = .broken
        default:
            // AsyncHTTPClient passes on errors of NIOSSL, which is not a dependency of this module.
            guard String(reflecting: type(of: cause)).hasPrefix("NIOSSL.") else { return nil }
            self = .tls
        }
    }

    private init(errno: CInt) {
        switch errno {
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .silent
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: self = .unreachable
        default: self = .broken
        }
    }

    func diagnosis(url: String) -> Diagnosis { Diagnosis(cause: "\(url) can't be used: \(rawValue)", remedy: remedy) }

    private var remedy: String {
        switch self {
        case .hostNotFound:
            "Check AWS_ENDPOINT_URL_S3 and AWS_REGION. Many stores need S3_FORCE_PATH_STYLE=true. See docs/stores.md#settings."
        case .refused: "Start the store, or correct AWS_ENDPOINT_URL_S3."
        case .unreachable, .silent: "Check AWS_ENDPOINT_URL_S3, and the network and firewall in between."
        case .tls: "Check the store's certificate, and https:// in AWS_ENDPOINT_URL_S3. See docs/stores.md#errors."
        case .broken:
            "Run selfie doctor again. If that does not help, the store may need https:// in AWS_ENDPOINT_URL_S3."
        case .notS3: "Set AWS_ENDPOINT_URL_S3 to the store's S3 interface, not to its web console."
        }
    }
}
