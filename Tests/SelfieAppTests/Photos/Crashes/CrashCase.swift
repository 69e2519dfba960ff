import Foundation
import Logging
import NIOCore
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import ObjectStore
@testable import SelfieAccounts
@testable import SelfieCore
@testable import SelfiePhotos

/// Something that a process does, which may come to an end in its middle.
enum CrashCase: String, CaseIterable, Sendable {
    case upload
    /// To a bucket.
    case uploadInParts
    case deletion
    case sweep
    case accountDeletion

    /// Whether the store makes a difference: only a bucket has parts, and deleting an account touches no store.
    func usesOwnSteps(of store: TestStore) -> Bool {
        switch self {
        case .upload, .deletion, .sweep: true
        case .uploadInParts: store == .s3
        case .accountDeletion: store == .disk
        }
    }

    /// At least so many steps are seen of it, or it would not be stopped everywhere.
    func minStepCount(_ store: TestStore) -> Int {
        switch (self, store) {
        // Pending row; made, written, synchronized, renamed, folder synchronized; ready row.
        case (.upload, .disk): 7
        // Pending row, put, ready row.
        case (.upload, _): 3
        // Pending row, begin, two parts, end, ready row.
        case (.uploadInParts, _): 6
        // Row, object, entry.
        case (.deletion, _): 3
        // Rows, entries taken on, three objects, entries, no entries left, leftover.
        case (.sweep, .disk): 8
        case (.sweep, _): 5
        // Begin, user, photos, sessions, sources, event, user, commit.
        case (.accountDeletion, _): 8
        }
    }

    /// What goes in parts has so many bytes.
    static let inPartsBytes = 200_000
    static let imageBytes = 2_000

    /// The photo of so many bytes.
    static func image(bytes count: Int) -> Data { TestImage.png(bytes: count, seed: 3) }

    /// Prepares a run.
    ///
    /// - Returns: What the process does, whose result is whether it answered that it was done; and what must hold
    ///   afterwards, given whether anybody got that answer.
    /// - Throws: What keeps the run from being prepared.
    func prepare(_ scene: CrashScene) async throws -> CrashRun {
        let account = try await CrashAccount.make(scene)
        switch self {
        case .upload, .uploadInParts:
            let bytes = self == .upload ? Self.imageBytes : Self.inPartsBytes
            let new = try await account.photo(bytes: bytes)
            return CrashRun(userID: account.userID) { process in
                let upload = UploadPhoto(photos: process.photos, objects: process.objects, quota: .usual)
                let stored = try await upload(new, sessionID: account.session.id, logger: account.logger)
                return stored.row[0].randomID.elementsEqual(new.randomID.utf8)
            } expect: { isAnswered, comment in
                let listed = try await account.listed()
                if isAnswered { #expect(listed == [new.randomID], comment) }
                #expect(Set(listed).isSubset(of: [new.randomID]), comment)
            }
        case .deletion:
            let (gone, kept) = (try await account.addPhoto(), try await account.addPhoto())
            return CrashRun(userID: account.userID) { process in
                let delete = DeletePhoto(photos: process.photos, objects: process.objects)
                return try await delete(gone, ofUser: account.userID, from: .test, logger: account.logger)
            } expect: { isAnswered, comment in
                let listed = try await account.listed()
                if isAnswered { #expect(listed == [kept], comment) }
                #expect(listed == [kept] || listed == [gone, kept], comment)
            }
        case .sweep: return try await prepareSweep(account)
        case .accountDeletion: return try await prepareAccountDeletion(account)
        }
    }

    private func prepareSweep(_ account: CrashAccount) async throws -> CrashRun {
        let kept = try await account.addPhoto()
        let (deleted, givenUp) = (try await account.addPhoto(), try await account.addPhoto())
        _ = try await account.photos.remove(deleted, ofUser: account.userID, from: .test)
        _ = try await account.photos.addPending(account.photo(bytes: 100), sessionID: account.session.id)
        try await account.postgres.write("UPDATE photos SET state = 'pending' WHERE random_id = \(givenUp)")
        try await account.postgres.write(
            "UPDATE photos SET created_at = created_at - interval '1 hour' WHERE state = 'pending'"
        )
        if case .disk(let folder) = account.scene.objects {
            try Data("half".utf8).write(to: folder.appending(path: ".incoming/\(deleted)"))
        }
        return CrashRun(userID: account.userID) { process in
            let sweeper = PhotoSweeper(
                photos: process.photos,
                objects: process.objects,
                now: { Date(timeIntervalSinceNow: 3_600) },
                logger: account.logger
            )
            try await sweeper.sweep()
            return true
        } expect: { _, comment in
            let listed = try await account.listed()
            #expect(listed == [kept], comment)
        }
    }

    private func prepareAccountDeletion(_ account: CrashAccount) async throws -> CrashRun {
        let kept = [try await account.addPhoto(), try await account.addPhoto()]
        _ = try await account.photos.addPending(account.photo(bytes: 100), sessionID: account.session.id)
        return CrashRun(userID: account.userID) { process in
            let removeAccount = RemoveAccount(postgres: process.postgres)
            return try await removeAccount(
                userID: account.userID,
                passwordHash: CrashAccount.passwordHash,
                sessionID: account.session.id
            )
        } expect: { isAnswered, comment in
            let left = try await account.postgres.read(
                """
                SELECT (SELECT count(*) FROM users WHERE id = \(account.userID)) AS users,
                    (SELECT count(*) FROM sessions WHERE user_id = \(account.userID)) AS sessions,
                    (SELECT count(*) FROM photos WHERE user_id = \(account.userID)) AS photos,
                    (SELECT count(*) FROM audit_events
                    WHERE user_id = \(account.userID) AND event = 'account_deleted') AS events
                """
            )
            let counts = try ["users", "sessions", "photos", "events"].map { name in
                try #require(left.first).decode(name, as: Int.self)
            }
            if isAnswered { #expect(counts == [0, 0, 0, 1], comment) }
            #expect(counts == [0, 0, 0, 1] || counts == [1, 1, kept.count, 0], comment)
        }
    }
}

/// One run of something that may come to an end in its middle.
struct CrashRun: Sendable {
    /// Whose photos it is about.
    let userID: Int
    /// What the process does; returns whether it answered that it was done.
    let work: @Sendable (CrashProcess) async throws -> Bool
    /// What must hold afterwards, given whether anybody got that answer.
    let expect: @Sendable (Bool, Comment) async throws -> Void

    init(
        userID: Int,
        work: @Sendable @escaping (CrashProcess) async throws -> Bool,
        expect: @Sendable @escaping (Bool, Comment) async throws -> Void
    ) {
        self.userID = userID
        self.work = work
        self.expect = expect
    }
}

/// An account of a run's own.
struct CrashAccount: Sendable {
    let scene: CrashScene
    let session: Session

    var userID: Int { session.userID }
    var postgres: PostgresClient { scene.postgres }
    var photos: PhotoStore { PhotoStore(postgres: scene.postgres) }
    var logger: Logger { TestLog().logger(level: .error) }

    static let passwordHash = "none"

    static func make(_ scene: CrashScene) async throws -> CrashAccount {
        let token = UUID().uuidString
        let users = try await scene.postgres.read(
            """
            INSERT INTO users (first_name, last_name, email, password_hash)
            VALUES ('Ada', 'Lovelace', \("\(token)@example.com"), \(passwordHash)) RETURNING id
            """
        )
        let userID: Int = try #require(users.first).decode("id")
        try await scene.postgres.write(
            """
            INSERT INTO sessions (user_id, token_digest, expires_at)
            VALUES (\(userID), \(IssuedToken.digest(of: token)), now() + interval '1 day')
            """
        )
        let session = try #require(try await SessionStore(postgres: scene.postgres).find(token: token))
        return CrashAccount(scene: scene, session: session)
    }

    func photo(bytes count: Int) async throws -> NewPhoto {
        var spool = Spool()
        try await spool.append(ByteBuffer(bytes: CrashCase.image(bytes: count)))
        return try await NewPhoto(title: "A", fileName: "photo", object: try await spool.finish(), userID: userID)
    }

    /// Uploads a photo, and nothing goes wrong.
    func addPhoto() async throws -> String {
        let upload = UploadPhoto(photos: photos, objects: try scene.store(isCounted: false), quota: .usual)
        let photo = try await photo(bytes: 1_000)
        _ = try await upload(photo, sessionID: session.id, logger: logger)
        return photo.randomID
    }

    /// What the account's user sees.
    func listed() async throws -> [String] {
        let selected = try await photos.select(.all, bySession: session)
        let rows = try await photos.rows(0..<selected.count, of: selected)
        return (0..<rows.count).map { String(decoding: rows[$0].randomID, as: UTF8.self) }
    }
}

extension RequestSource {
    static let test = RequestSource(address: .none, requestID: "test")
}
