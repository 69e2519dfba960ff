/// A request stopped arriving, or arrives too slowly.
package struct SlowRequestError: Error {}
