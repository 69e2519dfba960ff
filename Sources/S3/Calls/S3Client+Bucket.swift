import NIOHTTP1

extension S3Client {
    /// Makes the bucket.
    ///
    /// It is no error if it exists and is ours.
    ///
    /// - Throws: any case of ``S3Error``; ``S3Error/refused(_:)`` with `BucketAlreadyExists` when the name belongs to
    ///   someone else.
    package func createBucket() async throws(S3Error) {
        try await createBucket(by: deadline(in: deadlines.call))
    }

    /// Learns the bucket's region and the store's clock where they differ from the configuration.
    ///
    /// A refused request would teach the same. But a presigned URL must be right the first time.
    ///
    /// - Throws: any case of ``S3Error``.
    package func prepare() async throws(S3Error) {
        try await send(.question, by: deadline(in: deadlines.call))
    }

    /// Learns whether the bucket keeps old versions, or did so once.
    ///
    /// Answers to puts and deletions show the same. But Swift's and Ceph's answers do not, for an object that an
    /// interrupted deletion has hidden.
    ///
    /// Source: AWS, "GetBucketVersioning".
    ///
    /// - Parameter again: whether to ask although the answer is known: versioning may have been switched on.
    /// - Throws: any case of ``S3Error``. A store that does not let these keys ask, or does not know, is none.
    func learnVersioning(again: Bool) async throws(S3Error) {
        let known = learned.current.versioning
        guard known != .kept, again || known == .unasked else { return }
        do {
            let request = S3Request(method: .GET, query: [QueryItem("versioning")])
            let root = try await document(request, root: "", by: deadline(in: deadlines.call)).root
            // Some stores answer unknown calls with a list.
            guard root.name.contains("Versioning") else { return learned.note(.unknown) }
            learned.note(root["Status"] == nil ? .none : .kept)
        } catch {
            guard error.isDenial || error.isOfMissingCall else { throw error }
            learned.note(.unknown)
        }
    }

    func createBucket(by deadline: Deadline) async throws(S3Error) {
        do {
            try await requestBucket(in: configuration.region, by: deadline)
        } catch .refused(let failure) where Self.mayLeaveOutRegion(after: failure, at: configuration) {
            // Requests are signed for a region that this store does not have. Many stores sign for any.
            try await requestBucket(in: nil, by: deadline.restarted())
        }
    }

    /// Whether to ask for the bucket again, without a region.
    ///
    /// AWS would make it in its first region, which is not the one that is set.
    static func mayLeaveOutRegion(after failure: S3Failure, at configuration: S3Configuration) -> Bool {
        failure.code == "InvalidLocationConstraint" && !configuration.followsRegion
    }

    /// Asks for the bucket, without a region if the store is to choose it.
    private func requestBucket(in region: String?, by deadline: Deadline) async throws(S3Error) {
        var request = S3Request(method: .PUT)
        // AWS refuses the name of its first region here, and requires that of every other.
        if let region, region != "us-east-1" {
            var document = RequestDocument("CreateBucketConfiguration")
            document.add("LocationConstraint", region)
            request.body = document.body
        }
        do {
            try await send(request, by: deadline)
        } catch .refused(let failure) where failure.code == "BucketAlreadyOwnedByYou" {
            return
        }
    }
}
