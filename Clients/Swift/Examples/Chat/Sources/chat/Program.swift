import Foundation
import SelfieClient

@main
struct Program {
    static let usage = """
        chat sign-up EMAIL FIRST-NAME LAST-NAME
        chat sign-in EMAIL
        chat with NAME
        chat sign-out
        """

    let selfie: Selfie
    /// Where the session, the copy of the messages and the outbox are.
    let folder: URL

    private var pictures: URL { folder.appendingPathComponent("pictures") }

    static func main() async {
        do {
            try await Program().run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            print(error.localizedDescription)
            exit(1)
        }
    }

    init() {
        let environment = ProcessInfo.processInfo.environment
        guard let name = environment["API_AUTH_NAME"], let password = environment["API_AUTH_PASSWORD"],
            let url = URL(string: environment["SELFIE_URL"] ?? "http://127.0.0.1:3000")
        else {
            print("Set API_AUTH_NAME and API_AUTH_PASSWORD, and SELFIE_URL if the service is elsewhere.")
            exit(1)
        }
        let path = environment["CHAT_FOLDER"] ?? NSHomeDirectory() + "/.chat"
        folder = URL(fileURLWithPath: path)
        let session = FileTokenStore(file: folder.appendingPathComponent("session"))
        selfie = Selfie(
            url: url,
            apiCredential: APICredential(name: name, password: password),
            configuration: SelfieConfiguration(tokenStore: session, folder: folder)
        )
    }

    func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("sign-up", 4):
            let password = askPassword()
            try await selfie.signUp(
                email: arguments[1],
                password: password,
                firstName: arguments[2],
                lastName: arguments[3]
            )
            try await signIn(arguments[1], password)
        case ("sign-in", 2):
            try await signIn(arguments[1], askPassword())
        case ("with", 2):
            try await chat(with: arguments[1])
        case ("sign-out", 1):
            try await selfie.signOut()
            try? FileManager.default.removeItem(at: pictures)
            print("You are signed out.")
        default:
            print(Self.usage)
        }
    }

    private func askPassword() -> String { getpass("Password: ").map { String(cString: $0) } ?? "" }

    private func signIn(_ email: String, _ password: String) async throws {
        let account = try await selfie.signIn(email: email, password: password)
        print("Hello \(account.firstName). You are signed in.")
    }

    // MARK: Talking

    /// Finds a conversation on this device, or a member in the directory.
    private func find(_ name: String) async throws -> Conversation? {
        guard let userID = try selfie.userID else { throw SelfieError.notSignedIn }
        let known = try await Conversation.all(selfie).filter {
            $0.otherName.lowercased().hasPrefix(name.lowercased())
        }
        if known.count == 1 { return known[0] }
        let members = try await selfie.members(startingWith: name).members.filter { $0.id != userID }
        if members.count == 1 { return try await Conversation.begin(with: members[0], selfie) }
        let names = members.map { "\($0.firstName) \($0.lastName)" }.joined(separator: ", ")
        print(members.isEmpty ? "Nobody is called \(name)." : "Who is it? \(names)")
        return nil
    }

    private func chat(with name: String) async throws {
        guard let conversation = try await find(name) else { return }
        print("You talk to \(conversation.otherName). Type a message, or: /picture FILE TEXT, /quit")
        let showing = [
            Task { await showMessages(of: conversation) },
            Task { await showProblems() },
            Task { await waitForEnd() },
        ]
        for await line in lines where !line.isEmpty {
            if line == "/quit" { break }
            do {
                try await send(line, conversation)
            } catch {
                print(error.localizedDescription)
            }
        }
        for task in showing { task.cancel() }
        let count = await selfie.outbox.items.count
        if count > 0 { print("\(count) not sent yet. Chat again to send them.") }
    }

    /// What is typed, line by line.
    private var lines: AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    private func send(_ line: String, _ conversation: Conversation) async throws {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words[0] == "/picture" else { return try await conversation.send(line) }
        guard words.count > 1 else { return print("      Write /picture FILE, or /picture FILE TEXT.") }
        let text = words.count > 2 ? words[2] : ""
        try await conversation.send(text, picture: URL(fileURLWithPath: words[1]))
    }

    /// Prints each message once, as soon as it is here.
    private func showMessages(of conversation: Conversation) async {
        var shown: Set<String> = []
        for await messages in conversation.messages {
            for message in messages where shown.insert(message.id).inserted {
                let time = message.createdAt.formatted(date: .omitted, time: .shortened)
                print("\(time) \(conversation.sender(of: message)): \(message.fields.text)")
                if message.photo("picture") != nil { await showPicture(of: message, conversation) }
            }
        }
    }

    /// Writes a message's picture into a file, and prints where.
    private func showPicture(of message: Record<Message>, _ conversation: Conversation) async {
        do {
            guard let picture = try await conversation.picture(of: message) else { return }
            try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
            let file = pictures.appendingPathComponent(message.id)
            try picture.write(to: file)
            print("      picture: \(file.path)")
        } catch {
            print("      picture: \(error.localizedDescription)")
        }
    }

    /// Prints once for each message why it was not sent yet, or never will be.
    private func showProblems() async {
        var (waiting, refused): (Set<UUID>, Set<UUID>) = ([], [])
        for await items in await selfie.outbox.updates {
            for item in items {
                let text = item.fields(as: Message.self)?.text ?? "a picture"
                switch item.state {
                case .waiting(let error?) where waiting.insert(item.id).inserted:
                    print("      Waiting: \(text) (\(error.localizedDescription))")
                case .refused(let error) where refused.insert(item.id).inserted:
                    print("      Refused: \(text) (\(error.localizedDescription))")
                    try? await selfie.outbox.drop(item.id)
                default: break
                }
            }
        }
    }

    /// Ends the program when the session ends, such as after a new password on another device.
    private func waitForEnd() async {
        for await event in selfie.sessionEvents {
            guard case .ended = event else { continue }
            print("Your session has ended. Sign in again.")
            exit(1)
        }
    }
}
