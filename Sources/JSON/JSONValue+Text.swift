extension JSONValue {
    /// The value as JSON, without white space.
    package var text: String {
        var json = JSONWriter()
        json.write(self)
        return json.string
    }
}
