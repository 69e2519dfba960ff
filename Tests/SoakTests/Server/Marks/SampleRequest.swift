import Foundation
import SelfieWeb
import ServiceTestSupport

/// A valid request, parts of which marks replace.
struct SampleRequest {
    let endpoint: Endpoint
    var method: String
    /// The segments of the path as they are sent.
    var path: [String] = []
    /// Which of them the endpoint leaves open.
    var openSegments: [Int] = []
    var query: [(String, String)] = []
    /// The rest of the query, as it is sent.
    var encodedQuery: String?
    var headers: [(String, String)] = []
    /// The headers without which the client is anonymous.
    var credentials: [(String, String)]
    /// Whether these are still as they were.
    private(set) var hasCredentials = true
    /// The parameters of a body.
    var parameters: [(String, String)] = []
    /// A photo beside them.
    var photo: Data?
    /// The members of a body that is JSON alone, with their values as JSON.
    var members: [(String, String)] = []
    /// The fields of a record, with their values as JSON.
    var fields: [(String, String)] = []
    /// Whether the body is an array.
    var isMany = false
    /// A body in place of all these.
    var payload: (type: String, bytes: Data)?

    static let form = "application/x-www-form-urlencoded"
    static let json = "application/json"
    /// The most bytes of a request's target and headers, and of a body with parameters.
    static let maxSmallBytes = 16_384
    /// The most bytes of an array of records.
    static let maxBatchBytes = 8_388_608

    init(to endpoint: Endpoint, method: String, credentials: [(String, String)]) {
        self.endpoint = endpoint
        self.method = method
        self.credentials = credentials
    }

    /// Whether it is also sent without the credentials.
    ///
    /// Nobody reads such a body, so a client may send megabytes of it and find the connection closed before it looks for the
    /// answer.
    var isSentAnonymously: Bool { !credentials.isEmpty && (body?.bytes.count ?? 0) < 1 << 20 }

    // MARK: The head

    var target: String {
        let pairs = query.map { "\($0.formEncoded)=\($1.formEncoded)" } + [encodedQuery].compactMap(\.self)
        return "/" + path.joined(separator: "/") + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    /// All headers of a request with a body of a media type.
    func allHeaders(isSignedIn: Bool, type: String?) -> [(String, String)] {
        let headers = headers + (isSignedIn ? credentials : [])
        guard let type, !headers.contains(where: { $0.0 == "Content-Type" }) else { return headers }
        return headers + [("Content-Type", type)]
    }

    /// How many bytes the target and the headers may still have.
    ///
    /// What the client adds itself, and the type of a body, take less than 400.
    var headRoom: Int {
        let headers = allHeaders(isSignedIn: true, type: nil)
        return Self.maxSmallBytes - 400 - target.utf8.count
            - headers.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }
    }

    /// Sends another value of a header.
    mutating func setHeader(_ name: String, _ value: String) {
        headers.removeAll { $0.0 == name }
        let count = credentials.count
        credentials.removeAll { $0.0 == name }
        if credentials.count < count || name == "Authorization" { hasCredentials = false }
        headers.append((name, value))
    }

    // MARK: The body

    /// Its media type and its bytes; nil for none.
    var body: (type: String, bytes: Data)? {
        if let payload { return payload }
        if endpoint.body != nil { return (Self.json, Data((isMany ? "[\(object)]" : object).utf8)) }
        if photo != nil { return (TestMultipart.contentType, TestMultipart.body(parts)) }
        return parameters.isEmpty ? nil : (Self.form, Data(formText.utf8))
    }

    /// Takes a parameter out, and those beside which it does not count.
    mutating func leaveOut(_ name: String) {
        query.removeAll { $0.0 == name }
        if ["first_name", "last_name"].contains(name) {
            parameters.removeAll { $0.0 == "full_name" }
            parameters += [("first_name", "Ada"), ("last_name", "Lovelace")]
        }
        parameters.removeAll { $0.0 == name }
    }

    var formText: String { parameters.map { "\($0)=\($1.formEncoded)" }.joined(separator: "&") }

    var parts: [TestMultipart.Part] {
        parameters.map { TestMultipart.Part(name: $0, Data($1.utf8)) } + [imagePart].compactMap(\.self)
    }

    private var imagePart: TestMultipart.Part? {
        photo.map { TestMultipart.Part(name: "image", fileName: "photo", $0) }
    }

    /// The parameters as members of JSON.
    var parameterMembers: [(String, String)] {
        let structures = endpoint.parameters.filter { if case .json = $0.kind { true } else { false } }.map(\.name)
        return parameters.map { ($0, structures.contains($0) ? $1 : #""\#($1)""#) }
    }

    /// The most bytes of a body that is one JSON object.
    var maxObjectBytes: Int {
        if endpoint.body == nil { return Self.maxSmallBytes }
        return endpoint.path == "/api/me" ? 32_768 : 262_144
    }

    /// Whether the body may be an array of such objects.
    var takesMany: Bool { endpoint.body != nil && endpoint.path.hasSuffix(":collection") }

    /// The JSON of the body, or of its one element.
    var object: String {
        Self.object(fields.isEmpty ? members : members + [("data", Self.object(fields))])
    }

    /// Sends an array of as many elements like this one as may be, at most 100.
    mutating func repeatObject() {
        // An element that is changed has an id, and each needs another one. Marks would be slow to compare here, too.
        let isID: ((String, String)) -> Bool = {
            $0.0.utf8.elementsEqual("id".utf8) && $0.1.utf8.elementsEqual(#""record-1""#.utf8)
        }
        let changes = members.contains(where: isID)
        members.removeAll(where: isID)
        let rest = object.utf8.dropFirst()
        let count = min(100, Self.maxBatchBytes / (rest.count + 20))
        let elements = (1...max(1, count)).map { (changes ? #"{"id":"many-\#($0)","# : "{") + String(Substring(rest)) }
        payload = (Self.json, Data("[\(elements.joined(separator: ","))]".utf8))
    }

    /// An object of members whose values are JSON.
    static func object(_ members: [(String, String)]) -> String {
        "{\(members.map { #""\#($0)":\#($1)"# }.joined(separator: ","))}"
    }

    /// Puts a value in place of another one, or beside the others.
    static func set(_ name: String, to value: String, in pairs: inout [(String, String)]) {
        pairs.removeAll { $0.0 == name }
        pairs.append((name, value))
    }
}
