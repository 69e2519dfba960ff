import Budgets
import NIOCore
import SelfieCore
import Synchronization

/// The JSON of whole lists that were sent before, one for each user, within a budget.
///
/// Nothing in it is ever stale: a list is used only for the version that the database has just told, and for the same URLs.
final class KeptLists: Sendable {
    private struct Entry {
        let list: KeptList
        /// Whether it was used since it was last considered for removal.
        var wasUsed = false
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// The users of `entries`, the first to be considered for removal first.
        var users = CircularBuffer<Int>()
    }

    private let budget: ByteBudget<Int>
    private let state = Mutex(State())

    /// The bytes of the longest list that is kept.
    ///
    /// It has room for 10,000 photos, as many as a user may have by default, with titles and names of usual length.
    static let maxListBytes = 6 * 1024 * 1024

    /// About what a list takes beside its JSON.
    static let overheadBytes = 1024

    /// - Parameter budget: The memory of the lists. The holders are the users, by their ids.
    init(budget: ByteBudget<Int>) {
        self.budget = budget
    }

    /// A user's list, if it is kept in this version and with these URLs.
    func keptList(of library: PhotoLibrary, urls: PhotoURLDay) -> KeptList? {
        state.withLock { state in
            guard let list = state.entries[library.userID]?.list, list.version == library.version,
                list.urls.isSame(as: urls)
            else { return nil }
            state.entries[library.userID]?.wasUsed = true
            return list
        }
    }

    /// Keeps a whole list in place of the user's last one.
    func keep(_ list: KeptList) {
        state.withLock { state in
            if state.entries.updateValue(Entry(list: list), forKey: list.userID) == nil {
                state.users.append(list.userID)
            }
        }
    }

    /// Reserves memory for a piece of a list, if need be in place of others' lists.
    ///
    /// - Returns: Whether there was some.
    func reserve(_ bytes: Int, for reservation: ByteReservation<Int>) -> Bool {
        while true {
            do throws(NoBytes) {
                try reservation.grow(by: bytes)
                return true
            } catch {
                // Nothing makes room for a user who has as much as one may have.
                guard error == .allTaken, removeOne() else { return false }
            }
        }
    }

    /// An empty reservation of a user's.
    func reservation(for userID: Int) -> ByteReservation<Int> {
        ByteReservation(of: budget, for: userID)
    }

    /// Removes a list that was not used lately.
    private func removeOne() -> Bool {
        let removed = state.withLock { state -> KeptList? in
            while let userID = state.users.popFirst() {
                guard state.entries[userID]?.wasUsed == true else {
                    return state.entries.removeValue(forKey: userID)?.list
                }
                state.entries[userID]?.wasUsed = false
                state.users.append(userID)
            }
            return nil
        }
        return removed != nil
    }
}

/// The JSON of a whole list, with the memory that it holds of the budget.
final class KeptList: Sendable {
    let userID: Int
    let version: PhotoLibrary.Version
    let urls: PhotoURLDay
    let tag: EntityTag
    let pieces: [ByteBuffer]
    private let reservation: ByteReservation<Int>

    init(
        _ library: PhotoLibrary,
        urls: PhotoURLDay,
        tag: EntityTag,
        pieces: [ByteBuffer],
        reservation: ByteReservation<Int>
    ) {
        self.tag = tag
        userID = library.userID
        version = library.version
        self.urls = urls
        self.pieces = pieces
        self.reservation = reservation
    }

    var byteCount: Int { pieces.reduce(0) { $0 + $1.readableBytes } }
}
