import FoundationEssentials
import Glibc
import SelfieConfiguration

/// A file with the location of the development server's data, for commands in the same folder while it runs.
struct DevelopmentDataFile {
    private let settings: [String: String]

    init(_ settings: [String: String]) {
        self.settings = settings
    }

    /// - Throws: An error of Foundation's when the file can't be written.
    func write() throws {
        let settings = settings.merging([DevelopmentData.processKey: "\(getpid())"]) { $1 }
        let lines = settings.sorted { $0.key < $1.key }.map { "\($0.key)='\($0.value)'\n" }
        let text = "# Written by `selfie dev`, for commands in this folder while it runs.\n" + lines.joined()
        try Data(text.utf8).write(to: URL(filePath: DevelopmentData.file), options: .atomic)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: DevelopmentData.file)
    }
}
