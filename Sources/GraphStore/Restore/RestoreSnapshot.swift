// Tests: RestoreTests.swift, RandomHistoryTests.swift
import GraphModel

/// The graph at a revision, as far as a restore needs it.
///
/// The present, overlaid with the earlier states that `GraphRollback` or `ObjectTimeTravelReader` found.
final class RestoreSnapshot {
  let history: HistoryReader
  /// Decides which objects of this graph the principal could see; nil for all.
  var sight: PastSight?
  /// The objects that differ from the present; nil for one that did not exist.
  private var touched: [ObjectID: ObjectImage?]
  /// The references among the objects in `touched`, by target.
  private lazy var referrers = findReferrers()

  private struct Reference: Hashable {
    let target: ObjectID
    let property: PropertyNumber
  }

  private var objects: ObjectReader { history.objects }
  private var model: Model { history.objects.model }

  private init(history: HistoryReader, touched: [ObjectID: ObjectImage?]) {
    self.history = history
    self.touched = touched
  }

  /// Reads the complete graph, with all commits since the revision.
  /// - Throws: `Refusal(.limit)` if they have more than `maximumChanges` changes.
  convenience init(_ history: HistoryReader, at revision: Revision, maximumChanges: Int) throws {
    let touched = try GraphRollback.images(at: revision, history) { walk, _ in
      guard walk.changes <= maximumChanges else {
        throw Refusal(
          .limit,
          "more than \(maximumChanges) changes were made since revision \(revision): restore objects one by one "
            + "without their contents, or to a later revision")
      }
    }
    self.init(history: history, touched: touched)
  }

  /// Reads the objects that one commit changed, as they were just before it, and nothing else.
  convenience init(_ history: HistoryReader, beforeDelete revision: Revision, maximumChanges: Int) throws {
    if let parts = try history.row(of: revision)?.parts, parts.changes > maximumChanges {
      throw Refusal(.limit, "revision \(revision) changed more than \(maximumChanges) objects")
    }
    guard let commit = try history.commit(revision) else {
      // A delete's values exist only in its commit.
      throw try history.prunedCommit(revision)
    }
    let past = ObjectTimeTravelReader(history: history)
    var touched = [ObjectID: ObjectImage?]()
    let ids = commit.changes.map(\.id).filter { history.objects.model.entity($0.entity) != nil }
    for start in stride(from: 0, to: ids.count, by: ObjectTimeTravelReader.preparedAtOnce) {
      let next = ids[start...].prefix(ObjectTimeTravelReader.preparedAtOnce)
      try past.prepare(Dictionary(next.map { ($0, revision - 1) }) { first, _ in first })
      for id in next { touched[id] = .some(try past.image(of: id, at: revision - 1)) }
    }
    self.init(history: history, touched: touched)
  }

  /// Creates the present graph, without differences.
  convenience init(_ history: HistoryReader) { self.init(history: history, touched: [:]) }

  /// Sets an object's past image.
  func set(_ image: ObjectImage?, of id: ObjectID) { touched[id] = .some(image) }

  /// The ids of all differing objects, in ascending order.
  var touchedIDs: [ObjectID] { touched.keys.sorted() }

  func image(of id: ObjectID) throws -> ObjectImage? {
    if let known = touched[id] { return known }
    return try objects.readImage(of: id)
  }

  /// The object's image, if the principal could see it.
  func visibleImage(of id: ObjectID) throws -> ObjectImage? {
    guard let image = try image(of: id), sight.map({ $0.sees(image) }) != false else { return nil }
    return image
  }

  /// The objects at the other end of a relationship.
  func related(to image: ObjectImage, through property: Property) throws -> [ObjectID] {
    let related = try objects.readRelated(to: image, through: property)
    guard let relationship = property.relationship, relationship.storage == .inverse else { return related }
    let past = referrers[Reference(target: image.id, property: relationship.inverse), default: []]
    return (related.filter { touched[$0] == nil } + past).sorted()
  }

  /// Returns an object with everything that it contained, the object first. Nothing is reached through an object that
  /// the principal could not see.
  func contents(of root: ObjectID, maximum: Int) throws -> [ObjectID] {
    var (found, seen, next) = ([root], Set([root]), 0)
    while next < found.count {
      let id = found[next]
      next += 1
      guard let image = try visibleImage(of: id) else { continue }
      for property in model.relationships(of: image.id.entity) {
        guard property.relationship?.deleteRule == .cascade else { continue }
        for other in try related(to: image, through: property) where seen.insert(other).inserted { found.append(other) }
      }
      guard found.count <= maximum else {
        throw Refusal(.limit, "more than \(maximum) objects were in it; restore them in parts")
      }
    }
    return found
  }

  private func findReferrers() -> [Reference: [ObjectID]] {
    var found = [Reference: [ObjectID]]()
    for id in touchedIDs {
      guard case .some(.some(let image)) = touched[id] else { continue }
      for property in model.storedProperties(of: image.id.entity) where property.relationship != nil {
        for target in image[property].objectIDs {
          found[Reference(target: target, property: property.number), default: []].append(image.id)
        }
      }
    }
    return found
  }
}
