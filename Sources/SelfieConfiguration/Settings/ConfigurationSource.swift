import Configuration
import FoundationEssentials
import SystemPackage

/// The environment and a `.env` file.
///
/// The environment wins. Nothing else reads either of them.
package struct ConfigurationSource: Sendable {
    private let reader: ConfigReader

    /// Reads the process's environment and, if it is there, the file `.env`.
    ///
    /// - Parameters:
    ///   - environmentFile: The file's path, relative to the current folder or absolute.
    ///   - overrides: Values that win over both.
    /// - Throws: `ConfigurationFileError` when the file is there but can't be read.
    package init(environmentFile: String = ".env", overrides: [String: String] = [:]) async throws {
        let file: EnvironmentVariablesProvider
        do {
            file = try await EnvironmentVariablesProvider(
                environmentFilePath: FilePath(environmentFile),
                allowMissing: true,
                secretsSpecifier: .all
            )
        } catch {
            throw ConfigurationFileError.unreadable(path: environmentFile)
        }
        let contents = try? String(contentsOfFile: environmentFile, encoding: .utf8)
        // The library would read the whole file as one line.
        guard contents?.unicodeScalars.contains("\r") != true else {
            throw ConfigurationFileError.windowsLineEnds(path: environmentFile)
        }
        // Every value counts as secret, so that the library never prints one.
        reader = ConfigReader(providers: [
            EnvironmentVariablesProvider(environmentVariables: overrides, secretsSpecifier: .all),
            EnvironmentVariablesProvider(secretsSpecifier: .all),
            file,
        ])
    }

    /// Takes only these values.
    ///
    /// - Parameter values: Values by key.
    package init(values: [String: String]) {
        reader = ConfigReader(
            provider: EnvironmentVariablesProvider(environmentVariables: values, secretsSpecifier: .all)
        )
    }

    /// The value of a key; nil when there is none or it is empty.
    package func value(of key: String) -> String? {
        let value = reader.string(forKey: ConfigKey([key]), isSecret: true)
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Prints no value, since several are secret.
extension ConfigurationSource: CustomStringConvertible, CustomReflectable {
    package var description: String { "ConfigurationSource(redacted)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A `.env` file exists but can't be used.
package enum ConfigurationFileError: Error, CustomStringConvertible {
    case unreadable(path: String)
    case windowsLineEnds(path: String)

    package var description: String {
        switch self {
        case .unreadable(let path): "The file \(path) is there but can't be read. Check its permissions."
        case .windowsLineEnds(let path): "The file \(path) has the line ends of Windows (CR LF). Save it with LF alone."
        }
    }
}
