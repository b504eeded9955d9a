import GraphModel

/// The operator of the simulated server: makes a backup during operation, and later restores the store from it. It
/// has its own random generator, so that runs without an operator do not depend on it.
struct StoreOperator {
  /// A backup, with the recorded history at that time.
  struct Backup {
    let file: String
    let step: Int
    let recorder: GraphRecorder
  }

  private var random: SeededRandom
  private(set) var backup: Backup?
  /// The step of the next backup or restore.
  private(set) var dueAt = 0

  /// One run in four has an operator. With an unrelated planted bug there is none, so that the intended check detects
  /// the bug.
  static func exists(seed: UInt64, bug: PlantedBug?) -> Bool {
    seed % 8 >= 6 && bug?.isOfRestores != false
  }

  init(seed: UInt64) {
    random = SeededRandom(seed: seed ^ 0xBAC0)
    dueAt = 20 + random.below(150)
  }

  mutating func keep(_ backup: Backup) {
    self.backup = backup
    // An early restore removes few commits, so that new commits soon exceed the removed revisions.
    dueAt = backup.step + (random.chance(60) ? 2 + random.below(20) : 60 + random.below(250))
  }

  /// Records a restore.
  /// - Parameter behind: the clients that have seen more than the backup contains.
  /// - Returns: the client that returns late, with the number of commits past its revision that it waits for.
  mutating func restored(at step: Int, behind: [Int]) -> (client: Int, commits: Int)? {
    let late = random.chance(85) ? random.pick(behind) : nil
    if random.chance(30) {
      // The same backup is restored once more.
      dueAt = step + 15 + random.below(150)
    } else {
      backup = nil
      dueAt = step + 40 + random.below(150)
    }
    return late.map { ($0, random.below(4)) }
  }
}

extension PlantedBug {
  /// Whether only runs with a restore from a backup can reveal the bug.
  var isOfRestores: Bool { self == .forgottenFingerprint || self == .unnoticedRestore }
}
