import Foundation
import SelfieWeb
import ServiceTestSupport

extension Mark {
    /// A position in a JSON body for the contents of a string.
    private struct Slot: Sendable {
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
    private static func marks(in slot: Slot, _ text: MarkText) -> [(mark: Mark, isLargest: Bool)] {
        [false, true].flatMap { isEscaped in
            MarkText.sizes(taken: slot.takenBytes).map { size in
                let mark = Mark("\(slot.what) in JSON\(isEscaped ? ", with escapes" : "")") { request in
                    var rest = request
                    slot.put("", &rest)
                    let room = request.maxObjectBytes - rest.object.utf8.count - 40
                    // An escape has six bytes instead of two.
                    let bytes = min(room, size.map { isEscaped ? $0 * 3 : $0 } ?? room)
                    slot.put(isEscaped ? text.escaped(bytes: bytes) : text.raw(bytes: bytes), &request)
                }
                return (mark, size == nil)
            }
        }
    }

    // MARK: Parameters

    static func jsonParameters(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        var slots = [Slot("a name", taken: 244) { $1.members.append(($0, "1")) }]
        for parameter in sample.endpoint.parameters where [.anywhere, .multipart].contains(parameter.location) {
            let name = parameter.name
            slots.append(Slot(name, taken: 488) { SampleRequest.set(name, to: #""\#($0)""#, in: &$1.members) })
            if case .json = parameter.kind { slots += objectSlots(name) }
        }
        return slots.flatMap { slot in
            let slot = Slot(slot.what, taken: slot.takenBytes) { contents, request in
                request.leaveOut(slot.what)
                request.members = request.parameterMembers
                slot.put(contents, &request)
            }
            return marks(in: slot, text).map { mark, _ in
                Mark(mark.what) { request in
                    mark.put(&request)
                    request.payload = (SampleRequest.json, Data(request.object.utf8))
                }
            }
        }
    }

    /// Values and names within a member that is an object.
    private static func objectSlots(_ member: String) -> [Slot] {
        [
            Slot("a value in \(member)", taken: 6_000) {
                SampleRequest.set(member, to: #"{"a":"\#($0)"}"#, in: &$1.members)
            },
            Slot("a value deep in \(member)", taken: 6_000) {
                SampleRequest.set(member, to: #"{"a":[{"b":"\#($0)"}]}"#, in: &$1.members)
            },
            Slot("a name in \(member)", taken: 244) {
                SampleRequest.set(member, to: #"{"\#($0)":1}"#, in: &$1.members)
            },
        ]
    }

    // MARK: Members

    static func jsonMembers(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        slots(in: sample).flatMap { slot in
            marks(in: slot, text).flatMap { mark, isLargest in
                // A text of the largest size that is taken fills a hundred records only once.
                guard sample.takesMany, isLargest || slot.what == "text" else { return [mark] }
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

    private static func slots(in sample: SampleRequest) -> [Slot] {
        var slots = [Slot("a name", taken: 244) { $1.members.append(($0, "1")) }]
        for member in sample.endpoint.bodyMembers + ["nickname"] {
            switch member {
            case "data": slots += dataSlots(sample.fields.map(\.0))
            case "fields": slots += objectSlots(member)
            case "readers", "writers":
                slots.append(
                    Slot(member, taken: 244) { SampleRequest.set(member, to: #"["\#($0)"]"#, in: &$1.members) }
                )
            default:
                slots.append(
                    Slot(member, taken: 244) { SampleRequest.set(member, to: #""\#($0)""#, in: &$1.members) }
                )
            }
        }
        return slots
    }

    private static func dataSlots(_ fields: [String]) -> [Slot] {
        fields.map { field in
            Slot(field, taken: 60_000) { SampleRequest.set(field, to: #""\#($0)""#, in: &$1.fields) }
        } + [
            Slot("a name in data", taken: 244) { $1.fields.append(($0, "1")) },
            Slot("a value deep in data", taken: 60_000) {
                SampleRequest.set("any", to: #"{"a":[{"b":"\#($0)"}]}"#, in: &$1.fields)
            },
            Slot("a name deep in data", taken: 244) {
                SampleRequest.set("any", to: #"{"a":[{"\#($0)":1}]}"#, in: &$1.fields)
            },
        ]
    }
}
