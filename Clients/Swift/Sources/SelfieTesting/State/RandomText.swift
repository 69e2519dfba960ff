/// Random letters and digits, as ids and tokens have them.
enum RandomText {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    static func make(_ count: Int) -> String {
        String((0..<count).compactMap { _ in letters.randomElement() })
    }

    static func digits(_ count: Int) -> String {
        (0..<count).map { _ in "\(Int.random(in: 0...9))" }.joined()
    }
}
