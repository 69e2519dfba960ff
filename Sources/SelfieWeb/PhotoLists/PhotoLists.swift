import Budgets
import HTTPTypes
import Hummingbird
import NIOCore
import SelfieCore

/// Makes the bodies of lists.
///
/// A list that was sent before is sent again from memory. Others are made from rows. A short one is ready before its answer
/// begins. A long one that can't be kept is made while the client reads.
struct PhotoLists: Sendable {
    /// A list's body, and what it was made of.
    struct List {
        let library: PhotoLibrary
        let urls: PhotoURLDay
        let body: ResponseBody
        /// Whether it is made while the client reads it.
        let isStreamed: Bool
        /// The id of the last photo, if more follow.
        var lastBeforeMore: String?
    }

    private let listPhotos: ListPhotos
    private let photos: PhotoStore
    private let kept: KeptLists
    private let streams: Places<Int>

    init(_ parts: WebParts) {
        listPhotos = parts.useCases.listPhotos
        photos = parts.useCases.photos
        kept = parts.keptLists
        streams = parts.listStreams
    }

    /// A list that was sent before.
    ///
    /// - Parameters:
    ///   - selection: Which photos.
    ///   - library: The library as it is.
    ///   - urls: The photos' URLs.
    /// - Returns: The list; nil when it is not in memory as it must be now.
    func kept(_ selection: PhotoSelection, of library: PhotoLibrary, urls: PhotoURLDay) -> KeptList? {
        selection == .all ? kept.keptList(of: library, urls: urls) : nil
    }

    /// Makes a list.
    ///
    /// - Parameters:
    ///   - selection: Which photos.
    ///   - token: As the client sent it.
    ///   - channel: The connection that it is sent on.
    ///   - urls: The photos' URLs for a series.
    /// - Returns: The list.
    /// - Throws: `SessionError.ended`, `PhotoError.noSuchPosition`, `NoPlace`, `PostgresError`.
    func list(
        _ selection: PhotoSelection,
        token: String,
        on channel: any Channel,
        urls: (_ series: Int) -> PhotoURLDay
    ) async throws -> List {
        let selected = try await listPhotos.select(selection, token: token)
        let urls = urls(selected.library.urlSeries)
        var pieces = PhotoListPieces(selected, photos: photos, urls: urls)
        let first = try await pieces.next()
        let isShort = pieces.hasEnded
        let reservation = kept.reservation(for: selected.library.userID)
        let whole = try await whole(first, then: &pieces, within: reservation)
        let body: ResponseBody
        if let whole {
            let list = KeptList(
                selected.library,
                urls: urls,
                tag: selected.library.entityTag(of: .all, urls: urls),
                pieces: whole,
                reservation: reservation
            )
            // Photos that were deleted meanwhile belong to this version, and are missing.
            if selection == .all, pieces.hasAllPhotos { kept.keep(list) }
            body = ResponseBody(list, on: channel)
        } else if isShort, let first, first.readableBytes <= AnswerMemory.maxUnsharedBytes {
            body = ResponseBody(byteBuffer: first)
        } else {
            reservation.giveBack()
            body = try stream(PhotoListPieces(selected, photos: photos, urls: urls), for: selected.library.userID)
        }
        return List(
            library: selected.library,
            urls: urls,
            body: body,
            isStreamed: body.contentLength == nil,
            lastBeforeMore: selected.lastBeforeMore
        )
    }

    /// All pieces, if there is memory for them.
    private func whole(
        _ first: ByteBuffer?,
        then pieces: inout PhotoListPieces,
        within reservation: ByteReservation<Int>
    ) async throws -> [ByteBuffer]? {
        guard pieces.estimatedBytes <= KeptLists.maxListBytes else { return nil }
        var (made, bytes) = ([ByteBuffer](), 0)
        var next = first
        guard kept.reserve(KeptLists.overheadBytes, for: reservation) else { return nil }
        while let piece = next {
            bytes += piece.storageCapacity
            guard bytes <= KeptLists.maxListBytes, kept.reserve(piece.storageCapacity, for: reservation) else {
                return nil
            }
            made.append(piece)
            next = try await pieces.next()
        }
        return made
    }

    private func stream(_ pieces: PhotoListPieces, for userID: Int) throws(NoPlace) -> ResponseBody {
        let place = try streams.take(for: userID)
        return ResponseBody { writer in
            var pieces = pieces
            while let piece = try await pieces.next() { try await writer.write(piece) }
            try await writer.finish(nil)
            withExtendedLifetime(place) {}
        }
    }
}

extension ResponseBody {
    /// The pieces of a list, which holds its share of the memory until the client has taken the last one.
    ///
    /// A list that the socket takes at once, of about fifty photos, does without.
    init(_ list: KeptList, on channel: any Channel) {
        if list.pieces.count == 1, list.byteCount <= AnswerMemory.maxUnsharedBytes {
            self.init(byteBuffer: list.pieces[0])
        } else {
            self.init(list.pieces, holding: list, sentOn: channel)
        }
    }
}
