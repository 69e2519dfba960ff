import Concurrency
import Glibc
import RenderInterface

/// Renders photos in processes of their own, which end with the picture.
///
/// A photo is untrusted, and its decoder may be subverted by it. So `selfie-render` decodes it in a sandbox, and this
/// process looks at its time, its memory and its result (decision 33).
package struct RenderProcess: Sendable {
    private let program: String
    private let budget: RenderBudget
    private let extraWords: [String]

    /// - Parameters:
    ///   - program: The path of `selfie-render`.
    ///   - budget: What each rendering may use.
    package init(program: String, budget: RenderBudget = RenderBudget()) {
        self.init(program: program, budget: budget, extraWords: [])
    }

    /// - Parameters:
    ///   - program: The path of `selfie-render`.
    ///   - budget: What each rendering may use.
    ///   - extraWords: More words for the program, for tests.
    init(program: String, budget: RenderBudget = RenderBudget(), extraWords: [String]) {
        self.program = program
        self.budget = budget
        self.extraWords = extraWords
    }

    /// Makes a small picture of a photo.
    ///
    /// When this returns, the process has ended. Cancelling the task kills it within 10 ms.
    ///
    /// - Parameters:
    ///   - photo: An open file, which is read from its start whatever its position is, or the end of a pipe. It is not
    ///     closed, and must stay open until this returns. At most 64 MiB of it are read.
    ///   - longerSide: How long the longer side is to be, in pixels: 1 to 4096.
    /// - Returns: The small picture, or that the photo is not larger than that.
    /// - Throws: The reason why there is none.
    package func render(_ photo: Int32, longerSide: Int) async throws(RenderFailure) -> RenderOutcome {
        let cancellation = RenderRun.Cancellation()
        let arguments = RenderArguments(longerSide: longerSide, parent: getpid())
        let run = RenderRun(
            program: program,
            words: arguments.words + extraWords,
            photo: photo,
            budget: budget,
            cancellation: cancellation
        )
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The renderer dies with this thread. Threads of a pool may end earlier.
                let isStarted = DetachedThread.run("render") {
                    continuation.resume(returning: Result { () throws(RenderFailure) in try run.run() })
                }
                if !isStarted { continuation.resume(returning: .failure(.notStarted)) }
            }
        } onCancel: {
            cancellation.cancel()
        }
        guard let bytes = try result.get() else { return .smallEnough }
        return .rendition(try await Rendition(checking: bytes, longerSide: longerSide))
    }
}
