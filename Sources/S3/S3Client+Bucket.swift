import NIOHTTP1

extension S3Client {
    /// Makes the bucket; that it is there and ours is success.
    ///
    /// - Throws: any case of ``S3Error``; ``S3Error/refused(_:)`` with `BucketAlreadyExists` when the name belongs to
    ///   someone else.
    package func createBucket() async throws(S3Error) {
        try await createBucket(during: Call(within: deadlines.call))
    }

    /// Asks whether the bucket is there and ours to use.
    ///
    /// - Returns: false when there is none.
    /// - Throws: any case of ``S3Error`` but ``S3Error/notFound(_:)``.
    package func headBucket() async throws(S3Error) -> Bool {
        do {
            try await send(S3Request(method: .HEAD), during: Call(within: deadlines.call))
            return true
        } catch .notFound {
            return false
        }
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
