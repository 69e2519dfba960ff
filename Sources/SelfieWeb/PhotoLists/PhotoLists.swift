import Budgets
import HTTPTypes
import Hummingbird
import NIOCore
import SelfieAccounts
import SelfieCore
import SelfiePhotos

/// Makes the bodies of lists from rows.
///
/// A short list is ready before its answer begins. A long one that can't be cached is made while the client reads.
struct PhotoLists: Sendable {
    /// A list's body, and what it was made of.
    struct List {
        let library: PhotoLibrary
        let urls: PhotoURLDay
        let body: ResponseBody
        /// The id of the last photo, if more follow.
        let lastBeforeMore: String?

        /// Whether it is made while the client reads it.
        var isStreamed: Bool { body.contentLength == nil }
    }

    private let photos: PhotoStore
    private let cache: ListCache
    private let streams: Permits<Int>

    init(_ parts: WebParts) {
        photos = parts.useCases.photos.store
        cache = parts.listCache
        streams = parts.permits.listStreams
    }

    /// Makes a list of the photos of a session's user, to be sent on a connection.
    func list(
        _ selection: PhotoSelection,
        of session: Session,
        on channel: any Channel,
        urls: (PhotoLibrary) -> PhotoURLDay
    ) async throws -> List {
        let selected = try await photos.select(selection, bySession: session)
        let urls = urls(selected.library)
        var pieces = PhotoListPieces(selected, photos: photos, urls: urls)
        let first = try await pieces.next()
        let isShort = pieces.hasEnded
        let permit = cache.permit(for: session.userID)
        let body: ResponseBody
        if let whole = try await whole(first, then: &pieces, within: permit) {
            let tag = selected.library.entityTag(of: .all, urls: urls)
            let list = CachedList(selected.library, urls: urls, tag: tag, pieces: whole, holding: permit)
            // Photos that were deleted meanwhile belong to this version, and are missing.
            if selection == .all, pieces.hasAllPhotos { cache.insert(list) }
            body = ResponseBody(list, on: channel)
        } else if isShort, let first, first.readableBytes <= AnswerMemory.maxUnsharedBytes {
            body = ResponseBody(byteBuffer: first)
        } else {
            permit.release()
            body = try stream(PhotoListPieces(selected, photos: photos, urls: urls), for: session.userID)
        }
        return List(library: selected.library, urls: urls, body: body, lastBeforeMore: selected.lastBeforeMore)
    }

    /// All pieces, if there is memory for them.
    private func whole(
        _ first: ByteBuffer?,
        then pieces: inout PhotoListPieces,
        within permit: Permit<Int>
    ) async throws -> [ByteBuffer]? {
        guard pieces.estimatedBytes <= ListCache.maxListBytes else { return nil }
        var (made, bytes) = ([ByteBuffer](), 0)
        var next = first
        guard cache.reserve(ListCache.overheadBytes, for: permit) else { return nil }
        while let piece = next {
            bytes += piece.storageCapacity
            guard bytes <= ListCache.maxListBytes, cache.reserve(piece.storageCapacity, for: permit) else { return nil }
            made.append(piece)
            next = try await pieces.next()
        }
        return made
    }

    private func stream(_ pieces: PhotoListPieces, for userID: Int) throws(TooBusy) -> ResponseBody {
        let permit = try streams.acquire(for: userID)
        return ResponseBody { writer in
            var pieces = pieces
            while let piece = try await pieces.next() { try await writer.write(piece) }
            try await writer.finish(nil)
            withExtendedLifetime(permit) {}
        }
    }
}

extension ResponseBody {
    /// The pieces of a list, which holds its share of the memory until the client has taken the last one.
    ///
    /// A list that the socket takes at once, of about fifty photos, does without.
    init(_ list: CachedList, on channel: any Channel) {
        if list.pieces.count == 1, list.byteCount <= AnswerMemory.maxUnsharedBytes {
            self.init(byteBuffer: list.pieces[0])
        } else {
            self.init(list.pieces, holding: list, sentOn: channel)
        }
    }
}
