import Foundation
import SelfieWeb
import ServiceTestSupport

extension Mark {
    // MARK: Forms

    static func forms(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        let values = bodyParameters(of: sample).flatMap { name in
            // Eight rows, which a text of 255 characters may have.
            MarkText.sizes(taken: 488).map { size in
                Mark("\(name) in a form") { request in
                    request.leaveOut(name)
                    sendForm(text, size, before: "\(name)=", after: "", in: &request)
                }
            }
        }
        // Four rows, which a name may have.
        let names = MarkText.sizes(taken: 244).map { size in
            Mark("a name in a form") { sendForm(text, size, before: "", after: "=1", in: &$0) }
        }
        return values + names
    }

    private static func bodyParameters(of sample: SampleRequest) -> [String] {
        sample.endpoint.parameters.filter { [.anywhere, .multipart].contains($0.location) }.map(\.name)
    }

    private static func sendForm(
        _ text: MarkText,
        _ size: Int?,
        before: String,
        after: String,
        in request: inout SampleRequest
    ) {
        let rest = [request.formText, before].filter { !$0.isEmpty }.joined(separator: "&")
        let room = SampleRequest.maxSmallBytes - rest.utf8.count - after.utf8.count - 1
        let separator = before.isEmpty && !rest.isEmpty ? "&" : ""
        let body = rest + separator + text.raw(bytes: size ?? room) + after
        request.payload = (SampleRequest.form, Data(body.utf8))
    }

    // MARK: Parts

    static func parts(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        let values = bodyParameters(of: sample).flatMap { name in
            MarkText.sizes(taken: 488).map { size in
                Mark("\(name) in parts") { request in
                    request.leaveOut(name)
                    let header = #"Content-Disposition: form-data; name="\#(name)""#
                    let marked = text.raw(bytes: size ?? partRoom(of: request))
                    sendPart(header, Data(marked.utf8), in: &request)
                }
            }
        }
        let names = MarkText.sizes(taken: 244).map { size in
            Mark("the name of a part") { request in
                let marked = text.raw(bytes: size ?? partRoom(of: request))
                sendPart(#"Content-Disposition: form-data; name="\#(marked)""#, Data(), in: &request)
            }
        }
        return values + names + files(of: sample, text)
    }

    /// The header of a part that is a file: the photo where there is one.
    private static func files(of sample: SampleRequest, _ text: MarkText) -> [Mark] {
        let name = sample.photo == nil ? "file" : "image"
        let disposition = #"Content-Disposition: form-data; name="\#(name)"; filename"#
        func mark(_ what: String, taken: Int, header: @escaping @Sendable (_ bytes: Int) -> String) -> [Mark] {
            MarkText.sizes(taken: taken).map { size in
                Mark(what) { request in
                    let room = partRoom(of: request)
                    let photo = request.photo ?? Data()
                    request.photo = nil
                    sendPart(header(size ?? room), photo, in: &request)
                }
            }
        }
        return mark("the name of a file", taken: 488) { "\(disposition)=\"\(text.raw(bytes: $0))\"" }
            + mark("the encoded name of a file", taken: 1_448) {
                "\(disposition)*=UTF-8''\(text.percentEncoded(bytes: $0))"
            }
            + mark("the media type of a file", taken: 488) {
                "\(disposition)=\"photo\"\r\nContent-Type: image/\(text.raw(bytes: $0))"
            }
            + mark("an unknown header of a file", taken: 488) {
                "\(disposition)=\"photo\"\r\nX-Unknown: \(text.raw(bytes: $0))"
            }
    }

    /// How many bytes there are for a text in a part.
    ///
    /// A part's header has a limit of its own, which counts beside a photo.
    private static func partRoom(of request: SampleRequest) -> Int {
        let rest = request.photo == nil ? TestMultipart.body(request.parts).count : 0
        return SampleRequest.maxSmallBytes - rest - 300
    }

    /// Sends another part in front of those that there are.
    private static func sendPart(_ header: String, _ bytes: Data, in request: inout SampleRequest) {
        let part = Data("--\(TestMultipart.boundary)\r\n\(header)\r\n\r\n".utf8) + bytes + Data("\r\n".utf8)
        request.payload = (TestMultipart.contentType, part + TestMultipart.body(request.parts))
    }
}
