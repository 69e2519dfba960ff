/// How clients get photos' bytes: `PHOTO_DELIVERY`.
package enum PhotoDelivery: String, CaseIterable, Sendable {
    /// From the bucket, by a redirect to a URL that ends by itself.
    case redirect
    /// Through the service.
    case proxy
}
