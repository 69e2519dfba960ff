import Glibc

extension RenderFailure {
    /// What a signal means that ended a renderer, if this process did not send it.
    init(signal: Int32) {
        switch signal {
        case SIGSYS: self = .callForbidden
        case SIGXCPU: self = .timeExceeded
        case SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT: self = .killed
        default: self = .crashed(signal: signal)
        }
    }
}
