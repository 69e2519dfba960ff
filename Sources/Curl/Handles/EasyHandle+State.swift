import CLibCurl
import Glibc

extension EasyHandle {
    /// Which step it is at, before its request can be sent; nil afterwards.
    var step: ConnectionStep? {
        if isResolving { return .resolving }
        return number(CURLINFO_PRETRANSFER_TIME_T) > 0 ? nil : lastStep
    }

    /// Looks whether the peer has acknowledged bytes of the body since the last look.
    ///
    /// What the system holds for it has not moved.
    func noteAcknowledged() {
        guard let socket else { return }
        let held = linux_unacknowledged_bytes(socket)
        guard held >= 0 else { return }
        let acknowledged = number(CURLINFO_SIZE_UPLOAD_T) - curl_off_t(held)
        guard acknowledged > self.acknowledged else { return }
        self.acknowledged = acknowledged
        transfer.noteProgress()
    }

    /// Why libcurl has ended the transfer; nil when it is complete.
    func failure(of code: CURLcode) -> CurlError? {
        if code != CURLE_OK, code != CURLE_COULDNT_RESOLVE_HOST, isAtProxy { return .proxy }
        // A mail server's refusal is an answer, whatever libcurl makes of it.
        if let reply = transfer.reply, reply.code >= 400 { return nil }
        return switch code {
        case CURLE_OK: nil
        case CURLE_COULDNT_RESOLVE_HOST: .unresolved
        case CURLE_COULDNT_CONNECT: hasForbiddenAddress ? .addressNotAllowed : connectionFailure
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxy
        case CURLE_OPERATION_TIMEDOUT: .timedOut(step ?? .connecting)
        case CURLE_PEER_FAILED_VERIFICATION: .tls(certificateFailure)
        case CURLE_SSL_CONNECT_ERROR: .tls(handshakeFailure)
        case CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .cutOff
        case CURLE_USE_SSL_FAILED: .tls(.notOffered)
        case CURLE_LOGIN_DENIED where transfer.request.mail != nil: .loginNotOffered
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .notHTTP
        case CURLE_URL_MALFORMAT: .invalidRequest("the URL is malformed")
        default: .other(Int(code.rawValue))
        }
    }

    /// Whether the proxy has not given a connection to the host yet.
    private var isAtProxy: Bool {
        hasProxy && [.resolving, .connecting].contains(step)
    }

    private var connectionFailure: CurlError {
        if hasNoDescriptor { return .noDescriptor }
        var code = 0
        _ = curl_get_long(handle, CURLINFO_OS_ERRNO, &code)
        return switch CInt(code) {
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: .unreachable
        case ETIMEDOUT: .timedOut(.connecting)
        default: .refused
        }
    }

    private var certificateFailure: TLSFailure {
        var code = 0
        _ = curl_get_long(handle, CURLINFO_SSL_VERIFYRESULT, &code)
        return switch CInt(code) {
        // The chain is fine, so libcurl has refused the name. It does so before it asks libssl for the result.
        case X509_V_OK, X509_V_ERR_UNSPECIFIED: .wrongName
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: .expired
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            .unknownIssuer
        default: .badCertificate(String(cString: X509_verify_cert_error_string(code)))
        }
    }

    private var handshakeFailure: TLSFailure {
        let text = lastMessage
        // libssl's words: there are no numbers for them.
        if text.contains("wrong version number") { return .notTLS }
        let isOld = ["unsupported protocol", "alert protocol version"].contains(where: text.contains)
        return isOld ? .oldVersion : .handshake(text)
    }

    private func number(_ info: CURLINFO) -> curl_off_t {
        var value: curl_off_t = 0
        _ = curl_get_number(handle, info, &value)
        return value
    }
}
