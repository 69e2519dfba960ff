import Encodings
import HTTPTypes
import Hummingbird
import SelfieAccounts
import SelfiePhotos

extension PhotoSelection {
    /// Reads which photos a request asks for.
    ///
    /// - Throws: `ServiceError` with status 400, or what reading the body throws.
    init(_ request: Request, context: some ConnectionContext) async throws {
        // Most requests ask for everything, and have nothing to read.
        guard request.uri.query != nil || request.headers.contains(.contentType) else {
            self = .all
            return
        }
        let parameters = try await RequestParameters.read(from: request, context: context)
        self.init(
            order: try Self.order(parameters),
            limit: try parameters.integer(.limit),
            after: try parameters.text(.after)
        )
    }

    private static func order(_ parameters: RequestParameters) throws(ServiceError) -> Order {
        guard let text = try parameters.text(.order) else { return .oldest }
        guard let order = Order(rawValue: text) else {
            throw Endpoint.Parameter.order.invalid
        }
        return order
    }

    /// The header `Link` to the next page (RFC 8288), of a list's URL without a query.
    func link(toPageAfter randomID: String, of list: String) -> String {
        var items = ["after=\(PercentEncoding.string(of: randomID))"]
        if let limit { items.append("limit=\(limit)") }
        if order != .oldest { items.append("order=\(order.rawValue)") }
        return "<\(list)?\(items.joined(separator: "&"))>; rel=\"next\""
    }
}

extension PhotoLibrary {
    /// The tag of a list: another one for each version, selection, user, and day of URLs.
    ///
    /// The number in front changes when the same photos are written in another way.
    func entityTag(of selection: PhotoSelection, urls: PhotoURLDay) -> EntityTag {
        let selected = selection == .all ? "" : " \(selection.order) \(selection.limit ?? 0) \(selection.after ?? "")"
        return EntityTag(urls.code(of: "3 \(userID) \(version.number) \(version.changedAt)\(selected)"))
    }
}
