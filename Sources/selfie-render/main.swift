import CSandbox
import CVips
import Glibc
import RenderInterface

// One picture, then the process ends. The order matters: nothing of the picture is read before the sandbox is closed.

var words = Array(CommandLine.arguments.dropFirst())
#if DEBUG
    // For tests only: a number behind "--try" is a call that the sandbox forbids.
    let attempt = words.firstIndex(of: "--try").map { Int32(words[words.index(after: $0)]) ?? -1 }
    words = Array(words.prefix { $0 != "--try" })
#endif
guard let arguments = RenderArguments(words: words) else { end(.usage, reasonFile: 2) }
guard sandbox_prepare(arguments.parent ?? 0) else { end(.sandboxFailed, reasonFile: 2) }
guard vips_open() else { end(.libraryMissing) }
let warmUp = WarmUp()
guard warmUp.isFit else { end(.libraryMissing) }
guard sandbox_close() else { end(.sandboxFailed) }

#if DEBUG
    if let attempt {
        let isKnown = sandbox_try_forbidden(attempt)
        end(isKnown ? .rendered : .usage)
    }
#endif
do throws(RenderFailed) {
    let result = try Rendering(readable: warmUp.readable).render(readInput(), longerSide: arguments.longerSide)
    try writeOutput(result)
    end(.rendered)
} catch {
    end(error.exit)
}
