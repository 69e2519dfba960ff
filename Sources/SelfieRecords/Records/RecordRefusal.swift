package import RecordSchema

/// A call about records is refused.
package struct RecordRefusal: Error, Equatable {
    /// The position in a call with many, from 0; nil for the call itself.
    package let position: Int?
    package let reason: Reason

    package init(_ reason: Reason, at position: Int? = nil) {
        self.reason = reason
        self.position = position
    }

    /// The same without the position.
    package var withoutPosition: RecordRefusal { RecordRefusal(reason) }

    /// Why it is refused.
    package enum Reason: Sendable, Equatable {
        /// There is no such collection, or none for this user.
        case noCollection
        /// There is no such member, or the member has blocked this user.
        case noMember
        /// There is no such record, or none for this user.
        case noRecord
        /// The user may see the record, but not do this.
        case forbidden
        /// Another record has the id.
        case taken
        /// The id was used for another message to the same inbox.
        case messageIDTaken
        /// Another record refers to it.
        case referredTo
        /// It does not have the version that the client requires.
        case otherVersion
        /// The data breaks rules.
        case invalid([RecordValidationError])
        /// The id is not valid, or appears twice in the call.
        case invalidID
        /// The id of a new record is no whole number, as the collection wants it.
        case idNotInteger
        /// The expiry is not in the future.
        case invalidExpiry
        /// Only records of an `acl` collection have readers and writers.
        case notShared
        /// A named member does not exist, or has blocked the user.
        case unknownReader
        /// More readers and writers than ``RecordLimits/maxReaderCount``.
        case tooManyReaders
        /// The owner has the most records that a user may have.
        case noRoom
        /// The owner's records have the most bytes that they may have.
        case noBytes(max: Int)
        /// The inbox has no room for this user.
        case inboxFull
        /// A reader has the most records of this user that a reader may have.
        case readerFull
        /// `where` names a field that has no index.
        case noIndex(field: String)
        /// `where` has a value that the field can't have.
        case invalidCondition(RecordValidationError)
        /// `include` names a field that is not a reference.
        case noReference(field: String)
        /// The list begins after a record that the user does not see.
        case noSuchPosition
    }
}
