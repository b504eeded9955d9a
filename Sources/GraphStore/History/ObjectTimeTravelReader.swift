// Tests: PastOptionTests.swift, PastCostTests.swift
import GraphModel

/// Past states of objects, each found along its own past (`ObjectWalk`) without reading unrelated commits.
///
/// The walk begins at the present or at the nearest keyframe, whichever is closer, and only goes back: the revisions
/// requested for one object must not rise.
final class ObjectTimeTravelReader {
  private struct State {
    var image: ObjectImage?
    /// The changes that remain; the next one produced the image.
    var walk: ObjectWalk
    var mapped: MigratedValues
    /// The next changes, as far as they were already read, oldest first.
    var ahead = [HistoryReader.RecordedChange]()

    mutating func next() throws -> HistoryReader.RecordedChange? {
      guard let event = ahead.popLast() else { return try walk.next() }
      walk.skip(to: event.change.previous)
      return event
    }
  }

  /// The maximum number of changes rolled back for one answer.
  static let maximumSteps = 5_000_000
  /// The maximum number of objects with a remembered state.
  private static let maximumStates = 50_000

  let history: HistoryReader
  private var states = [ObjectID: State]()
  private var steps = 0
  private let omitsDamage: Bool
  /// The objects whose states can't be read from some revision down.
  private var unreadable = Set<ObjectID>()

  /// - Parameter omitsDamage: whether `readableImage` returns nil for damage instead of refusing it.
  init(history: HistoryReader, omitsDamage: Bool = false) {
    self.history = history
    self.omitsDamage = omitsDamage
  }

  /// Like `image(of:at:)`; nil if the object, or a commit that changed it, is damaged.
  func readableImage(of id: ObjectID, at revision: Revision) throws -> ObjectImage?? {
    // The walk would fail at the same commit again.
    if unreadable.contains(id) { return nil }
    if let image = try unlessDamaged({ try self.image(of: id, at: revision) }) { return .some(image) }
    unreadable.insert(id)
    return nil
  }

  private func unlessDamaged<Result>(_ read: () throws -> Result) throws -> Result? {
    try history.objects.unlessDamaged(omitsDamage, read)
  }

  /// The object after the commit of a revision; nil if it did not exist.
  func image(of id: ObjectID, at revision: Revision) throws -> ObjectImage? {
    var state = try states[id] ?? keyframe(of: id, from: revision) ?? present(id)
    while state.walk.revision > revision {
      guard let event = try state.next() else { throw Refusal.pruned(revision, oldest: try history.oldest()) }
      try count(1)
      state.mapped.pass(id, state.image, at: event.revision)
      state.image = event.change.before(state.image, model: history.objects.model)
    }
    // States may be dropped: their objects then start from the present again.
    if states[id] == nil, states.count >= Self.maximumStates { states.removeAll(keepingCapacity: true) }
    states[id] = state
    return history.computed(state.mapped.migrated(state.image, at: revision), at: revision)
  }

  /// The number of objects for which one walk through the commits pays off, and whose changes fit into memory.
  static let preparedAtOnce = 10_000

  /// Reads the changes of these objects down to the given revisions.
  ///
  /// Each commit is then read once for all objects instead of once for each.
  func prepare(_ revisions: [ObjectID: Revision]) throws {
    if states.count + revisions.count > Self.maximumStates { states.removeAll(keepingCapacity: true) }
    var spans = [ObjectID: HistoryReader.ChangeRange]()
    for (id, revision) in revisions {
      guard let state = try states[id] ?? unlessDamaged({ try present(id) }) else { continue }
      states[id] = state
      if state.walk.revision > revision, state.ahead.isEmpty {
        spans[id] = HistoryReader.ChangeRange(newest: state.walk.revision, base: revision)
      }
    }
    for (id, events) in try history.events(of: spans, omitsDamage: omitsDamage) {
      try count(events.count)
      states.modifyIfPresent(id) { $0.ahead = events }
    }
  }

  private func count(_ events: Int) throws {
    steps += events
    guard steps <= Self.maximumSteps else {
      throw Refusal(.limit, "more than \(Self.maximumSteps) changes would have to be undone; ask for less")
    }
  }

  private func present(_ id: ObjectID) throws -> State {
    let image = try history.objects.readImage(of: id)
    return state(image, of: id, at: try history.newestChange(of: id, present: image))
  }

  /// The state at the object's first keyframe at or after a revision; nil if it has none.
  private func keyframe(of id: ObjectID, from revision: Revision) throws -> State? {
    // A keyframe from before a migration without commits lacks the values that the migration added.
    let first = if let mapped = history.objects.layout.mapped { max(revision, mapped.since) } else { revision }
    let place = try history.connection.integer(
      "SELECT revision FROM _whole WHERE id = ? AND revision >= ? ORDER BY revision LIMIT 1", .uuid(id.key),
      .integer(first))
    guard let place, let event = try history.event(of: id, in: place), !event.change.values.isEmpty else { return nil }
    let image = ObjectImage(id: event.change.id, revision: event.revision, values: event.change.values)
    return state(image, of: id, at: event.revision)
  }

  private func state(_ image: ObjectImage?, of id: ObjectID, at newest: Revision) -> State {
    State(image: image, walk: ObjectWalk(id, from: newest, history), mapped: MigratedValues(history.objects.layout))
  }
}
