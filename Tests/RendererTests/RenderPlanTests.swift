import ImageFiles
import RenderInterface
import Testing

@testable import selfie_render

@Suite("What is decided by a picture's header")
struct RenderPlanTests {
    @Test(
        "A JPEG keeps at least twice the size that is wanted",
        arguments: [(321, 1), (1279, 1), (1280, 2), (2559, 2), (2560, 4), (5119, 4), (5120, 8), (10000, 8)]
            as [(Int, Double)]
    )
    func jpeg(side: Int, shrink: Double) throws {
        #expect(try RenderPlan(.jpeg, of: (side, side), longerSide: 320).shrink == shrink)
    }

    @Test("A decoder leaves a line its only pixel")
    func lines() throws {
        #expect(try RenderPlan(.jpeg, of: (30000, 1), longerSide: 320).shrink == 1)
        #expect(try RenderPlan(.webp, of: (1, 16000), longerSide: 320).shrink == 1)
        #expect(try RenderPlan(.jpeg, of: (30000, 8), longerSide: 320).shrink == 4)
    }

    @Test("A WebP too, by any whole factor; others are decoded as they are")
    func others() throws {
        #expect(try RenderPlan(.webp, of: (1000, 700), longerSide: 320).shrink == 1)
        #expect(try RenderPlan(.webp, of: (700, 1920), longerSide: 320).shrink == 3)
        for format in [ImageFormat.png, .gif, .heic, .heif, .avif] {
            #expect(try RenderPlan(format, of: (4000, 3000), longerSide: 320).shrink == 1)
        }
    }

    @Test("The result keeps the picture's shape, and has at least one pixel in each direction")
    func sizes() throws {
        #expect(try RenderPlan(.jpeg, of: (4032, 3024), longerSide: 320).size == (320, 240))
        #expect(try RenderPlan(.jpeg, of: (3024, 4032), longerSide: 1280).size == (960, 1280))
        #expect(try RenderPlan(.jpeg, of: (1000, 1000), longerSide: 320).size == (320, 320))
        // 320 * 3 / 1000 is 0.96, and 320 * 5 / 1000 is 1.6.
        #expect(try RenderPlan(.jpeg, of: (1000, 3), longerSide: 320).size == (320, 1))
        #expect(try RenderPlan(.jpeg, of: (5, 1000), longerSide: 320).size == (2, 320))
        #expect(try RenderPlan(.jpeg, of: (30000, 1), longerSide: 320).size == (320, 1))
    }

    @Test("100 megapixels and sides of 30,000 are the limits, and nothing is enlarged")
    func limits() {
        #expect(exit((10000, 10000)) == nil)
        #expect(exit((10000, 10001)) == .tooManyPixels)
        #expect(exit((30000, 3333)) == nil)
        #expect(exit((30001, 1)) == .tooManyPixels)
        #expect(exit((320, 320)) == .smallEnough)
        #expect(exit((321, 1)) == nil)
    }

    private func exit(_ size: (Int, Int)) -> RenderExit? {
        do throws(RenderFailed) {
            _ = try RenderPlan(.png, of: size, longerSide: 320)
            return nil
        } catch {
            return error.exit
        }
    }
}
