import Glibc
import Logging
import SelfieConfiguration

/// A logger that writes lines to standard output, where platforms collect them.
func makeLogger(level: Logger.Level, format: LogFormat = .logfmt) -> Logger {
    let style = LineLogHandler.Style(format: format, isTerminal: isatty(STDOUT_FILENO) == 1)
    LoggingSystem.bootstrap { _ in LineLogHandler(style: style) }
    var logger = Logger(label: "selfie")
    logger.logLevel = level
    return logger
}
