import HTTPTypes
import SelfieNotifications

/// The refusals of calls about devices and subscriptions.
extension ServiceError {
    static let deviceNotFound = ServiceError(
        status: .notFound,
        code: "device_not_found",
        message: "There is no such device"
    )
    static let tooManyDevices = ServiceError(
        status: .forbidden,
        code: "too_many_devices",
        message: "You have the maximum number of devices (\(Device.maxCount))"
    )
    static let subscriptionNotFound = ServiceError(
        status: .notFound,
        code: "subscription_not_found",
        message: "There is no such subscription"
    )
    static let tooManySubscriptions = ServiceError(
        status: .forbidden,
        code: "too_many_subscriptions",
        message: "You have the maximum number of subscriptions (\(Subscription.maxCount))"
    )
    static let subscriptionIDInvalid = ServiceError(
        status: .badRequest,
        code: "subscription_id_invalid",
        message: "An id has 1 to 255 of A-Z a-z 0-9 . _ : ~ @ -"
    )
}
