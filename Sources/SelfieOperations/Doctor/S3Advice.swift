import S3

/// Says in plain words what an error of a bucket means, and what to do about it.
///
/// It does no I/O.
///
/// Source of the codes: AWS, "Error responses", list of error codes; MinIO, Ceph and Cloudflare R2 use the same.
struct S3Advice: Sendable {
    let address: BucketAddress
    let secrets: Secrets

    /// Explains an error.
    ///
    /// - Parameters:
    ///   - error: How the step failed.
    ///   - step: The step that was tried.
    /// - Returns: A text that begins with the step, and the advice; nothing secret.
    func explanation(of error: S3Error, at step: BucketStep) -> Explanation {
        switch error {
        case .notFound(let failure), .refused(let failure), .unavailable(let failure):
            return explanation(of: failure, at: step)
        case .noCredentials(let error): return missingKeys(error)
        case .source, .invalidArgument, .cancelled:
            return Explanation(text: "\(step.name) failed (\(error))", advice: "Run selfie doctor again.")
        }
    }

    /// Whether the store says that the keys may not do this.
    func isDenial(_ error: S3Error) -> Bool {
        guard case .refused(let failure) = error else { return false }
        return S3Trouble(failure) == .denied
    }

    /// Explains why neither listing nor putting is allowed.
    ///
    /// Ceph says `AccessDenied` also of temporary keys that are wrong, unknown, cut or ended.
    func nothingAllowed(_ error: S3Error) -> Explanation {
        let explanation = explanation(of: error, at: .put)
        return Explanation(
            text: "\(explanation.text); listing was refused, too, so the keys themselves may be wrong",
            advice: "\(S3Trouble.doubtfulKeysAdvice(address.origin)) Otherwise: \(explanation.advice)"
        )
    }

    /// Explains why there are no keys to sign with.
    func missingKeys(_ error: S3CredentialError) -> Explanation {
        Explanation(
            text: "there are no keys for the bucket: \(secrets.hidden(in: "\(error)"))",
            advice: """
                Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the container (ECS task role, EKS Pod Identity) or the \
                EC2 instance a role that may use the bucket.
                """
        )
    }

    private func explanation(of failure: S3Failure, at step: BucketStep) -> Explanation {
        if let cause = failure.cause {
            if case S3NoAnswer.otherBytes = cause { return otherBytes(step) }
            if let trouble = NetworkTrouble(cause) { return trouble.explanation(address) }
        }
        let (problem, advice) = pair(failure, step)
        let code = failure.code ?? failure.status.map { "status \($0)" } ?? "no answer"
        let words = failure.message.map { " The store said: \(secrets.hidden(in: $0))" } ?? ""
        let request = failure.requestID.map { " (request \(secrets.hidden(in: $0)))" } ?? ""
        return Explanation(
            text: "\(step.name) failed: \(problem) (\(secrets.hidden(in: code)))",
            advice: advice + words + request
        )
    }

    private func pair(_ failure: S3Failure, _ step: BucketStep) -> (String, String) {
        if let kind = S3Trouble(failure) { return kind.pair(failure, step, address) }
        return (
            "the store gives an error that is not known here",
            "Look the words up in the store's documentation, or ask its operators. \(secrets.hidden(in: "\(failure)"))."
        )
    }

    private func otherBytes(_ step: BucketStep) -> Explanation {
        Explanation(
            text: "\(step.name) failed: the store has other bytes than were sent",
            advice: """
                Something between this machine and the store changes what passes, such as a proxy that compresses; let it \
                pass the store's traffic as it is. If there is none, keep no photos in this store.
                """
        )
    }
}
