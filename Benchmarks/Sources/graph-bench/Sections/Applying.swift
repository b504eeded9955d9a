import CSQLite
import GraphModel
import GraphStore
import Synchronization

extension Bench {
  private struct ApplyShape {
    let row: String
    let commits: Int
    /// The notes that each commit inserts; 0 if it moves one.
    let notes: Int
    let name: String
  }

  private static let applyShapes = [
    ApplyShape(row: "1", commits: 20_000, notes: 1, name: "an entry of one note, applied"),
    ApplyShape(row: "100", commits: 200, notes: 100, name: "an entry of 100 notes, applied"),
    ApplyShape(row: "move", commits: 20_000, notes: 0, name: "an entry that moves a note, applied"),
  ]
  private static let movedNotes = 1_000

  /// Commits in a form from which another store can repeat them.
  private struct Recording {
    /// The entries before those of the commits.
    var base = [[UInt8]]()
    var commits = [[UInt8]]()
    var moves = [RawReplay.Move]()
  }

  /// Measures what a store needs to repeat commits from their entries, beside raw writes of the same rows.
  ///
  /// The time of an entry includes decoding its bytes, as at a start after a power failure.
  func measureApply() throws {
    let model = try notesModel()
    for shape in Self.applyShapes where selection.includes(.apply, shape.row) { try measureApply(shape, model) }
  }

  private func measureApply(_ shape: ApplyShape, _ model: Model) throws {
    let recording = try record(shape, model)
    let base = place("base")
    try apply(recording.base, to: base, model)
    var (ours, decoding, raw) = ([Double](), [Double](), [Double]())
    for _ in 0..<Self.rounds {
      let (mine, theirs) = (try copy(base), try copy(base))
      ours.append(try apply(recording.commits, to: mine, model))
      decoding.append(try timed { for bytes in recording.commits { _ = try LogEntry(binary: bytes) } })
      let limit = try RawReplay(
        before: theirs + "/graph.sqlite", after: mine + "/graph.sqlite", moves: recording.moves)
      raw.append(try timed { try limit.run() })
      try limit.verify()
      remove(mine)
      remove(theirs)
    }
    remove(base)
    let each = 1e6 / Double(shape.commits)
    Figure(
      name: shape.name, unit: "µs", ours: median(ours) * each, limit: median(raw) * each, aim: .atMost(1.5)
    ).report()
    Figure(name: "– of it, decoding the entry", unit: "µs", ours: median(decoding) * each).report()
    let bytes = recording.commits.reduce(0) { $0 + $1.count }
    Figure(name: "– bytes of an entry", unit: "bytes", ours: Double(bytes / shape.commits)).report()
  }

  /// Applies entries to the store in a directory, which is created if it does not exist.
  /// - Returns: the seconds.
  @discardableResult
  private func apply(_ entries: [[UInt8]], to data: String, _ model: Model) throws -> Double {
    let store = try SQLiteStore(directory: data, model: model)
    let seconds = try timed {
      try store.apply { body in
        for bytes in entries { try body(try LogEntry(binary: bytes)) }
      }
    }
    try store.close()
    return seconds
  }

  private func notesModel() throws -> Model {
    let daemon = try Daemon(self, data: place("data"))
    defer { daemon.stop() }
    return try WireClient(daemon.unix).model()
  }

  // MARK: - Recording

  /// Performs commits in a store of their own.
  private func record(_ shape: ApplyShape, _ model: Model) throws -> Recording {
    let recorder = EntryRecorder()
    var options = SQLiteStore.Options()
    options.didCommit = { recorder.append($0) }
    let data = place("recorded")
    defer { remove(data) }
    let store = try StaffStore(data, source: model.source, options: options)
    let board = try store.commit([try store.insertion("Board", 0, [("name", .string("Bench"))])])[0]
    var recording = Recording()
    if shape.notes == 0 {
      let notes = try store.commit(try (0..<Self.movedNotes).map { try newNote($0, on: board, in: store) })
      recording.base = recorder.takeAll()
      recording.moves = try move(notes, times: shape.commits, in: store, path: data + "/graph.sqlite")
    } else {
      recording.base = recorder.takeAll()
      for commit in 0..<shape.commits {
        let first = commit * shape.notes
        try store.commit(try (first..<first + shape.notes).map { try newNote($0, on: board, in: store) })
      }
    }
    try store.close()
    recording.commits = recorder.takeAll()
    guard recording.commits.count == shape.commits else {
      throw BenchmarkError(description: "\(recording.commits.count) entries were recorded of \(shape.commits) commits")
    }
    return recording
  }

  private func newNote(_ number: Int, on board: ObjectID, in store: StaffStore) throws -> Change {
    try store.insertion(
      "Note", number,
      [
        ("text", .string("\(Bench.text) \(number)")), ("board", .object(board)), ("x", .double(10)), ("y", .double(20)),
      ])
  }

  /// Moves notes in turn, and reads the row of each after its move.
  private func move(
    _ notes: [ObjectID], times count: Int, in store: StaffStore, path: String
  ) throws -> [RawReplay.Move] {
    let reader = try RawDatabase(path)
    let row = try Statement(reader, "SELECT _revision, _sum, x, updated, _row FROM Note WHERE _id = ?")
    let head = try store.store.head.revision
    return try (0..<count).map { number in
      let note = notes[number % notes.count]
      let edit = try store.edit("Note", "x", .double(Double(100 + number)))
      try store.commit([Change(.update, note, base: head + Int64(number), edits: [edit])])
      row.bind(1, blob: note.key.bytes)
      guard try row.step() else { throw BenchmarkError(description: "a moved note is missing") }
      let move = RawReplay.Move(row)
      _ = try row.step()
      sqlite3_reset(row.pointer)
      return move
    }
  }
}

/// The entries of a store in their binary form, in order.
private final class EntryRecorder: Sendable {
  private let entries = Mutex([[UInt8]]())

  /// Returns the entries since the last call.
  func takeAll() -> [[UInt8]] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }

  func append(_ more: [LogEntry]) { entries.withLock { $0 += more.map(\.binary) } }
}
