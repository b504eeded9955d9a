import GraphHub
import GraphModel
import GraphWire

/// Short reads: a read may run for a short time on the thread that is reserved for such reads. Its answer is sent
/// only when it is complete, so that a read that turns out to be long can restart on another thread.
extension StoreReadRunner {
  /// The time that a read has while another waits for the thread. An indexed search takes far less, and the waiting
  /// read is answered within a tenth of a second.
  static let trialTime = Duration.milliseconds(50)
  /// Larger answers, in bytes, are not buffered. Any single object fits: its limit is 15 MiB.
  static let trialBytes = 16 << 20

  private struct ResultTooLarge: Error {}

  /// - Returns: how the read has ended. If it must run again, it has sent nothing.
  func `try`(
    _ request: ReadRequest, _ number: UInt64, into stream: ReadStream, _ trial: ReadExecutor.ShortRead
  ) -> ReadExecutor.JobResult {
    switch request {
    case .seen(let request, let lens):
      var reads = self
      reads.lens = lens
      return reads.try(request, number, into: stream, trial)
    case .objects(let fetch): return `try`(fetch, number, into: stream, trial)
    default:
      // These reads are as short as the time limit.
      run(request, number, into: stream)
      return .answered
    }
  }

  private func `try`(
    _ fetch: FetchRequest, _ number: UInt64, into stream: ReadStream, _ trial: ReadExecutor.ShortRead
  ) -> ReadExecutor.JobResult {
    guard stream.isWanted else { return .answered }
    let end = ContinuousClock.now + (trial.isGuest ? .zero : Self.trialTime)
    var time = SearchTimeLimit(searchLimit, from: .now)
    var givesWay = false
    func goesOn() -> Bool {
      let now = ContinuousClock.now
      if now >= end, trial.mustGiveWay() { givesWay = true }
      return !givesWay && stream.isWanted && time.goesOn(at: now)
    }
    do {
      var columns = [RowColumn]()
      if case .rows(let rows) = fetch.result { columns = rows.description(in: store.model) }
      var encoder = ChunkEncoder(request: number, columns: columns)
      var (frames, bytes) = ([[UInt8]](), 0)
      let found = try store.answer(fetch, while: goesOn) { part in
        time.found(at: .now)
        guard let part = seen(part), let frame = try encoder.append(part) else { return }
        bytes += frame.count
        frames.append(frame)
        if bytes > Self.trialBytes { throw ResultTooLarge() }
      }
      let last = encoder.finish(found)
      for frame in frames { try stream.put(frame) }
      try stream.finish(last, at: found.at)
    } catch is ResultTooLarge {
      return .tooLarge
    } catch is ReadStream.Cancelled {
    } catch  where givesWay && stream.isWanted {
      // The store's error about an interrupted statement is not a failure of the read.
      return .gaveWay
    } catch  where time.isOver {
      stream.fail(time.refusal)
    } catch {
      stream.fail(Self.refusal(error))
    }
    return .answered
  }
}

extension ReadRequest {
  /// Whether the read can be interrupted and restarted, or is short in any case.
  var canBeTried: Bool {
    switch self {
    case .objects, .undoState, .revision: true
    case .seen(let request, _): request.canBeTried
    case .graph, .log, .why, .changes: false
    }
  }
}
