import Foundation
import GraphModel
import GraphWire

struct BenchmarkError: Error, CustomStringConvertible { let description: String }

/// A blocking socket: the leanest client there can be, so that what is measured is the server.
final class Socket: @unchecked Sendable {  // Each is used by one thread.
  let descriptor: Int32

  init(unix path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard code == 0 else { throw BenchmarkError(description: "no server at \(path)") }
  }

  init(tcp port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw BenchmarkError(description: "no server at port \(port)") }
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
  }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw BenchmarkError(description: "the connection was lost while writing") }
      rest = rest.dropFirst(count)
    }
  }

  func read() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    guard count > 0 else { throw BenchmarkError(description: "the connection was lost while reading") }
    return Array(buffer[..<count])
  }

  deinit { close(descriptor) }
}

/// A client of the daemon.
final class WireClient: @unchecked Sendable {  // Each is used by one thread.
  private let socket: Socket
  private var decoder = FrameDecoder()
  private var request: UInt64 = 0
  private var sequence: UInt64 = 0
  private let replica = UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max))
  private(set) var entities = [String: Welcome.EntityEntry]()

  init(_ path: String) throws {
    socket = try Socket(unix: path)
    try send(.hello(Hello(model: nil, replica: replica, author: "bench")))
    while true {
      if case .welcome(let welcome) = try next().body {
        for entity in welcome.entities { entities[entity.name] = entity }
        return
      }
    }
  }

  func send(_ body: ToServer.Body) throws {
    request += 1
    try socket.write(Frame.encode(ToServer(request, body)))
  }

  func next() throws -> ToClient {
    while true {
      if let bytes = try decoder.next() {
        var reader = BinaryReader(bytes)
        return try ToClient(from: &reader)
      }
      decoder.append(try socket.read())
    }
  }

  /// The next message's kind only, for clients that count.
  func nextFrame() throws -> ArraySlice<UInt8> {
    while true {
      if let bytes = try decoder.next() { return bytes }
      decoder.append(try socket.read())
    }
  }

  func property(_ entity: String, _ name: String) throws -> PropertyNumber {
    guard let number = entities[entity]?.properties.first(where: { $0.name == name })?.number else {
      throw BenchmarkError(description: "no property \(entity).\(name)")
    }
    return number
  }

  @discardableResult
  func commit(_ changes: [Change]) throws -> Committed {
    sequence += 1
    let id = TransactionID(replica: replica, sequence: sequence)
    try send(.commit(Transaction(id: id, policy: .objectTrump, changes: changes), acknowledged: sequence - 1))
    while true {
      switch try next().body {
      case .committed(let committed, _, _): return committed
      case .refused(let refusal): throw BenchmarkError(description: refusal.message)
      default: continue
      }
    }
  }

  func insertBoard(_ name: String) throws -> ObjectID {
    let board = entities["Board"]?.number ?? 0
    let edit = Edit(try property("Board", "name"), .set(.string(name)))
    return try commit([Change(.insert, .temporary(1, entity: board), edits: [edit])]).identities[0].permanent
  }

  func note(_ number: UInt64, text: String, board: ObjectID) throws -> Change {
    Change(
      .insert, .temporary(number, entity: entities["Note"]?.number ?? 0),
      edits: [
        Edit(try property("Note", "text"), .set(.string(text))),
        Edit(try property("Note", "board"), .set(.object(board))),
        Edit(try property("Note", "x"), .set(.double(10))), Edit(try property("Note", "y"), .set(.double(20))),
      ])
  }
}
