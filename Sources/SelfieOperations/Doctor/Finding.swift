/// What is wrong, and what to do about it.
struct Diagnosis: Sendable, Equatable {
    /// One line that begins with a small letter and has no full stop.
    let cause: String
    /// A sentence or two, with a path into `docs` where there is more.
    let remedy: String
}

/// The result of one check.
package struct Finding: Sendable, Equatable {
    package enum Grade: String, Sendable {
        case ok
        /// It works, but should be changed.
        case warning = "WARNING"
        case failed = "FAILED"
        /// It was not checked, because an earlier check failed.
        case skipped
    }

    /// The part that was checked.
    package enum Subject: String, Sendable {
        case configuration = "Configuration"
        case database = "Database"
        case passwords = "Passwords"
        case notifications = "Notifications"
        case standby = "Standby"
        case bucket = "Bucket"
        case folder = "Folder"
        case temporaryFolder = "Temporary folder"
        case renderer = "Small pictures"
        case mail = "Mail"
        case deliveries = "Deliveries"
        case webhooks = "Webhooks"
        case pushes = "Pushes"
    }

    package let grade: Grade
    package let subject: Subject
    /// What was found, or the cause of what is wrong: one line.
    package let text: String
    /// What to do about it; nil if all is well.
    package let remedy: String?
}

/// Collects the findings about one subject.
struct Findings: Sendable {
    var subject: Finding.Subject
    /// What must not be shown.
    let secrets: Secrets
    let report: @Sendable (Finding) -> Void

    func ok(_ text: String) { add(.ok, text, nil) }

    /// - Parameter text: The checks that were left out.
    func skipped(_ text: String) { add(.skipped, text, nil) }

    func warning(_ cause: String, _ remedy: String) { add(.warning, cause, remedy) }

    func failed(_ cause: String, _ remedy: String) { add(.failed, cause, remedy) }

    func failed(_ diagnosis: Diagnosis) { add(.failed, diagnosis.cause, diagnosis.remedy) }

    private func add(_ grade: Finding.Grade, _ text: String, _ remedy: String?) {
        report(Finding(grade: grade, subject: subject, text: text, remedy: remedy))
    }
}
