/// Parsing escapes and bracket expressions.
extension RegularExpressionParser {
  /// An item of a class.
  enum ClassItem {
    case scalar(Unicode.Scalar)
    case ranges([ClosedRange<UInt32>])
    case property(ScalarProperty)
  }

  /// Parses an escape outside of brackets, after the backslash.
  mutating func escape(at start: Int) throws(RegularExpressionError) -> Tree {
    if accept("b") { return .assertion(.wordBoundary) }
    if accept("B") { return .assertion(.noWordBoundary) }
    if let scalar = next, ("1"..."9").contains(scalar) {
      throw fail(at: start, "back references are not supported")
    }
    switch try item(at: start) {
    case .scalar(let scalar): return literal(scalar)
    case .ranges(let ranges): return .set(folded(ranges, [], isNegated: false))
    case .property(let property): return .set(folded([], [property], isNegated: false))
    }
  }

  /// Parses a class, after the opening bracket.
  mutating func scalarClass(openedAt start: Int) throws(RegularExpressionError) -> ScalarSet {
    let isNegated = accept("^")
    var ranges = [ClosedRange<UInt32>]()
    var properties = [ScalarProperty]()
    var isEmpty = true
    while !accept("]") {
      let place = position
      let item = try classItem(openedAt: start, isFirst: isEmpty)
      isEmpty = false
      let isRange = next == "-" && position + 1 < scalars.count && scalars[position + 1] != "]"
      if isRange { position += 1 }
      switch (item, isRange) {
      case (.scalar(let low), true):
        guard case .scalar(let high) = try classItem(openedAt: start, isFirst: false) else {
          throw fail(at: place, "a range must end with a character, not with a class")
        }
        if high < low { throw fail(at: place, "the range ends before it begins") }
        ranges.append(low.value...high.value)
      case (_, true): throw fail(at: place, "a range must begin with a character; write \\- for a dash")
      case (.scalar(let scalar), false): ranges.append(scalar.value...scalar.value)
      case (.ranges(let more), false): ranges += more
      case (.property(let property), false): if !properties.contains(property) { properties.append(property) }
      }
    }
    if isEmpty { throw fail(at: start, "the class is empty; write \\] for the character itself") }
    return folded(ranges, properties, isNegated: isNegated)
  }

  private mutating func classItem(openedAt start: Int, isFirst: Bool) throws(RegularExpressionError) -> ClassItem {
    let place = position
    guard let scalar = consume() else { throw fail(at: start, "this class is not closed") }
    switch scalar {
    case "\\": return try item(at: place)
    case "[": throw fail(at: place, "classes can't be nested; write \\[ for the character itself")
    case "&" where next == "&":
      throw fail(at: place, "classes can't be intersected; write \\& for the character itself")
    case "-" where !isFirst && next != "]" && next != nil:
      throw fail(at: place, "write \\- for a dash, or put it first or last")
    default: return .scalar(scalar)
    }
  }

  /// Parses an escape that is the same inside and outside of brackets, after the backslash.
  private mutating func item(at start: Int) throws(RegularExpressionError) -> ClassItem {
    guard let scalar = consume() else {
      throw fail(at: start, "the pattern ends with a backslash; write \\\\ for the character itself")
    }
    switch scalar {
    case "t": return .scalar("\t")
    case "n": return .scalar("\n")
    case "r": return .scalar("\r")
    case "f": return .scalar("\u{C}")
    case "v": return .scalar("\u{B}")
    case "u": return .scalar(try number(at: start))
    case "s": return .ranges(ScalarSet.whiteSpace)
    case "S": return .ranges(ScalarSet.complement(of: ScalarSet.whiteSpace))
    case "w": return .property(.word)
    case "W": return .property(ScalarProperty.word.negated)
    case "d": return .property(try category(named: "Nd", at: start))
    case "D": return .property(try category(named: "Nd", at: start).negated)
    case "p": return .property(try category(at: start))
    case "P": return .property(try category(at: start).negated)
    case "b", "B": throw fail(at: start, "\\\(scalar) is a position; a class contains characters")
    default:
      if scalar.isASCII, scalar.value >= 0x20, !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) {
        return .scalar(scalar)
      }
      throw fail(at: start, "\\\(scalar) has no meaning here")
    }
  }

  private mutating func category(at start: Int) throws(RegularExpressionError) -> ScalarProperty {
    var name = ""
    guard accept("{") else { throw fail(at: start, "a category is written \\p{Lu}") }
    while let scalar = consume(), scalar != "}" { name.unicodeScalars.append(scalar) }
    guard scalars[position - 1] == "}" else { throw fail(at: start, "a category is written \\p{Lu}; } is missing") }
    return try category(named: name, at: start)
  }

  private func category(named name: String, at start: Int) throws(RegularExpressionError) -> ScalarProperty {
    guard let property = ScalarProperty(category: name) else {
      throw fail(at: start, "no general category of Unicode is called \(name.isEmpty ? "that" : name)")
    }
    return property
  }

  /// Parses `\u{1F600}` or `\u00E4`, after `\u`.
  private mutating func number(at start: Int) throws(RegularExpressionError) -> Unicode.Scalar {
    let isBraced = accept("{")
    var digits = ""
    while let scalar = next, scalar.properties.isASCIIHexDigit, digits.utf8.count < (isBraced ? 6 : 4) {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    let isWhole = isBraced ? accept("}") && !digits.isEmpty : digits.utf8.count == 4
    guard isWhole, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
      throw fail(at: start, "a Unicode scalar is written \\u{1F600} or, with four digits, \\u00E4")
    }
    return scalar
  }

  /// Builds a class that also contains its members' folded forms; negation applies after that.
  private mutating func folded(
    _ ranges: [ClosedRange<UInt32>], _ properties: [ScalarProperty], isNegated: Bool
  ) -> ScalarSet {
    guard let table = ScalarFolding.table(for: options) else {
      return ScalarSet(ranges: ranges, properties: properties, isNegated: isNegated)
    }
    var ranges = ranges + table.images(of: ranges)
    for property in properties {
      if foldedProperties[property] == nil { foldedProperties[property] = table.images(of: property) }
      ranges += foldedProperties[property, default: []]
    }
    return ScalarSet(ranges: ranges, properties: properties, isNegated: isNegated)
  }
}
