extension Unicode.Scalar {
    /// Whether it is a control character, such as a line end.
    package var isControl: Bool { properties.generalCategory == .control }

    /// Whether it can move a terminal's cursor, or change the direction of the text behind it.
    package var isInvisible: Bool { isControl || properties.generalCategory == .format }
}
