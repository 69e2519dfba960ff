import FoundationEssentials
import Glibc

/// The environment and a `.env` file.
///
/// The environment wins. Nothing else reads either of them.
package struct ConfigurationSource: Sendable {
    private let values: [String: String]
    private let fileWarnings: [String]

    /// Reads the process's environment and, if it exists, the file `.env`.
    ///
    /// - Parameters:
    ///   - environmentFile: The file's path, relative to the current folder or absolute.
    ///   - overrides: Values that win over both.
    ///   - environment: The process's environment.
    /// - Throws: `ConfigurationFileError` when the file exists but can't be read.
    package init(
        environmentFile: String = ".env",
        overrides: [String: String] = [:],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationFileError) {
        let file = try Self.read(environmentFile)
        values = overrides.merging(environment) { first, _ in first }.merging(file.values) { first, _ in first }
        fileWarnings = file.warnings
    }

    /// Takes only these values.
    ///
    /// - Parameter values: Values by key.
    package init(values: [String: String]) {
        self.values = values
        fileWarnings = []
    }

    /// The settings of a command that looks after the data of a service.
    ///
    /// Where the environment sets neither `DATABASE_URL` nor `OBJECTS_PATH`, both come from the development server that
    /// runs in this folder.
    ///
    /// - Parameter environment: The process's environment.
    /// - Returns: The settings, and whether they are those of the development server.
    /// - Throws: `ConfigurationFileError`, also when no database is set and the development server of this folder is stopped.
    package static func ofCommand(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationFileError) -> (source: Self, isDevelopment: Bool) {
        let source = try Self(environment: environment)
        guard DevelopmentData.keys.allSatisfy({ environment[$0] ?? "" == "" }) else { return (source, false) }
        let data = try read(DevelopmentData.file).values
        guard let process = data[DevelopmentData.processKey].flatMap({ pid_t($0) }), isAlive(process) else {
            guard source.value(of: "DATABASE_URL") == nil,
                FileManager.default.fileExists(atPath: DevelopmentData.folder)
            else { return (source, false) }
            throw .developmentServerStopped
        }
        return (try Self(overrides: data, environment: environment), true)
    }

    /// Settings take a few KiB.
    private static let maxFileBytes = 64 * 1024

    /// A server that was killed leaves its file behind.
    private static func isAlive(_ process: pid_t) -> Bool {
        kill(process, 0) == 0 || errno == EPERM
    }

    private static func read(_ path: String) throws(ConfigurationFileError) -> DotenvFile {
        guard FileManager.default.fileExists(atPath: path) else { return DotenvFile("", name: path) }
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        guard size ?? 0 <= maxFileBytes else { throw .tooLarge(path: path) }
        guard let contents = try? String(contentsOfFile: path, encoding: .utf8) else { throw .unreadable(path: path) }
        return DotenvFile(contents, name: path)
    }

    /// The value of a key; nil when it is not set or empty.
    package func value(of key: String) -> String? {
        values[key].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Sentences about lines of the file and names of settings that are probably mistakes.
    ///
    /// They hold no value.
    package var warnings: [String] {
        let misspelled = values.keys.sorted().compactMap { name in
            SettingsReader.suggestion(for: name).map { "\(name) is not a setting. Did you mean \($0)?" }
        }
        return fileWarnings + misspelled
    }
}

/// Where a development server writes what commands beside it need.
package enum DevelopmentData {
    /// The folder of its data, relative to the folder in which the server runs.
    package static let folder = ".selfie"
    /// The folder that gets what would go out.
    package static let outbox = ".selfie/outbox"
    /// The file, relative to the folder in which the server runs.
    package static let file = ".selfie/environment"
    /// The settings that it holds.
    package static let keys = ["DATABASE_URL", "OBJECTS_PATH"]
    /// The key of the server's process id, beside them.
    package static let processKey = "process"
}

/// Prints no value, since several are secret.
extension ConfigurationSource: CustomStringConvertible, CustomReflectable {
    package var description: String { "ConfigurationSource(redacted)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The settings can't be read.
package enum ConfigurationFileError: Error, CustomStringConvertible {
    /// A command would use the settings of the development server, which does not run.
    case developmentServerStopped
    /// A `.env` file exists but can't be used.
    case unreadable(path: String)
    case tooLarge(path: String)

    package var description: String {
        switch self {
        case .developmentServerStopped:
            "bin/dev is not running here. Start it, or set DATABASE_URL for another database."
        case .unreadable(let path):
            "The file \(path) exists but can't be read. Check its permissions, and that it is UTF-8."
        case .tooLarge(let path): "The file \(path) has more than 64 KiB. Is it a file of settings?"
        }
    }
}
