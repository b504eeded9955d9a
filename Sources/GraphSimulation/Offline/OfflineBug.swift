/// A bug that is planted in a run with offline replicas to test its checks.
public enum OfflineBug: String, Sendable, CaseIterable {
  /// A copy of a replica keeps its id, and so uses sequence numbers again.
  case reusedSequence
  /// The mirror has the token of commits before their data.
  case tokenAheadOfData
  /// An intent that the server refuses is removed.
  case droppedParked
  /// Intents leave before the file has them as sent.
  case sentBeforeMark
  /// Intents keep the bases of states that a restored server has lost.
  case keptLostBases
}
