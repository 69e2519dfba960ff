import Testing

@testable import Cryptography

@Suite("Digests")
struct DigestTests {
    private static let message = Array("The quick brown fox jumps over the lazy dog".utf8)

    @Test("They are those of FIPS 180-4 and RFC 1321")
    func vectors() {
        #expect(
            SHA256.hash("abc".utf8).digits == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(SHA256.hash([]).digits == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(MD5.hash("abc".utf8).digits == "900150983cd24fb0d6963f7d28e17f72")
        #expect(MD5.hash([]).digits == "d41d8cd98f00b204e9800998ecf8427e")
    }

    @Test("Bytes may come in parts, also from a collection that is not in one piece", arguments: 0...43)
    func parts(middle: Int) {
        var (sha256, md5) = (SHA256(), MD5())
        for part in [Self.message[..<middle], Self.message[middle...]] {
            sha256.update(part)
            md5.update(part.lazy.map { $0 })
        }
        #expect(sha256.finalize() == SHA256.hash(Self.message))
        #expect(md5.finalize() == MD5.hash(Self.message))
    }

    @Test("A copy goes its own way, also after its original's digest was taken")
    func copies() {
        var (first, firstMD5) = (SHA256(), MD5())
        first.update("a".utf8)
        firstMD5.update("a".utf8)
        var (second, secondMD5) = (first, firstMD5)
        #expect(first.finalize() == SHA256.hash("a".utf8))
        #expect(firstMD5.finalize() == MD5.hash("a".utf8))
        second.update("b".utf8)
        secondMD5.update("b".utf8)
        first.update("c".utf8)
        firstMD5.update("c".utf8)
        #expect(second.finalize() == SHA256.hash("ab".utf8))
        #expect(secondMD5.finalize() == MD5.hash("ab".utf8))
        #expect(first.finalize() == SHA256.hash("ac".utf8))
        #expect(firstMD5.finalize() == MD5.hash("ac".utf8))
    }

    @Test("Many tasks may copy one state at a time")
    func parallelCopies() async {
        var start = SHA256()
        start.update("a".utf8)
        let state = start
        await withTaskGroup(of: (SHA256Digest, Int).self) { group in
            for number in 0..<200 {
                group.addTask {
                    var copy = state
                    copy.update("\(number)".utf8)
                    return (copy.finalize(), number)
                }
            }
            for await (digest, number) in group { #expect(digest == SHA256.hash("a\(number)".utf8)) }
        }
        #expect(state.finalize() == SHA256.hash("a".utf8))
    }

    @Test("Values that differ in one bit, or in length, are not the same")
    func comparison() {
        let digest = SHA256.hash([])
        for index in 0..<32 {
            var bytes = Array(digest)
            bytes[index] ^= 0x80
            #expect(!ConstantTime.isSame(bytes, Array(digest)))
        }
        #expect(ConstantTime.isSame(Array(digest), Array(digest)))
        #expect(!ConstantTime.isSame(Array(digest).dropLast(), Array(digest)))
        #expect(ConstantTime.isSame([], []))
        #expect(digest != SHA256.hash([0]))
    }
}
