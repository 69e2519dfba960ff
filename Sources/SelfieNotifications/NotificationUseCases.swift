package import CoreMetrics
package import Deliveries
package import Logging
package import Postgres
package import SelfieAccounts
package import SelfieRecords

/// Everything that tells users of changes while their apps are closed.
package struct NotificationUseCases: Sendable {
    package let manageDevices: ManageDevices
    package let manageSubscriptions: ManageSubscriptions
    /// The ways out.
    package let channels: [any DeliveryChannel]

    /// - Parameters:
    ///   - postgres: The database.
    ///   - secret: `SECRET_KEY_BASE`, which seals the tokens of providers.
    ///   - push: Where pushes go.
    ///   - sendsContents: Whether fields of records may leave the service.
    ///   - sendsMail: Whether mails can be sent.
    ///   - checkFilter: Checks what users want to be told of.
    ///   - limiter: Counts changes of devices and subscriptions.
    ///   - metrics: Counts pushes that are replaced, and devices that are removed.
    ///   - logger: Logs what is given up.
    ///   - onAdded: Called when deliveries were added.
    package init(
        postgres: PostgresClient,
        secret: String,
        push: PushRoute,
        sendsContents: Bool,
        sendsMail: Bool,
        checkFilter: CheckFilter,
        limiter: RateLimiter,
        metrics: any MetricsFactory,
        logger: Logger,
        onAdded: @escaping @Sendable () -> Void
    ) {
        let platforms = push.platforms
        manageDevices = ManageDevices(store: DeviceStore(postgres: postgres), platforms: platforms, limiter: limiter)
        let kinds: [Subscription.Channel?] = [platforms.isEmpty ? nil : .push, sendsMail ? .mail : nil]
        let usable = Set(kinds.compactMap(\.self))
        manageSubscriptions = ManageSubscriptions(
            store: SubscriptionStore(postgres: postgres),
            channels: usable,
            checkFilter: checkFilter,
            limiter: limiter
        )
        let pushes = Pushes(
            route: push,
            postgres: postgres,
            secret: secret,
            sendsContents: sendsContents,
            metrics: metrics
        )
        let spread = SubscriptionChannel(
            postgres: postgres,
            platforms: platforms,
            sendsMail: sendsMail,
            metrics: metrics,
            logger: logger,
            onAdded: onAdded
        )
        // It also removes what nobody can be told of, after a setting was removed.
        channels = [spread] + pushes.channels
    }
}
