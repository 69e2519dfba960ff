/// A step that is tried at a bucket.
struct BucketStep: Sendable, Equatable {
    /// The step, as the beginning of a sentence.
    let name: String
    /// IAM's name for what it needs (AWS, "Actions, resources, and condition keys for Amazon S3").
    let permission: String

    static let list = BucketStep(name: "listing objects", permission: "s3:ListBucket")
    static let make = BucketStep(name: "creating the bucket", permission: "s3:CreateBucket")
    static let put = BucketStep(name: "putting an object", permission: "s3:PutObject")
    static let head = BucketStep(name: "asking for an object's size", permission: "s3:GetObject")
    static let get = BucketStep(name: "getting an object", permission: "s3:GetObject")
    static let range = BucketStep(name: "getting a part of an object", permission: "s3:GetObject")
    static let presign = BucketStep(name: "getting an object by a signed URL", permission: "s3:GetObject")
    static let beginUpload = BucketStep(name: "beginning an upload in parts", permission: "s3:PutObject")
    static let listUploads = BucketStep(
        name: "listing unfinished uploads",
        permission: "s3:ListBucketMultipartUploads"
    )
    static let abortUpload = BucketStep(name: "aborting an upload in parts", permission: "s3:AbortMultipartUpload")
    static let delete = BucketStep(name: "deleting an object", permission: "s3:DeleteObject")
    static let deleteVersions = BucketStep(
        name: "deleting an object's versions",
        permission: "s3:ListBucketVersions and s3:DeleteObjectVersion"
    )
}
