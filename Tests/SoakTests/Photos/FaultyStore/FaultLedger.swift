import Foundation
import Synchronization
import TestSupport

/// The answers to clients while the store misbehaved, and which of them were wrong.
final class FaultLedger: Sendable {
    /// A photo whose upload was answered 200.
    struct Photo: Sendable {
        let id: String
        /// Whose it is, as an index.
        let user: Int
        /// The path and query of its URL.
        let target: String
        let bytes: Data
        /// Whether its deletion was asked for, whatever came of it.
        var isDeletionSent = false
        /// Whether its deletion was answered 200.
        var isDeleted = false
    }

    private struct State {
        var photos: [Photo] = []
        var counts: [String: Int] = [:]
        var surprises: [String] = []
    }

    private let state = Mutex(State())

    /// Answers that are wrong.
    var surprises: [String] { state.withLock { $0.surprises } }
    /// How often each kind of operation ended in which way, such as `upload 200`.
    var counts: [String: Int] { state.withLock { $0.counts } }
    var photos: [Photo] { state.withLock { $0.photos } }
    /// Photos that must be there.
    var kept: [Photo] { photos.filter { !$0.isDeleted } }

    func note(_ outcome: String) {
        state.withLock { $0.counts[outcome, default: 0] += 1 }
    }

    func noteSurprise(_ text: String) {
        state.withLock { $0.surprises.append(text) }
    }

    func noteUpload(_ photo: Photo) {
        state.withLock { $0.photos.append(photo) }
    }

    func noteDeletion(of id: String) {
        state.withLock { state in
            guard let index = state.photos.firstIndex(where: { $0.id == id }) else { return }
            state.photos[index].isDeleted = true
        }
    }

    /// What is known of a photo now.
    func photo(_ id: String) -> Photo? { photos.first { $0.id == id } }

    /// Picks a photo to fetch; one in seven is deleted.
    func pick(using generator: inout SplitMix64) -> Photo? {
        let picksDeleted = Int.random(in: 0..<7, using: &generator) == 0
        let photos = photos
        return photos.filter { $0.isDeleted == picksDeleted }.randomElement(using: &generator)
            ?? photos.randomElement(using: &generator)
    }

    /// Picks a photo to delete, none twice.
    func pickForDeletion(using generator: inout SplitMix64) -> Photo? {
        state.withLock { state in
            let indices = state.photos.indices.filter { !state.photos[$0].isDeletionSent }
            guard let index = indices.randomElement(using: &generator) else { return nil }
            state.photos[index].isDeletionSent = true
            return state.photos[index]
        }
    }
}
