import Foundation
import SelfieClient

/// The calls about photos.
enum PhotoCalls {
    static let routes = [
        Route("POST", "api/upload_photo", .user(upload)),
        Route("GET", "api/get_photos", .user(list)),
        Route("DELETE", "api/delete_photo", .user(delete)),
        Route("GET", "photos/*", .open(load)),
    ]

    // MARK: Uploading and deleting

    private static func upload(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let form = try MultipartForm(request)
        guard let file = form.files["image"], let title = form.fields["title"] else {
            throw ServiceRefusal.parametersMissing
        }
        let fields = form.fields.mapValues { JSONValue.string($0) }
        let isListed = try RequestParameters(values: fields).flag("listed", otherwise: true)
        if file.bytes.isEmpty { throw ServiceRefusal.invalid("image", "can't be blank", code: "blank") }
        if title.count > 255 {
            throw ServiceRefusal.invalid("title", "is too long (maximum is 255 characters)", code: "too_long")
        }
        guard let format = PhotoFormat(file.bytes) else {
            let message = "image - is not a JPEG, PNG, GIF, WebP, HEIC or AVIF photo,"
            throw ServiceRefusal(status: 415, code: "photo_format_unknown", message: message)
        }
        let (key, owner) = (request.headers["idempotency-key"], session.userID)
        if let earlier = try state.photos.earlier(key, owner, title: title, bytes: file.bytes, isListed: isListed) {
            return .json(state.json(of: earlier), headers: ["Idempotency-Replayed": "true"])
        }
        let photo = state.photos.add(
            file,
            format,
            title: title,
            isListed: isListed,
            of: owner,
            key: key,
            at: state.now
        )
        if isListed { state.grants.set([owner: .all], of: .photo(photo.id)) }
        return .json(state.json(of: photo))
    }

    private static func delete(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let id = try request.parameters.require("photo_id")
        guard state.photos[id]?.ownerID == session.userID else {
            let message = "Invalid Photo ID or You don't have permission to delete this photo!"
            throw ServiceRefusal(status: 401, code: "photo_not_found", message: message)
        }
        state.deletePhoto(id)
        return .message("Image deleted")
    }

    // MARK: Listing

    private static func list(_ state: inout ServiceState, _ request: ServiceRequest, _ session: Session) throws
        -> ServiceAnswer
    {
        let order = request.query["order"] ?? "oldest"
        guard ["oldest", "newest"].contains(order) else {
            throw ServiceRefusal.invalid("order", valid: "oldest or newest")
        }
        let limit = try request.number("limit", in: 1...500)
        var photos = state.photos.list(of: session.userID)
        if order == "newest" { photos.reverse() }
        if let after = request.query["after"] {
            guard let index = photos.firstIndex(where: { $0.id == after }) else {
                throw ServiceRefusal.invalid("after", valid: "the random_id of a photo in the list")
            }
            photos = Array(photos[(index + 1)...])
        }
        var headers: [String: String] = [:]
        if let limit, photos.count > limit {
            photos = Array(photos.prefix(limit))
            let path = "\(state.origin)/api/get_photos?after=\(photos.last?.id ?? "")&limit=\(limit)&order=\(order)"
            headers["Link"] = "<\(path)>; rel=\"next\""
        }
        let answer = ServiceAnswer.json(.array(photos.map { state.json(of: $0) }), headers: headers)
        return answer.tagged(by: answer.response.body, request)
    }

    // MARK: Loading

    private static func load(_ state: inout ServiceState, _ request: ServiceRequest) throws -> ServiceAnswer {
        let size = request.query["size"]
        guard size == nil || size == "small" || size == "medium" else {
            throw ServiceRefusal.invalid("size", valid: "small or medium")
        }
        let id = request.path[1]
        guard let purpose = state.photoURLs.purpose(of: request.query["signature"] ?? ""), purpose.photoID == id else {
            throw urlInvalid
        }
        guard let photo = state.photos[id] else {
            throw ServiceRefusal(status: 404, code: "photo_not_found", message: "There is no such photo")
        }
        guard state.allows(purpose) else { throw urlInvalid }
        // The service has no renderer. So it sends the photo itself, and it may be kept for a minute.
        let seconds = size == nil ? fullCacheSeconds : smallCacheSeconds
        let headers = [
            "Content-Type": photo.format.contentType, "Cache-Control": "private, max-age=\(seconds)",
            "Content-Security-Policy": "sandbox",
        ]
        return ServiceAnswer(TransportResponse(status: 200, headers: headers, body: photo.bytes))
            .tagged(by: photo.bytes, request)
    }

    private static let urlInvalid = ServiceRefusal(
        status: 403,
        code: "photo_url_invalid",
        message: "The photo's address is invalid or has expired"
    )
    private static let fullCacheSeconds = 86_400
    private static let smallCacheSeconds = 60
}

extension ServiceAnswer {
    /// The same with an entity tag, or 304 if the client has it already.
    ///
    /// - Parameters:
    ///   - content: What the tag is made of.
    ///   - request: Has the client's tag.
    /// - Returns: The list, or 304 without a body.
    fileprivate func tagged(by content: Data, _ request: ServiceRequest) -> ServiceAnswer {
        let tag = "\"\(SHA256.digest(of: content).prefix(16).base64EncodedString())\""
        var answer = self
        if request.headers["if-none-match"] == tag {
            answer.response.headers["content-type"] = nil
            (answer.response.status, answer.response.body) = (304, Data())
        }
        answer.response.headers["etag"] = tag
        return answer
    }
}

extension ServiceState {
    /// A photo as its owner sees it.
    mutating func json(of photo: StoredPhoto) -> JSONValue {
        photo.json(url: photoURLs.url(of: photo.id, for: photo.ownerID, .own, at: origin))
    }

    /// Whether the reader of a URL may still see the photo.
    fileprivate func allows(_ purpose: PhotoURLs.Purpose) -> Bool {
        switch purpose.scope {
        case .own: true
        case .record(let key):
            grants.rights(of: purpose.reader, to: key).contains(.read)
                && photoIDs(of: key).contains(purpose.photoID)
        case .picture(let member): accounts[member]?.picture == purpose.photoID
        }
    }

    /// Deletes a photo.
    ///
    /// Records that had it are new versions without it.
    mutating func deletePhoto(_ id: String) {
        guard let photo = photos[id] else { return }
        photos.remove(id)
        if photo.isListed { grants.set([:], of: .photo(id)) }
        for record in records.all where photoIDs(of: record.key).contains(id) { touch(record.key) }
    }
}
