// Tests: UnfinishedInputsTests.swift

/// The messages and bodies of requests of which only a part has arrived, and the choice of those that end when all
/// parts together are too large.
///
/// A client that announces a large message and never completes it occupies server memory, so the bytes of all parts
/// are bounded. An entry is removed when its input is complete, is refused, or its connection ends.
///
/// The inputs of the sender with the most bytes end first, so that one user can't use the memory of all. The oldest
/// input of a sender ends first, so that a client that sends at full speed is ended last. Small parts are exempt,
/// because every client has one now and then.
package struct UnfinishedInputs<ID: Hashable & Comparable, Sender: Hashable> {
  private struct Input {
    let sender: Sender
    let bytes: Int
    /// The time at which its first byte arrived, or at which the server last resumed reading it.
    var since: Int64
  }

  private let limit: Int
  private let guaranteed: Int
  private var inputs = [ID: Input]()
  private var bytes = 0

  /// - Parameters:
  ///   - limit: the maximum number of bytes of all inputs.
  ///   - guaranteed: the size in bytes up to which an input never ends because of the limit.
  package init(limit: Int, guaranteed: Int) {
    precondition(limit > 0 && guaranteed >= 0, "a server accepts inputs")
    (self.limit, self.guaranteed) = (limit, guaranteed)
  }

  /// Records how much of an input has arrived.
  /// - Parameters:
  ///   - count: the size of all its parts, in bytes; 0 if there is no incomplete input.
  ///   - sender: the sender with which it is counted from now on.
  ///   - now: the time of its first part, if this is one, in a unit of the caller.
  package mutating func receive(_ count: Int, of id: ID, from sender: Sender, at now: Int64) {
    let since = inputs[id].map(\.since) ?? now
    discard(id)
    if count > 0 {
      inputs[id] = Input(sender: sender, bytes: count, since: since)
      bytes += count
    }
  }

  /// Removes an input that is complete or whose connection ends.
  package mutating func discard(_ id: ID) {
    // Most inputs arrive in one piece.
    if inputs.isEmpty { return }
    if let input = inputs.removeValue(forKey: id) { bytes -= input.bytes }
    assert(bytes >= 0 && (bytes == 0) == inputs.isEmpty, "the total counts each input once")
  }

  /// Restarts the time of an input that its client could not complete while the server did not read it.
  package mutating func restart(_ id: ID, at now: Int64) {
    if let index = inputs.index(forKey: id) { inputs.values[index].since = now }
  }

  /// The input to end next; nil if all of them have space.
  package var inputToEnd: ID? {
    guard bytes > limit else { return nil }
    let large = inputs.filter { $0.value.bytes > guaranteed }
    let totals = large.values.reduce(into: [Sender: Int]()) { $0[$1.sender, default: 0] += $1.bytes }
    return large.map { (id: $0, since: $1.since, total: totals[$1.sender, default: 0]) }
      .min { ($1.total, $0.since, $0.id) < ($0.total, $1.since, $1.id) }?.id
  }

  /// The received bytes of an input, and the time since which it is incomplete; nil if it is not.
  package func part(of id: ID) -> (bytes: Int, since: Int64)? { inputs[id].map { ($0.bytes, $0.since) } }

  /// The incomplete inputs, in no order.
  package var ids: some Collection<ID> { inputs.keys }
}
