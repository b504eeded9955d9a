import GraphModel

/// Commits of one note each that fill a daemon's commit log, through one connection with several commits in flight.
///
/// The load stops before the log releases its first segment, so that the log has an entry for each commit of the load.
struct LogLoad {
  private static let window = 16
  /// The commits between two looks at the log.
  private static let step = 16 * window
  /// The segments that the log fills before the daemon syncs SQLite and releases them (`heldLogBytes`).
  private static let segments = 2

  private let client: WireClient
  private let note: [Change]
  private let log: CommitLogFolder
  private let firstSegment: UInt64
  private(set) var commits = 0

  /// - Parameter data: the data directory of a daemon that has just started.
  init(_ daemon: Daemon, data: String) throws {
    client = try WireClient(daemon.unix)
    note = [try client.newNote(on: try client.insertBoard(named: "Load \(now())"))]
    log = CommitLogFolder(data: data)
    guard let first = log.begunSegments.first else {
      throw BenchmarkError(description: "the log in \(log.path) has no segment")
    }
    firstSegment = first
  }

  /// Commits until only a twentieth of a segment is left before the log releases its first one, or until `isEnough`,
  /// which is called between two steps; no commit is in flight then.
  mutating func run(isEnough: () throws -> Bool) throws {
    // The commits that fill a segment; known when the second one begins.
    var perSegment: Int?
    while try !isEnough() {
      for _ in 0..<(Self.step / Self.window) { try commitTogether() }
      let begun = log.begunSegments
      guard begun.first == firstSegment else {
        throw BenchmarkError(description: "the log in \(log.path) has released a segment that the power cut needs")
      }
      if begun.count > 1, perSegment == nil { perSegment = commits }
      if let perSegment, commits >= (20 * Self.segments - 1) * perSegment / 20 { return }
    }
  }

  private mutating func commitTogether() throws {
    let frames = (0..<Self.window).flatMap { _ in client.commitFrame(note) }
    try client.socket.write(frames)
    for _ in 0..<Self.window { try client.skip(to: .committed) }
    commits += Self.window
  }
}
