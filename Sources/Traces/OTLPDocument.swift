import Tracing

/// The body of a request to a collector.
///
/// Source: opentelemetry-proto, `trace.proto` and `common.proto`, in the JSON form of the OTLP specification: ids are
/// hexadecimal, and numbers of 64 bits are texts.
struct OTLPDocument: Encodable {
    let resourceSpans: [ResourceSpans]

    struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    struct Resource: Encodable {
        let attributes: [Attribute]
    }

    struct ScopeSpans: Encodable {
        let scope: Scope
        let spans: [Span]
    }

    struct Scope: Encodable {
        let name: String
    }

    struct Span: Encodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        let kind: Int
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]
        let status: Status
    }

    struct Status: Encodable {
        /// 0 for unset, 2 for an error.
        let code: Int
    }

    struct Attribute: Encodable {
        let key: String
        let value: Value

        struct Value: Encodable {
            var stringValue: String?
            var intValue: String?
            var boolValue: Bool?
        }
    }

    init(_ spans: [FinishedSpan], serviceName: String, version: String) {
        let resource = Resource(attributes: [
            Attribute(key: "service.name", value: .init(stringValue: serviceName)),
            Attribute(key: "service.version", value: .init(stringValue: version)),
        ])
        resourceSpans = [
            ResourceSpans(
                resource: resource,
                scopeSpans: [ScopeSpans(scope: Scope(name: serviceName), spans: spans.map(Span.init))]
            )
        ]
    }
}

extension OTLPDocument.Span {
    fileprivate init(_ span: FinishedSpan) {
        var attributes: [OTLPDocument.Attribute] = []
        span.attributes.forEach { key, value in
            let value: OTLPDocument.Attribute.Value =
                switch value {
                case .int32(let number): .init(intValue: "\(number)")
                case .int64(let number): .init(intValue: "\(number)")
                case .bool(let flag): .init(boolValue: flag)
                case .string(let text): .init(stringValue: text)
                default: .init(stringValue: "\(value)")
                }
            attributes.append(OTLPDocument.Attribute(key: key, value: value))
        }
        self.init(
            traceId: span.trace.traceID,
            spanId: span.trace.spanID,
            parentSpanId: span.parentID,
            name: span.name,
            kind: span.kind.otlpNumber,
            startTimeUnixNano: "\(span.start)",
            endTimeUnixNano: "\(span.end)",
            attributes: attributes,
            status: OTLPDocument.Status(code: span.isError ? 2 : 0)
        )
    }
}

extension SpanKind {
    /// `SpanKind` of `trace.proto`.
    fileprivate var otlpNumber: Int {
        switch self {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}
