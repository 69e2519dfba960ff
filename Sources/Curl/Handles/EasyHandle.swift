import CLibCurl
import Glibc
import NIOCore
import NIOHTTP1

/// libcurl's handle of one transfer, with all that it needs while it lives.
///
/// Only the thread that calls libcurl uses it.
final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    let transfer: Transfer
    /// Gets the sockets of a mail's connection; nil for other requests.
    private let mailSockets: MailSockets?
    /// The address check; nil for none.
    private let isAllowed: AddressGuard?
    /// The headers; a mail's recipient.
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let message = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private let trust: TrustStore?
    /// The handle that it was added to.
    weak var multi: MultiHandle?
    /// The socket that libcurl uses for it at the moment.
    var socket: CInt?
    /// The bytes that the peer has acknowledged.
    var acknowledged: curl_off_t = 0
    /// The last step to its connection that libcurl has begun, as far as its callbacks show.
    private(set) var lastStep = ConnectionStep.connecting
    /// Whether libcurl resolves a name at the moment, in a thread that it would wait for.
    private(set) var isResolving = false
    /// Whether its connection leads through a proxy.
    let hasProxy: Bool
    /// Whether the guard refused an address.
    private(set) var hasForbiddenAddress = false
    /// Whether the process or the system has no descriptor for its socket.
    private(set) var hasNoDescriptor = false
    /// Whether its task no longer waits, while libcurl still resolves a name for it.
    private(set) var isAbandoned = false

    /// How many bytes libcurl reads and sends at a time.
    private static let bufferBytes = 128 * 1_024

    init(
        _ transfer: Transfer,
        configuration: CurlConfiguration,
        trust: TrustStore?,
        mailSockets: MailSockets? = nil
    ) throws(CurlError) {
        guard let handle = curl_easy_init() else { throw .invalidRequest("there is no memory") }
        (self.handle, self.transfer, self.trust, self.mailSockets) = (handle, transfer, trust, mailSockets)
        isAllowed = configuration.isAllowed
        hasProxy = configuration.proxies.proxy(for: transfer.request.url) != nil
        message.initialize(repeating: 0)
        try setRequest(transfer.request)
        try setConnection(configuration)
        try setCallbacks()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        message.deallocate()
    }

    private func setRequest(_ request: CurlRequest) throws(CurlError) {
        if let mail = request.mail { return try setMail(mail) }
        try check(request)
        try set(CURLOPT_URL, request.url)
        // Sent as it is spelled, because it is signed so.
        try set(CURLOPT_PATH_AS_IS, 1)
        switch (request.method, request.body) {
        case (.HEAD, nil): try set(CURLOPT_NOBODY, 1)
        case (.GET, nil): try set(CURLOPT_HTTPGET, 1)
        case (let method, nil) where method != .PUT && method != .POST:
            try set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        case (let method, let body):
            try set(CURLOPT_UPLOAD, 1)
            try set(CURLOPT_CUSTOMREQUEST, method.rawValue)
            try require(curl_set_number(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(body?.length ?? 0)))
            try set(CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferBytes)
        }
        for (name, value) in request.headers where name.lowercased() != "content-length" {
            // A semicolon makes a header without a value; without it, libcurl would leave it out.
            add(header: value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // libcurl's own headers: a name without a value leaves them out.
        for name in ["Accept", "Expect", "Content-Type"] where !request.headers.contains(name: name) {
            add(header: "\(name):")
        }
        try set(CURLOPT_HTTPHEADER, pointer: headers)
    }

    private func setMail(_ mail: MailRequest) throws(CurlError) {
        guard mail.isSafe else { throw .invalidRequest("the mail's server, credential or addresses are malformed") }
        try set(CURLOPT_URL, mail.url)
        if mail.protection == .startTLS { try set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
        if let credential = mail.credential {
            try set(CURLOPT_USERNAME, credential.user)
            try set(CURLOPT_PASSWORD, credential.password)
        }
        // It ends with `QUIT`, as it should, and not at some time later.
        try set(CURLOPT_FORBID_REUSE, 1)
        // Otherwise, libcurl does not say which command a reply is for.
        try set(CURLOPT_VERBOSE, 1)
        try set(CURLOPT_DEBUGDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
        try require(
            curl_set_debug_function(handle) { _, kind, bytes, count, owner in
                if kind == CURLINFO_HEADER_OUT {
                    let (easy, line) = (EasyHandle.from(owner), UnsafeRawBufferPointer(start: bytes, count: count))
                    easy.transfer.noteSent(command: line)
                    if line.starts(with: "QUIT".utf8) { easy.mailSockets?.stopReading() }
                }
                return 0
            }
        )
        guard let message = mail.message else {
            // A server that lets nobody in replies before that (RFC 5321, section 4.1.1.9).
            try set(CURLOPT_CUSTOMREQUEST, "NOOP")
            return try set(CURLOPT_NOBODY, 1)
        }
        try set(CURLOPT_MAIL_FROM, mail.sender)
        add(header: mail.recipient)
        try set(CURLOPT_MAIL_RCPT, pointer: headers)
        try set(CURLOPT_UPLOAD, 1)
        try require(curl_set_number(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(message.readableBytes)))
    }

    /// Checks what libcurl would pass on as it is.
    private func check(_ request: CurlRequest) throws(CurlError) {
        guard request.url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidRequest("the URL has a character that is not visible ASCII")
        }
        let isToken = { (text: String) in !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        guard isToken(request.method.rawValue) else { throw .invalidRequest("the method is malformed") }
        for (name, value) in request.headers {
            let isName = isToken(name) && !name.utf8.contains { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }
            let isValue = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            guard isName, isValue else { throw .invalidRequest("a header is malformed") }
        }
    }

    private func setConnection(_ configuration: CurlConfiguration) throws(CurlError) {
        let url = transfer.request.url
        try require(transfer.request.mail == nil ? curl_allow_http_only(handle) : curl_allow_smtp_only(handle))
        try set(CURLOPT_HTTP_VERSION, configuration.version.option)
        // A connection that is being made is waited for, since many requests can share it.
        if configuration.version == .http2 { try set(CURLOPT_PIPEWAIT, 1) }
        // Signals would end other threads' waits.
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_BUFFERSIZE, Self.bufferBytes)
        try set(CURLOPT_MAXAGE_CONN, configuration.maxIdleSeconds)
        if let seconds = configuration.maxLifeSeconds { try set(CURLOPT_MAXLIFETIME_CONN, seconds) }
        // Without these, libcurl reads the environment by itself. An empty name means no proxy.
        try set(CURLOPT_PROXY, configuration.proxies.proxy(for: url) ?? "")
        try set(CURLOPT_NOPROXY, configuration.proxies.exceptions ?? "")
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // The trusted certificates are in a store that all connections share.
        try require(curl_set_string(handle, CURLOPT_CAINFO, nil))
        try require(curl_set_string(handle, CURLOPT_CAPATH, nil))
    }

    private func setCallbacks() throws(CurlError) {
        let owner = Unmanaged.passUnretained(self).toOpaque()
        try set(CURLOPT_ERRORBUFFER, pointer: message.baseAddress)
        try require(
            curl_set_byte_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
                EasyHandle.from(owner).touched().receive(headLine: .init(start: bytes, count: size * count)).forWriting
            }
        )
        try set(CURLOPT_HEADERDATA, pointer: owner)
        try require(
            curl_set_byte_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
                EasyHandle.from(owner).touched().receive(.init(start: bytes, count: size * count)).forWriting
            }
        )
        try set(CURLOPT_WRITEDATA, pointer: owner)
        try require(
            curl_set_byte_function(handle, CURLOPT_READFUNCTION) { bytes, size, count, owner in
                EasyHandle.from(owner).touched().send(into: .init(start: bytes, count: size * count)).forReading
            }
        )
        try set(CURLOPT_READDATA, pointer: owner)
        try require(
            curl_set_socket_function(handle) { owner, _, address in
                guard let address else { return CURL_SOCKET_BAD }
                return EasyHandle.from(owner).open(address)
            }
        )
        try set(CURLOPT_OPENSOCKETDATA, pointer: owner)
        try require(
            curl_set_resolver_function(handle) { _, _, owner in
                EasyHandle.from(owner).isResolving = true
                return 0
            }
        )
        try set(CURLOPT_RESOLVER_START_DATA, pointer: owner)
        try require(
            curl_set_seek_function(handle) { owner, offset, origin in
                guard offset == 0, origin == SEEK_SET, EasyHandle.from(owner).transfer.rewind() else {
                    return CURL_SEEKFUNC_FAIL
                }
                return CURL_SEEKFUNC_OK
            }
        )
        try set(CURLOPT_SEEKDATA, pointer: owner)
        try set(CURLOPT_PRIVATE, pointer: owner)
        guard trust != nil else { return }
        try require(
            curl_set_context_function(handle) { _, context, owner in
                EasyHandle.from(owner).beginHandshake(context.map { OpaquePointer($0) })
            }
        )
        try set(CURLOPT_SSL_CTX_DATA, pointer: owner)
    }

    /// Its transfer, whose tasks may have something to do afterwards.
    private func touched() -> Transfer {
        multi?.touched[ObjectIdentifier(transfer)] = transfer
        return transfer
    }

    /// The owner of a callback.
    static func from(_ pointer: UnsafeMutableRawPointer?) -> EasyHandle {
        guard let pointer else { preconditionFailure("libcurl has lost the owner of a callback") }
        return Unmanaged<EasyHandle>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func beginHandshake(_ context: OpaquePointer?) -> CURLcode {
        guard let context, let trust else { return CURLE_SSL_CERTPROBLEM }
        lastStep = .handshake
        trust.use(in: context)
        return CURLE_OK
    }

    private static func parse(_ pointer: UnsafePointer<curl_sockaddr>) -> SocketAddress? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let address = UnsafeRawPointer(pointer) + offset
        return switch pointer.pointee.family {
        case AF_INET: SocketAddress(address.loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: SocketAddress(address.loadUnaligned(as: sockaddr_in6.self))
        default: nil
        }
    }

    /// Opens a socket for an address, unless nobody wants it any more or the guard refuses it.
    private func open(_ address: UnsafePointer<curl_sockaddr>) -> CInt {
        isResolving = false
        if isAbandoned { return CURL_SOCKET_BAD }
        lastStep = .connecting
        if let isAllowed {
            // libcurl's structure ends with the address, which may be longer than the member is.
            let parsed = Self.parse(address)
            guard let parsed, isAllowed(parsed) else {
                hasForbiddenAddress = true
                return CURL_SOCKET_BAD
            }
            hasForbiddenAddress = false
        }
        let socket = Glibc.socket(
            address.pointee.family,
            address.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol
        )
        hasNoDescriptor = socket < 0 && [EMFILE, ENFILE].contains(errno)
        if let mailSockets, socket >= 0, !mailSockets.add(socket) {
            close(socket)
            return CURL_SOCKET_BAD
        }
        return socket
    }
}

extension EasyHandle {
    /// Has libcurl end the transfer by itself after so long, and not wait longer for a reply to `QUIT`.
    func limit(to limit: Duration) throws(CurlError) {
        let milliseconds = max(1, Int(limit / .milliseconds(1)))
        try set(CURLOPT_TIMEOUT_MS, milliseconds)
        try set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, Int(limit.components.seconds)))
    }

    /// Nobody waits any more.
    func abandon() { isAbandoned = true }

    /// libcurl's last message; it names no header and no path for errors of TLS.
    var lastMessage: String {
        String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func add(header: String) {
        guard let list = curl_slist_append(headers, header) else { return }
        headers = list
    }

    private func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try require(curl_set_long(handle, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        try require(curl_set_string(handle, option, value))
    }

    private func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(CurlError) {
        try require(curl_set_pointer(handle, option, pointer))
    }

    /// An option that is not known would leave something switched on that must be off.
    private func require(_ code: CURLcode) throws(CurlError) {
        guard code == CURLE_OK else { throw .invalidRequest("this machine's libcurl refuses an option") }
    }
}

extension Transfer.Reply {
    /// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION: another number than that of the bytes ends the transfer.
    fileprivate var forWriting: Int {
        switch self {
        case .taken(let count): count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        case .abort: 0
        }
    }

    /// For CURLOPT_READFUNCTION.
    fileprivate var forReading: Int {
        switch self {
        case .taken(let count): count
        case .pause: Int(CURL_READFUNC_PAUSE)
        case .abort: Int(CURL_READFUNC_ABORT)
        }
    }
}
