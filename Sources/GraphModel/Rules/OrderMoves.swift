/// How one list becomes another with as few moves as possible: the longest run of objects that stand in the wanted order
/// already stays, and everything else goes to its place between them.
public enum OrderMoves {
  /// Objects that go behind one that is in its place already; nil stands for the beginning.
  public struct Run: Equatable, Sendable {
    /// In the order in which they are to stand.
    public var objects: [ObjectID]
    /// What they go behind; nil for the beginning.
    public var after: ObjectID?

    /// Objects that move together.
    public init(_ objects: [ObjectID], after: ObjectID?) {
      self.objects = objects
      self.after = after
    }
  }

  /// The runs that bring `current` into the order of `wanted`, to be carried out in turn. What `current` lacks is placed
  /// as well; what `wanted` lacks is left where it is. Neither names an object twice.
  public static func runs(from current: [ObjectID], to wanted: [ObjectID]) -> [Run] {
    let places = Dictionary(current.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let staying = longestRise(wanted.map { places[$0] })
    var runs = [Run]()
    for (index, object) in wanted.enumerated() where !staying[index] {
      if index > 0, !staying[index - 1], !runs.isEmpty {
        runs[runs.count - 1].objects.append(object)
      } else {
        runs.append(Run([object], after: index > 0 ? wanted[index - 1] : nil))
      }
    }
    return runs
  }

  /// Marks one of the longest rising selections of the numbers, nils aside: patience sorting. What has to move least, of a
  /// list on a screen too, is what is not marked.
  public static func longestRise(_ numbers: [Int?]) -> [Bool] {
    // For each length, the index at which the best selection of that length ends; for each index the one before it.
    var ends = [Int]()
    var previous = [Int?](repeating: nil, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      guard let number else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if let end = numbers[ends[middle]], end < number { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low < ends.count { ends[low] = index } else { ends.append(index) }
    }
    var chosen = [Bool](repeating: false, count: numbers.count)
    var index = ends.last
    while let here = index {
      chosen[here] = true
      index = previous[here]
    }
    return chosen
  }

  /// `list` with `objects` behind `anchor`: at the beginning when it is nil, at the end when it is not there. What the
  /// list lacks comes in, what it has moves.
  public static func placing(_ objects: [ObjectID], after anchor: ObjectID?, in list: [ObjectID]) -> [ObjectID] {
    let moving = Set(objects)
    var rest = list.filter { !moving.contains($0) }
    let place = anchor.map { anchor in rest.firstIndex(of: anchor).map { $0 + 1 } ?? rest.endIndex } ?? 0
    rest.insert(contentsOf: unique(objects), at: place)
    return rest
  }

  /// The objects in their order, each where it stands first.
  public static func unique(_ objects: [ObjectID]) -> [ObjectID] {
    var seen = Set<ObjectID>()
    return objects.filter { seen.insert($0).inserted }
  }
}
