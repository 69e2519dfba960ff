enum HEIFStripping {
    static func strip(_ file: inout FileBytes, into pieces: inout PieceList) async throws { throw NoImage() }
}
