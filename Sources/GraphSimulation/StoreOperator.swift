import GraphModel

/// Who runs the simulated daemon's machine: makes a backup while everybody works, and some time later puts the store back to
/// it. Has a generator of its own, so that what clients do in runs without an operator is as it ever was.
struct StoreOperator {
  /// A backup, and what was known of the store when it was made.
  struct Backup {
    let file: String
    let step: Int
    let recorder: GraphRecorder
  }

  private var random: SeededRandom
  private(set) var backup: Backup?
  /// The step of the next backup, or of the next restore.
  private(set) var dueAt = 0

  /// One run of four has an operator. With a bug that does not need one nobody restores: it is to be caught by the promise
  /// that it breaks.
  static func isThere(seed: UInt64, bug: PlantedBug?) -> Bool {
    seed % 8 >= 6 && bug?.isOfRestores != false
  }

  init(seed: UInt64) {
    random = SeededRandom(seed: seed ^ 0xBAC0)
    dueAt = 20 + random.below(150)
  }

  mutating func keep(_ backup: Backup) {
    self.backup = backup
    // Soon, so that few commits are taken back and others overtake them, or late.
    dueAt = backup.step + (random.chance(60) ? 2 + random.below(20) : 60 + random.below(250))
  }

  /// The store is as the backup has it.
  /// - Parameter behind: the clients that were shown more than the backup has.
  /// - Returns: which of them comes back late, and how many commits of others it waits for beyond the last that it knows.
  mutating func restored(at step: Int, behind: [Int]) -> (client: Int, commits: Int)? {
    let late = random.chance(85) ? random.pick(behind) : nil
    if random.chance(30) {
      // The same backup serves once more.
      dueAt = step + 15 + random.below(150)
    } else {
      backup = nil
      dueAt = step + 40 + random.below(150)
    }
    return late.map { ($0, random.below(4)) }
  }
}

extension PlantedBug {
  /// Whether only runs in which the store is put back to a backup can show it.
  var isOfRestores: Bool { self == .forgottenFingerprint || self == .unnoticedRestore }
}
