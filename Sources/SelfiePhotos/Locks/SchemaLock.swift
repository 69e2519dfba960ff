package import Postgres

/// The lock between transactions that apply a schema and those that write records.
///
/// It is the first lock of each transaction. While a schema is applied, records are locked before photos and streams.
/// Among these, the order does not matter.
package enum SchemaLock {
    /// Waits until no schema is being applied, and keeps others from it until the end of the transaction.
    ///
    /// A transaction that writes records or removes photos does this first.
    ///
    /// - Parameter connection: In a transaction.
    /// - Throws: `PostgresError`.
    package static func share(on connection: PostgresConnection) async throws {
        try await connection.execute("LOCK TABLE records IN ROW EXCLUSIVE MODE")
    }

    /// The same without waiting, for work that is done again soon.
    ///
    /// - Parameter connection: In a transaction.
    /// - Throws: ``SchemaLockTaken`` while a schema is being applied, `PostgresError`.
    package static func shareAtOnce(on connection: PostgresConnection) async throws {
        do {
            try await connection.execute("LOCK TABLE records IN ROW EXCLUSIVE MODE NOWAIT")
        } catch  where error.sqlState == .lockNotAvailable {
            throw SchemaLockTaken()
        }
    }

    /// Waits until no other transaction writes records, and blocks all writers until the end of the transaction.
    ///
    /// - Parameter connection: In a transaction.
    /// - Throws: `PostgresError`.
    package static func takeAlone(on connection: PostgresConnection) async throws {
        // The locks are taken in the order of names. No other transaction takes more than one of them.
        try await connection.execute("LOCK TABLE records IN EXCLUSIVE MODE")
        try await connection.execute("LOCK TABLE schema_definitions IN EXCLUSIVE MODE")
    }
}

/// A schema is being applied.
package struct SchemaLockTaken: Error {}
