import ArgumentParser
import Migrations
import SelfieConfiguration

@main
struct Selfie: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A private photo back end for selfie apps.",
        discussion: "Settings come from the environment and the file .env; .env.example explains each.",
        version: SelfieVersion.current,
        subcommands: [
            Serve.self, Migrate.self, Dev.self, Photos.self, Users.self, SchemaCommand.self, RecordsCommand.self,
            Roles.self,
            Changes.self, MailCommand.self, DeliveriesCommand.self, WebhooksCommand.self, DevicesCommand.self,
            PushCommand.self, Doctor.self, Probe.self,
            EncryptPassword.self,
        ]
    )

    /// Ends with a help page, the version or completions.
    private static func end(printing text: String) -> Never {
        do {
            if !text.isEmpty { print(text) }
            try StandardOutput.finish()
            exit()
        } catch {
            exit(withError: error)
        }
    }

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            try StandardOutput.finish()
        } catch  where exitCode(for: error).isSuccess {
            end(printing: fullMessage(for: error))
        } catch let error as MigrationError {
            exit(withError: MigrationFailure(error: error))
        } catch {
            exit(withError: error)
        }
    }
}
