/// What one rendering may use, beyond the limits of the renderer itself.
package struct RenderBudget: Sendable {
    /// From the start of the process to its end.
    package var time: Duration = .seconds(10)
    /// Resident memory, with that of shared libraries.
    package var memoryBytes = 400 << 20
    /// How often the memory and the time are looked at.
    package var intervalMilliseconds = 10

    package init() {}
}
