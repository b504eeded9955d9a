// Tests: RandomHistoryTests.swift, LargeLogTests.swift, DamagedHistoryTests.swift
import GRDBSQLite
import GraphModel

/// The difference between two states: the objects touched between them, each as it was in both. Changes that were
/// reverted are no difference. Both states come from `ObjectTimeTravelReader`; the commits between them give only ids.
///
/// Objects of which one state can't be read are omitted, and so are the changes of damaged commits, whose objects are
/// unknown. The caller names both.
struct DifferenceReader {
  /// The maximum number of changes between the two states.
  static let maximumChanges = 1_000_000

  let history: HistoryReader
  private let request: DifferenceRequest
  private let low: Revision
  private let high: Revision
  private let earlier: ObjectTimeTravelReader
  private let later: ObjectTimeTravelReader
  /// Set for a class that does not see everything: the parts of the earlier and of the later state that it sees.
  private let visible: (earlier: VisibleHistory, later: VisibleHistory)?

  private var model: Model { history.objects.model }

  init(
    _ request: DifferenceRequest, seenBy visibility: Visibility? = nil, head: Revision, history: HistoryReader
  ) throws {
    self.history = history
    visible = visibility.map { (VisibleHistory($0, history), VisibleHistory($0, history)) }
    self.request = request
    let to = request.to == 0 ? head : request.to
    (low, high) = (min(request.from, to), max(request.from, to))
    assert(low <= high)
    try history.check(low)
    try history.check(high)
    earlier = ObjectTimeTravelReader(history: history, omitsDamage: true)
    later = ObjectTimeTravelReader(history: history, omitsDamage: true)
  }

  /// Calls `body` with the differences by entity, then by id.
  /// - Returns: the omitted objects. The reader's `damageFound` has the damage that was found.
  func forEach(_ body: (ObjectDifference) throws -> Void) throws -> [ObjectID] {
    var unknown = [ObjectID]()
    let root = try request.object.map { object in
      let id = try history.located(object).id
      guard try visible?.later.hasSeen(id) != false else { throw HistoryReader.neverExisted(object) }
      return id
    }
    let family = HistoryFilter(entities: request.entities).family(in: model)
    var ids = root != nil && !request.contents ? [root].compactMap { $0 } : try touched()
    if let family { ids.removeAll { !family.contains($0.entity) } }
    let isBackwards = request.to != 0 && request.to < request.from
    for (place, id) in ids.enumerated() {
      if place % ObjectTimeTravelReader.preparedAtOnce == 0 {
        let next = ids[place...].prefix(ObjectTimeTravelReader.preparedAtOnce)
        try later.prepare(Dictionary(uniqueKeysWithValues: next.map { ($0, high) }))
        try earlier.prepare(Dictionary(uniqueKeysWithValues: next.map { ($0, low) }))
      }
      guard let newer = try later.readableImage(of: id, at: high),
        let older = try earlier.readableImage(of: id, at: low)
      else {
        unknown.append(id)
        continue
      }
      var (after, before) = (newer.map(withoutAddedCounts), older.map(withoutAddedCounts))
      if let visible {
        after = try visible.later.reduced(after, at: high)
        before = try visible.earlier.reduced(before, at: low)
      }
      let (first, second) = isBackwards ? (after, before) : (before, after)
      guard let difference = ObjectDifference(from: first, to: second, model: model) else { continue }
      if let root, try !isInside(after, root, later, high), try !isInside(before, root, earlier, low) { continue }
      try body(difference)
    }
    return visible == nil ? unknown : []
  }

  /// The image without the counts that a migration added, unless the object alone determines them. Before it they had
  /// no value.
  private func withoutAddedCounts(_ image: ObjectImage) -> ObjectImage {
    var image = image
    // The entity of a deleted object may have been removed from the model.
    let entity = model.entity(image.id.entity)
    for step in history.objects.layout.mappedSteps where low < step.since {
      for count in step.counts where entity?.property(count.attribute.number) != nil { image[count.attribute] = .null }
    }
    return image
  }

  private func touched() throws -> [ObjectID] {
    var ids = Set<ObjectID>()
    var count = 0
    func add(_ bytes: [UInt8]) throws {
      let found = try HistoryChange.ids(in: bytes).map { history.objects.layout.numbers.present($0) }
      count += found.count
      guard count <= Self.maximumChanges else {
        throw Refusal(
          .limit,
          "more than \(Self.maximumChanges) changes lie between the revisions \(low) and \(high): ask for a smaller "
            + "range, or for one object")
      }
      ids.formUnion(found.filter { model.entity($0.entity) != nil })
    }
    let row = try history.connection.statement(
      HistoryReader.columns + " WHERE revision > ? AND revision <= ? ORDER BY revision")
    row.bind(1, low)
    row.bind(2, high)
    defer { sqlite3_reset(row.statement) }
    while try history.connection.step(row) {
      let bytes = row.blob(8)
      let verified: Void? = try history.objects.unlessDamaged { try history.verify(row, changes: bytes) }
      if verified == nil { continue }
      guard let parts = try CommitPartSummary(bytes) else {
        try add(bytes)
        continue
      }
      let revision = row.integer(0)
      // A part may be missing; those that exist are read nevertheless.
      _ = try history.objects.unlessDamaged { try history.places(of: revision, in: parts) }
      for place in try history.places(of: revision) {
        _ = try history.objects.unlessDamaged {
          try history.decodePart(place.number, of: revision, in: parts, add)
        }
      }
    }
    return ids.sorted { ($0.entity, $0) < ($1.entity, $1) }
  }

  /// Whether the delete of `root` would cascade to the object; walks up along its references.
  private func isInside(_ image: ObjectImage?, _ root: ObjectID, _ past: ObjectTimeTravelReader, _ revision: Revision)
    throws
    -> Bool
  {
    guard let image else { return false }
    var (pending, seen) = ([image], Set([image.id]))
    while let image = pending.popLast() {
      if image.id == root { return true }
      for property in model.storedProperties(of: image.id.entity) {
        guard let relationship = property.relationship, let inverse = model.property(relationship.inverse),
          inverse.relationship?.deleteRule == .cascade
        else { continue }
        for parent in image[property].objectIDs where seen.insert(parent).inserted {
          // A parent that can't be read is named with the rest of the damage.
          if let found = try past.readableImage(of: parent, at: revision), let found,
            visible?.later.visibility.sees(found) != false
          {
            pending.append(found)
          }
        }
      }
    }
    return false
  }
}
