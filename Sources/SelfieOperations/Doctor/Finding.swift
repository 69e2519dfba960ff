/// The finding of one check.
package struct Finding: Sendable, Equatable {
    /// How well it went.
    package enum Grade: Sendable {
        case ok
        /// It works, but is not as it should be.
        case warning
        case failed
        /// It was not checked, because an earlier check failed.
        case skipped
    }

    /// The part that was checked.
    package enum Subject: String, Sendable {
        case configuration = "Configuration"
        case database = "Database"
        case passwords = "Passwords"
        case bucket = "Bucket"
        case folder = "Folder"
        case temporaryFolder = "Temporary folder"
    }

    package let grade: Grade
    package let subject: Subject
    /// The finding, in one line that begins with a small letter and has no full stop.
    package let text: String
    /// What to do about it, in sentences; nil if all is well.
    package let advice: String?
}

/// The number of checks by outcome.
package struct DiagnosisSummary: Sendable, Equatable {
    package fileprivate(set) var ok = 0
    package fileprivate(set) var warnings = 0
    package fileprivate(set) var failures = 0
    package fileprivate(set) var skipped = 0

    mutating func count(_ finding: Finding) {
        switch finding.grade {
        case .ok: ok += 1
        case .warning: warnings += 1
        case .failed: failures += 1
        case .skipped: skipped += 1
        }
    }
}

/// Collects the findings about one subject.
struct Findings: Sendable {
    let subject: Finding.Subject
    let report: @Sendable (Finding) -> Void

    /// The findings about another subject.
    func about(_ subject: Finding.Subject) -> Findings { Findings(subject: subject, report: report) }

    func ok(_ text: String) {
        report(Finding(grade: .ok, subject: subject, text: text, advice: nil))
    }

    func warning(_ text: String, _ advice: String) {
        report(Finding(grade: .warning, subject: subject, text: text, advice: advice))
    }

    func failed(_ text: String, _ advice: String) {
        report(Finding(grade: .failed, subject: subject, text: text, advice: advice))
    }

    func failed(_ explanation: Explanation) {
        failed(explanation.text, explanation.advice)
    }

    /// - Parameter text: The check that was left out.
    func skipped(_ text: String) {
        report(Finding(grade: .skipped, subject: subject, text: text, advice: nil))
    }
}

/// An error in words for people who don't know the protocol.
struct Explanation: Sendable, Equatable {
    /// What is wrong, as a finding's text.
    let text: String
    /// What to do about it.
    let advice: String
}
