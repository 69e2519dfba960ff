package import Curl
import Push
package import SelfieConfiguration
package import SelfieNotifications

extension PushSettings {
    /// Where pushes go.
    ///
    /// - Parameter connections: How connections are made.
    /// - Returns: Apple and Google, or one of them, or none.
    package func route(connections: CurlConfiguration) -> PushRoute {
        .providers(
            apple: apns.map { apns in
                APNsChannel.Apple(
                    key: apns.key,
                    topic: apns.topic,
                    production: APNsClient(origin: apns.productionOrigin, connections: connections),
                    sandbox: APNsClient(origin: apns.sandboxOrigin, connections: connections)
                )
            },
            google: fcm.map { fcm in
                FCMChannel.Google(
                    account: fcm.account,
                    client: FCMClient(account: fcm.account, origin: fcm.origin, connections: connections)
                )
            }
        )
    }
}
