import NIOHTTP1

extension S3Client {
    /// Makes the bucket; that it is there and ours is success.
    ///
    /// - Throws: any case of ``S3Error``; ``S3Error/refused(_:)`` with `BucketAlreadyExists` when the name belongs to
    ///   someone else.
    package func createBucket() async throws(S3Error) {
        try await createBucket(during: call(within: deadlines.call))
    }

    /// Finds out where the bucket is and what time it is there, as far as that is not as configured.
    ///
    /// A request that is refused would do so as well, but a URL for someone else must be right the first time.
    ///
    /// - Throws: any case of ``S3Error``.
    package func prepare() async throws(S3Error) {
        try await send(.question, during: call(within: deadlines.call))
    }

    func createBucket(during call: Call) async throws(S3Error) {
        var request = S3Request(method: .PUT)
        let region = configuration.region
        // AWS refuses the name of its first region here, and wants that of every other.
        if region != "us-east-1" {
            let document = RequestDocument("CreateBucketConfiguration")
            document.add("LocationConstraint", region)
            request.body = document.body
        }
        do {
            try await send(request, during: call)
        } catch .refused(let failure) where failure.code == "BucketAlreadyOwnedByYou" {
            return
        }
    }
}
