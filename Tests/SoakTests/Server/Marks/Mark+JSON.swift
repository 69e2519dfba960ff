import Foundation
import SelfieWeb
import ServiceTestSupport

extension Mark {
    /// A place within a JSON body for the contents of a string.
    private struct Place: Sendable {
        let what: String
        /// How many bytes in UTF-8 are taken there.
        let takenBytes: Int
        let put: @Sendable (_ contents: String, _ request: inout SampleRequest) -> Void

        init(
            _ what: String,
            taken: Int,
            put: @escaping @Sendable (_ contents: String, _ request: inout SampleRequest) -> Void
        ) {
            self.what = what
            takenBytes = taken
            self.put = put
        }
    }

    /// Marks as they are and with escapes, in the largest body, and in one that is taken.
    private static func marks(in place: Place, _ text: MarkText) -> [(mark: Mark, isLargest: Bool)] {
        [false, true].flatMap { isEscaped in
            MarkText.sizes(taken: place.takenBytes).map { size in
                let mark = Mark("\(place.what) in JSON\(isEscaped ? ", with escapes" : "")") { request in
                    var rest = request
                    place.put("", &rest)
                    let room = request.maxObjectBytes - rest.object.utf8.count - 40
                    // An escape has six bytes in place of two.
                    let bytes = min(room, size.map { isEscaped ? $0 * 3 : $0 } ?? room)
                    place.put(isEscaped ? text.escaped(bytes: bytes) : text.raw(bytes: bytes), &request)
                }
                return (mark, size == nil)
            }
        }
    }

    // MARK: Parameters

    static func jsonParameters(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        var places = [Place("a name", taken: 244) { $1.members.append(($0, "1")) }]
        for parameter in sample.endpoint.parameters where [.anywhere, .multipart].contains(parameter.location) {
            let name = parameter.name
            places.append(Place(name, taken: 488) { SampleRequest.set(name, to: #""\#($0)""#, in: &$1.members) })
            if case .json = parameter.kind { places += objectPlaces(name) }
        }
        return places.flatMap { place in
            let place = Place(place.what, taken: place.takenBytes) { contents, request in
                request.leaveOut(place.what)
                request.members = request.parameterMembers
                place.put(contents, &request)
            }
            return marks(in: place, text).map { mark, _ in
                Mark(mark.what) { request in
                    mark.put(&request)
                    request.payload = (SampleRequest.json, Data(request.object.utf8))
                }
            }
        }
    }

    /// Values and names within a member that is an object.
    private static func objectPlaces(_ member: String) -> [Place] {
        [
            Place("a value in \(member)", taken: 6_000) {
                SampleRequest.set(member, to: #"{"a":"\#($0)"}"#, in: &$1.members)
            },
            Place("a value deep in \(member)", taken: 6_000) {
                SampleRequest.set(member, to: #"{"a":[{"b":"\#($0)"}]}"#, in: &$1.members)
            },
            Place("a name in \(member)", taken: 244) {
                SampleRequest.set(member, to: #"{"\#($0)":1}"#, in: &$1.members)
            },
        ]
    }

    // MARK: Members

    static func jsonMembers(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        places(in: sample).flatMap { place in
            marks(in: place, text).flatMap { mark, isLargest in
                // A text of the largest size that is taken fills a hundred records only once.
                guard sample.takesMany, isLargest || place.what == "text" else { return [mark] }
                return [
                    mark,
                    Mark("\(mark.what), in many records") { request in
                        mark.put(&request)
                        request.repeatObject()
                    },
                ]
            }
        }
    }

    private static func places(in sample: SampleRequest) -> [Place] {
        var places = [Place("a name", taken: 244) { $1.members.append(($0, "1")) }]
        for member in sample.endpoint.bodyMembers + ["nickname"] {
            switch member {
            case "data": places += dataPlaces(sample.fields.map(\.0))
            case "fields": places += objectPlaces(member)
            case "readers", "writers":
                places.append(
                    Place(member, taken: 244) { SampleRequest.set(member, to: #"["\#($0)"]"#, in: &$1.members) }
                )
            default:
                places.append(
                    Place(member, taken: 244) { SampleRequest.set(member, to: #""\#($0)""#, in: &$1.members) }
                )
            }
        }
        return places
    }

    private static func dataPlaces(_ fields: [String]) -> [Place] {
        fields.map { field in
            Place(field, taken: 60_000) { SampleRequest.set(field, to: #""\#($0)""#, in: &$1.fields) }
        } + [
            Place("a name in data", taken: 244) { $1.fields.append(($0, "1")) },
            Place("a value deep in data", taken: 60_000) {
                SampleRequest.set("any", to: #"{"a":[{"b":"\#($0)"}]}"#, in: &$1.fields)
            },
            Place("a name deep in data", taken: 244) {
                SampleRequest.set("any", to: #"{"a":[{"\#($0)":1}]}"#, in: &$1.fields)
            },
        ]
    }
}
