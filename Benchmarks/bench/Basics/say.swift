import Foundation

/// Prints a line at once, also when standard output is a pipe.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
