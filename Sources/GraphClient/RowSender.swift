import GraphModel
import GraphReplica
import GraphWire

/// Sends rows in parts, no faster than the server keeps them.
struct RowSender {
  let id: TransactionID
  private(set) var count = 0
  private let client: GraphClient
  private var rows = [[Value]]()
  private var size = 0
  private var unanswered = [ReplyStream]()
  private let upload: RowUpload

  private static let maximumRows = 1_000
  private static let maximumBytes = 256 << 10
  private static let window = 2

  init(_ client: GraphClient, id: TransactionID) {
    self.client = client
    self.id = id
    upload = RowUpload(of: client)
  }

  /// Adds a row, and sends a part when it is full.
  /// - Returns: the number of rows that the server keeps, if it has just confirmed it.
  mutating func append(_ row: [Value]) async throws -> Int? {
    rows.append(row)
    count += 1
    size += row.reduce(32) { $0 + $1.approximateSize }
    guard rows.count >= Self.maximumRows || size >= Self.maximumBytes else { return nil }
    return try await sendPart()
  }

  private mutating func sendPart() async throws -> Int? {
    assert(!rows.isEmpty, "a part has rows")
    let kept = unanswered.count < Self.window ? nil : try await answer()
    let reply = client.openReply(to: .batchRows(BatchRows(id: id, rows: rows)))
    unanswered.append(reply)
    upload.newest = reply.request
    (rows, size) = ([], 0)
    return kept
  }

  private mutating func answer() async throws -> Int? {
    assert(!unanswered.isEmpty && unanswered.count <= Self.window, "rows are answered that were sent")
    let first = unanswered.removeFirst()
    return try await first.next { if case .progress(let progress) = $0 { progress.done } else { nil } }
  }

  /// Returns when the server keeps all rows.
  mutating func finish() async throws {
    if !rows.isEmpty { _ = try await sendPart() }
    while !unanswered.isEmpty { _ = try await answer() }
  }
}

/// The rows of a batch at the server, until the batch is requested. Its release without a batch discards them there.
private final class RowUpload {
  /// The newest request with rows; nil before the first.
  var newest: RequestID?
  private let client: GraphClient

  init(of client: GraphClient) { self.client = client }

  // The replica knows whether the batch has been requested, and the server whether these are still its newest rows.
  deinit {
    if let newest { client.mailbox.post { $0.handle(.cancel(newest)) } }
  }
}
