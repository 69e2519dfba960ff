import SelfieConfiguration
import SelfieOperations

extension ConfigurationSource {
    /// The settings of a command other than `serve`.
    ///
    /// If they are those of the development server in this folder, it says so on standard error.
    static func ofThisCommand() throws -> ConfigurationSource {
        let (source, isDevelopment) = try ofCommand()
        if isDevelopment { StandardError.write("Using the database and the photos of selfie dev in this folder.\n") }
        return source
    }
}

extension Administration {
    /// Runs a body with the database that the settings name.
    static func run<Result>(_ body: (Administration) async throws -> Result) async throws -> Result {
        try await with(try ConfigurationSource.ofThisCommand().read { $0.postgres() }, body)
    }
}
