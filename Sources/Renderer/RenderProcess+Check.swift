import CSpawn
import Glibc

extension RenderProcess {
    /// Renders a tiny picture, to see whether the program, libvips and the sandbox work on this machine.
    ///
    /// - Throws: The reason why they do not.
    package func check() async throws(RenderFailure) {
        var (readEnd, writeEnd): (Int32, Int32) = (-1, -1)
        guard spawn_pipe(&readEnd, &writeEnd) == 0 else { throw .notStarted }
        defer { close(readEnd) }
        // A pipe has room for so few bytes.
        let count = write(writeEnd, Self.twoPixels, Self.twoPixels.count)
        close(writeEnd)
        guard count == Self.twoPixels.count else { throw .notStarted }
        guard case .rendition = try await render(readEnd, longerSide: 1) else { throw .outputInvalid }
    }

    /// A GIF of two pixels.
    private static let twoPixels: [UInt8] =
        Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        + [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x04, 0x0A, 0, 0x3B]
}
