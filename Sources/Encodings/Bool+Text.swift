extension Bool {
    /// Reads yes or no, in the spellings that settings and parameters may have.
    ///
    /// - Parameter settingText: `true`, `yes`, `on` or `1`, or the opposite, without regard to case; nil for others.
    package init?(settingText: String) {
        switch ProtocolWord(settingText.utf8) {
        case "true", "yes", "on", "1": self = true
        case "false", "no", "off", "0": self = false
        default: return nil
        }
    }
}
