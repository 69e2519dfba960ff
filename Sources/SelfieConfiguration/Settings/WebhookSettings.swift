import Encodings
package import Webhooks

extension SettingsReader {
    /// Where webhooks may lead, beside the public.
    package mutating func webhookNetworks() -> WebhookNetworks {
        optional(
            "WEBHOOK_NETWORKS",
            "networks such as 10.1.0.0/16 or fd00::/8, with commas between them",
            default: WebhookNetworks()
        ) { text in
            let networks = text.split(separator: ",").map { InternetNetwork($0.trimmingWhitespace()) }
            guard networks.allSatisfy({ $0 != nil }) else { return nil }
            return WebhookNetworks(named: networks.compactMap(\.self))
        }
    }
}
