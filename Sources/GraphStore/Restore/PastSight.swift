// Tests: WriteAccessTests.swift
import GraphModel

/// Decides which past states the principal of a restore may see: by the scope of an object at that time and the grants
/// of now, as in reads of the past. A restore may write only values that its principal could read.
final class PastSight {
  private let judge: AccessJudge
  private let history: HistoryReader
  /// The revision of the state that is restored.
  private let revision: Revision
  private let past: ObjectTimeTravelReader
  private var known = [ObjectID: Bool]()

  init(_ judge: AccessJudge, _ history: HistoryReader, at revision: Revision) {
    (self.judge, self.history, self.revision) = (judge, history, revision)
    past = Self.reader(history)
  }

  /// A damaged object is like one that the principal could not see.
  private static func reader(_ history: HistoryReader) -> ObjectTimeTravelReader {
    ObjectTimeTravelReader(history: history, omitsDamage: true)
  }

  func sees(_ image: ObjectImage) -> Bool { judge.sees(image) }

  private func saw(_ id: ObjectID, at revision: Revision, _ past: ObjectTimeTravelReader) throws -> Bool {
    guard let found = try past.readableImage(of: id, at: revision), let image = found else { return false }
    return judge.sees(image)
  }

  /// Whether the principal may see the object as it was at the revision.
  func saw(_ id: ObjectID) throws -> Bool {
    if let known = known[id] { return known }
    let seen = try saw(id, at: revision, past)
    if known.count >= 50_000 { known.removeAll(keepingCapacity: true) }
    known[id] = seen
    return seen
  }

  /// Whether the principal may see a deleted object as it was before its delete.
  func sawLast(_ id: ObjectID, beforeDelete deletion: Revision) throws -> Bool {
    // A delete whose values were pruned shows nothing.
    guard try deletion > history.oldest() else { return false }
    return try saw(id, at: deletion - 1, Self.reader(history))
  }

  /// The origin of a present value, as far as the principal may know it.
  func origin(of property: PropertyNumber, of id: ObjectID) -> ValueOrigin? {
    guard let visibility = Visibility(judge.rights, model: judge.model) else { return nil }
    let origins = ValueOrigins(history: history, visible: VisibleHistory(visibility, history))
    return try? origins.origin(of: property, of: id)
  }
}
