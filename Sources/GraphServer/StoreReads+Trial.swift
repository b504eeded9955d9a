import GraphHub
import GraphModel
import GraphWire

/// Trials: a read that may be short has a moment on the thread that is kept for such reads. Nothing of it leaves before it
/// is whole, so that one which is not short can begin anew on another thread, as if it had never run.
extension StoreReads {
  /// A search that is led by an index takes far less; one that has no end holds the next trial up for no longer.
  static let trialTime = Duration.milliseconds(250)
  /// An answer with more than so many bytes is not short.
  static let trialBytes = 1 << 20

  private struct TookTooLong: Error {}

  /// - Returns: false when the trial was over before the read was; then nothing has left.
  func `try`(_ request: ReadRequest, _ number: UInt64, into stream: ReadStream) -> Bool {
    guard stream.isWanted, case .objects(let fetch) = request else { return true }
    let end = ContinuousClock.now + Self.trialTime
    var isOver = false
    func goesOn() -> Bool {
      if ContinuousClock.now > end { isOver = true }
      return !isOver
    }
    do {
      var columns = [RowColumn]()
      if case .rows(let rows) = fetch.result { columns = rows.description(in: store.model) }
      var encoder = ChunkEncoder(request: number, columns: columns)
      var (frames, bytes) = ([[UInt8]](), 0)
      let found = try store.answer(fetch, while: { stream.isWanted && goesOn() }) { part in
        guard let frame = try encoder.append(part) else { return }
        bytes += frame.count
        frames.append(frame)
        if bytes > Self.trialBytes { throw TookTooLong() }
      }
      let last = encoder.finish(found)
      for frame in frames { try stream.put(frame) }
      try stream.finish(last, at: found.at)
    } catch is TookTooLong {
      return false
    } catch is ReadStream.Cancelled {
    } catch  where isOver && stream.isWanted {
      // What the store says of a statement that was interrupted is nobody's concern.
      return false
    } catch {
      stream.fail(Self.refusal(error))
    }
    return true
  }
}

extension ReadRequest {
  /// Whether it can be ended in the middle, and begun anew.
  var canBeTried: Bool { if case .objects = self { true } else { false } }
}
