/// How clients get photos' bytes: `PHOTO_DELIVERY`.
package enum PhotoDelivery: String, CaseIterable, Sendable {
    /// From the bucket, by a redirect to a URL that expires.
    case redirect
    /// Through the service.
    case proxy
}
