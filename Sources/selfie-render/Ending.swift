import CSandbox
import Glibc
import RenderInterface

/// Rendering ends without a result.
struct RenderFailed: Error {
    let exit: RenderExit
}

/// Ends the process, with the reason for people where there is no result.
///
/// Handlers of libraries do not run: they might make calls that the sandbox forbids.
func end(_ exit: RenderExit, reasonFile: Int32 = SANDBOX_REASON) -> Never {
    if exit != .rendered {
        let line = Array("\(exit.reason)\n".utf8)
        _ = write(reasonFile, line, line.count)
    }
    _exit(exit.rawValue)
}
