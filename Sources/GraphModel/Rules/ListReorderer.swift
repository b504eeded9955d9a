/// Reorders a list with as few moves as possible. A longest subsequence that is already in order stays, and all other
/// objects move between its elements.
public enum ListReorderer {
  /// Objects that move directly after an object that is already in place.
  public struct Run: Equatable, Sendable {
    /// The objects, in their new order.
    public var objects: [ObjectID]
    /// The object before them; nil for the beginning.
    public var after: ObjectID?

    /// Creates a run of objects that move together.
    public init(_ objects: [ObjectID], after: ObjectID?) {
      self.objects = objects
      self.after = after
    }
  }

  /// The runs that reorder `current` as `wanted`, to be applied in order. Objects that are only in `wanted` are
  /// inserted; those only in `current` stay. Neither list may have duplicates.
  public static func runs(from current: [ObjectID], to wanted: [ObjectID]) -> [Run] {
    let places = Dictionary(current.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let staying = longestIncreasingSubsequence(wanted.map { places[$0] })
    var runs = [Run]()
    for (index, object) in wanted.enumerated() where !staying[index] {
      if index > 0, !staying[index - 1], !runs.isEmpty {
        runs[runs.count - 1].objects.append(object)
      } else {
        runs.append(Run([object], after: index > 0 ? wanted[index - 1] : nil))
      }
    }
    assert(
      runs.reduce(0) { $0 + $1.objects.count } == staying.count { !$0 }, "each object that does not stay moves once")
    return runs
  }

  /// Marks a longest increasing subsequence of the numbers, ignoring nils, by patience sorting. The unmarked elements
  /// are the fewest that must move, for example in a list on a screen.
  public static func longestIncreasingSubsequence(_ numbers: [Int?]) -> [Bool] {
    // For each length, the index of the smallest end of a subsequence; for each index, its predecessor.
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
    assert(chosen.count { $0 } == ends.count, "the subsequence is as long as was found")
    return chosen
  }

  /// The list with `objects` moved or inserted after `anchor`. A nil anchor is the beginning; an object that is not in
  /// the list means the end.
  public static func placing(_ objects: [ObjectID], after anchor: ObjectID?, in list: [ObjectID]) -> [ObjectID] {
    let moving = Set(objects)
    var rest = list.filter { !moving.contains($0) }
    let place: Int
    if let anchor {
      place = rest.firstIndex(of: anchor).map { $0 + 1 } ?? rest.endIndex
    } else {
      place = rest.startIndex
    }
    rest.insert(contentsOf: unique(objects), at: place)
    return rest
  }

  /// The objects without duplicates, in the order of first occurrence.
  public static func unique(_ objects: [ObjectID]) -> [ObjectID] {
    var seen = Set<ObjectID>()
    return objects.filter { seen.insert($0).inserted }
  }
}
