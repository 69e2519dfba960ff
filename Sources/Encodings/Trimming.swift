import Algorithms

extension StringProtocol {
    /// The text without the white space around it.
    package func trimmingWhitespace() -> String {
        String(trimming(while: \.isWhitespace))
    }
}
