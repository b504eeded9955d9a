/// Checking times that are calculated while a predicate is parsed. An overflow would become null, which has no type;
/// parsing the canonical text would then fail at a place that the author has not written.
extension PredicateParser {
  func refuseLostTime(
    _ result: Operand, of operands: [Operand], at place: Int
  ) throws(PredicateSyntaxError) {
    guard result.type == .date || result.type == .duration, case .value(let value) = result.expression else { return }
    switch value {
    case .date where result.type == .date, .integer where result.type == .duration: return
    default: break
    }
    if operands.contains(where: { $0.expression == .value(.null) }) {
      // `ifNull` handles it; a date of null is null.
      if result.type == .date { return }
      throw fail("null has no duration", at: place)
    }
    let isDivided = operands.count == 2 && operands[1].expression == .value(.integer(0))
    throw fail(isDivided ? "nothing can be divided by 0" : "the time lies outside the range", at: place)
  }
}
