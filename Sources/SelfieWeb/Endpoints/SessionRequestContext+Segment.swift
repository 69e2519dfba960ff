import Encodings
import Hummingbird

extension SessionRequestContext {
    /// A segment of the path, decoded; nil when there is none, or it is no name.
    func segment(_ parameter: Endpoint.Parameter) -> String? {
        parameters.get(parameter.name).flatMap(PercentEncoding.decoded).flatMap { $0.isFitName ? $0 : nil }
    }
}
