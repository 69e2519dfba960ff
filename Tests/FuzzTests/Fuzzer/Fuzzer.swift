import CFuzzer
import Foundation

/// The program that `bin/soak` runs, once for each target.
@main
enum Fuzzer {
    /// The environment names it, since libFuzzer takes the arguments for its own.
    private static let target = ProcessInfo.processInfo.environment["FUZZ_TARGET"].flatMap(FuzzTarget.init)

    /// Has libFuzzer make inputs until its time is over.
    static func main() {
        guard target != nil else {
            print("FUZZ_TARGET must be one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
            exit(2)
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        let status = LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
            do {
                try Fuzzer.target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
            } catch {
                // What libFuzzer notes, with the input.
                fatalError("\(error)")
            }
            return 0
        }
        exit(status)
    }
}
