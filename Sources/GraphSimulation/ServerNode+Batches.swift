import GraphHub
import GraphModel
import GraphStore

/// What the seed has in store for the batch of a write, and what the batch said on its way.
///
/// `@unchecked Sendable`: one thread runs a simulation, and the store's writer is on it.
final class BatchFate: @unchecked Sendable {
  enum End {
    case done
    /// The connection is lost after so many slices.
    case givenUp(slices: Int)
    /// The power is lost after so many slices.
    case powerCut(slices: Int)
  }

  struct PowerCut: Error {}

  private let end: End
  private let directory: String
  /// Batches that nobody waits for any more.
  private let cancelled: Set<Ticket>
  private var slices = 0
  private(set) var told = [(ticket: Ticket, progress: BatchProgress)]()
  private(set) var wasGivenUp = false
  private(set) var wasCut = false

  init(_ end: End, directory: String, cancelled: Set<Ticket>) {
    (self.end, self.directory, self.cancelled) = (end, directory, cancelled)
  }

  /// After each slice.
  func progressed(_ progress: BatchProgress, _ ticket: Ticket) throws {
    switch end {
    case .powerCut(let last) where slices >= last:
      wasCut = true
      CrashableFiles.cutPower(directory)
      throw PowerCut()
    case .givenUp(let last) where slices >= last: try giveUp()
    default: if cancelled.contains(ticket) { try giveUp() }
    }
    slices += 1
    told.append((ticket, progress))
  }

  private func giveUp() throws {
    wasGivenUp = true
    throw Refusal(.unavailable, "the batch was given up: who asked for it is gone")
  }
}

/// Rows that are kept for a batch: here memory is as good as a file.
struct KeptRows: BatchRowSource {
  var rows = [[Value]]()

  var count: Int { rows.count }

  func forEachChunk(_ body: ([[Value]]) throws -> Void) throws {
    // A chunk never ends where a slice does.
    var start = 0
    while start < rows.count {
      try body(Array(rows[start..<min(start + 3, rows.count)]))
      start += 3
    }
  }
}

extension ServerNode {
  mutating func keep(_ rows: [[Value]], _ ticket: Ticket, _ request: UInt64) {
    keptRows[ticket, default: KeptRows()].rows += rows
    let count = keptRows[ticket]?.count ?? 0
    inbox.append(.rowsKept(ticket, request: request, .success(count)))
  }

  /// A batch with its rows, and with somebody who hears how far it is.
  mutating func supervised(_ request: WriteRequest, _ ticket: Ticket, _ fate: BatchFate) -> WriteRequest {
    guard case .batch(var run) = request else { return request }
    run.rows = keptRows.removeValue(forKey: ticket)
    run.progress = { try fate.progressed($0, ticket) }
    return .batch(run)
  }
}
