import RenderInterface

/// Decides what becomes of a renderer, by what was seen of it.
struct RenderSupervision {
    private let budget: RenderBudget
    private let deadline: ContinuousClock.Instant
    /// Why the renderer is to be killed.
    private(set) var verdict: RenderFailure?

    init(budget: RenderBudget, start: ContinuousClock.Instant) {
        self.budget = budget
        deadline = start + budget.time
    }

    /// Looks at a renderer that runs.
    ///
    /// The first verdict stays.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - residentBytes: Its memory; nil when the system does not tell.
    ///   - outputBytes: What it has written up to now.
    ///   - isCancelled: Whether the caller is gone.
    mutating func look(at now: ContinuousClock.Instant, residentBytes: Int?, outputBytes: Int, isCancelled: Bool) {
        guard verdict == nil else { return }
        if isCancelled {
            verdict = .cancelled
        } else if outputBytes > RenderLimits.maxOutputBytes {
            verdict = .outputInvalid
        } else if let residentBytes {
            if residentBytes > budget.memoryBytes {
                verdict = .memoryExceeded
            } else if now >= deadline {
                verdict = .timeExceeded
            }
        } else {
            // What nobody can watch must not run.
            verdict = .notStarted
        }
    }

    /// What the end of the process means.
    ///
    /// - Parameter ending: How it ended.
    /// - Returns: Whether there is a result; false means that the photo is small enough.
    /// - Throws: The reason why there is none.
    func hasResult(_ ending: ProcessEnding) throws(RenderFailure) -> Bool {
        if let verdict { throw verdict }
        switch ending {
        case .exited(let code):
            guard let exit = RenderExit(rawValue: code) else { throw .outputInvalid }
            if let failure = RenderFailure(exit) { throw failure }
            return exit == .rendered
        case .signaled(let signal): throw RenderFailure(signal: signal)
        case .unknown: throw .killed
        }
    }
}
