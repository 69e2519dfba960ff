import Dispatch
import Foundation

/// The environment names the target, since libFuzzer takes the arguments for its own.
private let target: FuzzTarget = {
    guard let found = ProcessInfo.processInfo.environment["FUZZ_TARGET"].flatMap(FuzzTarget.init) else {
        print("FUZZ_TARGET must be one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        exit(2)
    }
    return found
}()

/// What libFuzzer, which brings the program's beginning, calls with each input (LLVM, "libFuzzer", section "Fuzz Target").
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let hasEnded = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await target.run(input)
        } catch {
            // What libFuzzer notes, with the input.
            fatalError("\(error)")
        }
        hasEnded.signal()
    }
    hasEnded.wait()
    return 0
}
