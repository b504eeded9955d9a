extension Array {
  /// The place of the first element that fits, where all that come behind one that fits do, too; the end for none.
  func firstPlace(where fits: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if fits(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
