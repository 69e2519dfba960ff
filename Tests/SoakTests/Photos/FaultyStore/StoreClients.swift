import ConnectionTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport

/// The clients of two services that share a database and a misbehaving store, who check each answer.
struct StoreClients: Sendable {
    /// Sends photos' bytes itself.
    let proxying: TestService
    /// Sends clients to the store.
    let redirecting: TestService
    /// A token for each user.
    let tokens: [String]
    let ledger = FaultLedger()

    /// What a machine that is busy with other tests may add.
    private static let slack: Duration = .seconds(6)
    /// A put, whole or in parts, and taking it back.
    private static func maxUpload(_ image: Data) -> Duration {
        image.count > 5 << 20 ? .seconds(65) : .seconds(25)
    }

    /// More than any operation may take.
    private static let maxOperation: Duration = .seconds(90)
    /// Three requests, each answered as late as possible and then broken off before the first byte.
    private static let maxDownload: Duration = .seconds(27)
    /// A call to the store.
    private static let maxDeletion: Duration = .seconds(5)

    private func anyService(_ generator: inout SplitMix64) -> TestService {
        Bool.random(using: &generator) ? proxying : redirecting
    }

    /// Does one thing, decided by the number, and notes what is wrong, or that it does not end.
    func operate(_ number: Int) async {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await perform(number) }
                group.addTask {
                    try await Task.sleep(for: Self.maxOperation)
                    throw NotInTime(what: "the end of operation \(number)")
                }
                try await group.next()
                group.cancelAll()
            }
        } catch {
            ledger.noteSurprise("\(error)")
        }
    }

    private func perform(_ number: Int) async {
        var generator = SplitMix64(seed: UInt64(number) &* 0x2545_F491)
        let user = Int.random(in: tokens.indices, using: &generator)
        do {
            switch Int.random(in: 0..<100, using: &generator) {
            case ..<31:
                let image = PatternImage.make(bytes: .random(in: 200...600_000, using: &generator), number: number)
                try await upload(image, user: user, to: anyService(&generator), kind: "upload")
            case ..<40:
                let bytes = Int.random(in: (5 << 20)...(11 << 20), using: &generator)
                let image = PatternImage.make(bytes: bytes, number: number)
                try await upload(image, user: user, to: anyService(&generator), kind: "large upload")
            case ..<54:
                guard let photo = ledger.pickForDeletion(using: &generator) else { fallthrough }
                try await delete(photo, from: anyService(&generator))
            case ..<61: try await list(user: user, from: anyService(&generator))
            default:
                // There is one: the first is uploaded before anything goes wrong.
                guard let photo = ledger.pick(using: &generator) else { throw NotInTime(what: "a photo") }
                try await open(photo, using: &generator)
            }
        } catch {
            ledger.noteSurprise("operation \(number): \(error)")
        }
    }

    /// Uploads a photo.
    ///
    /// - Returns: Whether it was answered 200.
    @discardableResult
    func upload(_ image: Data, user: Int, to service: TestService, kind: String) async throws -> Bool {
        let start = ContinuousClock.now
        let answer = try await service.upload(image, token: tokens[user])
        guard answer.status == 200 else {
            check(answer, kind: kind, since: start, max: Self.maxUpload(image))
            return false
        }
        guard let id = answer.json["random_id"] as? String, let url = answer.json["image_url"] as? String else {
            ledger.noteSurprise("\(kind): \(answer.text)")
            return false
        }
        ledger.noteUpload(.init(id: id, user: user, target: String(url.dropFirst(service.origin.count)), bytes: image))
        ledger.note("\(kind) 200")
        return true
    }

    private func delete(_ photo: FaultLedger.Photo, from service: TestService) async throws {
        let start = ContinuousClock.now
        let answer = try await service.delete(photo.id, token: tokens[photo.user])
        // What the store can't do now is done later.
        guard answer.status == 200, ContinuousClock.now - start < Self.maxDeletion + Self.slack else {
            ledger.noteSurprise("deletion after \(ContinuousClock.now - start): \(answer.status) \(answer.text)")
            return
        }
        ledger.noteDeletion(of: photo.id)
        ledger.note("deletion 200")
    }

    private func list(user: Int, from service: TestService) async throws {
        let before = ledger.photos.filter { $0.user == user }
        let listed = try await Set(service.list(token: tokens[user]).photoIDs())
        let isDeletionSent = Set(ledger.photos.filter(\.isDeletionSent).map(\.id))
        let missing = before.filter { !listed.contains($0.id) && !isDeletionSent.contains($0.id) }
        let returned = before.filter { $0.isDeleted && listed.contains($0.id) }
        if !missing.isEmpty { ledger.noteSurprise("a list lacks \(missing.map(\.id))") }
        if !returned.isEmpty { ledger.noteSurprise("a list has deleted \(returned.map(\.id))") }
        ledger.note("list 200")
    }

    private func open(_ photo: FaultLedger.Photo, using generator: inout SplitMix64) async throws {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try await get(photo, kind: "head", method: "HEAD", from: proxying)
        case 1, 2: try await get(photo, kind: "redirect", from: redirecting)
        case 3, 4:
            let first = Int.random(in: photo.bytes.indices, using: &generator)
            let last = Int.random(in: first..<photo.bytes.count, using: &generator)
            try await get(photo, kind: "range", range: first...last, from: proxying)
        default: try await get(photo, kind: "get", from: proxying)
        }
    }

    private func get(
        _ photo: FaultLedger.Photo,
        kind: String,
        method: String = "GET",
        range: ClosedRange<Int>? = nil,
        from service: TestService
    ) async throws {
        let start = ContinuousClock.now
        let wasDeleted = ledger.photo(photo.id)?.isDeleted == true
        let headers = range.map { [("Range", "bytes=\($0.lowerBound)-\($0.upperBound)")] } ?? []
        var answer: HTTPAnswer
        do {
            answer = try await service.send(method, photo.target, headers: headers)
        } catch {
            // Cut off, which can't pass for the photo.
            if ContinuousClock.now - start > Self.maxDownload + Self.slack { throw error }
            return ledger.note("\(kind) cut")
        }
        if answer.status == 302, !wasDeleted, kind == "redirect", let url = answer.headers["location"] {
            answer = try await service.send("GET", url)
            // The object may be deleted before the client fetches it.
            if answer.status == 404, ledger.photo(photo.id)?.isDeletionSent == true {
                return ledger.note("redirect 404")
            }
        }
        let expected = range.map { photo.bytes[$0] } ?? photo.bytes
        switch answer.status {
        case range == nil ? 200 : 206:
            let isWhole =
                method == "HEAD"
                ? answer.headers["content-length"] == "\(expected.count)" : answer.body == expected
            if wasDeleted || !isWhole {
                ledger.noteSurprise("\(kind): \(answer.body.count) of \(expected.count) bytes, deleted: \(wasDeleted)")
            }
        case 404 where ledger.photo(photo.id)?.isDeletionSent == true: break
        default: return check(answer, kind: kind, since: start, max: Self.maxDownload, isHead: method == "HEAD")
        }
        ledger.note("\(kind) \(answer.status)")
    }

    /// Checks that an answer which is no success is a 503 in JSON, in time.
    private func check(
        _ answer: HTTPAnswer,
        kind: String,
        since start: ContinuousClock.Instant,
        max: Duration,
        isHead: Bool = false
    ) {
        let elapsed = ContinuousClock.now - start
        let isJSON = answer.headers["content-type"]?.hasPrefix("application/json") == true
        let hasMembers = answer.json["status"] as? Int == 503 && answer.message != nil
        guard answer.status == 503, isJSON, hasMembers || isHead, elapsed < max + Self.slack else {
            return ledger.noteSurprise("\(kind) after \(elapsed): \(answer.status) \(answer.text.prefix(300))")
        }
        ledger.note("\(kind) 503")
    }
}

extension HTTPAnswer {
    /// The ids of a list's photos.
    func photoIDs() throws -> [String] {
        guard status == 200, let photos = jsonArray else { throw NotInTime(what: "a list, but \(status) \(text)") }
        return photos.compactMap { $0["random_id"] as? String }
    }
}

/// Photos whose bytes identify the photo and their offset in it.
enum PatternImage {
    private static let block: Data = {
        var generator = SplitMix64(seed: 1)
        var block = Data()
        for _ in 0..<8_192 { withUnsafeBytes(of: generator.next()) { block.append(contentsOf: $0) } }
        return block
    }()

    /// Makes a photo.
    ///
    /// - Parameters:
    ///   - count: How many bytes it has, at least 80.
    ///   - number: Distinguishes it from others.
    /// - Returns: The photo.
    static func make(bytes count: Int, number: Int) -> Data {
        let (start, end) = TestImage.pngFrame(bytes: count)
        var image = start
        image.reserveCapacity(count + block.count)
        var blockNumber = 0
        while image.count < count - end.count {
            withUnsafeBytes(of: (number, blockNumber)) { image.append(contentsOf: $0) }
            image += block
            blockNumber += 1
        }
        return image.prefix(count - end.count) + end
    }
}
