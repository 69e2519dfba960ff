package import Foundation
import ServerProcesses
import Synchronization
import TestSupport

/// The mails that a service has sent: into a folder, as `selfie dev` does.
package final class TestMails: Sendable {
    package let folder: URL
    private let lines = Mutex<[String]>([])

    init() {
        folder = FileManager.default.temporaryDirectory.appending(path: "selfie-mails-\(UUID().uuidString)")
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func announce(_ line: String) { lines.withLock { $0.append(line) } }

    /// A line for each mail, such as `mail to ada@example.com: your code is 123456`.
    package var all: [String] { lines.withLock { $0 } }

    /// The lines of an address, without it.
    package func lines(to address: String) -> [String] {
        all.filter { $0.hasPrefix("mail to \(address): ") }.map { String($0.dropFirst("mail to \(address): ".count)) }
    }

    /// Waits for a code to an address.
    ///
    /// A code that was replaced before its mail was sent is never there. So wait for one before you ask for the next.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - number: 1 for the first code that was sent there, for whichever purpose.
    /// - Returns: Six digits.
    /// - Throws: `NotInTime`.
    package func code(to address: String, number: Int = 1) async throws -> String {
        try await found("code \(number) to \(address)") {
            let codes = self.lines(to: address).compactMap { $0.firstMatch(of: /^your code is ([0-9]{6})$/)?.1 }
            return codes.count >= number ? String(codes[number - 1]) : nil
        }
    }

    /// The texts of the files, in their order.
    package func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
    }
}
