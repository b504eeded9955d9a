import GraphModel

/// A model of undo for ordered relationships, with arrays: every commit with the lists before it, without numbers or
/// space between them. It knows one rule (docs/decisions/0011-undo-from-history.md), and may be slow.
struct UndoOrderModel {
  /// A commit that put, moved or took out members.
  struct Entry {
    var author: String
    /// The lists before it.
    var before: [[ObjectID]]
    /// The objects that the commit inserted, moved or deleted, without those that only made space.
    var touched: Set<ObjectID>
    var inserted: Set<ObjectID>
    var deleted: Set<ObjectID>
  }

  /// The step itself, its undo, the redo, and so on: places in `log`.
  typealias UndoRedoChain = [[Int]]

  private(set) var log = [Entry]()
  private var chains = [UndoRedoChain]()

  mutating func commit(_ entry: Entry) -> Int {
    log.append(entry)
    return log.count - 1
  }

  mutating func begin(_ commits: [Int]) -> Int {
    chains.append([commits])
    return chains.count - 1
  }

  mutating func wentBack(_ commit: Int, _ chain: Int) { chains[chain].append([commit]) }

  /// The lists after the newest commit of a chain is undone.
  func takingBack(_ chain: Int, from present: [[ObjectID]]) -> [[ObjectID]] {
    guard let own = chains[chain].last, let first = own.first else { return present }
    let past = MemberHistory(self, present, step: own, first: first)
    var result = present
    let there = Set(present.joined())
    let made = own.reduce(into: Set<ObjectID>()) { $0.formUnion(log[$1].inserted) }
    // Members that the step added are removed, unless another author has moved them since.
    for id in made where !past.anybody(touched: id, besides: log[first].author) { remove(id, from: &result) }
    let staying = Set(result.joined())
    var returns = [Int: Set<ObjectID>]()
    var since = [ObjectID: Int]()
    for id in own.reduce(into: Set<ObjectID>(), { $0.formUnion(log[$1].touched) }) {
      if made.contains(id), !staying.contains(id) { continue }
      guard there.contains(id) || log[past.newest(id)].deleted.contains(id) else { continue }
      let now = present.firstIndex { $0.contains(id) }
      let back = past.oldList(of: id, now: now)
      guard let list = back ?? now, let place = past.place(of: id, in: list, goesBack: back != nil) else { continue }
      returns[place, default: []].insert(id)
      since[id] = place
    }
    for id in since.keys { remove(id, from: &result) }
    for place in returns.keys.sorted(by: >) {
      for (number, list) in log[place].before.enumerated() {
        for (index, id) in list.enumerated() where returns[place]?.contains(id) == true {
          let anchor = list[..<index].last { other in
            result[number].contains(other) && past.stands(other, in: number, as: place, since[other])
          }
          let target = anchor.flatMap { result[number].firstIndex(of: $0) }.map { $0 + 1 } ?? 0
          result[number].insert(id, at: target)
        }
      }
    }
    return result
  }

  private func remove(_ id: ObjectID, from lists: inout [[ObjectID]]) {
    for index in lists.indices { lists[index].removeAll { $0 == id } }
  }

  /// Everything since the beginning of a step, by member.
  private struct MemberHistory {
    private let log: [Entry]
    private let present: [[ObjectID]]
    private let step: Set<Int>
    private let first: Int
    /// Two commits that undo each other have one number.
    private var pairs = [Int: Int]()

    init(_ twin: UndoOrderModel, _ present: [[ObjectID]], step: [Int], first: Int) {
      (log, self.present) = (twin.log, present)
      self.step = Set(step)
      self.first = first
      for chain in twin.chains {
        var rest = chain[...]
        if rest.last.map({ $0.contains { self.step.contains($0) } }) == true { continue }
        // Pairs them from the newest down; if their number is odd, the step stands.
        while rest.count > 1 {
          let both = rest.suffix(2).flatMap(\.self)
          rest = rest.dropLast(2)
          if both.allSatisfy({ $0 > first }) { for index in both { pairs[index] = both[both.count - 1] } }
        }
      }
    }

    private func touches(_ id: ObjectID) -> [Int] { (first..<log.count).filter { log[$0].touched.contains(id) } }

    func newest(_ id: ObjectID) -> Int { touches(id).last ?? first }

    func anybody(touched id: ObjectID, besides author: String) -> Bool {
      touches(id).contains { log[$0].author != author }
    }

    private func isOthers(_ index: Int) -> Bool { !step.contains(index) && pairs[index] == nil }

    /// In which list a member stood before a commit; nil for none.
    private func list(of id: ObjectID, before index: Int) -> Int? {
      (index < log.count ? log[index].before : present).firstIndex { $0.contains(id) }
    }

    private func own(_ id: ObjectID) -> [Int] {
      touches(id).filter { step.contains($0) && !log[$0].inserted.contains(id) }
    }

    /// The list that a member goes back to, as any object that a property referred to: if it is still in the one that
    /// the step brought it to.
    func oldList(of id: ObjectID, now: Int?) -> Int? {
      var (list, old, end) = (now, now, log.count)
      for index in own(id).reversed() where isMove(index, id) {
        guard self.list(of: id, before: index + 1) == list, !isTaken(id, between: index, end) else { break }
        list = self.list(of: id, before: index)
        (old, end) = (list, index)
      }
      return old == now ? nil : old
    }

    /// Whether a commit brought the member from one list to another.
    private func isMove(_ index: Int, _ id: ObjectID) -> Bool {
      list(of: id, before: index) != list(of: id, before: index + 1)
    }

    /// Whether another author has brought it to another list, even if it is back in the old one: then it is theirs.
    private func isTaken(_ id: ObjectID, between start: Int, _ end: Int) -> Bool {
      touches(id).contains { index in
        guard index > start, index < end, log[index].author != log[first].author, isMove(index, id),
          !log[index].inserted.contains(id), !log[index].deleted.contains(id)
        else { return false }
        return pairs[index].map { !isMove($0, id) } ?? true
      }
    }

    /// The commit before which a member stood where it returns to; nil when another author has moved it since.
    func place(of id: ObjectID, in list: Int, goesBack: Bool) -> Int? {
      let theirs = touches(id).last { isOthers($0) && concerns($0, list, id) }
      let own = own(id).filter { self.list(of: id, before: $0) == list }
      return own.first { $0 > theirs ?? -1 } ?? (goesBack ? own.first : nil)
    }

    private func concerns(_ index: Int, _ list: Int, _ id: ObjectID) -> Bool {
      self.list(of: id, before: index) == list || self.list(of: id, before: index + 1) == list
    }

    /// Whether a member stands where it stood before a commit, or goes back there.
    func stands(_ id: ObjectID, in list: Int, as place: Int, _ returns: Int?) -> Bool {
      let later = touches(id).filter { $0 >= place && concerns($0, list, id) }
      if later.contains(where: isOthers) { return false }
      let earlier = Set(touches(id).filter { $0 < place && concerns($0, list, id) }.compactMap { pairs[$0] })
      if later.contains(where: { pairs[$0].map(earlier.contains) == true }) { return false }
      return returns.map { $0 >= place } ?? true
    }
  }
}
