package import Foundation

/// Photos with secrets in their metadata.
package enum PlantedImage {
    /// Begins each secret.
    package static let marker = "PLANTED"
    private static let secret = "\(marker)-52.520008,13.404954"

    /// A segment of a JPEG.
    ///
    /// - Parameters:
    ///   - marker: The second byte of its marker.
    ///   - contents: What it holds.
    /// - Returns: The segment.
    package static func segment(_ marker: UInt8, _ contents: Data) -> Data {
        let length = contents.count + 2
        return Data([0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)]) + contents
    }

    /// A JPEG of 480 × 480 pixels with an orientation, and secrets in Exif, XMP, a comment and behind its end.
    package static let jpeg: Data = {
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        let exif = Data("Exif\0\0MM\0*\0\0\0\u{8}\0\u{1}".utf8) + entry + Data(count: 4) + Data(secret.utf8)
        let xmp = Data("http://ns.adobe.com/xap/1.0/\0<x>\(secret)</x>".utf8)
        return TestImage.jpeg.prefix(2) + segment(0xE1, exif) + segment(0xE1, xmp) + segment(0xFE, Data(secret.utf8))
            + TestImage.jpeg.dropFirst(2) + Data(secret.utf8)
    }()
}
