import Glibc
import Synchronization

/// A line that is typed and not shown.
enum HiddenLine {
    /// Whether standard input is a terminal.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 }

    /// Asks for a line on the terminal.
    ///
    /// A signal that ends the program restores the terminal first. Ctrl-Z has no effect meanwhile.
    ///
    /// - Parameter question: What to ask, with a space at its end.
    /// - Returns: The line without its end; nil at the end of the input.
    static func ask(_ question: String) -> String? {
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return readLine() }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        flags.store(shown.c_lflag, ordering: .relaxed)
        let stop = signal(SIGTSTP, SIG_IGN)
        let before = endings.map { number in
            signal(number) { number in
                HiddenLine.show()
                // The status that shells report for a program that a signal has ended.
                _exit(128 + number)
            }
        }
        defer {
            HiddenLine.show()
            for (number, handler) in zip(endings, before) { signal(number, handler) }
            signal(SIGTSTP, stop)
            StandardError.write("\n")
        }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        StandardError.write(question)
        return readLine()
    }

    /// The terminal's flags before the question.
    ///
    /// A signal handler may read them, and call tcgetattr and tcsetattr (signal-safety(7)).
    private static let flags = Atomic<tcflag_t>(0)
    /// The signals by which users end programs.
    private static let endings = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]

    private static func show() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        settings.c_lflag = flags.load(ordering: .relaxed)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
