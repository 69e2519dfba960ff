/// Asks the connection to tell a client that sent `Expect: 100-continue` to go on.
///
/// It does nothing for other clients.
package struct ContinueEvent: Sendable {
    package init() {}
}
