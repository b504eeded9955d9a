// Tests: DamageTests.swift
import GraphModel

/// The damaged objects and commits that one reader has found. They are added when a read refuses them; a caller that
/// can do without them recognizes the refusal and continues.
struct DamageTracker {
  private var objects = Set<ObjectID>()
  private var commits = Set<Revision>()
  private var latest: Refusal?

  /// The found items in ascending order.
  var notice: DamageNotice { DamageNotice(objects: objects.sorted(), commits: commits.sorted()) }

  /// Adds an object, and returns its refusal.
  mutating func add(_ id: ObjectID, _ refusal: Refusal) -> Refusal {
    objects.insert(id)
    latest = refusal
    return refusal
  }

  /// Adds a commit, and returns its refusal.
  mutating func add(commit revision: Revision, _ refusal: Refusal) -> Refusal {
    commits.insert(revision)
    latest = refusal
    return refusal
  }

  /// Whether the error is the refusal of the item that was found last, and the notice has space for it.
  func canOmit(_ error: any Error) -> Bool {
    guard let latest, error as? Refusal == latest else { return false }
    return objects.count + commits.count <= DamageNotice.maximumItems
  }
}
