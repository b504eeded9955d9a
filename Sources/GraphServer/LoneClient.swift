import GraphHub
import GraphModel

/// Knows when one client alone is committing, a small commit at a time. Then the hop to the thread and back is most of
/// what a commit costs beyond the disk, and nobody else waits for the loop meanwhile.
struct LoneClient {
  private var replica = UniqueID.zero
  private var streak = 0
  private var pause = 0

  /// So many commits of one client in a row, each alone in its turn, make it a lone one.
  private static let neededStreak = 8
  /// A larger transaction is planned while the loop goes on.
  private static let maximumChanges = 8
  /// Text and data of a few windows; no more is planned and written while the loop waits.
  private static let maximumSize = 64 << 10
  /// After one that took this long the next ones go to the thread, more of them the longer it took: a slow disk, a
  /// checkpoint, and another program's lock hold the loop up for a bounded share of the time.
  private static let slowNanoseconds: UInt64 = 5_000_000
  private static let pauseAfterSlow: UInt64 = 8

  mutating func allows(_ turn: [(Ticket, WriteRequest)]) -> Bool {
    guard turn.count == 1, let request = turn.first?.1, request.id.replica == replica else {
      replica = turn.last?.1.id.replica ?? .zero
      streak = 0
      return false
    }
    streak += 1
    if pause > 0 { pause -= 1 }
    guard streak >= Self.neededStreak, pause == 0, case .transaction(let transaction, _) = request else { return false }
    // A delete may take a hundred thousand objects along.
    return transaction.changes.count <= Self.maximumChanges && !transaction.changes.contains { $0.kind == .delete }
      && transaction.approximateSize <= Self.maximumSize
  }

  mutating func took(nanoseconds: UInt64) {
    pause = Int(nanoseconds / Self.slowNanoseconds * Self.pauseAfterSlow)
  }
}
