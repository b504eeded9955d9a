import GraphHub
import GraphModel

/// Detects a single client that commits small transactions one at a time.
///
/// For such a client, the hop to the writer's thread and back is most of a commit's cost besides the disk, and no
/// other client waits for the loop meanwhile.
struct SingleClientFastPath {
  private var replica = UniqueID.zero
  private var streak = 0
  private var pause = 0

  /// The number of consecutive commits, each alone in its turn, after which a client counts as the only one.
  private static let neededStreak = 8
  /// Larger transactions are planned on the writer's thread, so that the loop continues.
  private static let maximumChanges = 8
  /// The maximum size in bytes, a few windows' worth of text and data: the loop waits while it is planned and
  /// written.
  private static let maximumSize = 64 << 10
  /// The duration from which a commit on the loop counts as slow.
  ///
  /// After a slow commit the next ones run on the writer's thread, more of them the longer it took: a slow disk, a
  /// checkpoint or another program's lock blocks the loop for a bounded share of the time.
  private static let slowNanoseconds: UInt64 = 5_000_000
  private static let pauseAfterSlow: UInt64 = 8

  mutating func allows(_ turn: [(StoreRequestID, WriteRequest)]) -> Bool {
    guard let (_, request) = turn.last else {
      assertionFailure("a turn hands over at least one commit")
      return false
    }
    guard turn.count == 1, request.id.replica == replica else {
      replica = request.id.replica
      streak = 0
      return false
    }
    streak += 1
    if pause > 0 { pause -= 1 }
    guard streak >= Self.neededStreak, pause == 0, case .transaction(let transaction, _, _) = request else {
      return false
    }
    // A delete may cascade to a hundred thousand objects.
    return transaction.changes.count <= Self.maximumChanges && !transaction.changes.contains { $0.kind == .delete }
      && transaction.approximateSize <= Self.maximumSize
  }

  mutating func record(nanoseconds: UInt64) {
    pause = Int(nanoseconds / Self.slowNanoseconds * Self.pauseAfterSlow)
  }
}
