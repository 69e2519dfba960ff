import NIOCore
import Postgres
import S3
import Testing

@testable import HTTPConnection
@testable import ObjectStore
@testable import SelfieAccounts
@testable import SelfiePhotos

/// Each number here is written down once more, so that nobody changes one without looking at the others.
@Suite("Time limits that depend on each other")
struct TimeLimitTests {
    private let store = S3Deadlines()
    private let connection = ConnectionLimits()
    /// To wait for a connection and for a statement, after which the server cancels it.
    private let statement: Duration = .milliseconds(4_500)
    /// What the client waits longer for the answer of a server that does not even cancel.
    private let grace: Duration = .milliseconds(500)

    @Test("A statement is waited for as long as the others reckon with")
    func statements() throws {
        let database = try PostgresConfiguration(url: "postgresql://localhost/none")
        #expect(database.pool.leaseTimeout == .seconds(2))
        #expect(database.statementTimeout == .milliseconds(2_500))
        #expect(database.connectTimeout == .seconds(2))
    }

    @Test("A photo is pending for longer than its put may last, with the statements around it")
    func pending() {
        #expect(PhotoStore.maxPendingSeconds == 40)
        #expect(store.put == .seconds(20))
        #expect(Duration.seconds(40) > store.put + (statement + grace) * 2)
    }

    @Test("A photo uploaded in parts is pending for longer than that, and than its parts take to abort")
    func pendingInParts() {
        #expect(PhotoStore.maxPendingInPartsSeconds == 80)
        #expect(store.putInParts == .seconds(25))
        #expect(Duration.seconds(80) > store.putInParts + store.call + (statement + grace) * 2)
        // The store and the table have the same limit for uploads in parts.
        #expect(S3UploadPolicy().maxSinglePutBytes == 33_554_432)
    }

    @Test("The object of a failed put is deleted once the put is over for sure")
    func settling() {
        #expect(PhotoStore.settlingSeconds == 20)
        #expect(Duration.seconds(20) >= store.put)
        #expect(Duration.seconds(20) > store.silence)
        #expect(Duration.seconds(20) > store.giveUp)
    }

    @Test("Whatever a request asks for, its answer begins before a router gives it up, 30 s after its last byte")
    func router() {
        #expect(connection.answerTimeout == .seconds(27) && connection.tick == .seconds(2))
        #expect(connection.answerTimeout + connection.tick < .seconds(30))
        // What is left of a request then ends with its connection, before anybody takes its photo for given up.
        #expect(connection.lingerTimeout == .seconds(5))
        #expect(connection.answerTimeout + connection.lingerTimeout + connection.tick * 2 < .seconds(40))
    }

    /// What takes all of its time more often than that is answered by the connection.
    @Test("A store that takes all of its time, or a database that does once, leaves time for an answer that says so")
    func waiting() {
        let limit: Duration = .seconds(27)
        #expect(store.call == .seconds(5) && store.silence == .seconds(4) && store.giveUp == .milliseconds(4_400))
        // An upload: a statement, and the put.
        #expect(statement + store.put < limit)
        // An upload to a store that is stopped: pending, nothing, taken back.
        #expect(statement * 2 + store.giveUp < limit)
        // A deletion: session, row, object, entry.
        #expect(statement * 3 + store.call < limit)
        // A photo: row, length, a look at its type, first byte.
        #expect(statement + store.call * 3 + store.silence < limit)
        // An upload in parts.
        #expect(store.putInParts < limit)
        // A sign-in: a statement, and the wait for a hash.
        #expect(PasswordHasherOptions(coreCount: 2).maxWait == .seconds(8))
        #expect(statement + .seconds(8) < limit)
    }

    @Test("A silent client is disconnected before a router gives it up")
    func silentClients() {
        #expect(connection.bodyWindow == .seconds(12) && connection.tick == .seconds(2))
        #expect(connection.headerTimeout == .seconds(20) && connection.writeTimeout == .seconds(25))
        #expect(connection.bodyWindow + connection.bodyWindow + connection.tick < .seconds(30))
        #expect(connection.headerTimeout + connection.tick < .seconds(30))
        #expect(connection.writeTimeout + connection.tick < .seconds(30))
    }

    @Test("Deletions are tried again often at first, and every ten minutes in the end")
    func deletions() {
        #expect(PhotoStore.maxDeletionBackOffSeconds == 600)
        #expect(PhotoStore.deletionBatchSize == 100)
        // A batch goes with one call, of as many as stores take.
        #expect(PhotoStore.deletionBatchSize <= 1_000)
        #expect(store.list == .seconds(15))
    }

    @Test("Memory and files are limited as documented")
    func spools() {
        #expect(Spool.blockBytes == 262_144)
        #expect(SpoolBudget.usualMemoryBytes == 80 << 20)
        #expect(SpoolBudget.usualMemoryBytesPerUser == 40 << 20)
        #expect(SpoolBudget.usualDiskBytes == 4_294_967_296)
    }
}
