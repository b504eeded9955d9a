import GraphHub
import GraphModel
import GraphWire

/// Trials: a read that may be short has a moment on the thread that is kept for such reads. Nothing of it leaves before it
/// is whole, so that one which is not short can begin anew on another thread, as if it had never run.
extension StoreReads {
  /// What a read has for itself while another waits for the thread. A search that is led by an index takes far less, and
  /// the one that waits is answered within a tenth of a second.
  static let trialTime = Duration.milliseconds(50)
  /// An answer with more bytes is not held back until it is whole. An object, which has 15 MiB at most, is.
  static let trialBytes = 16 << 20

  private struct TooLarge: Error {}

  /// - Returns: how the read has ended; where it is to run once more, nothing has left.
  func `try`(
    _ request: ReadRequest, _ number: UInt64, into stream: ReadStream, _ trial: FairReaders.Trial
  ) -> FairReaders.End {
    switch request {
    case .seen(let request, let lens):
      var reads = self
      reads.lens = lens
      return reads.try(request, number, into: stream, trial)
    case .objects(let fetch): return `try`(fetch, number, into: stream, trial)
    default:
      // It takes no longer than a trial.
      run(request, number, into: stream)
      return .answered
    }
  }

  private func `try`(
    _ fetch: FetchRequest, _ number: UInt64, into stream: ReadStream, _ trial: FairReaders.Trial
  ) -> FairReaders.End {
    guard stream.isWanted else { return .answered }
    let end = ContinuousClock.now + (trial.isGuest ? .zero : Self.trialTime)
    var time = SearchTime(searchLimit, from: .now)
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
        if bytes > Self.trialBytes { throw TooLarge() }
      }
      let last = encoder.finish(found)
      for frame in frames { try stream.put(frame) }
      try stream.finish(last, at: found.at)
    } catch is TooLarge {
      return .tooLarge
    } catch is ReadStream.Cancelled {
    } catch  where givesWay && stream.isWanted {
      // What the store says of a statement that was interrupted is nobody's concern.
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
  /// Whether it can be ended in the middle and begun anew, or takes no longer than a trial.
  var canBeTried: Bool {
    switch self {
    case .objects, .undoState, .revision: true
    case .seen(let request, _): request.canBeTried
    case .graph, .log, .why, .changes: false
    }
  }
}
