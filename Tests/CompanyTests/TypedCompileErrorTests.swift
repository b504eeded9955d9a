import Testing

/// The mistakes that the compiler refuses. Each mistake is compiled, and so is its correction, which stands after it.
@Suite struct TypedCompileErrorTests {
  private static let projects = [
    // No such case.
    ("$0.status == .cancelled", "$0.status == .done"),
    // Many values: any, all or none is missing.
    (#"$0.members.name == "Ann""#, #"$0.members.any.name == "Ann""#),
    // Nothing is calculated from many values.
    ("$0.members.any.number + 1 > 2", "$0.members.any.number > 1"),
    // The name is required.
    ("$0.members.any.name == nil", "$0.members.any.email == nil"),
  ]

  private static let people = [
    // No such property.
    (#"$0.nmae == "Ann""#, #"$0.name == "Ann""#),
    // A person need not be a contractor.
    (#"$0.agency == "Lend & Co""#, #"$0.email == "a@b.example""#),
    // A number is no text, for no operator.
    (#"$0.number == "7""#, "$0.number == 7"),
    (#"$0.number.contains("7")"#, #"$0.number.asText.contains("7")"#),
    // The department is required.
    ("$0.department == nil", "$0.manager == nil"),
    // A department is no person.
    ("$0.department == $0.manager", "$0.department == $0.manager.department"),
    // The model does not mark it fullText.
    (#"$0.email.search("ann")"#, #"$0.name.search("ann")"#),
    // A date is no number, and a decimal no whole one.
    ("$0.hired == $0.number", "$0.hired == $0.manager.hired"),
    ("$0.salary > $0.number", "$0.salary > $0.number.asDecimal"),
    // Neither truth nor a document has an order.
    ("$0.remote > false", "$0.remote != false"),
    (#"$0.settings < "x""#, #"$0.settings != "x""#),
    (#"$0.settings.isIn("a"..."x")"#, #"$0.email.isIn("a"..."x")"#),
    // Texts have no sum.
    (#"$0.reports.sum(\.name) > 3"#, #"$0.reports.sum(\.number) > 3"#),
    // Not an attribute of the reports themselves.
    (#"$0.reports.sum(\.manager.number) > 3"#, #"$0.manager.reports.sum(\.number) > 3"#),
  ]

  private static let orders = [
    // No direction.
    (#"\.name"#, #"\.name.ascending"#),
    // Objects have no order.
    (#"\.manager.ascending"#, #"\.manager.name.ascending"#),
    // Many values have none.
    (#"\.projects.any.title.ascending"#, #"\.projects.count.ascending"#),
    // No index has calculated values.
    (#"\.name.lowercased.ascending"#, #"\.name.localized.ascending"#),
    // A number has digits and no words.
    (#"\.number.natural.ascending"#, #"\.number.ascending"#),
  ]

  private static let fetches = [
    // Nothing is before nothing; but there are projects without a client.
    ("Project.overdue(now: nil, client: nil)", "Project.overdue(now: Date.distantPast, client: nil)")
  ]

  @Test func invalidTypedPredicatesDoNotCompile() throws {
    let compiler = try Compiler()
    let pairs =
      Self.projects.map { ("GraphPredicate(Project.self) { ", $0, " }") }
      + Self.people.map { ("GraphPredicate(Person.self) { ", $0, " }") }
      + Self.orders.map { ("[SortKey](Person.self, [", $0, "])") } + Self.fetches.map { ("", $0, "") }
    // Behind the imports each mistake, and below it what was meant.
    let lines = pairs.flatMap { head, pair, end in [pair.0, pair.1].map { "_ = " + head + $0 + end } }
    let imports = "import FoundationEssentials; import GraphModel; import GraphReplica"
    let program = ([imports] + lines + [""]).joined(separator: "\n")
    let result = try compiler.check([
      "main.swift": program, "Generated.swift": compiler.classes(ofSchema: "Company"),
    ])
    #expect(result.status != 0)
    // FILE:LINE:COLUMN: error: …
    var wrong = Set<Int>()
    for line in result.text.split(separator: "\n") where line.contains(": error: ") {
      let place = line.split(separator: ":", maxSplits: 3)
      let isOurs = place.count == 4 && place[0].hasSuffix("/main.swift")
      #expect(isOurs, "\(line)")
      if isOurs, let number = Int(place[1]) { wrong.insert(number) }
    }
    for (index, text) in lines.enumerated() {
      let isMistake = index % 2 == 0
      #expect(wrong.contains(index + 2) == isMistake, "\(text)\n\(result.text)")
    }
    try compiler.clean()
  }
}
