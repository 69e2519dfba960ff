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
    /// The first names of both, by their ids.
    var names: [String: String]
}

/// Why a conversation can't be opened.
enum ConversationError: LocalizedError {
    case nobodyFound(String)
    case severalFound([String])
    /// Somebody else has made a thread under this id.
    case threadTaken

    var errorDescription: String? {
        switch self {
        case .nobodyFound(let name): "Nobody is called \(name)."
        case .severalFound(let names): "Who is it? \(names.joined(separator: ", "))"
        case .threadTaken: "Somebody else has taken this conversation."
        }
    }
}

/// The conversation of the user and one other member.
struct Conversation: Sendable {
    let threadID: String
    let userID: String
    /// First names by members' ids.
    let names: [String: String]
    private let selfie: Selfie
    private let replica: Replica

    /// Opens a conversation. One that is on the device opens without a network, too.
    ///
    /// - Parameters:
    ///   - name: The beginning of the other member's name.
    ///   - selfie: The client of a user who is signed in.
    /// - Throws: `ConversationError` or `SelfieError`.
    static func open(with name: String, _ selfie: Selfie) async throws -> Conversation {
        guard let userID = try selfie.userID else { throw SelfieError.notSignedIn }
        let replica = try await selfie.replica(of: [MessageThread.self, Message.self])
        let known = await replica.records(MessageThread.self).first { thread in
            isOurs(thread, userID)
                && thread.fields.names.contains {
                    $0.key != userID && $0.value.lowercased().hasPrefix(name.lowercased())
                }
        }
        let thread: Record<MessageThread>
        if let known { thread = known } else { thread = try await create(with: name, userID, selfie) }
        return Conversation(
            threadID: thread.id,
            userID: userID,
            names: thread.fields.names,
            selfie: selfie,
            replica: replica
        )
    }

    /// Whether a thread was made by one of the two whose ids are its own: others could make such an id, too.
    private static func isOurs(_ thread: Record<MessageThread>, _ userID: String) -> Bool {
        let members = thread.id.split(separator: ":").map(String.init)
        return members.contains(userID) && members.contains(thread.owner)
    }

    private static func create(with name: String, _ userID: String, _ selfie: Selfie) async throws
        -> Record<MessageThread>
    {
        let found = try await selfie.members(startingWith: name).members.filter { $0.id != userID }
        guard let other = found.first else { throw ConversationError.nobodyFound(name) }
        guard found.count == 1 else {
            throw ConversationError.severalFound(found.map { "\($0.firstName) \($0.lastName)" })
        }
        let names = [userID: try await selfie.profile().firstName, other.id: other.firstName]
        let threads = selfie.records(MessageThread.self)
        // Both devices find the same id, whoever is first.
        let id = [userID, other.id].sorted().joined(separator: ":")
        do {
            return try await threads.create(MessageThread(names: names), id: id, writers: [other.id])
        } catch SelfieError.versionDiffers {
            let thread = try await threads.record(id)
            guard isOurs(thread, userID) else { throw ConversationError.threadTaken }
            return thread
        } catch SelfieError.notFound {
            throw ConversationError.threadTaken
        }
    }

    /// All messages, the oldest first, now and whenever they change.
    var messages: LiveResults<Message> {
        replica.results(where: [.equal("threadId", threadID)])
    }

    /// Puts a message into the outbox. It is sent at once, or when there is a network.
    ///
    /// - Parameters:
    ///   - text: At most 4,000 characters.
    ///   - picture: The file of a photo.
    /// - Throws: `SelfieError`; nothing is sent then.
    func send(_ text: String, picture: URL? = nil) async throws {
        let message = Message(threadId: threadID, text: text)
        guard let picture else {
            try await selfie.outbox.save(message, version: 0)
            return
        }
        let name = picture.lastPathComponent
        let upload = try await selfie.outbox.upload(.file(picture), title: name, name: name, isListed: false)
        try await selfie.outbox.save(message, version: 0, photos: ["picture": upload])
    }

    /// The picture of a message; nil if it has none.
    func picture(of message: Record<Message>) async throws -> Data? {
        guard let link = message.photo("picture") else { return nil }
        return try await selfie.photos.data(of: link)
    }

    /// The first name of who has sent a message.
    func sender(of message: Record<Message>) -> String { names[message.owner] ?? "Somebody" }
}
