import Foundation
import Glibc
@_spi(Testing) import SelfieClient
import Synchronization

/// An app that hands photos and records over to its outbox, and kills itself at a step of it.
///
/// It notes what it has handed over, as an app would. So it never hands that over again, and what the outbox loses is
/// missing in the end. Arguments: the service's URL, a folder, the token, the member's id, the step to die at (0 for none),
/// and the names of what to send. Each is the name of a photo in the folder, its title, and the id of a record.
@main
enum ClientProcess {
    struct House: RecordFields {
        static let collection = "houses"
        var address: String
        var photo: String?
    }

    static func main() async throws {
        let words = CommandLine.arguments
        let folder = URL(filePath: words[2])
        let names = words.dropFirst(6)
        let store = MemoryTokenStore()
        store.write(Data(#"{"token":"\#(words[3])","userID":"\#(words[4])"}"#.utf8))
        var configuration = SelfieConfiguration(tokenStore: store, folder: folder.appending(path: "selfie"))
        let lastStep = Int(words[5]) ?? 0
        let steps = StepCounter()
        configuration.beforeStep = { _ in
            if steps.next() == lastStep { kill(getpid(), SIGKILL) }
        }
        guard let url = URL(string: words[1]) else { exit(2) }
        let selfie = Selfie(
            url: url,
            apiCredential: APICredential(name: "app", password: "none"),
            configuration: configuration
        )
        let diary = folder.appending(path: "handed-over")
        for name in names {
            if try noted(in: diary).contains("photo \(name)") == false {
                if try await !has(name, selfie) {
                    try await selfie.outbox.upload(.file(folder.appending(path: name)), title: name)
                }
                try note("photo \(name)", in: diary)
            }
            if try noted(in: diary).contains("record \(name)") == false {
                try await selfie.outbox.create(House(address: name), id: name)
                try note("record \(name)", in: diary)
            }
        }
        try await selfie.outbox.waitUntilSent()
        print("steps: \(steps.count), refused: \(await selfie.outbox.items.count)")
    }

    private final class StepCounter: Sendable {
        private let steps = Mutex(0)

        var count: Int { steps.withLock { $0 } }

        func next() -> Int {
            steps.withLock { steps in
                steps += 1
                return steps
            }
        }
    }

    /// Whether a photo was handed over when the process died before it noted so.
    private static func has(_ title: String, _ selfie: Selfie) async throws -> Bool {
        if await selfie.outbox.items.contains(where: { $0.content == .upload(title: title) }) { return true }
        while true {
            do {
                return try await selfie.photos.list().contains { $0.title == title }
            } catch let error as SelfieError where error.isTransient {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private static func noted(in diary: URL) throws -> Set<String> {
        guard let text = try? String(contentsOf: diary, encoding: .utf8) else { return [] }
        return Set(text.split(separator: "\n").map(String.init))
    }

    private static func note(_ line: String, in diary: URL) throws {
        let old = (try? String(contentsOf: diary, encoding: .utf8)) ?? ""
        try Data((old + line + "\n").utf8).write(to: diary, options: .atomic)
    }

}
