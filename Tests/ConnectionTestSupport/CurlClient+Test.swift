package import Curl

extension CurlClient {
    /// For tests whose connections matter to nobody.
    package static let shared = CurlClient()
}
