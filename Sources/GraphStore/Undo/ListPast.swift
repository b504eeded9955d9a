import GraphModel

/// What has happened to the places of one ordered relationship's members since a step began, newest first, and from that
/// the rule for those that go back: right behind the nearest of those that stood before them then, and that stand where
/// they stood or come back there themselves.
///
/// "Then" is the state that the step's first commit to touch the member found. Numbers are compared within one such
/// state only, so it makes no difference how often the members were spread out since.
struct ListPast {
  /// What one commit did to one member.
  struct Event {
    enum Cause: Hashable {
      /// Others needed room: it is the same place.
      case room
      /// The step itself.
      case step
      /// Two commits, one of which took the other back; the newer one names both.
      case nothing(Revision)
      case other
    }

    let revision: Revision
    let id: ObjectID
    /// Its place before; nil where it was no member.
    let was: Int64?
    let cause: Cause
  }

  typealias Nearest = (_ below: MemberPlace, _ isPassed: (ObjectID) -> Bool) throws -> MemberPlace?

  /// Newest first.
  private(set) var events = [Event]()

  mutating func add(_ event: Event) { events.append(event) }

  /// - Parameters:
  ///   - wanted: those that the step touched; of them those go back that nobody else has moved since, and all that are
  ///     brought back by the object that they refer to.
  ///   - isHere: whether another one will be a member.
  ///   - nearest: the nearest member before a place that stays, and is none of those to be passed over.
  /// - Returns: rows of members, each behind a member that stays; nil for the beginning.
  func rows(
    of wanted: [ObjectID: Bool], isHere: (ObjectID) throws -> Bool, nearest: Nearest
  ) rethrows -> [(anchor: ObjectID?, members: [ObjectID])] {
    let since = beginnings(of: wanted)
    var members = try Members(events, since, isHere)
    var rows = Rows()
    var walked = 0
    let groups = Dictionary(grouping: since.keys) { since[$0] ?? 0 }
    // A later commit of the step is taken back before an earlier one.
    for revision in groups.keys.sorted(by: >) {
      while walked < events.count, events[walked].revision >= revision {
        members.walk(over: events[walked])
        walked += 1
      }
      let places = (groups[revision] ?? []).compactMap { members.place(of: $0) }.sorted()
      for (place, anchor) in try members.anchors(of: places, nearest) { rows.put(place.id, behind: anchor?.id) }
    }
    return rows.all
  }

  /// The commit of the step before which each of these stood where it goes back to: the first that moved it, after the
  /// last move of somebody else.
  private func beginnings(of wanted: [ObjectID: Bool]) -> [ObjectID: Revision] {
    var (beginnings, oldest, closed) = ([ObjectID: Revision](), [ObjectID: Revision](), Set<ObjectID>())
    for event in events {
      guard let isBroughtBack = wanted[event.id] else { continue }
      switch event.cause {
      case .step where event.was != nil:
        if isBroughtBack { oldest[event.id] = event.revision }
        if !closed.contains(event.id) { beginnings[event.id] = event.revision }
      case .other: closed.insert(event.id)
      case .room, .nothing, .step: break
      }
    }
    return oldest.merging(beginnings) { $1 }
  }

  /// The members that have been moved since, as they stood before an event.
  private struct Members {
    private var numbers = [ObjectID: Int64]()
    private var walked = Set<ObjectID>()
    private var isOther = Set<ObjectID>()
    private var standing = SortedPlaces()
    private let since: [ObjectID: Revision]
    private let here: Set<ObjectID>
    /// How many events of the two commits that took each other back are still to come.
    private var rest = [Pair: Int]()
    private var open = [ObjectID: Int]()

    private struct Pair: Hashable {
      let id: ObjectID
      let revision: Revision
    }

    init(_ events: [Event], _ since: [ObjectID: Revision], _ isHere: (ObjectID) throws -> Bool) rethrows {
      self.since = since
      var (here, known) = (Set<ObjectID>(), Set<ObjectID>())
      for event in events {
        if known.insert(event.id).inserted, try since[event.id] != nil || isHere(event.id) { here.insert(event.id) }
        if case .nothing(let revision) = event.cause { rest[Pair(id: event.id, revision: revision), default: 0] += 1 }
      }
      (self.here, opened) = (here, rest)
    }

    private let opened: [Pair: Int]

    func place(of id: ObjectID) -> MemberPlace? { numbers[id].map { MemberPlace(position: $0, id: id) } }

    mutating func walk(over event: Event) {
      let id = event.id
      if let place = place(of: id) { standing.remove(place) }
      numbers[id] = event.was
      walked.insert(id)
      switch event.cause {
      case .room, .step: break
      case .other: isOther.insert(id)
      case .nothing(let revision):
        let pair = Pair(id: id, revision: revision)
        if rest[pair] == opened[pair] { open[id, default: 0] += 1 }
        rest[pair, default: 0] -= 1
        if rest[pair] == 0 { open[id, default: 0] -= 1 }
      }
      guard here.contains(id), !isOther.contains(id), open[id, default: 0] == 0, let place = place(of: id),
        since[id].map({ $0 >= event.revision }) ?? true
      else { return }
      standing.insert(place)
    }

    /// From the end: a member that nobody has moved is the nearest for all places down to itself.
    func anchors(
      of places: [MemberPlace], _ nearest: Nearest
    ) rethrows -> [(place: MemberPlace, anchor: MemberPlace?)] {
      var anchors = [(place: MemberPlace, anchor: MemberPlace?)]()
      var known: MemberPlace??
      for place in places.reversed() {
        var still = known ?? nil
        if known == nil || still.map({ $0 >= place }) == true {
          still = try nearest(place) { walked.contains($0) || since[$0] != nil }
          known = .some(still)
        }
        anchors.append((place, [standing.next(beyond: place, ascending: false), still].compactMap { $0 }.max()))
      }
      return anchors.reversed()
    }
  }

  /// Members in rows, each behind one that stays.
  private struct Rows {
    private var next = [ObjectID?: ObjectID]()
    private var anchors = [ObjectID: ObjectID?]()
    private var order = [ObjectID]()

    mutating func put(_ id: ObjectID, behind anchor: ObjectID?) {
      next[id] = next[anchor]
      next[anchor] = id
      anchors[id] = .some(anchor)
      order.append(id)
    }

    var all: [(anchor: ObjectID?, members: [ObjectID])] {
      var (rows, seen) = ([(anchor: ObjectID?, members: [ObjectID])](), Set<ObjectID?>())
      for id in order {
        guard let anchor = anchors[id], anchor.map({ anchors[$0] == nil }) ?? true, seen.insert(anchor).inserted else {
          continue
        }
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
