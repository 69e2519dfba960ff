import ConnectionTestSupport

/// A kind of request to a store, named as a ``FaultyProxy/Record`` names it.
enum FaultKind: String, CaseIterable, Sendable {
    case put = "PUT"
    case begin = "POST uploads"
    case part = "PUT partNumber"
    case complete = "POST uploadId"
    case get = "GET"
    case head = "HEAD"
    case delete = "DELETE"
    case deleteMany = "POST delete"

    /// What can go wrong with it.
    var faults: [StoreFault] {
        StoreFault.allCases.filter { fault in
            switch fault {
            case .resetInBody, .stallInBody: hasBody
            case .errorInSuccess: self == .complete
            default: true
            }
        }
    }

    private var hasBody: Bool {
        switch self {
        case .put, .part, .complete, .deleteMany: true
        case .begin, .get, .head, .delete: false
        }
    }

    /// How many faults another try makes good, and how many the client gives up on.
    var outcomes: (successes: Int, failures: Int) {
        switch self {
        case .put, .part, .deleteMany: (9, 5)
        case .complete: (10, 5)
        case .begin, .head, .delete: (8, 4)
        // Two break off a transfer that has begun; whether it resumes depends on how much has arrived.
        case .get: (7, 3)
        }
    }
}
