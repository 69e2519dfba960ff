import CLibCrypto
import CLibCurl

/// Trusted certificates, read once and shared by all connections.
///
/// libcurl itself would read them again for each connection (before 7.87) or each multi handle.
final class TrustStore: Sendable {
    private nonisolated(unsafe) let store: OpaquePointer

    /// - Throws: ``TLSFailure/trustFile(path:)``.
    init(_ source: TrustSource) throws(CurlError) {
        guard let store = X509_STORE_new() else { throw .invalidRequest("there is no memory") }
        self.store = store
        switch source {
        case .system:
            guard X509_STORE_set_default_paths(store) == 1 else { throw .invalidRequest("there is no memory") }
        case .file(let path):
            guard X509_STORE_load_file(store, path) == 1 else {
                ERR_clear_error()
                throw .tls(.trustFile(path: path))
            }
        }
    }

    deinit { X509_STORE_free(store) }

    /// Gives a connection these certificates.
    func use(in context: OpaquePointer) {
        SSL_CTX_set1_cert_store(context, store)
        // libcurl would write the keys of connections to the file of SSLKEYLOGFILE.
        SSL_CTX_set_keylog_callback(context, nil)
    }
}
