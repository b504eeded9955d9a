import GraphModel
import GraphWire
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import GraphServer

/// The limits of a connection before its TLS handshake is complete.
@Suite struct TLSHandshakeTests {
  private let loop = EmbeddedEventLoop()
  private let regulator: HandshakeRegulator

  init() {
    regulator = HandshakeRegulator(loop: loop, log: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
  }

  /// A connected channel with a gate, and the gate.
  private func connect(hasRoom: @escaping (Int) -> Bool = { _ in true }) throws -> (EmbeddedChannel, HandshakeGate) {
    let gate = HandshakeGate(regulator: regulator, hasRoom: hasRoom)
    let channel = EmbeddedChannel(handler: gate, loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return (channel, gate)
  }

  private let hello = ByteBuffer(bytes: [0x16, 0x03, 0x01])

  @Test func stalledHandshakeIsClosedAtDeadline() throws {
    let (channel, _) = try connect()
    try channel.writeInbound(hello)
    loop.advanceTime(by: .milliseconds(HandshakeLimits.seconds * 1_000 - 1))
    #expect(channel.isActive && regulator.openCount == 1)
    loop.advanceTime(by: .milliseconds(1))
    #expect(!channel.isActive && regulator.openCount == 0)
  }

  @Test func completeHandshakeHasNoLimits() throws {
    let (channel, gate) = try connect()
    gate.handshakeCompleted()
    #expect(regulator.openCount == 0)
    loop.advanceTime(by: .seconds(HandshakeLimits.seconds))
    let large = ByteBuffer(repeating: 0, count: 2 * HandshakeLimits.maximumBytes)
    try channel.writeInbound(large)
    #expect(try channel.readInbound(as: ByteBuffer.self) == large)
    #expect(channel.isActive)
    _ = try channel.finish()
  }

  @Test func endlessHandshakeIsClosed() throws {
    let (channel, _) = try connect()
    try channel.writeInbound(hello)
    try channel.writeInbound(ByteBuffer(repeating: 0, count: HandshakeLimits.maximumBytes))
    #expect(!channel.isActive && regulator.openCount == 0)
    #expect(try channel.readInbound(as: ByteBuffer.self) == hello)
    #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
  }

  @Test func plainClientReceivesAdviceInItsProtocol() throws {
    let (channel, _) = try connect()
    try channel.writeInbound(ByteBuffer(bytes: [0, 0, 0, 9, 1]))
    let answer = try channel.readOutbound(as: ByteBuffer.self)
    var decoder = FrameDecoder()
    decoder.append(try #require(answer).readableBytesView)
    let frame = try decoder.next()
    var reader = BinaryReader(try #require(frame))
    guard case .close(let code, let message) = try ToClient(from: &reader).body else {
      Issue.record("the answer is no close")
      return
    }
    #expect(code == "notAllowed" && message.contains("tls://"))
    #expect(!channel.isActive && regulator.openCount == 0)
    #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
  }

  @Test func connectionBeyondMaximumIsClosed() throws {
    let (first, _) = try connect { $0 < 1 }
    let (second, _) = try connect { $0 < 1 }
    #expect(first.isActive && !second.isActive && regulator.openCount == 1)
    _ = try first.finish()
    #expect(regulator.openCount == 0)
  }

  @Test func simultaneousHandshakesAreSpreadOverPeriods() throws {
    let count = 2 * HandshakeLimits.stepsPerPeriod + 1
    let channels = try (0..<count).map { _ in try connect().0 }
    for channel in channels { try channel.writeInbound(hello) }
    func passed() throws -> [Bool] { try channels.map { try $0.readInbound(as: ByteBuffer.self) != nil } }
    let first = try passed()
    #expect(first == (0..<count).map { $0 < HandshakeLimits.stepsPerPeriod })
    // A connection that closes while it waits uses no step.
    try channels[HandshakeLimits.stepsPerPeriod].close().wait()
    loop.advanceTime(by: .milliseconds(HandshakeLimits.periodMilliseconds))
    #expect(try passed() == (0..<count).map { $0 > HandshakeLimits.stepsPerPeriod })
    for channel in channels where channel.isActive { _ = try channel.finish() }
  }
}
