import SelfieConfiguration
import SelfieOperations

extension ConfigurationSource {
    /// The settings of a command other than `serve`.
    ///
    /// If they are those of the development server in this folder, it says so on standard error.
    static func ofThisCommand() throws -> ConfigurationSource { try ofThisCommandAndOutbox().source }

    /// The same, and the folder that gets all mails if the settings are those of the development server.
    static func ofThisCommandAndOutbox() throws -> (source: ConfigurationSource, outbox: String?) {
        let (source, isDevelopment) = try ofCommand()
        if isDevelopment { StandardError.write("Using the database and the photos of selfie dev in this folder.\n") }
        return (source, isDevelopment ? DevelopmentData.outbox : nil)
    }
}

extension Administration {
    /// Runs a body with the database that the settings name.
    static func run<Result>(_ body: (Administration) async throws -> Result) async throws -> Result {
        let (source, outbox) = try ConfigurationSource.ofThisCommandAndOutbox()
        return try await with(try source.read { $0.postgres() }, notices: source.notices(outbox: outbox), body)
    }
}
