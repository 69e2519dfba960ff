import Curl
import ProcessTestSupport

extension MailServerPeer {
    /// Trusts the server's certificate.
    var curl: CurlClient {
        var configuration = CurlConfiguration(environment: [:])
        configuration.trust = .file(path: authorityPath)
        return CurlClient(configuration)
    }
}
