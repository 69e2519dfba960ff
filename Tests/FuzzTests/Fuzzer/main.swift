import CFuzzer
import Foundation

// The environment names the target, since libFuzzer takes the arguments for its own.
private let target = ProcessInfo.processInfo.environment["FUZZ_TARGET"].flatMap(FuzzTarget.init)

guard target != nil else {
    print("FUZZ_TARGET must be one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
    exit(2)
}

/// Has libFuzzer make inputs until it is told to stop, and ends the process.
private func runFuzzer() -> Never {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    let status = LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
        do {
            try target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
        } catch {
            // What libFuzzer notes, with the input.
            fatalError("\(error)")
        }
        return 0
    }
    exit(status)
}

runFuzzer()
