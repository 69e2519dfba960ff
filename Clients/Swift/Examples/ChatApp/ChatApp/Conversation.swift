import Foundation
import SelfieClient

/// A message of a thread.
struct Message: RecordFields {
    static let collection = "messages"
    var threadId: String
    var text: String
    /// The id of a photo.
    var picture: String?
}

/// What two members write to each other.
struct MessageThread: RecordFields {
    static let collection = "threads"
    /// The names of both, by their ids.
    var names: [String: String]
}

/// Somebody else has made the thread of two members.
struct ThreadTaken: LocalizedError {
    var errorDescription: String? { "Somebody else has taken this conversation." }
}

/// The conversation of the user and one other member.
struct Conversation: Sendable, Identifiable {
    /// The id of its thread.
    let id: String
    let otherName: String
    private let names: [String: String]
    private let selfie: Selfie
    private let replica: Replica

    /// - Returns: nil if the thread is a stranger's.
    init?(_ thread: Record<MessageThread>, _ selfie: Selfie, _ replica: Replica) {
        let members = thread.id.split(separator: ":").map(String.init)
        guard let userID = try? selfie.userID, members.contains(userID), members.contains(thread.owner),
            let other = members.first(where: { $0 != userID }), let otherName = thread.fields.names[other]
        else { return nil }
        (id, names, self.otherName) = (thread.id, thread.fields.names, otherName)
        (self.selfie, self.replica) = (selfie, replica)
    }

    /// The copy of all threads and messages on this device.
    static func replica(_ selfie: Selfie) async throws -> Replica {
        try await selfie.replica(of: [MessageThread.self, Message.self])
    }

    /// The conversations on this device.
    static func all(_ selfie: Selfie) async throws -> [Conversation] {
        let replica = try await replica(selfie)
        return await replica.records(MessageThread.self).compactMap { Conversation($0, selfie, replica) }
    }

    /// Begins the conversation with a member, or opens it if one of the two has begun it.
    ///
    /// - Parameters:
    ///   - member: The other member.
    ///   - selfie: The client of a user who is signed in.
    /// - Returns: The conversation.
    /// - Throws: `ThreadTaken` or `SelfieError`.
    static func begin(with member: Member, _ selfie: Selfie) async throws -> Conversation {
        let profile = try await selfie.profile()
        let names = [
            profile.id: "\(profile.firstName) \(profile.lastName)",
            member.id: "\(member.firstName) \(member.lastName)",
        ]
        // Both devices find the same id, whoever is first.
        let id = [profile.id, member.id].sorted().joined(separator: ":")
        let threads = selfie.records(MessageThread.self)
        let thread: Record<MessageThread>
        do {
            thread = try await threads.create(MessageThread(names: names), id: id, writers: [member.id])
        } catch SelfieError.versionDiffers {
            thread = try await threads.record(id)
        } catch SelfieError.notFound {
            throw ThreadTaken()
        }
        guard let conversation = Conversation(thread, selfie, try await replica(selfie)) else { throw ThreadTaken() }
        return conversation
    }

    /// All messages, the oldest first, now and whenever they change.
    var messages: LiveResults<Message> {
        replica.results(where: [.equal("threadId", id)])
    }

    /// Puts a message into the outbox.
    ///
    /// It is sent at once, or when there is a network.
    ///
    /// - Parameters:
    ///   - text: At most 4,000 characters.
    ///   - picture: The file of a photo.
    /// - Throws: `SelfieError`; nothing is sent then.
    func send(_ text: String, picture: URL? = nil) async throws {
        let message = Message(threadId: id, text: text)
        guard let picture else {
            try await selfie.outbox.create(message)
            return
        }
        let name = picture.lastPathComponent
        let upload = try await selfie.outbox.upload(.file(picture), title: name, name: name, isListed: false)
        try await selfie.outbox.create(message, photos: ["picture": upload])
    }

    /// The picture of a message; nil if it has none.
    func picture(of message: Record<Message>) async throws -> Data? {
        guard let link = message.photo("picture") else { return nil }
        return try await selfie.photos.data(of: link)
    }

    /// The name of who has sent a message.
    func sender(of message: Record<Message>) -> String { names[message.owner] ?? "Somebody" }
}
