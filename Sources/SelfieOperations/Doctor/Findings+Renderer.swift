import Renderer

extension Findings {
    /// Renders a tiny picture.
    func checkRenderer(_ renderer: RenderProcess?, atOnce: Int) async {
        guard atOnce > 0 else { return ok("none are made, since RENDITIONS_AT_ONCE is 0; photos are served instead") }
        do throws(RenderFailure) {
            guard let renderer else { throw .programMissing }
            try await renderer.check()
            ok("selfie-render and libvips make them")
        } catch {
            let reason = "\(error)"
            warning(
                "they can't be made, so photos are served instead: \(reason.prefix(1).lowercased())\(reason.dropFirst().dropLast())",
                Self.remedy(for: error)
            )
        }
    }

    private static func remedy(for failure: RenderFailure) -> String {
        switch failure {
        case .programMissing:
            "Put selfie-render into the folder of the program selfie (docs/deploying.md). Or set RENDITIONS_AT_ONCE=0."
        case .libraryMissing, .formatMissing: "Install libvips42 (docs/deploying.md). Or set RENDITIONS_AT_ONCE=0."
        default: "The renderer needs seccomp, and about 100 MiB of free memory (docs/deploying.md)."
        }
    }
}
