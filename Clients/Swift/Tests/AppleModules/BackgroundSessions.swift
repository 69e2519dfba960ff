import Foundation
import FoundationNetworking

// What Foundation of Apple's systems has, and Foundation of Linux lacks.

extension URLSessionConfiguration {
    public class func background(withIdentifier _: String) -> URLSessionConfiguration { .default }

    public var sessionSendsLaunchEvents: Bool {
        get { false }
        set {}
    }
}

extension URLSession {
    public var allTasks: [URLSessionTask] {
        get async { [] }
    }
}
