import Encodings
import FoundationEssentials
package import NIOCore
import SelfiePhotos
import ZipArchive

/// A ZIP archive of all that a user has, made piece by piece.
///
/// It holds one photo at a time, in a temporary file, and fetches the next one when the last one was read. No statement and
/// no transfer is under way while nobody asks for the next piece.
package struct ExportPieces: ~Copyable {
    private let data: ExportedData
    private let photos: ExportedPhotos
    private let date: Date
    private let check: @Sendable () async throws -> Void
    private var archive: ExportArchive
    /// The JSON of the photos.
    private var list: ExportedList?
    private var items: ExportPlan.Iterator?
    private var step: Step? = .account
    /// How many photos the user had at the beginning.
    package private(set) var totalCount = 0
    /// The photos so far.
    package private(set) var report = ExportReport()

    /// What is added next.
    private enum Step {
        case account, sessions, audit, records, photo, list, manifest, directory, end
    }

    init(
        data: ExportedData,
        photos: ExportedPhotos,
        date: Date,
        check: @escaping @Sendable () async throws -> Void
    ) {
        (self.data, self.photos, self.date, self.check) = (data, photos, date, check)
        let time = Int(date.timeIntervalSince1970.rounded(.down))
        archive = ExportArchive(data.spools, userID: data.userID, time: time)
        list = ExportedList(data.spools, userID: data.userID)
    }

    /// Makes the next piece.
    ///
    /// - Returns: Some bytes; nil after the last.
    /// - Throws: `PostgresError`, `ObjectStoreError`, `TooBusy`, what reading or writing a file throws, or what the check
    ///   throws. Then the archive can't be finished, and what was made can't be opened.
    package mutating func next() async throws -> ByteBuffer? {
        while true {
            if let bytes = try await archive.next() { return bytes }
            guard let step else { return nil }
            self.step = try await add(step)
        }
    }

    /// Adds something to the archive.
    ///
    /// - Returns: What is next; nil after the last.
    private mutating func add(_ step: Step) async throws -> Step? {
        switch step {
        case .account:
            try await check()
            let plan = try await ExportPlan(ofUser: data.userID, photos: photos.photos, spools: data.spools)
            (items, totalCount) = (plan.makeIterator(), plan.count)
            try await archive.add(try await data.account(), as: try ZipName("account.json"))
            return .sessions
        case .sessions:
            try await archive.add(try await data.sessions(at: date), as: try ZipName("sessions.json"))
            return .audit
        case .audit:
            try await archive.add(try await data.audit(), as: try ZipName("audit.json"))
            return .records
        case .records:
            try await check()
            try await archive.add(try await data.records(), as: try ZipName("records.json"))
            return .photo
        case .photo:
            guard let item = try await items?.next() else { return .list }
            try await check()
            try await add(try await photos.fetch(item), of: item)
            return .photo
        case .list:
            guard let list = list.take() else { return .manifest }
            try await archive.add(try await list.finish(), as: try ZipName("photos.json"))
            return .manifest
        case .manifest:
            try await archive.addManifest()
            return .directory
        case .directory:
            // The last moment at which the archive can still be kept from being whole.
            try await check()
            try await archive.addDirectory()
            return .end
        case .end:
            archive.addEnd()
            return nil
        }
    }

    private mutating func add(_ outcome: ExportedPhotos.Outcome, of item: ExportPlan.Item) async throws {
        switch outcome {
        case .found(let file, let photo):
            report.photoCount += 1
            let name = try PhotoFileName.name(
                report.photoCount + report.missingCount,
                of: totalCount,
                title: photo.title,
                format: try await photo.format(of: file.object)
            )
            try await archive.add(file, as: name, modified: photo.createdAt)
            try await list?.append { photo.writeJSON(file: name.text, to: &$0) }
        case .missing(let reason, let photo):
            report.missingCount += 1
            // An id that railsauth made may be any text.
            try await archive.note("missing: \(PercentEncoding.string(of: item.randomID)) (\(reason.rawValue))")
            if let photo { try await list?.append { photo.writeJSON(file: nil, to: &$0) } }
        }
    }
}
