/// What a renderer is started with.
package struct RenderArguments: Sendable, Equatable {
    /// The longer side of the result in pixels, one of ``RenderLimits/resultSides``.
    package let longerSide: Int
    /// The process to die with; nil for none.
    package let parent: Int32?

    package init(longerSide: Int, parent: Int32?) {
        self.longerSide = longerSide
        self.parent = parent
    }

    /// Reads the words behind the program's name: a side, and perhaps a parent.
    ///
    /// Nil when they are anything else.
    package init?(words: some Collection<String>) {
        let numbers = words.compactMap { Int32($0) }
        guard numbers.count == words.count, (1...2).contains(numbers.count), numbers.allSatisfy({ $0 > 0 }),
            RenderLimits.resultSides.contains(Int(numbers[0]))
        else { return nil }
        self.init(longerSide: Int(numbers[0]), parent: numbers.count == 2 ? numbers[1] : nil)
    }

    /// The words behind the program's name.
    package var words: [String] { [String(longerSide)] + (parent.map { [String($0)] } ?? []) }
}
