import FoundationEssentials
import Hummingbird
import JSON
import SelfieAccounts
import SelfieRecords

/// Writes members as answers have them.
struct MemberWriter {
    let signer: PhotoURLSigner
    /// When pictures' URLs are made.
    let date: Date
    /// Scheme, host and port of pictures' URLs.
    let origin: String
    /// The reader of the URLs.
    let reader: PhotoReader

    init(_ parts: WebParts, for request: Request, _ context: SessionRequestContext) {
        signer = parts.photoURLs
        date = parts.now()
        reader = context.session.photoReader
        origin = parts.origin.origin(of: request.head)
    }

    /// Writes a member as others see it.
    func write(_ member: Member, to json: inout JSONWriter) {
        json.object { json in
            addSeen(member, to: &json)
            if let email = member.email { json.member("email", email) }
        }
    }

    /// Writes a member as its owner sees it.
    func write(_ profile: Profile, to json: inout JSONWriter) {
        json.object { json in
            addSeen(profile.member, to: &json)
            json.member("email", profile.member.email)
            json.member("email_state", profile.emailState.rawValue)
            json.member("shows_email", profile.showsEmail)
        }
    }

    private func addSeen(_ member: Member, to json: inout JSONWriter) {
        json.member("id", member.id)
        json.member("first_name", member.firstName)
        json.member("last_name", member.lastName)
        json.member("title", member.title)
        if let picture = member.picture {
            let day = signer.day(of: date, origin: origin, series: picture.urlSeries)
            let urls = PhotoURLWriter(day.scoped(PhotoScope(.picture, to: reader)))
            var randomID = picture.randomID
            randomID.withUTF8 { randomID in
                json.member("picture", plain: { urls.appendURL(of: UnsafeRawBufferPointer(randomID), to: &$0) })
            }
        } else {
            json.null("picture")
        }
        json.member("picture_id", member.picture?.randomID)
        member.fields.withUnsafeBytes { json.member("fields", json: $0) }
    }
}
