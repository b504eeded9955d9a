import GraphModel

/// Commits of one note each that fill a daemon's commit log, through one connection with several commits in flight.
///
/// The load stops before the log begins its second segment, because the daemon then syncs SQLite and releases the first
/// one (`heldLogBytes` are two segments): the log has an entry for each commit of the load.
struct LogLoad {
  private static let window = 16
  /// The commits between two looks at the log.
  private static let step = 16 * window

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

  /// Commits until the log begins its second segment.
  mutating func fillSegment() throws {
    while log.begunSegments.count == 1 { try commitStep() }
  }

  /// Commits until only a twentieth of the first segment is left, or until `isEnough`, which is called between two
  /// steps; no commit is in flight then.
  /// - Parameter perSegment: the commits that fill the segment.
  mutating func run(perSegment: Int, isEnough: () throws -> Bool) throws {
    while commits < perSegment / 20 * 19, try !isEnough() {
      try commitStep()
      guard log.begunSegments == [firstSegment] else {
        throw BenchmarkError(description: "the log in \(log.path) has begun a further segment: \(log.begunSegments)")
      }
    }
  }

  private mutating func commitStep() throws {
    for _ in 0..<(Self.step / Self.window) { try commitTogether() }
  }

  private mutating func commitTogether() throws {
    let frames = (0..<Self.window).flatMap { _ in client.commitFrame(note) }
    try client.socket.write(frames)
    for _ in 0..<Self.window { try client.skip(to: .committed) }
    commits += Self.window
  }
}
