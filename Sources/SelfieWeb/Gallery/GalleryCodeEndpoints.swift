import Hummingbird
import SelfieConfiguration

struct GalleryCodeEndpoints: EndpointGroup {
    static let endpoints: [HandledEndpoint<Self>] = []
    static func isOpen(_ settings: ServiceConfiguration) -> Bool { settings.hasGallery && settings.mail != nil }
    init(_ parts: WebParts) {}
}
