import NIOCore
import NIOHTTP1

extension S3Client {
    /// The most objects or uploads of a page, and keys of a deletion (AWS, "ListObjectsV2", "DeleteObjects").
    static let maxPageCount = 1_000
    /// The most bytes of a page.
    ///
    /// Each byte of a key may take three, and each object has some more data.
    private static let maxPageBytes = maxPageCount * (3 * maxKeyBytes + 1_024)

    /// Lists objects page by page.
    ///
    /// The order depends on the store.
    ///
    /// - Parameter next: where the page begins, as the page before says; nil for the first.
    /// - Returns: the page; empty when there is no bucket.
    /// - Throws: ``S3Error``; ``S3Error/notFound(_:)`` only when something else than a store answers there.
    package func list(from next: String? = nil) async throws(S3Error) -> Page<ObjectEntry, String> {
        var query = [
            QueryItem("list-type", "2"), QueryItem("max-keys", "\(Self.maxPageCount)"),
            QueryItem("encoding-type", "url"),
        ]
        if let next { query.append(QueryItem("continuation-token", next)) }
        let document: DocumentElement
        do {
            document = try await page(query, root: "ListBucketResult", by: deadlineForMany())
        } catch {
            // Not every 404 means an empty bucket. Taking it for one could delete objects of another bucket.
            guard error.isMissingBucket else { throw error }
            return Page(entries: [], next: nil)
        }
        do { return try Page(document) } catch { throw .unavailable(S3Failure(cause: error)) }
    }

    /// Lists uploads in parts that were neither completed nor aborted, page by page.
    ///
    /// - Parameter next: where the page begins, as the page before says; nil for the first.
    /// - Returns: the page; empty when there is no bucket.
    /// - Throws: any case of ``S3Error`` but ``S3Error/notFound(_:)``.
    package func listUploads(
        from next: PageMarker? = nil
    ) async throws(S3Error) -> Page<UnfinishedPut, PageMarker> {
        var query = [
            QueryItem("uploads"), QueryItem("max-uploads", "\(Self.maxPageCount)"), QueryItem("encoding-type", "url"),
        ]
        if let next { query += [QueryItem("key-marker", next.key), QueryItem("upload-id-marker", next.id)] }
        let document: DocumentElement
        do {
            document = try await page(query, root: "ListMultipartUploadsResult", by: deadlineForMany())
        } catch .notFound {
            return Page(entries: [], next: nil)
        }
        do { return try Page(document) } catch { throw .unavailable(S3Failure(cause: error)) }
    }

    func page(_ query: [QueryItem], root: String, by deadline: Deadline) async throws(S3Error) -> DocumentElement {
        try await document(
            S3Request(method: .GET, query: query),
            root: root,
            maxBytes: Self.maxPageBytes,
            by: deadline
        ).root
    }

    /// Aborts an upload in parts and removes what it stored.
    ///
    /// - Parameters:
    ///   - key: as listed.
    ///   - uploadID: as listed.
    /// - Returns: whether there was one.
    /// - Throws: any case of ``S3Error`` but ``S3Error/notFound(_:)``.
    @discardableResult
    package func abortUpload(key: String, uploadID: String) async throws(S3Error) -> Bool {
        let request = S3Request(method: .DELETE, key: key, query: [QueryItem("uploadId", uploadID)])
        do {
            try await send(request, by: deadline(in: deadlines.call))
            return true
        } catch .notFound {
            return false
        }
    }
}
