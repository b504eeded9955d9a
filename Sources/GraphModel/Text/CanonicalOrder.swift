@_spi(_Unicode) import Swift

/// Canonical order in linear time.
///
/// The standard library decomposes a letter and its marks in one step, and sorts the marks by insertion: 400,000 marks
/// in the wrong order take a minute. Therefore a long run of marks is decomposed and put in canonical order before the
/// text is given to the standard library, whose sort then only compares neighbors. The combining classes are bytes, so
/// that a counting sort is linear, and it is stable, as Unicode requires. Texts without long runs, which are nearly
/// all, are only scanned.
enum CanonicalOrder {
  /// The most marks that are left to the standard library. No language uses more than about ten.
  static let shortRun = 64

  /// Whether marks are never moved across the scalar. The standard library takes three Tibetan vowels for starters,
  /// although their decompositions begin with marks (U+0F73, U+0F75, U+0F81); a long run must not be ordered otherwise
  /// than a short one.
  static func isStarter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Ranges without marks that have many letters: Latin, Greek, Cyrillic, ideographs, Korean syllables.
    case ..<0x300, 0x370..<0x483, 0x3400..<0xA66F, 0xAC00...0xD7A3: true
    default: scalar.properties.canonicalCombiningClass == .notReordered
    }
  }

  /// Appends the marks, decomposed and in canonical order.
  /// - Returns: false if the work was canceled.
  static func append(
    _ run: [Unicode.Scalar], to bytes: inout [UInt8], _ counter: inout Cancellation.StepCounter
  ) -> Bool {
    var marks = [(scalar: Unicode.Scalar, order: Int)]()
    marks.reserveCapacity(run.count)
    var places = [Int](repeating: 0, count: 256)
    for scalar in run {
      guard counter.addSteps(16) else { return false }
      for part in String(scalar)._nfd {
        let order = Int(part.properties.canonicalCombiningClass.rawValue)
        marks.append((part, order))
        places[order] += 1
      }
    }
    var start = 0
    for order in places.indices { (places[order], start) = (start, start + places[order]) }
    var sorted = marks
    for mark in marks {
      sorted[places[mark.order]] = mark
      places[mark.order] += 1
    }
    for mark in sorted { bytes.append(contentsOf: mark.scalar.utf8) }
    return true
  }
}

extension String {
  /// The text with its long runs of marks in canonical order: canonically equivalent, and decomposed or composed in
  /// linear time; empty if the work was canceled.
  func withLongRunsInOrder(_ counter: inout Cancellation.StepCounter) -> String {
    guard let hasLongRun = hasLongRun(&counter) else { return "" }
    if !hasLongRun { return self }
    var bytes = [UInt8]()
    bytes.reserveCapacity(utf8.count)
    var run = [Unicode.Scalar]()
    func appendRun(_ counter: inout Cancellation.StepCounter) -> Bool {
      defer { run.removeAll(keepingCapacity: true) }
      if run.count > CanonicalOrder.shortRun { return CanonicalOrder.append(run, to: &bytes, &counter) }
      for mark in run { bytes.append(contentsOf: mark.utf8) }
      return true
    }
    for scalar in unicodeScalars {
      guard counter.addSteps() else { return "" }
      if !CanonicalOrder.isStarter(scalar) {
        run.append(scalar)
        continue
      }
      guard appendRun(&counter) else { return "" }
      bytes.append(contentsOf: scalar.utf8)
    }
    guard appendRun(&counter) else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// - Returns: nil if the work was canceled.
  private func hasLongRun(_ counter: inout Cancellation.StepCounter) -> Bool? {
    var length = 0
    for scalar in unicodeScalars {
      guard counter.addSteps() else { return nil }
      length = CanonicalOrder.isStarter(scalar) ? 0 : length + 1
      if length > CanonicalOrder.shortRun { return true }
    }
    return false
  }
}
