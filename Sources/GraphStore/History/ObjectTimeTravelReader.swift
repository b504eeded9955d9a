// Tests: PastOptionTests.swift, PastCostTests.swift
import GraphModel

/// Past states of objects, each found along its own past without reading unrelated commits. The walk only goes back:
/// the revisions requested for one object must not rise.
final class ObjectTimeTravelReader {
  private struct State {
    var image: ObjectImage?
    /// The revision of the change that produced the image.
    var newest: Revision
    var mapped: MigratedValues
    /// The changes up to it that were already read, oldest first.
    var ahead = [HistoryReader.RecordedChange]()
  }

  /// The maximum number of changes rolled back for one answer.
  static let maximumSteps = 5_000_000
  /// The maximum number of objects with a remembered state.
  private static let maximumStates = 50_000

  let history: HistoryReader
  private var states = [ObjectID: State]()
  private var steps = 0

  init(history: HistoryReader) { self.history = history }

  /// The object after the commit of a revision; nil if it did not exist.
  func image(of id: ObjectID, at revision: Revision) throws -> ObjectImage? {
    var state = try states[id] ?? present(id)
    if state.newest > revision {
      rollBack(&state, id, to: revision)
      if state.newest > revision {
        state.ahead = try history.events(of: id, newest: state.newest, after: revision)
        try count(state.ahead)
        rollBack(&state, id, to: revision)
      }
      guard state.newest <= revision else {
        throw Refusal.pruned(revision, oldest: try history.oldest())
      }
    }
    assert(state.newest <= revision)
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
      let state = try states[id] ?? present(id)
      states[id] = state
      if state.newest > revision, state.ahead.isEmpty {
        spans[id] = HistoryReader.ChangeRange(newest: state.newest, base: revision)
      }
    }
    for (id, events) in try history.events(of: spans) {
      try count(events)
      states.modifyIfPresent(id) { $0.ahead = events }
    }
  }

  private func rollBack(_ state: inout State, _ id: ObjectID, to revision: Revision) {
    while let event = state.ahead.last, event.revision > revision {
      state.ahead.removeLast()
      state.mapped.pass(id, state.image, at: event.revision)
      state.image = event.change.before(state.image, model: history.objects.model)
      state.newest = event.change.previous
    }
  }

  private func count(_ events: [HistoryReader.RecordedChange]) throws {
    steps += events.count
    guard steps <= Self.maximumSteps else {
      throw Refusal(.limit, "more than \(Self.maximumSteps) changes would have to be undone; ask for less")
    }
  }

  private func present(_ id: ObjectID) throws -> State {
    let mapped = MigratedValues(history.objects.layout)
    if let image = try history.objects.readImage(of: id) {
      return State(image: image, newest: image.revision, mapped: mapped)
    }
    return State(image: nil, newest: try history.newestChange(of: id, present: nil), mapped: mapped)
  }
}
