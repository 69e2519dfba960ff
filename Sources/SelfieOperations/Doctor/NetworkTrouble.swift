import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import S3

/// Why no answer came over HTTP, as far as the error tells.
///
/// It does no I/O.
enum NetworkTrouble: Sendable, CaseIterable {
    case hostNotFound, refused, unreachable, silent, tls, broken, notS3

    /// - Parameter cause: The error of the HTTP client or the system. The result is nil for an unknown one.
    init?(_ cause: any Error) {
        switch cause {
        case let error as NIOConnectionError:
            // One of the two look-ups may fail although the other finds an address.
            guard let failure = error.connectionErrors.first else {
                self = .hostNotFound
                return
            }
            self = NetworkTrouble(failure.error) ?? .unreachable
        case let error as IOError: self = Self.trouble(errno: error.errnoCode)
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
            // AsyncHTTPClient passes on errors of NIOSSL, which we do not import.
            guard String(reflecting: type(of: cause)).hasPrefix("NIOSSL.") else { return nil }
            self = .tls
        }
    }

    private static func trouble(errno: CInt) -> NetworkTrouble {
        switch errno {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .silent
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: .unreachable
        default: .broken
        }
    }

    func explanation(_ address: BucketAddress) -> Explanation {
        let (text, advice) = pair(address)
        return Explanation(text: text, advice: advice)
    }

    private func pair(_ address: BucketAddress) -> (String, String) {
        switch self {
        case .hostNotFound where address.usesPathStyle:
            (
                "there is no host \(address.host)",
                "Check AWS_ENDPOINT_URL_S3 (or AWS_REGION, if it is not set) for a typing error, and this machine's DNS."
            )
        case .hostNotFound:
            (
                "there is no host \(address.host)",
                """
                The bucket's name is put before the store's host. Many stores other than AWS want it in the path: set \
                S3_FORCE_PATH_STYLE=true. Otherwise check S3_BUCKET_NAME, AWS_ENDPOINT_URL_S3 and AWS_REGION for typing \
                errors, and this machine's DNS.
                """
            )
        case .refused:
            (
                "nothing listens at \(address.host)",
                "Start the store, or correct the host and port in AWS_ENDPOINT_URL_S3."
            )
        case .unreachable:
            (
                "there is no way to \(address.host)",
                "Check AWS_ENDPOINT_URL_S3, and the network, routes and firewall between this machine and the store."
            )
        case .silent:
            (
                "\(address.host) does not answer in time",
                """
                The store is stopped or overloaded, or a firewall drops what is sent to it. Check AWS_ENDPOINT_URL_S3, and \
                whether this machine may reach it.
                """
            )
        case .tls:
            (
                "no encrypted connection to \(address.host) can be set up",
                """
                Its certificate is not valid for this host, has ended, or is signed by an authority that this machine does \
                not know (install ca-certificates, or the authority's own certificate); or the store speaks no TLS at \
                this port, and AWS_ENDPOINT_URL_S3 must begin with http://. A bucket's name with dots fits no certificate \
                of the store's: set S3_FORCE_PATH_STYLE=true.
                """
            )
        case .broken:
            (
                "the connection to \(address.host) broke off",
                """
                Run selfie doctor again. If it stays, something between this machine and the store cuts connections, or \
                AWS_ENDPOINT_URL_S3 has http:// where the store wants https://.
                """
            )
        case .notS3:
            (
                "what answers at \(address.host) does not speak S3",
                "Check AWS_ENDPOINT_URL_S3: it must be the address of the store's S3 interface, not of its web console."
            )
        }
    }
}
