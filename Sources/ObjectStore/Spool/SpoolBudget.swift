package import Budgets

/// The memory and the temporary disk that all uploads of a process share.
///
/// Users are the holders, by their ids. An upload that finds no memory left continues in a file. Writing an object to a
/// file and reading it again costs a sixth of an upload. Memory for all uploads would have no limit.
package struct SpoolBudget: Sendable {
    let memory: Permits<Int>
    let disk: Permits<Int>

    /// The most bytes of objects that wait in memory for the store, beside each upload's first block.
    static let usualMemoryBytes = 80 * 1024 * 1024
    /// The part of them that one user may hold.
    static let usualMemoryBytesPerUser = 40 * 1024 * 1024
    /// The most bytes of objects in temporary files.
    static let usualDiskBytes = 4 * 1024 * 1024 * 1024
    /// The part of them that one user may have.
    static let usualDiskBytesPerUser = 2 * 1024 * 1024 * 1024

    /// - Parameters:
    ///   - memory: The limits of memory in bytes, beyond the first block of each upload.
    ///   - disk: The limits of temporary files in bytes.
    package init(
        memory: PermitLimits = PermitLimits(total: usualMemoryBytes, perHolder: usualMemoryBytesPerUser),
        disk: PermitLimits = PermitLimits(total: usualDiskBytes, perHolder: usualDiskBytesPerUser)
    ) {
        self.memory = Permits("SPOOL_MEMORY", per: "USER", memory)
        self.disk = Permits("SPOOL", per: "USER", disk)
    }

    private init(memory: Permits<Int>, disk: Permits<Int>) {
        (self.memory, self.disk) = (memory, disk)
    }

    /// The same temporary disk, and no memory beyond a block for each object.
    package var onDisk: SpoolBudget {
        SpoolBudget(memory: Permits("SPOOL_MEMORY", per: "USER", PermitLimits(total: 0)), disk: disk)
    }

    /// How many bytes of uploads are in memory.
    package var memoryBytesUsed: Int { memory.inUse }
    /// How many bytes of uploads are in temporary files.
    package var diskBytesUsed: Int { disk.inUse }

    /// For commands, which take one object after another: a block in memory, and as much disk as there is.
    package static let unshared = SpoolBudget(
        memory: PermitLimits(total: 0),
        disk: PermitLimits(total: .max)
    )

    /// The reservation of one upload.
    struct Reservation: Sendable {
        let memory: Permit<Int>
        let disk: Permit<Int>

        init(of budget: SpoolBudget, userID: Int) {
            memory = budget.memory.none(for: userID)
            disk = budget.disk.none(for: userID)
        }
    }
}
