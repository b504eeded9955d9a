import GraphHub
import GraphModel
import GraphWire

/// Short reads: a read may run for a short time on the thread that is reserved for such reads. Its answer is sent
/// only when it is complete, so that a read that turns out to be long can restart on another thread.
extension StoreReadRunner {
  /// The time that a read has while another waits for the thread. An indexed search takes far less, and the waiting
  /// read is answered within a tenth of a second.
  static let shortReadTime = Duration.milliseconds(50)
  /// Larger answers, in bytes, are not buffered. Any single object fits: its limit is 15 MiB.
  static let shortReadBytes = 16 << 20

  private struct ResultTooLarge: Error {}

  /// - Returns: how the read has ended. If it must run again, it has sent nothing.
  func runShort(
    _ request: ReadRequest, _ number: UInt64, into stream: ReadStream, _ shortRead: ReadExecutor.ShortRead
  ) -> ReadExecutor.JobResult {
    switch request {
    case .translated(let request, let lens):
      var reads = self
      reads.lens = lens
      return reads.runShort(request, number, into: stream, shortRead)
    case .reduced(let request, let visibility):
      var reads = self
      reads.visibility = visibility
      return reads.runShort(request, number, into: stream, shortRead)
    case .objects(let fetch): return runShort(fetch, number, into: stream, shortRead)
    default:
      // These reads are as short as the time limit.
      run(request, number, into: stream)
      return .answered
    }
  }

  private func runShort(
    _ fetch: FetchRequest, _ number: UInt64, into stream: ReadStream, _ shortRead: ReadExecutor.ShortRead
  ) -> ReadExecutor.JobResult {
    guard stream.isActive else { return .answered }
    let end = ContinuousClock.now + (shortRead.isBorrowing ? .zero : Self.shortReadTime)
    var time = SearchTimeLimit(searchLimit, total: budget?.time, from: .now)
    var rows = FoundRows(budget)
    var yields = false
    func mayContinue() -> Bool {
      let now = ContinuousClock.now
      if now >= end, shortRead.mustYield() { yields = true }
      return !yields && stream.isActive && time.mayContinue(at: now)
    }
    do {
      var columns = [RowColumn]()
      if case .rows(let rows) = fetch.result { columns = rows.description(in: store.model) }
      var encoder = ChunkEncoder(request: number, columns: columns)
      var (frames, bytes) = ([[UInt8]](), 0)
      var found = try store.answer(fetch, seenBy: visibility, while: mayContinue) { part, encoding in
        time.restart(at: .now)
        try rows.add(part)
        if let frame = try append(part, encoding, to: &encoder) {
          bytes += frame.count
          frames.append(frame)
        }
        if bytes > Self.shortReadBytes { throw ResultTooLarge() }
      }
      found.damage = translated(found.damage)
      let last = encoder.finish(found)
      for frame in frames { try stream.add(frame) }
      try stream.finish(last, at: found.at)
    } catch is ResultTooLarge {
      return .tooLarge
    } catch is ReadStream.Cancelled {
    } catch  where yields && stream.isActive {
      // The store's error about an interrupted statement is not a failure of the read.
      return .yielded
    } catch  where time.isExceeded {
      stream.fail(time.refusal)
    } catch {
      stream.fail(StoreFailure.refusal(of: error))
    }
    return .answered
  }
}

extension ReadRequest {
  /// Whether the read can be interrupted and restarted, or is always short.
  var canRunShort: Bool {
    switch self {
    case .objects, .message(.undoState, _), .message(.revisionAt, _): true
    case .translated(let request, _), .reduced(let request, _): request.canRunShort
    case .message: false
    }
  }
}
