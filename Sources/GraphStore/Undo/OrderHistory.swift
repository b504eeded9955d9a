// Tests: UndoOrderTests.swift, UndoOrderPastOthersTests.swift
import GraphModel

/// The changes of positions in one ordered relationship since a step began, newest first. It has the results of a walk
/// through the commits, and does not read history itself.
///
/// They determine the positions to which members return. A member returns to the place directly after the nearest
/// member that was before it at that time and has not moved since, or that returns as well. "Then" is the state before
/// the step's first commit that touched the member. Numbers are compared only within one such state, so later respacing
/// has no effect.
struct OrderHistory {
  /// The change of one member's position by one commit.
  struct PositionChange {
    enum Cause: Hashable {
      /// Spacing for others; the place is the same.
      case spacing
      /// The step itself.
      case step
      /// One of two commits that cancel each other; the newer one identifies the pair.
      case cancelled(by: Revision)
      case other
    }

    let revision: Revision
    let id: ObjectID
    /// The number before; nil if the object was no member.
    let was: Int64?
    let cause: Cause
  }

  typealias NearestLookup = (_ below: OrderedMemberKey, _ isPassed: (ObjectID) -> Bool) throws -> OrderedMemberKey?

  /// The events, newest first.
  private(set) var events = [PositionChange]()

  mutating func add(_ event: PositionChange) { events.append(event) }

  /// - Parameters:
  ///   - wanted: the members that the step touched, with whether their to-one is restored too. A member returns if no
  ///     other commit has moved it since, or if its to-one is restored.
  ///   - isHere: whether any other object will be a member.
  ///   - nearest: returns the nearest member before a place that stays and is not to be skipped.
  /// - Returns: rows of members, each after a member that stays; nil for the beginning.
  func rows(
    of wanted: [ObjectID: Bool], isHere: (ObjectID) throws -> Bool, nearest: NearestLookup
  ) rethrows -> [(anchor: ObjectID?, members: [ObjectID])] {
    let since = beginnings(of: wanted)
    var members = try Members(events, since, isHere)
    var rows = MemberRuns()
    var walked = 0
    let groups = Dictionary(grouping: since, by: \.value).mapValues { $0.map(\.key) }
    // The step's commits are reversed newest first.
    for (revision, returning) in groups.sorted(by: { $0.key > $1.key }) {
      while walked < events.count, events[walked].revision >= revision {
        members.walk(over: events[walked])
        walked += 1
      }
      let places = returning.compactMap { members.place(of: $0) }.sorted()
      for (place, anchor) in try members.anchors(of: places, nearest) { rows.put(place.id, behind: anchor?.id) }
    }
    return rows.all
  }

  /// For each member, the step's commit before which it had the position to return to.
  ///
  /// It is the first one that moved the member after the last move by another commit.
  private func beginnings(of wanted: [ObjectID: Bool]) -> [ObjectID: Revision] {
    var (beginnings, oldest, closed) = ([ObjectID: Revision](), [ObjectID: Revision](), Set<ObjectID>())
    for event in events {
      guard let isBroughtBack = wanted[event.id] else { continue }
      switch event.cause {
      case .step where event.was != nil:
        if isBroughtBack { oldest[event.id] = event.revision }
        if !closed.contains(event.id) { beginnings[event.id] = event.revision }
      case .other: closed.insert(event.id)
      case .spacing, .cancelled, .step: break
      }
    }
    return oldest.merging(beginnings) { $1 }
  }

  /// The members moved since, at their positions before an event.
  private struct Members {
    private var numbers = [ObjectID: Int64]()
    private var walked = Set<ObjectID>()
    private var isOther = Set<ObjectID>()
    private var standing = SortedPositions()
    private let since: [ObjectID: Revision]
    private let here: Set<ObjectID>
    /// The remaining events of each cancelled pair.
    private var rest = [Pair: Int]()
    private var open = [ObjectID: Int]()

    private struct Pair: Hashable {
      let id: ObjectID
      let revision: Revision
    }

    init(_ events: [PositionChange], _ since: [ObjectID: Revision], _ isHere: (ObjectID) throws -> Bool) rethrows {
      self.since = since
      var (here, known) = (Set<ObjectID>(), Set<ObjectID>())
      for event in events {
        if known.insert(event.id).inserted, try since[event.id] != nil || isHere(event.id) { here.insert(event.id) }
        if case .cancelled(by: let revision) = event.cause {
          rest[Pair(id: event.id, revision: revision), default: 0] += 1
        }
      }
      (self.here, opened) = (here, rest)
    }

    private let opened: [Pair: Int]

    func place(of id: ObjectID) -> OrderedMemberKey? { numbers[id].map { OrderedMemberKey(position: $0, id: id) } }

    mutating func walk(over event: PositionChange) {
      let id = event.id
      if let place = place(of: id) { standing.remove(place) }
      numbers[id] = event.was
      walked.insert(id)
      switch event.cause {
      case .spacing, .step: break
      case .other: isOther.insert(id)
      case .cancelled(by: let revision):
        let pair = Pair(id: id, revision: revision)
        if rest[pair] == opened[pair] { open[id, default: 0] += 1 }
        assert(rest[pair, default: 0] > 0)
        rest[pair, default: 0] -= 1
        if rest[pair] == 0 { open[id, default: 0] -= 1 }
      }
      assert(open[id, default: 0] >= 0)
      // A member is in place only if no other commit, and no half of a cancelled pair, has moved it since.
      guard here.contains(id), !isOther.contains(id), open[id, default: 0] == 0, let place = place(of: id) else {
        return
      }
      // A member that returns is in place only before the step.
      if let begun = since[id], begun < event.revision { return }
      standing.insert(place)
    }

    /// Goes from the last place to the first. A member that was never moved is the nearest for all places after it.
    func anchors(
      of places: [OrderedMemberKey], _ nearest: NearestLookup
    ) rethrows -> [(place: OrderedMemberKey, anchor: OrderedMemberKey?)] {
      var anchors = [(place: OrderedMemberKey, anchor: OrderedMemberKey?)]()
      var known: OrderedMemberKey??
      for place in places.reversed() {
        var still = known.flatMap(\.self)
        if known == nil || still.map({ $0 >= place }) == true {
          still = try nearest(place) { walked.contains($0) || since[$0] != nil }
          known = .some(still)
        }
        anchors.append((place, [standing.next(beyond: place, ascending: false), still].compactMap { $0 }.max()))
      }
      return anchors.reversed()
    }
  }

  /// Members in rows, each after one that stays.
  private struct MemberRuns {
    private var next = [ObjectID?: ObjectID]()
    private var members = Set<ObjectID>()
    /// The anchor of each member, in the order in which the members were put.
    private var anchors = [ObjectID?]()

    mutating func put(_ id: ObjectID, behind anchor: ObjectID?) {
      next[id] = next[anchor]
      next[anchor] = id
      let isNew = members.insert(id).inserted
      assert(isNew, "a member returns once")
      anchors.append(anchor)
    }

    var all: [(anchor: ObjectID?, members: [ObjectID])] {
      var (rows, seen) = ([(anchor: ObjectID?, members: [ObjectID])](), Set<ObjectID?>())
      for anchor in anchors {
        // Members after a returning one are in its row.
        if let anchor, members.contains(anchor) { continue }
        guard seen.insert(anchor).inserted else { continue }
        var (row, last) = ([ObjectID](), anchor)
        while let member = next[last] {
          row.append(member)
          last = member
        }
        rows.append((anchor, row))
      }
      return rows
    }
  }
}
