import ArgumentParser
import Glibc

/// The question before something that can't be undone.
enum Confirmation {
    /// Refuses a command that would have to ask, and can't.
    static func validate(yes: Bool) throws {
        guard yes || isatty(STDIN_FILENO) == 1 else {
            throw ValidationError("There is no terminal for the confirmation. Use --yes.")
        }
    }

    /// Asks on the terminal; anything but yes is no.
    static func ask(_ question: String) -> Bool {
        StandardError.write("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
