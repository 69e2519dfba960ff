/// Asks the connection to send `100 Continue` to a client that waits for it.
///
/// It does nothing for a client that sent no `Expect: 100-continue`.
package struct ContinueEvent: Sendable {
    package init() {}
}
