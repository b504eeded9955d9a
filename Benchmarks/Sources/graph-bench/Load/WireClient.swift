import GraphModel
import GraphWire

/// A client of the daemon that decodes as little as possible.
///
/// `@unchecked Sendable`: each is used by one thread at a time.
final class WireClient: @unchecked Sendable {
  let socket: Socket
  private var request: UInt64 = 0
  private var sequence: UInt64 = 0
  private let replica = UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max))
  private(set) var entities = [String: Welcome.EntityEntry]()

  /// The fields of `ToClient` that this client distinguishes.
  enum Kind: UInt8 {
    case refused = 3
    case chunk = 5
    case committed = 6
    case subscribed = 7
    case delta = 9
    case advance = 10
    case windowMoved = 25
  }

  /// - Parameter credential: the secret of a user; empty for none.
  init(_ address: ServerAddress, credential: String = "") throws {
    socket = try Socket(address)
    try open(credential)
  }

  /// A client over a WebSocket.
  init(webSocketAt port: Int) throws {
    socket = try Socket(.tcp(host: "127.0.0.1", port: port))
    let fields = [
      "GET /v1/socket HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: Upgrade", "Upgrade: websocket",
      "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: graph.1",
    ]
    try socket.write(Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    guard String(decoding: try socket.nextLine(), as: UTF8.self).hasPrefix("HTTP/1.1 101 ") else {
      throw BenchmarkError(description: "the daemon refuses a WebSocket")
    }
    while try socket.nextLine().count > 1 {}
    socket.isWebSocket = true
    try open()
  }

  private func open(_ credential: String = "") throws {
    try send(.hello(Hello(model: nil, replica: replica, author: "bench", credential: credential)))
    guard case .welcome(let welcome) = try next().body else {
      throw BenchmarkError(description: "the daemon does not welcome this client")
    }
    for entity in welcome.entities { entities[entity.name] = entity }
  }

  @discardableResult
  func send(_ body: ToServer.Body) throws -> UInt64 {
    try socket.writeFrame(frame(body))
    return request
  }

  /// Returns the frame of the next request, to be written by the caller.
  func frame(_ body: ToServer.Body) -> [UInt8] {
    request += 1
    return Frame.encode(ToServer(request, body))
  }

  // MARK: - Reading

  func next() throws -> ToClient {
    var reader = BinaryReader(Array(try socket.nextFrame()))
    return try ToClient(from: &reader)
  }

  /// Returns the field number of a message's body. The request's number precedes it unless it is 0.
  static func field(_ frame: UnsafeRawBufferPointer) -> UInt8 { frame[bodyStart(frame)] >> 3 }

  static func bodyStart(_ frame: UnsafeRawBufferPointer) -> Int {
    guard frame[0] == 1 << 3 else { return 0 }
    var index = 1
    while frame[index] & 0x80 != 0 { index += 1 }
    return index + 1
  }

  /// Reads up to and including the next message of a kind, and returns it; valid until the next call. Throws after a
  /// refusal.
  @discardableResult
  func skip(to kind: Kind) throws -> UnsafeRawBufferPointer {
    while true {
      let frame = try socket.nextFrame()
      let field = Self.field(frame)
      if field == kind.rawValue { return frame }
      if field == Kind.refused.rawValue {
        var reader = BinaryReader(Array(frame))
        if case .refused(let refusal) = try ToClient(from: &reader).body {
          throw BenchmarkError(description: "refused: \(refusal.message)")
        }
      }
    }
  }

  /// Returns what the next chunk contains.
  func nextChunk() throws -> (objects: Int, isLast: Bool) { try Self.contents(of: try skip(to: .chunk)) }

  /// Skips over a chunk's fields: field 1 is an object, field 2 marks the last chunk.
  private static func contents(of frame: UnsafeRawBufferPointer) throws -> (objects: Int, isLast: Bool) {
    var place = bodyStart(frame)
    func varint() -> Int {
      var (value, shift) = (0, 0)
      while place < frame.count {
        let byte = frame[place]
        place += 1
        value |= Int(byte & 0x7F) << shift
        shift += 7
        if byte & 0x80 == 0 { break }
      }
      return value
    }
    _ = (varint(), varint())
    var objects = 0
    while place < frame.count {
      switch varint() {
      case 1 << 3 | 2:
        objects += 1
        let length = varint()
        place += length
      case 2 << 3: return (objects, varint() == 1)
      default: throw BenchmarkError(description: "a chunk has a field that is not known here")
      }
    }
    return (objects, false)
  }

  /// Reads until the server has closed the connection.
  func waitForEnd() {
    do {
      while true { _ = try socket.nextFrame() }
    } catch {
      // The end of the connection.
    }
  }

  // MARK: - Requests

  /// Subscribes to an entity's objects and waits for the first result, which must fit into one or two chunks.
  func subscribe(_ entity: String, where predicate: String = "") throws {
    try send(.subscribe(Subscribe(entity: number(of: entity), predicate: predicate)))
    try skip(to: .advance)
  }

  /// Subscribes to many queries, each with a result of one chunk.
  func subscribe(_ entity: String, where predicates: [String]) throws {
    // The server runs 16 reads of a connection at once and queues up to 256 more.
    for start in stride(from: 0, to: predicates.count, by: 128) {
      let part = predicates[start..<min(start + 128, predicates.count)]
      for predicate in part {
        try send(.subscribe(Subscribe(entity: number(of: entity), predicate: predicate)))
      }
      for _ in part { try skip(to: .chunk) }
    }
  }

  /// Returns the frame of a commit with the next sequence number.
  func commitFrame(_ changes: [Change]) -> [UInt8] {
    sequence += 1
    let id = TransactionID(replica: replica, sequence: sequence)
    return frame(.commit(Transaction(id: id, policy: .overwrite, changes: changes)))
  }

  /// Commits and waits for the reply without decoding it.
  func commit(_ changes: [Change]) throws {
    try socket.write(commitFrame(changes))
    try skip(to: .committed)
  }

  /// Commits and returns the decoded reply.
  func committed(_ changes: [Change]) throws -> CommitResult {
    try socket.write(commitFrame(changes))
    return try nextCommitted()
  }

  /// Returns the decoded reply of the next commit.
  func nextCommitted() throws -> CommitResult {
    var reader = BinaryReader(Array(try skip(to: .committed)))
    guard case .committed(let committed, _, _, _) = try ToClient(from: &reader).body else {
      throw BenchmarkError(description: "a commit has no reply")
    }
    return committed
  }

  /// Returns the daemon's model.
  func model() throws -> Model {
    try send(.model)
    guard case .model(let source, _) = try next().body else {
      throw BenchmarkError(description: "the daemon does not send its model")
    }
    return try Model(parsing: source.utf8)
  }

  // MARK: - Notes

  func number(of entity: String) -> EntityNumber { entities[entity]?.number ?? 0 }

  private func property(_ entity: String, _ name: String) throws -> PropertyNumber {
    guard let number = entities[entity]?.properties.first(where: { $0.name == name })?.number else {
      throw BenchmarkError(description: "no property \(entity).\(name)")
    }
    return number
  }

  func insertBoard(named name: String = "Bench") throws -> ObjectID {
    let edit = Edit(try property("Board", "name"), .set(.string(name)))
    let reply = try committed([Change(.insert, .temporary(1, entity: number(of: "Board")), edits: [edit])])
    guard let board = reply.identities.first?.permanent else {
      throw BenchmarkError(description: "the daemon allocated no board")
    }
    return board
  }

  func newNote(_ number: UInt64 = 1, text: String = Bench.text, on board: ObjectID) throws -> Change {
    Change(
      .insert, .temporary(number, entity: self.number(of: "Note")),
      edits: [
        Edit(try property("Note", "text"), .set(.string(text))),
        Edit(try property("Note", "board"), .set(.object(board))),
        Edit(try property("Note", "x"), .set(.double(10))), Edit(try property("Note", "y"), .set(.double(20))),
      ])
  }

  func newNotes(_ count: Int, on board: ObjectID) throws -> [Change] {
    try (1...UInt64(count)).map { try newNote($0, on: board) }
  }

  /// Updates an object regardless of its revision, because there is no other writer.
  func update(_ id: ObjectID, _ entity: String, _ name: String, _ value: Value) throws -> Change {
    Change(.update, id, base: .max, edits: [Edit(try property(entity, name), .set(value))])
  }

  func move(_ note: ObjectID, base: Revision, x: Double) throws -> Change {
    Change(.update, note, base: base, edits: [Edit(try property("Note", "x"), .set(.double(x)))])
  }

  /// Fetches the note with this number, which is unique and therefore indexed; decodes nothing.
  func fetchNote(_ number: Int) throws {
    try send(.fetch(Fetch(entity: self.number(of: "Note"), predicate: "number == \(number)")))
    guard try nextChunk() == (1, true) else { throw BenchmarkError(description: "there is no note \(number)") }
  }
}
