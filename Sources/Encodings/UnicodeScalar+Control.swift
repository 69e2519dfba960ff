extension Unicode.Scalar {
    /// Whether it is a control character, such as a line end.
    package var isControl: Bool { properties.generalCategory == .control }
}
