import Budgets
import FoundationEssentials
import Hummingbird
import Logging
import NIOCore
import ObjectStore
import SelfieAccounts
import SelfieCore

/// An export that is made while the client reads it.
struct SentExport: Sendable {
    let parts: WebParts
    let session: Session
    let start: Date
    let counted: CountedActions
    /// For as long as it is sent.
    let permit: Permit<Int>

    /// How long it may take, so that slow clients do not keep all permits for ever.
    private static let maxSeconds: TimeInterval = 24 * 3_600

    /// How often it looks whether it may go on, beside before each photo.
    private static let checkSeconds: TimeInterval = 30

    /// The body.
    ///
    /// If the archive can't be finished, the connection is closed, so that the client does not take a part for the whole.
    ///
    /// - Parameter logger: The request's.
    /// - Returns: The body.
    func body(logger: Logger) -> ResponseBody {
        ResponseBody { writer in
            var pieces = parts.useCases.exportAccount(
                ofUser: session.userID,
                spools: parts.permits.uploads.onDisk,
                maxPhotoBytes: ExportAccount.maxPhotoBytes,
                at: start,
                check: check
            )
            var checkedAt = start
            while let piece = try await next(&pieces, &checkedAt, logger) { try await writer.write(piece) }
            try await writer.finish(nil)
            if pieces.report.missingCount > 0 {
                logger.warning("an export lacks photos", metadata: ["photos": "\(pieces.report.missingCount)"])
            }
            withExtendedLifetime(permit) {}
        }
    }

    /// The next piece.
    ///
    /// A failure goes to the log, because the answer has begun already. It lets the user try again, if it was the service's.
    private func next(
        _ pieces: inout ExportPieces,
        _ checkedAt: inout Date,
        _ logger: Logger
    ) async throws -> ByteBuffer? {
        do {
            // A slow client may read one photo for hours.
            let now = parts.now()
            if now.timeIntervalSince(checkedAt) >= Self.checkSeconds {
                try await check()
                checkedAt = now
            }
            return try await pieces.next()
        } catch let error where Task.isCancelled || error is CancellationError {
            throw error
        } catch let error where error is SessionError || error is ExportTooSlow {
            logger.notice("an export was ended", metadata: ["reason": "\(error)"])
            throw error
        } catch {
            logger.error("an export broke off", metadata: ["error": "\(error)"])
            await parts.useCases.accounts.admitExport.giveBack(counted)
            throw error
        }
    }

    /// Ends the export when its session has ended, or when it takes too long.
    private func check() async throws {
        guard parts.now().timeIntervalSince(start) < Self.maxSeconds else { throw ExportTooSlow() }
        guard try await parts.useCases.accounts.sessions.isOpen(session.id) else { throw SessionError.ended }
    }
}

/// The client took too long to read an export.
struct ExportTooSlow: Error, CustomStringConvertible {
    var description: String { "it took too long" }
}
