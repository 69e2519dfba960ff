import TestSupport

/// A request to sign, in the words that `Tests/Python/botocore_signatures.py` reads.
struct SignatureCase: Codable, Sendable {
    var method: String
    var endpoint: String
    var bucket: String
    var forcePathStyle: Bool
    /// What the bucket's place must come out as.
    var usesPathStyle: Bool
    /// The object; nil for the bucket itself.
    var key: String?
    var query: [[String]]
    var headers: [[String]]
    var body: String
    var accessKeyID: String
    var secretAccessKey: String
    var sessionToken: String?
    var region: String
    /// The signing date, in seconds since 1970.
    var timestamp: Int
    /// For the presigned form, how many seconds it holds; nil for the header form.
    var expires: Int?

    /// The same case for the same seed, and nearly always another for another.
    init(seed: UInt64) {
        var dice = Dice(seed: seed)
        let host = dice.pick(Self.hosts)
        expires = dice.chance(0.5) ? dice.number(1...604_800) : nil
        method = dice.pick(["GET", "PUT", "HEAD", "DELETE", "POST"])
        endpoint = dice.pick(["http", "https", "HTTPS"]) + "://" + host + dice.pick(["", ":80", ":443", ":9000"])
        bucket = dice.pick(["photos", "a-1", "my.photos", String(repeating: "b", count: 63)])
        forcePathStyle = dice.chance(0.3)
        usesPathStyle = forcePathStyle || bucket.contains(".") || Self.hostsWithoutSubdomains.contains(host)
        key = dice.chance(0.9) ? dice.pick(["", "", "/", "../"]) + dice.text(of: Self.keyPieces, count: 1...12) : nil
        query = dice.list(0...5) { dice in
            let name = dice.chance(0.8) ? dice.pick(Self.queryNames) : "q" + dice.text(of: Self.keyPieces, count: 0...3)
            return [name, dice.chance(0.3) ? "" : dice.text(of: Self.keyPieces, count: 1...4)]
        }
        headers = dice.list(0...5) { dice in
            [dice.pick(Self.headerNames), dice.text(of: Self.headerPieces, count: 0...8)]
        }
        // A presigned URL's body is not signed.
        body = expires == nil && dice.chance(0.5) ? dice.text(of: Self.keyPieces, count: 1...20) : ""
        accessKeyID = "AKIA" + dice.text(of: Self.base64.dropLast(3), count: 16...16)
        secretAccessKey = dice.text(of: Self.base64, count: 1...40)
        sessionToken = dice.chance(0.5) ? dice.text(of: Self.base64, count: 1...300) : nil
        region = dice.pick(["us-east-1", "eu-west-1", "auto", "cn-north-1", "us-gov-west-1", "garage"])
        timestamp = dice.number(0...4_102_444_799)
    }

    private static let hostsWithoutSubdomains = ["127.0.0.1", "[::1]", "localhost"]
    private static let hosts =
        hostsWithoutSubdomains + ["s3.eu-west-1.amazonaws.com", "store.example", "Store.EXAMPLE", "minio"]

    private static let base64 = [
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").map(String.init), ["+", "/", "="],
    ].flatMap(\.self)

    /// All of ASCII, what clients like to normalise, and characters of two, three and four bytes, alone and combined.
    private static let keyPieces =
        (UInt8(0)...0x7F).map { String(UnicodeScalar($0)) } + [
            "+", " ", "/", "//", "///", "/./", "/../", "..", ".", "%2F", "%2f", "%41", "%%", "%zz", "+%20", "a+b c",
            "ü", "u\u{308}", "ß", "漢字", "日", "👍", "👨‍👩‍👧", "𝒳", "\u{301}", "\u{2028}", "\u{FEFF}", "\u{A0}", "\r\n",
            "\u{10FFFF}",
        ]

    /// Few enough to come twice, and neighbours whose order depends on when they are encoded.
    private static let queryNames = [
        "prefix", "list-type", "uploads", "partNumber", "a", "a", "a b", "a-b", "a+b", "a1", "A", "a~", "ü", "x=y&z",
        "response-content-disposition",
    ]

    private static let headerNames = [
        "Content-Type", "content-md5", "Range", "If-None-Match", "x-amz-storage-class", "x-amz-meta-a", "X-Amz-Meta-A",
        "x-amz-meta-a-b", "X-AMZ-META-A1", "Cache-Control",
    ]

    private static let headerPieces = [
        " ", " ", "  ", "   ", "\t", " \t ", "a", "B", "1", ",", " , ", ";", "=", "\"", "%20", "+", "/", "ü", "👍",
        "\u{301}",
    ]
}

/// Choices that a seed decides.
private struct Dice {
    private var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }

    mutating func chance(_ probability: Double) -> Bool { .random(in: 0..<1, using: &generator) < probability }

    mutating func pick(_ choices: some RandomAccessCollection<String>) -> String {
        choices.randomElement(using: &generator) ?? ""
    }

    mutating func list<Element>(_ count: ClosedRange<Int>, _ make: (inout Dice) -> Element) -> [Element] {
        (0..<number(count)).map { _ in make(&self) }
    }

    mutating func text(of pieces: some RandomAccessCollection<String>, count: ClosedRange<Int>) -> String {
        list(count) { $0.pick(pieces) }.joined()
    }
}
