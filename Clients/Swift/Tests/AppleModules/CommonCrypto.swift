// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public typealias CCOperation = UInt32
public typealias CCAlgorithm = UInt32
public typealias CCOptions = UInt32
public typealias CCCryptorStatus = Int32
public typealias CC_LONG = UInt32

public let kCCEncrypt = 0
public let kCCDecrypt = 1
public let kCCAlgorithmAES = 0
public let kCCOptionPKCS7Padding = 1
public let kCCSuccess = 0

public func CCCrypt(
    _: CCOperation,
    _: CCAlgorithm,
    _: CCOptions,
    _: UnsafeRawPointer!,
    _: Int,
    _: UnsafeRawPointer!,
    _: UnsafeRawPointer!,
    _: Int,
    _: UnsafeMutableRawPointer!,
    _: Int,
    _: UnsafeMutablePointer<Int>!
) -> CCCryptorStatus { 0 }

@discardableResult
public func CC_SHA256(_: UnsafeRawPointer!, _: CC_LONG, _: UnsafeMutablePointer<UInt8>!) -> UnsafeMutablePointer<UInt8>!
{
    nil
}
