package import Budgets

/// The memory and the temporary disk that all uploads of a process share.
///
/// Users are the holders, by their ids. An upload that finds no memory left continues in a file. Writing a photo to a file
/// and reading it again costs a sixth of an upload. Memory for all uploads would have no limit.
package struct SpoolBudget: Sendable {
    let memory: ByteBudget<Int>
    let disk: ByteBudget<Int>

    /// The most bytes of photos that wait in memory for the store, beside each upload's first block.
    static let usualMemoryBytes = 80 * 1024 * 1024
    /// The part of them that one user may hold.
    static let usualMemoryBytesPerUser = 40 * 1024 * 1024
    /// The most bytes of photos in temporary files.
    static let usualDiskBytes = 4 * 1024 * 1024 * 1024
    /// The part of them that one user may have.
    static let usualDiskBytesPerUser = 2 * 1024 * 1024 * 1024

    /// - Parameters:
    ///   - memory: Memory beyond the first block of each upload.
    ///   - disk: Bytes of temporary files.
    package init(
        memory: ByteBudget<Int> = ByteBudget(
            maxBytes: usualMemoryBytes,
            maxBytesPerHolder: usualMemoryBytesPerUser
        ),
        disk: ByteBudget<Int> = ByteBudget(maxBytes: usualDiskBytes, maxBytesPerHolder: usualDiskBytesPerUser)
    ) {
        self.memory = memory
        self.disk = disk
    }

    /// How many bytes of uploads are in memory.
    package var memoryBytesUsed: Int { memory.bytesUsed }
    /// How many bytes of uploads are in temporary files.
    package var diskBytesUsed: Int { disk.bytesUsed }

    /// For commands, which take one object after another: a block in memory, and as much disk as there is.
    package static let unshared = SpoolBudget(
        memory: ByteBudget(maxBytes: 0),
        disk: ByteBudget(maxBytes: .max)
    )

    /// What one upload of a user's has reserved.
    struct Reservation: Sendable {
        let memory: ByteReservation<Int>
        let disk: ByteReservation<Int>

        init(of budget: SpoolBudget, userID: Int) {
            memory = ByteReservation(of: budget.memory, for: userID)
            disk = ByteReservation(of: budget.disk, for: userID)
        }
    }
}

/// Why an upload can't go on.
package enum SpoolError: Error {
    /// Other uploads have all of the temporary disk.
    case diskBudgetSpent
}
