public import Foundation

/// The user's photos, and pictures of all kinds.
public actor Photos {
    /// The order of a list.
    public enum Order: Sendable, Hashable {
        case oldestFirst, newestFirst
    }

    private let api: APIClient
    private let folders: UserFolders
    /// The lists that the service answered last, with their entity tags.
    private var lists: [Order: (userID: String, tag: String, photos: [Photo])] = [:]
    private var cache: (userID: String, pictures: PictureCache)?
    /// The newest link of each link that has ended.
    private var renewed: [PhotoLink: PhotoLink] = [:]
    private static let maxRenewed = 1_000

    init(api: APIClient, folders: UserFolders) {
        (self.api, self.folders) = (api, folders)
        Task.detached(priority: .background) { UploadFile.removeAbandoned() }
    }

    // MARK: Uploading

    /// Uploads a photo now.
    ///
    /// It is tried again after an interruption, and is there once all the same. ``Outbox/upload(_:title:name:isListed:)``
    /// also waits for a network, and goes on after the app's end.
    ///
    /// - Parameters:
    ///   - source: The photo: JPEG, PNG, GIF, WebP, HEIC or AVIF.
    ///   - title: At most 255 characters.
    ///   - name: The file's name.
    ///   - isListed: Whether it is in the list of photos. Others belong to records, and go with them. The link of such an
    ///     upload ends after a day or two, and can't be renewed: ``Record/photo(_:)`` is the one to keep.
    ///   - progress: Called as the bytes are sent, on any thread.
    /// - Returns: The photo.
    /// - Throws: ``SelfieError/photoUnreadable``, ``SelfieError/notAPhoto(_:)``, or ``SelfieError/tooLarge(_:)`` beyond
    ///   ``SelfieConfiguration/maxOutboxBytes``, for example.
    @discardableResult
    public func upload(
        _ source: PhotoSource,
        title: String,
        name: String = "photo",
        isListed: Bool = true,
        progress: (@Sendable (UploadProgress) -> Void)? = nil
    ) async throws -> Photo {
        // Before the source is written, which may take long.
        let userID = try api.sessions.currentIfSignedIn().userID
        let id = UUID()
        let upload = UploadFile(title: title, name: name, isListed: isListed, id: id)
        let file = UploadFile.temporary(id)
        defer { try? FileManager.default.removeItem(at: file) }
        let count = try await upload.write(
            source,
            to: file,
            maxBytes: api.configuration.maxOutboxBytes,
            disk: Disk(),
            excess: UploadFile.tooLarge
        )
        var call = Self.call(api, upload, file, key: id)
        call.authentication = .userWithID(userID)
        return try await api.decode(
            Photo.self,
            from: api.send(call) { progress?(UploadProgress(sentBytes: $0, totalBytes: Int64(count))) }
        )
    }

    /// The call that uploads a file of an upload.
    static func call(_ api: APIClient, _ upload: UploadFile, _ file: URL, key: UUID) -> Call {
        var call = Call("POST", api.url(["upload_photo"]))
        call.headers = ["Content-Type": upload.contentType, "Idempotency-Key": key.uuidString]
        call.body = .file(file)
        // Because of its key.
        call.isRepeatable = true
        return call
    }

    // MARK: Listing

    /// All photos.
    ///
    /// When nothing has changed since the last list, the service sends none again.
    ///
    /// - Parameter order: Which comes first.
    /// - Returns: The photos.
    /// - Throws: ``SelfieError``, or `CancellationError`.
    public func list(_ order: Order = .oldestFirst) async throws -> [Photo] {
        let userID = try api.sessions.currentIfSignedIn().userID
        let known = lists[order].flatMap { $0.userID == userID ? $0 : nil }
        var call = Call("GET", api.url(["get_photos"], query: ["order": order == .newestFirst ? "newest" : nil]))
        call.authentication = .userWithID(userID)
        call.headers["If-None-Match"] = known?.tag
        call.alsoAccepts = [304]
        let response = try await api.send(call)
        if response.status == 304, let known { return known.photos }
        let photos = try api.decode([Photo].self, from: response)
        lists[order] = response.headers["etag"].map { (userID, $0, photos) }
        return photos
    }

    /// A page of the list.
    ///
    /// - Parameters:
    ///   - order: Which comes first.
    ///   - photo: The last photo of the page before; nil for the first page.
    ///   - limit: 1 to 500.
    /// - Returns: At most `limit` photos; none behind the last page.
    /// - Throws: ``SelfieError``, or `CancellationError`.
    public func page(_ order: Order = .newestFirst, after photo: Photo.ID? = nil, limit: Int = 100) async throws
        -> [Photo]
    {
        let query: KeyValuePairs<String, String?> = [
            "order": order == .newestFirst ? "newest" : nil, "after": photo, "limit": "\(limit)",
        ]
        return try await api.send(Call("GET", api.url(["get_photos"], query: query)))
    }

    /// Deletes a photo.
    ///
    /// If it is gone already, nothing happens.
    public func delete(_ id: Photo.ID) async throws {
        do {
            try await api.send(Call("DELETE", api.url(["delete_photo"], query: ["photo_id": id])))
        } catch SelfieError.notFound {
            // It is gone, as it should be.
        }
        lists = [:]
        await pictures()?.remove(id)
    }

    /// Loads an archive of all that the service has of the user: photos, records and the account's data.
    ///
    /// Once an hour.
    ///
    /// - Parameters:
    ///   - file: Where the ZIP archive is put; it is whole or not there.
    ///   - maxBytes: The most bytes that it may have.
    /// - Throws: ``SelfieError/tooManyRequests(retryAfter:)`` within an hour of the last one, or another ``SelfieError``.
    public func export(to file: URL, maxBytes: Int = 64 << 30) async throws {
        let part = file.appendingPathExtension("part")
        try Disk().remove(part)
        defer { try? Disk().remove(part) }
        var call = Call("GET", api.url(["export"]))
        (call.answerFile, call.maxAnswerBytes, call.isRepeatable) = (part, maxBytes, false)
        try await api.send(call)
        try Disk().move(part, to: file)
    }

    // MARK: Pictures

    /// A picture's bytes, from the device if it was loaded before.
    ///
    /// A URL that has ended is renewed, but not that of an upload with `isListed: false`: take ``Record/photo(_:)`` then.
    ///
    /// - Parameters:
    ///   - link: A photo's or a record's.
    ///   - size: Which picture.
    /// - Returns: JPEG, PNG, GIF, WebP, HEIC or AVIF.
    /// - Throws: ``SelfieError/notFound(_:)`` when the user may not see it any more, or its link can't be renewed.
    public func data(of link: PhotoLink, size: PictureSize = .original) async throws -> Data {
        let pictures = pictures()
        if let data = await pictures?.picture(link.id, size) { return data }
        var newest = renewed[link] ?? link
        for isLast in [false, true] {
            var call = Call("GET", newest.url(size))
            (call.authentication, call.followsRedirects, call.maxAnswerBytes) = (.none, true, 256 << 20)
            do {
                let response = try await api.send(call)
                if Self.mayBeKept(response) {
                    await pictures?.keep(response.body, link.id, size)
                }
                return response.body
            } catch SelfieError.forbidden where !isLast {
                newest = try await renew(link)
                if renewed.count >= Self.maxRenewed { renewed = [:] }
                renewed[link] = newest
            }
        }
        throw SelfieError.unexpectedAnswer(status: 403)
    }

    /// Whether an answer is the picture that was asked for.
    ///
    /// While a small picture is being made, the service sends the photo instead, to be kept for a minute or not at all.
    private static func mayBeKept(_ response: TransportResponse) -> Bool {
        let directives = (response.headers["cache-control"] ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        let age = directives.compactMap { $0.hasPrefix("max-age=") ? Int($0.dropFirst("max-age=".count)) : nil }.first
        return !directives.contains("no-store") && (age ?? .max) > 60
    }

    /// A new URL of a photo whose URL has ended.
    private func renew(_ link: PhotoLink) async throws -> PhotoLink {
        func notFound(_ message: String) -> SelfieError {
            .notFound(.init(status: 404, code: "photo_not_found", message: message))
        }
        let gone = notFound("The photo is gone.")
        switch link.origin {
        case .ownPhoto:
            // The service has no call for a single photo.
            guard let photo = try await list().first(where: { $0.id == link.id }) else {
                throw notFound("The photo is not in the list. If a record has it, take the link from the record.")
            }
            return photo.link
        case .record(let path, let field):
            let record: RecordPhotos = try await api.send(Call("GET", api.url(path)))
            guard let fresh = record.links(path: path)[field]?[link.id] else { throw gone }
            return fresh
        case .member(let id):
            let member: Member = try await api.send(Call("GET", api.url(["members", id])))
            guard let picture = member.picture, picture.id == link.id else { throw gone }
            return picture
        case .profile:
            let profile: Profile = try await api.send(Call("GET", api.url(["me"])))
            guard let picture = profile.picture, picture.id == link.id else { throw gone }
            return picture
        }
    }

    private static func pictures(of user: URL) -> URL { user.appendingPathComponent("pictures") }

    /// The pictures of who is signed in.
    private func pictures() -> PictureCache? {
        (try? api.sessions.current()?.userID).map(pictures)
    }

    private func pictures(of userID: String) -> PictureCache {
        if let cache, cache.userID == userID { return cache.pictures }
        let folder = Self.pictures(of: folders.folder(of: userID))
        let pictures = PictureCache(folder: folder, maxBytes: api.configuration.maxPictureBytes)
        cache = (userID, pictures)
        return pictures
    }

    /// Removes a photo's pictures from the device.
    func removePictures(of id: Photo.ID) async { await pictures()?.remove(id) }

    /// Removes what was kept for a user.
    func removeCopies(of userID: String) async {
        let pictures = pictures(of: userID)
        (lists, renewed, cache) = ([:], [:], nil)
        await pictures.close()
    }

    /// Removes what was kept for all other users.
    func removeCopies(exceptOf userID: String?) {
        for user in folders.others(than: userID) where cache.map({ folders.folder(of: $0.userID) != user }) ?? true {
            try? Disk().remove(Self.pictures(of: user))
        }
    }
}
