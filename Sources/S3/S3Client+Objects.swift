import AsyncHTTPClient
import NIOCore
import NIOHTTP1

extension S3Client {
    /// Stores an object, in place of any under the same key; makes the bucket when it is missing.
    ///
    /// Never lasts longer than ``S3Deadlines/put``; fails within ``S3Deadlines/giveUp`` when the store is stopped.
    ///
    /// - Parameters:
    ///   - key: 1 to ``keyBytesMax`` bytes of UTF-8, any characters.
    ///   - body: the bytes; read once for every try, one chunk at a time.
    ///   - contentType: given back with the object, such as `image/jpeg`.
    /// - Throws: any case of ``S3Error``; the object is then in the store as a whole or not at all.
    package func put(key: String, body: S3Body, contentType: String) async throws(S3Error) {
        try Self.check(key: key)
        let isPrintable = contentType.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard !contentType.isEmpty, isPrintable else { throw .invalidArgument(.contentType) }
        let request = S3Request(method: .PUT, key: key, headers: ["Content-Type": contentType], body: body)
        let call = Call(within: deadlines.put)
        do {
            return try await send(request, during: call)
        } catch {
            guard error.isMissingBucket else { throw error }
        }
        do {
            try await createBucket(during: call.restarted())
        } catch .refused(let failure) where failure.status == 409 {
            // Someone else was faster; whether the bucket is ours to write to, the second put finds out.
        }
        try await send(request, during: call.restarted())
    }

    /// Fetches an object, or a part of it.
    ///
    /// - Parameters:
    ///   - key: 1 to ``keyBytesMax`` bytes of UTF-8.
    ///   - range: which part; nil for all. A range beyond the end is refused with status 416.
    /// - Returns: the head and, still to be read, the bytes.
    /// - Throws: any case of ``S3Error``, ``S3Error/notFound(_:)`` when there is no such object.
    package func get(key: String, range: S3ByteRange? = nil) async throws(S3Error) -> S3Object {
        try Self.check(key: key)
        var request = S3Request(method: .GET, key: key)
        if let range {
            do {
                request.headers.add(name: "Range", value: try range.headerValue)
            } catch {
                throw .invalidArgument(error)
            }
        }
        let silence = deadlines.silence
        return try await perform(request, during: Call(within: deadlines.call)) { response, _ in
            S3Object(
                info: try S3ObjectInfo(response.headers),
                bytes: S3ByteStream(body: response.body, silence: silence)
            )
        }
    }

    /// Asks for what ``get(key:range:)`` would say, without the bytes.
    ///
    /// - Parameter key: 1 to ``keyBytesMax`` bytes of UTF-8.
    /// - Returns: the head; nil when there is no such object or bucket.
    /// - Throws: any case of ``S3Error`` but ``S3Error/notFound(_:)``.
    package func head(key: String) async throws(S3Error) -> S3ObjectInfo? {
        try Self.check(key: key)
        do {
            let request = S3Request(method: .HEAD, key: key)
            return try await perform(request, during: Call(within: deadlines.call)) { response, _ in
                try S3ObjectInfo(response.headers)
            }
        } catch .notFound {
            return nil
        }
    }

    /// Removes an object; that there is none is success.
    ///
    /// - Parameter key: 1 to ``keyBytesMax`` bytes of UTF-8.
    /// - Throws: any case of ``S3Error`` but ``S3Error/notFound(_:)``.
    package func delete(key: String) async throws(S3Error) {
        try Self.check(key: key)
        do {
            try await send(S3Request(method: .DELETE, key: key), during: Call(within: deadlines.call))
        } catch .notFound {
            return
        }
    }

    static func check(key: String) throws(S3Error) {
        guard (1...keyBytesMax).contains(key.utf8.count) else { throw .invalidArgument(.key) }
    }
}
