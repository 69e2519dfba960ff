/// A step that is tried at a bucket, with the permission that it needs.
enum BucketStep: String, Sendable, CaseIterable {
    case list, make, put, head, get, range, presign, beginUpload, listUploads, abortUpload, delete, deleteVersions

    /// The step, as the beginning of a sentence.
    var name: String {
        switch self {
        case .list: "listing objects"
        case .make: "making the bucket"
        case .put: "putting an object"
        case .head: "asking for an object's size"
        case .get: "getting an object"
        case .range: "getting a part of an object"
        case .presign: "getting an object by a signed URL"
        case .beginUpload: "beginning an upload in parts"
        case .listUploads: "listing unfinished uploads"
        case .abortUpload: "aborting an upload in parts"
        case .delete: "deleting an object"
        case .deleteVersions: "deleting an object's versions"
        }
    }

    /// IAM's name for it (AWS, "Actions, resources, and condition keys for Amazon S3").
    var permission: String {
        switch self {
        case .list: "s3:ListBucket"
        case .make: "s3:CreateBucket"
        case .put, .beginUpload: "s3:PutObject"
        case .head, .get, .range, .presign: "s3:GetObject"
        case .listUploads: "s3:ListBucketMultipartUploads"
        case .abortUpload: "s3:AbortMultipartUpload"
        case .delete: "s3:DeleteObject"
        case .deleteVersions: "s3:ListBucketVersions and s3:DeleteObjectVersion"
        }
    }

    /// The permissions' resource: the bucket itself or its objects.
    func resource(bucket: String) -> String {
        switch self {
        case .list, .make, .listUploads: "arn:aws:s3:::\(bucket)"
        case .deleteVersions: "arn:aws:s3:::\(bucket) and arn:aws:s3:::\(bucket)/*"
        default: "arn:aws:s3:::\(bucket)/*"
        }
    }

    /// All permissions that the service needs, as a policy lists them.
    static let permissions = """
        s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and \
        s3:ListBucketMultipartUploads (with s3:GetBucketVersioning, s3:ListBucketVersions and s3:DeleteObjectVersion if the bucket keeps versions)
        """
}
