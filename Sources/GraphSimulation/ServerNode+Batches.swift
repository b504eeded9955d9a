import GraphHub
import GraphModel
import GraphStore
import GraphStoreFaults

/// The seed's plan for the batch of a write, and the progress that the batch reported.
///
/// `@unchecked Sendable`: one thread runs a simulation, including the store's writer.
final class BatchFaultPlan: @unchecked Sendable {
  enum BatchEnding {
    case done
    /// The connection is lost after this number of slices.
    case cancelled(slices: Int)
    /// The power fails after this number of slices.
    case powerCut(slices: Int)
  }

  struct PowerCut: Error {}

  private let end: BatchEnding
  private let directory: String
  /// The batches that were cancelled.
  private let cancelled: Set<StoreRequestID>
  private var slices = 0
  private(set) var reports = [(ticket: StoreRequestID, progress: BatchProgress)]()
  private(set) var wasGivenUp = false
  private(set) var wasCut = false

  init(_ end: BatchEnding, directory: String, cancelled: Set<StoreRequestID>) {
    (self.end, self.directory, self.cancelled) = (end, directory, cancelled)
  }

  /// Called after each slice.
  func report(_ progress: BatchProgress, _ ticket: StoreRequestID) throws {
    switch end {
    case .powerCut(let last) where slices >= last:
      wasCut = true
      CrashableFiles.cutPower(directory)
      throw PowerCut()
    case .cancelled(let last) where slices >= last: try cancel()
    default: if cancelled.contains(ticket) { try cancel() }
    }
    slices += 1
    reports.append((ticket, progress))
  }

  private func cancel() throws {
    wasGivenUp = true
    throw Refusal(.cancelled, "the batch was cancelled")
  }
}

/// Rows kept for a batch, in memory.
struct MemoryRowSource: BatchRowSource {
  var rows = [[Value]]()

  var count: Int { rows.count }

  func forEachChunk(_ body: ([[Value]]) throws -> Void) throws {
    // Chunks of three rows, as small as the slices.
    var start = 0
    while start < rows.count {
      try body(Array(rows[start..<min(start + 3, rows.count)]))
      start += 3
    }
  }
}

extension ServerNode {
  mutating func keepRows(_ rows: [[Value]], _ ticket: StoreRequestID, _ request: UInt64) {
    var kept = keptRows[ticket, default: MemoryRowSource()]
    kept.rows += rows
    keptRows[ticket] = kept
    inbox.append(.rowsKept(ticket, request: request, .success(kept.count)))
  }

  /// A batch with its rows and a progress handler.
  mutating func withFaultPlan(_ request: WriteRequest, _ ticket: StoreRequestID, _ faultPlan: BatchFaultPlan)
    -> WriteRequest
  {
    guard case .batch(var run) = request else { return request }
    run.rows = keptRows.removeValue(forKey: ticket)
    run.progress = { try faultPlan.report($0, ticket) }
    return .batch(run)
  }
}
