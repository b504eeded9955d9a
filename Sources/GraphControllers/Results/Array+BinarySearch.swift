extension Array {
  /// Returns the index of the first element that satisfies the predicate, or `count`, by binary search. The predicate
  /// must be false for a prefix and true for the rest.
  func firstPlace(where fits: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if fits(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
