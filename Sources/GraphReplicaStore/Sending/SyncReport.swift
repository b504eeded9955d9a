// Tests: SynchronizerTests.swift, SyncRunTests.swift

/// The result of a run of the synchronizer.
public struct SyncReport: Sendable, Equatable {
  /// The number of edits that the server has committed.
  public var sent = 0
  /// The number of edits that were parked.
  public var parked = 0
  /// The number of conflicts that a merge policy has resolved.
  public var conflicts = 0
  /// The number of commits that were received.
  public var received = 0
  /// Whether the copy of the server's objects was loaded as a whole.
  public var isReloaded = false

  package init() {}
}
