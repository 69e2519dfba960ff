import Budgets
import NIOCore
import SelfieAccounts
import Synchronization

/// Caches the JSON of whole lists, one for each user, within a budget.
///
/// Nothing in it is ever stale: a list is used only for the version that the database has just returned, and for the same URLs.
final class ListCache: Sendable {
    private struct Entry {
        let list: CachedList
        /// Whether it was used since it was last considered for removal.
        var wasUsed = false
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// The users of `entries`, the first to be considered for removal first.
        var users = CircularBuffer<Int>()
    }

    private let memory: Permits<Int>
    private let state = Mutex(State())

    /// The bytes of the longest list that is cached.
    ///
    /// It has room for 10,000 photos, as many as a user may have by default, with titles and names of usual length.
    static let maxListBytes = 6 * 1024 * 1024

    /// About what a list takes beside its JSON.
    static let overheadBytes = 1024

    /// - Parameter memory: The bytes of the lists. The holders are the users, by their ids.
    init(_ memory: Permits<Int>) {
        self.memory = memory
    }

    /// A user's list, if it is cached in this version and with these URLs.
    func cachedList(of library: PhotoLibrary, urls: PhotoURLDay) -> CachedList? {
        state.withLock { state in
            guard let list = state.entries[library.userID]?.list, list.library == library, list.urls.isSame(as: urls)
            else { return nil }
            state.entries[library.userID]?.wasUsed = true
            return list
        }
    }

    /// Caches a whole list, and replaces the user's last one.
    func insert(_ list: CachedList) {
        state.withLock { state in
            if state.entries.updateValue(Entry(list: list), forKey: list.library.userID) == nil {
                state.users.append(list.library.userID)
            }
        }
    }

    /// Reserves memory for a piece of a list; if need be, it drops lists of others.
    ///
    /// - Returns: Whether there was some.
    func reserve(_ bytes: Int, for permit: Permit<Int>) -> Bool {
        while true {
            do throws(TooBusy) {
                try permit.grow(by: bytes)
                return true
            } catch {
                // A user at their own limit gets no more, whatever is dropped.
                guard case .everyone = error, removeOne() else { return false }
            }
        }
    }

    /// The memory of a user's list, of which nothing is reserved yet.
    func permit(for userID: Int) -> Permit<Int> { memory.none(for: userID) }

    /// Removes a list that was not used lately.
    private func removeOne() -> Bool {
        let removed = state.withLock { state -> CachedList? in
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
final class CachedList: Sendable {
    let library: PhotoLibrary
    let urls: PhotoURLDay
    let tag: EntityTag
    let pieces: [ByteBuffer]
    private let permit: Permit<Int>

    init(_ library: PhotoLibrary, urls: PhotoURLDay, tag: EntityTag, pieces: [ByteBuffer], holding permit: Permit<Int>)
    {
        self.library = library
        self.urls = urls
        self.tag = tag
        self.pieces = pieces
        self.permit = permit
    }

    var byteCount: Int { pieces.reduce(0) { $0 + $1.readableBytes } }
}
