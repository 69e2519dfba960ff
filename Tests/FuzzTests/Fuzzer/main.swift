import CFuzzer
import Foundation

// The environment names the target, since libFuzzer takes the arguments for its own.
guard let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"], let target = FuzzTarget(rawValue: name) else {
    print("FUZZ_TARGET must be one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
    exit(2)
}

/// A function in C's sense can't hold the target, and this one is asked for each input.
nonisolated(unsafe) let chosen = target

var count = CommandLine.argc
var arguments = Optional(CommandLine.unsafeArgv)
exit(
    withUnsafeMutablePointer(to: &arguments) { arguments in
        arguments.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1) {
            LLVMFuzzerRunDriver(&count, $0) { bytes, count in
                do {
                    try chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
                } catch {
                    // What libFuzzer notes, with the input.
                    fatalError("\(error)")
                }
                return 0
            }
        }
    }
)
