import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport

/// A user of a cluster, who knows what was answered, and expects to find just that.
///
/// One call follows another. A call that fails is sent again until it is answered. So the state is always known.
struct ClusterUser {
    private struct Photo {
        let title: String
        /// The path and the signed query.
        var target: String
        let bytes: Data
    }

    /// Which calls a user makes.
    enum Repertoire: Sendable {
        /// Those of `railsauth`, which all versions have.
        case railsauth
        case all
    }

    let name: String
    private let repertoire: Repertoire
    private let number: Int
    private let calls: ClusterCalls
    private var generator: SplitMix64
    private var password: String
    private var token = ""
    /// Tokens that must never be accepted again.
    private var endedTokens: [String] = []
    private var photos: [String: Photo] = [:]
    private var deletedPhotos: [String] = []
    /// The texts and versions of records by id.
    private var records: [String: (text: String, version: Int)] = [:]
    private var title = ""
    /// The state by the feed: versions of records, and 0 for photos.
    private var followed: [String: Int] = [:]
    private var cursor = ""
    private var count = 0

    /// The most that a user has at the same time.
    private static let (maxPhotos, maxRecords) = (12, 20)

    init(number: Int, repertoire: Repertoire = .all, calls: ClusterCalls) {
        (self.number, self.repertoire, self.calls) = (number, repertoire, calls)
        name = "u\(number)"
        password = "my password \(number)"
        generator = SplitMix64(seed: UInt64(number))
    }

    // MARK: - Calls

    private func settle(
        _ name: String,
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        json: String? = nil,
        body: Data? = nil,
        token: String? = nil
    ) async throws -> ClusterCalls.Settled {
        var headers = headers
        if !headers.contains(where: { $0.0 == "Authorization" }) {
            headers.append(("Authorization", "Bearer \(token ?? self.token)"))
        }
        if json != nil { headers.append(("Content-Type", "application/json")) }
        let body = body ?? json.map { Data($0.utf8) }
        return try await calls.settle(name, method, target, headers: headers, body: body, edge: number)
    }

    /// A call that must succeed.
    private func succeed(
        _ name: String,
        _ method: String,
        _ target: String,
        json: String? = nil,
        allows: [Int] = []
    ) async throws -> ClusterCalls.Settled {
        let settled = try await settle(name, method, target, json: json)
        expect(settled, name, allows: settled.isRepeated ? allows : [])
        return settled
    }

    private func expect(_ settled: ClusterCalls.Settled, _ what: String, allows: [Int] = []) {
        let status = settled.answer.status
        if status != 200, !allows.contains(status) {
            calls.violate("\(name): \(what) was answered with \(status): \(settled.answer.text.prefix(200))")
        }
    }

    private func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
        if !isTrue { calls.violate("\(name): \(what())") }
    }

    // MARK: - The account

    /// Makes the account, and begins a session.
    mutating func join() async throws {
        let up = try await account("signup", "/api/signup", extra: ["full_name": "\(name) Lovelace"])
        if !up.isRepeated || up.answer.message?.contains("taken") != true { expect(up, "signup") }
        try await signIn()
    }

    private func account(
        _ call: String,
        _ path: String,
        method: String = "POST",
        extra: [String: String] = [:]
    ) async throws -> ClusterCalls.Settled {
        var fields = ["email": "\(name)@example.com", "password": try TestService.encrypt(password)]
        fields.merge(extra) { $1 }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
        return try await settle(call, method, path, headers: [("Authorization", TestService.basic)], json: json)
    }

    private mutating func signIn() async throws {
        let call = Bool.random(using: &generator) ? ("signin", "POST") : ("get_token", "GET")
        let settled = try await account(call.0, "/api/\(call.0)", method: call.1)
        expect(settled, call.0)
        if let token = settled.answer.json["api_authtoken"] as? String { self.token = token }
    }

    private mutating func renewSession() async throws {
        let old = token
        try await signIn()
        let settled = try await settle("clear_token", "POST", "/api/clear_token", token: old)
        expect(settled, "clear_token", allows: settled.isRepeated ? [401] : [])
        endedTokens = endedTokens.suffix(20) + [old]
    }

    private mutating func changePassword() async throws {
        count += 1
        let next = "my password \(number) \(count)"
        let json = """
            {"old_password":"\(try TestService.encrypt(password))","new_password":"\(try TestService.encrypt(next))"}
            """
        let settled = try await settle("reset_password", "POST", "/api/reset_password", json: json)
        let ended = token
        password = next
        if let token = settled.answer.json["api_authtoken"] as? String, settled.answer.status == 200 {
            self.token = token
        } else if settled.isRepeated {
            // A lost answer: the session has ended, and the new password counts.
            try await signIn()
        } else {
            expect(settled, "reset_password")
        }
        endedTokens.append(ended)
        // The photos have new URLs.
        try await listPhotos()
    }

    private mutating func useEndedToken() async throws {
        guard let ended = endedTokens.randomElement(using: &generator) else { return }
        let settled = try await settle("ended token", "GET", "/api/get_photos", token: ended)
        expect(settled.answer.status == 401, "an ended session was answered with \(settled.answer.status)")
    }

    private mutating func changeProfile() async throws {
        count += 1
        title = "title \(count)"
        _ = try await succeed("change profile", "PATCH", "/api/me", json: #"{"title":"\#(title)"}"#)
        let answer = try await succeed("profile", "GET", "/api/me").answer
        expect(answer.json["title"] as? String == title, "the profile is \(answer.text) and not \(title)")
        let email = answer.json["email"] as? String
        expect(email == "\(name)@example.com", "the profile is somebody else's: \(answer.text)")
    }

    // MARK: - Photos

    private mutating func upload() async throws {
        count += 1
        let title = "\(name)-\(count)"
        // The size and the contents tell whose it is.
        let bytes = TestImage.png(bytes: 4096 + number * 64 + count % 64, seed: UInt8(number % 251))
        let settled = try await settle(
            "upload_photo",
            "POST",
            "/api/upload_photo",
            headers: [("Content-Type", TestMultipart.contentType), ("Idempotency-Key", title)],
            body: TestMultipart.body(image: bytes, title: title)
        )
        expect(settled, "upload_photo")
        let json = settled.answer.json
        guard let id = json["random_id"] as? String, let target = Self.target(json) else { return }
        expect(photos[id] == nil, "two uploads have the id \(id)")
        photos[id] = Photo(title: title, target: target, bytes: bytes)
    }

    private static func target(_ json: [String: Any]) -> String? {
        (json["image_url"] as? String).flatMap(URL.init).map { "\($0.path)?\($0.query ?? "")" }
    }

    private mutating func listPhotos() async throws {
        let answer = try await succeed("get_photos", "GET", "/api/get_photos").answer
        guard let list = answer.jsonArray else { return expect(false, "the list is \(answer.text.prefix(200))") }
        let titles = list.map { "\($0["random_id"] as? String ?? "") \($0["title"] as? String ?? "")" }.sorted()
        let own = photos.map { "\($0.key) \($0.value.title)" }.sorted()
        for photo in list {
            if let id = photo["random_id"] as? String { photos[id]?.target = Self.target(photo) ?? "" }
        }
        expect(titles == own, "lost \(Set(own).subtracting(titles)), too many \(titles.filter { !own.contains($0) })")
    }

    private mutating func getPhoto() async throws {
        guard let (id, photo) = photos.randomElement(using: &generator) else { return }
        let answer = try await settle("photo", "GET", photo.target).answer
        expect(answer.status == 200 && answer.body == photo.bytes, "photo \(id): \(answer.status), other bytes")
    }

    private mutating func deletePhoto() async throws {
        guard let id = photos.keys.randomElement(using: &generator) else { return }
        _ = try await succeed(
            "delete_photo",
            "DELETE",
            "/api/delete_photo",
            json: #"{"photo_id":"\#(id)"}"#,
            allows: [400, 401, 404]
        )
        photos[id] = nil
        deletedPhotos = deletedPhotos.suffix(20) + [id]
    }

    // MARK: - Records

    private mutating func putRecord() async throws {
        count += 1
        let id = "\(name)-r\(Int.random(in: 0..<Self.maxRecords, using: &generator))"
        let text = "\(name) \(count)"
        let settled = try await succeed("put record", "PUT", "/api/records/houses/\(id)", json: data(text))
        take(settled, id: id, text: text)
    }

    private func data(_ text: String) -> String { #"{"data":{"address":"\#(text)"}}"# }

    /// Notes a record's new state, and compares its version with the number of changes.
    private mutating func take(_ settled: ClusterCalls.Settled, id: String, text: String) {
        let json = settled.answer.json
        guard settled.answer.status == 200, let version = json["version"] as? Int else { return }
        let answered = (json["data"] as? [String: Any])?["address"] as? String
        expect(answered == text, "\(id) is \(answered ?? "") and not \(text)")
        if !settled.isRepeated, let known = records[id] {
            expect(version == known.version + 1, "\(id) went from version \(known.version) to \(version)")
        }
        records[id] = (text, version)
    }

    /// Changes a version, which can happen once.
    private mutating func changeRecord() async throws {
        guard let (id, known) = records.randomElement(using: &generator) else { return }
        count += 1
        let text = "\(name) \(count)"
        let settled = try await settle(
            "change record",
            "PATCH",
            "/api/records/houses/\(id)",
            headers: [("If-Match", "\"\(known.version)\"")],
            json: data(text)
        )
        if settled.answer.status == 412, settled.isRepeated {
            let answer = try await succeed("get record", "GET", "/api/records/houses/\(id)").answer
            let there = (answer.json["data"] as? [String: Any])?["address"] as? String
            let isOnce = there == text && answer.json["version"] as? Int == known.version + 1
            expect(isOnce, "\(id) is \(answer.text) after a change of version \(known.version) to \(text)")
            records[id] = (text, known.version + 1)
        } else {
            expect(settled, "change record")
            take(settled, id: id, text: text)
        }
    }

    private mutating func createRecords() async throws {
        guard records.count < Self.maxRecords else { return }
        count += 1
        let ids = (0..<3).map { "\(name)-c\(count)-\($0)" }
        let text = "\(name) \(count)"
        let list = ids.map { #"{"id":"\#($0)","data":{"address":"\#(text)"}}"# }.joined(separator: ",")
        let path = "/api/records/houses"
        let settled = try await succeed("create records", "POST", path, json: "[\(list)]", allows: [409])
        // Some of them without the others would be 200, and then seen in the list.
        for id in ids where settled.answer.status == 200 || settled.answer.status == 409 { records[id] = (text, 1) }
    }

    private mutating func deleteRecord() async throws {
        guard let id = records.keys.randomElement(using: &generator) else { return }
        _ = try await succeed("delete record", "DELETE", "/api/records/houses/\(id)", allows: [404])
        records[id] = nil
    }

    private mutating func getRecord() async throws {
        guard let (id, known) = records.randomElement(using: &generator) else { return }
        let answer = try await succeed("get record", "GET", "/api/records/houses/\(id)").answer
        let text = (answer.json["data"] as? [String: Any])?["address"] as? String
        let isKnown = text == known.text && answer.json["version"] as? Int == known.version
        expect(isKnown, "\(id) is \(answer.text.prefix(200)) and not \(known)")
    }

    private mutating func listRecords() async throws {
        let answer = try await succeed("list records", "GET", "/api/records/houses?limit=200").answer
        let list = answer.json["records"] as? [[String: Any]] ?? []
        let found = list.map { record in
            let text = (record["data"] as? [String: Any])?["address"] as? String
            return "\(record["id"] as? String ?? "") \(text ?? "") \(record["version"] as? Int ?? 0)"
        }.sorted()
        let own = records.map { "\($0.key) \($0.value.text) \($0.value.version)" }.sorted()
        let (lost, extra) = (own.filter { !found.contains($0) }, found.filter { !own.contains($0) })
        expect(lost.isEmpty && extra.isEmpty, "lost \(lost), too many \(extra)")
    }

    /// Looks for what belongs to the next user.
    private mutating func lookAtOthers() async throws {
        let id = "u\(number + 1)-r\(Int.random(in: 0..<Self.maxRecords, using: &generator))"
        let answer = try await settle("other's record", "GET", "/api/records/houses/\(id)").answer
        expect(answer.status == 404, "\(id) of another user was answered with \(answer.status)")
    }

    // MARK: - The feed

    private mutating func follow() async throws {
        repeat {
            let query = cursor.isEmpty ? "" : "?since=\(cursor)"
            let answer = try await succeed("changes", "GET", "/api/changes\(query)").answer
            guard answer.status == 200 else { return }
            for change in answer.changes {
                let key = "\(change["collection"] as? String ?? "")/\(change["id"] as? String ?? "")"
                if change["type"] as? String == "deleted" {
                    followed[key] = nil
                } else {
                    followed[key] = (change["record"] as? [String: Any])?["version"] as? Int ?? 0
                }
            }
            cursor = answer.cursor
            if answer.json["more"] as? Bool != true { break }
        } while true
        var own = records.mapValues(\.version).reduce(into: [:]) { $0["houses/\($1.key)"] = $1.value }
        for id in photos.keys { own["photos/\(id)"] = 0 }
        let seen = followed.filter { $0.key.hasPrefix("houses/") || $0.key.hasPrefix("photos/") }
        let missed = own.filter { seen[$0.key] != $0.value }.keys
        let extra = seen.keys.filter { own[$0] == nil }
        expect(missed.isEmpty && extra.isEmpty, "the feed misses \(missed.sorted()), and has \(extra.sorted())")
    }

    private mutating func export() async throws {
        let answer = try await succeed("export", "GET", "/api/export").answer
        expect(answer.body.starts(with: Data("PK".utf8)), "the export is no archive")
    }

    // MARK: - All of them

    /// Does one thing after another until a time.
    mutating func run(until end: ContinuousClock.Instant, pause: Duration) async throws {
        while ContinuousClock.now < end {
            try await Task.sleep(for: pause * Double.random(in: 0.5...1.5, using: &generator))
            switch repertoire {
            case .railsauth: try await callRailsauth(Int.random(in: 0..<100, using: &generator))
            case .all: try await act(Int.random(in: 0..<200, using: &generator))
            }
            if photos.count > Self.maxPhotos { try await deletePhoto() }
        }
    }

    private mutating func callRailsauth(_ choice: Int) async throws {
        switch choice {
        case 0..<25: try await upload()
        case 25..<60: try await listPhotos()
        case 60..<80: try await getPhoto()
        case 80..<90: try await deletePhoto()
        case 90..<94: try await useEndedToken()
        case 94..<98: try await renewSession()
        default: try await changePassword()
        }
    }

    private mutating func act(_ choice: Int) async throws {
        switch choice {
        case 0..<24: try await upload()
        case 24..<64: try await listPhotos()
        case 64..<90: try await getPhoto()
        case 90..<106 where photos.count > Self.maxPhotos / 2: try await deletePhoto()
        case 90..<122: try await putRecord()
        case 122..<134: try await changeRecord()
        case 134..<138: try await createRecords()
        case 138..<144: try await deleteRecord()
        case 144..<160: try await getRecord()
        case 160..<172: try await listRecords()
        case 172..<184: try await follow()
        case 184..<188: try await lookAtOthers()
        case 188..<192: try await useEndedToken()
        case 192..<195: try await changeProfile()
        case 195..<197: try await renewSession()
        case 197: try await changePassword()
        case 198: try await export()
        default: _ = try await succeed("sessions", "GET", "/api/sessions")
        }
    }

    /// Expects to find everything, and nothing else.
    mutating func expectAll() async throws {
        try await listPhotos()
        if repertoire == .all {
            try await listRecords()
            try await follow()
        }
        for (id, photo) in photos {
            let answer = try await settle("photo", "GET", photo.target).answer
            expect(answer.status == 200 && answer.body == photo.bytes, "photo \(id) at the end: \(answer.status)")
        }
        for token in endedTokens {
            let answer = try await settle("ended token", "GET", "/api/get_photos", token: token).answer
            expect(answer.status == 401, "an ended session was answered with \(answer.status) at the end")
        }
    }
}
