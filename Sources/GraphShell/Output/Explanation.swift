import GraphModel

extension Output {
  /// Prints the query plan of a fetch, in text output in paragraphs.
  package func show(_ explanation: FetchExplanation) {
    guard !json else { return print(explanation.json) }
    var lines = explanation.statements.map(TextTable.visible)
    if !explanation.arguments.isEmpty {
      let types = explanation.arguments.enumerated().map { "?\($0.offset + 1) \($0.element)" }
      lines.append(dim(types.joined(separator: ", ")))
    }
    lines += explanation.plan.map { "  " + TextTable.visible($0) }
    lines.append(
      explanation.indexes.isEmpty
        ? "no index is used except that of ids" : "indexes: " + explanation.indexes.joined(separator: ", "))
    lines.append(explanation.checksInMemory ? "SQL selects, and each object is checked in memory" : "SQL decides alone")
    lines += explanation.advice.map { "\"indexed\": true on \($0) in the model would help" }
    let (whole, rest) = explanation.microseconds.quotientAndRemainder(dividingBy: 1_000)
    let thousandths = String(String(1_000 + rest).dropFirst())
    lines.append("\(Self.count(explanation.count, "result")) in \(whole).\(thousandths) ms")
    print(lines.joined(separator: "\n"))
  }
}

extension FetchExplanation {
  /// The explanation as `--json` prints it.
  fileprivate var json: JSON {
    func list(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }
    return .object([
      .init("statements", list(statements)), .init("arguments", list(arguments)), .init("plan", list(plan)),
      .init("indexes", list(indexes)), .init("checksInMemory", .bool(checksInMemory)),
      .init("advice", list(advice)), .init("microseconds", .integer(microseconds)),
      .init("count", .integer(Int64(count))),
    ])
  }
}
