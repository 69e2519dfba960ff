import NIOCore
import NIOHTTP1
import NIOPosix
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("The service with keys from a container's endpoint", .timeLimit(.minutes(2)))
struct CredentialEndpointTests {
    /// Answers every request with the same JSON.
    private final class Answering: ChannelInboundHandler, Sendable {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let body: ByteBuffer

        init(_ body: ByteBuffer) {
            self.body = body
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let headers: HTTPHeaders = ["Content-Length": "\(body.readableBytes)"]
            context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: .ok, headers: headers))), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    private func withEndpoint(
        secretAccessKey: (RcloneServer) -> String,
        _ body: @Sendable (TestService, TestObjects) async throws -> Void
    ) async throws {
        try await RcloneServer.withServer { store in
            let json = #"{"AccessKeyId":"\#(store.accessKeyID)","SecretAccessKey":"\#(secretAccessKey(store))"}"#
            let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(Answering(ByteBuffer(string: json)))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let settings = [
                "OBJECTS_PATH": "", "S3_BUCKET_NAME": "selfies", "AWS_ENDPOINT_URL_S3": store.endpoint,
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/keys",
            ]
            let result: Result<Void, any Error>
            do {
                result = .success(try await TestService.run(settings: settings) { try await body($0, .s3(store)) })
            } catch {
                result = .failure(error)
            }
            try await channel.close()
            try result.get()
        }
    }

    @Test("It stores photos with them")
    func works() async throws {
        try await withEndpoint(secretAccessKey: \.secretAccessKey) { service, objects in
            let token = try await service.makeToken()
            let uploaded = try await service.upload(token: token)
            #expect(uploaded.status == 200)
            #expect(objects.keys() == [try #require(uploaded.json["random_id"] as? String)])
        }
    }

    @Test("The store refuses what is signed with other keys")
    func otherKeys() async throws {
        try await withEndpoint(secretAccessKey: { _ in "another" }) { service, objects in
            let token = try await service.makeToken()
            #expect(try await service.upload(token: token).status == 503)
            #expect(objects.keys().isEmpty)
            #expect(try await service.postgres.query("SELECT FROM photos WHERE state = 'ready'").isEmpty)
        }
    }
}
