import Foundation
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// A connection's frames, on a real socket.
@Suite(.timeLimit(.minutes(1))) struct TransportTests {
  /// A connected transport, its events, and the other end of its socket.
  private func connect() async throws -> (Transport, AsyncStream<Transport.Event>, peer: Int32, TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    let address = ServerAddress.unix(path: directory.path + "/socket")
    let listener = try PlainSocket.listen(at: address)
    defer { close(listener) }
    let (events, delivered) = AsyncStream.makeStream(of: Transport.Event.self)
    let transport = try await Transport.connect(to: .address(address), timeoutMilliseconds: 5_000) {
      delivered.yield($0)
    }
    let peer = accept(listener, nil, nil)
    try #require(peer >= 0)
    return (transport, events, peer, directory)
  }

  private func write(_ bytes: [UInt8], to peer: Int32) {
    #expect(send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
  }

  private let refusal = Refusal(.unavailable, "later")

  private func frame(_ request: UInt64) -> [UInt8] { Frame.encode(ToClient(request, .refused(refusal))) }

  @Test func batchIsDeliveredAfterPreviousOneIsProcessed() async throws {
    let (transport, events, peer, directory) = try await connect()
    var iterator = events.makeAsyncIterator()
    write(frame(1), to: peer)
    guard case .messages(let first, let resume)? = await iterator.next() else {
      Issue.record("no batch was delivered")
      return
    }
    #expect(first.map(\.request) == [1])
    write(frame(2) + frame(3), to: peer)
    close(peer)
    // The end of the connection follows the messages before it.
    resume()
    var (requests, hasEnded) = ([UInt64](), false)
    while !hasEnded, let event = await iterator.next() {
      switch event {
      case .messages(let messages, let resume):
        requests += messages.map(\.request)
        resume()
      case .closed: hasEnded = true
      case .malformed(let reason): Issue.record("\(reason)")
      }
    }
    #expect(requests == [2, 3] && hasEnded)
    transport.close()
    withExtendedLifetime(directory) {}
  }

  @Test func unreadableBytesAreReported() async throws {
    let (transport, events, peer, directory) = try await connect()
    defer { close(peer) }
    write([UInt8](repeating: 0xff, count: 64), to: peer)
    var iterator = events.makeAsyncIterator()
    guard case .malformed(let reason)? = await iterator.next() else {
      Issue.record("unreadable bytes were accepted")
      return
    }
    #expect(!reason.isEmpty)
    transport.close()
    withExtendedLifetime(directory) {}
  }

  @Test func gracefulCloseWritesEverythingBefore() async throws {
    let (transport, _, peer, directory) = try await connect()
    defer { close(peer) }
    let frame = Frame.encode(ToServer(1, .status))
    for _ in 0..<100 { transport.write(frame) }
    await transport.closeGracefully()
    var (received, bytes) = (0, [UInt8](repeating: 0, count: 1 << 16))
    while case let count = read(peer, &bytes, bytes.count), count > 0 { received += count }
    #expect(received == 100 * frame.count)
    withExtendedLifetime(directory) {}
  }
}
