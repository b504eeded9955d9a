import Testing

/// The mistakes that the compiler refuses. Each mistake and the correction after it are compiled.
@Suite struct TypedCompileErrorTests {
  private static let projects = [
    // No such case.
    ("$0.status == .cancelled", "$0.status == .done"),
    // A to-many has many values, so `any`, `all` or `none` is required.
    (#"$0.members.name == "Ann""#, #"$0.members.any.name == "Ann""#),
    // A calculation can't use many values.
    ("$0.members.any.number + 1 > 2", "$0.members.any.number > 1"),
    // The name is required.
    ("$0.members.any.name == nil", "$0.members.any.email == nil"),
  ]

  private static let people = [
    // No such property.
    (#"$0.nmae == "Ann""#, #"$0.name == "Ann""#),
    // A person need not be a contractor.
    (#"$0.agency == "Lend & Co""#, #"$0.email == "a@b.example""#),
    // No operator compares a number with a text.
    (#"$0.number == "7""#, "$0.number == 7"),
    (#"$0.number.contains("7")"#, #"$0.number.asText.contains("7")"#),
    // The department is required.
    ("$0.department == nil", "$0.manager == nil"),
    // A department is no person.
    ("$0.department == $0.manager", "$0.department == $0.manager.department"),
    // The model does not mark the attribute as fullText.
    (#"$0.email.search("ann")"#, #"$0.name.search("ann")"#),
    // A date is not a number, and a decimal is not an integer.
    ("$0.hired == $0.number", "$0.hired == $0.manager.hired"),
    ("$0.salary > $0.number", "$0.salary > $0.number.asDecimal"),
    // Only an attribute that is true or false is a condition.
    ("$0.number && $0.remote", "$0.number > 0 && $0.remote"),
    ("!$0.name", #"!($0.name == "")"#),
    // Booleans and documents have no order.
    ("$0.remote > false", "$0.remote != false"),
    (#"$0.settings < "x""#, #"$0.settings != "x""#),
    (#"$0.settings.isIn("a"..."x")"#, #"$0.email.isIn("a"..."x")"#),
    // Texts can't be summed.
    (#"$0.reports.sum(\.name) > 3"#, #"$0.reports.sum(\.number) > 3"#),
    // Only the reports' own attributes can be summed.
    (#"$0.reports.sum(\.manager.number) > 3"#, #"$0.manager.reports.sum(\.number) > 3"#),
  ]

  private static let orders = [
    // The sort key has no direction.
    (#"\.name"#, #"\.name.ascending"#),
    // Objects can't be sorted.
    (#"\.manager.ascending"#, #"\.manager.name.ascending"#),
    // Many values can't be sorted.
    (#"\.projects.any.title.ascending"#, #"\.projects.count.ascending"#),
    // Calculated values have no index.
    (#"\.name.lowercased.ascending"#, #"\.name.localized.ascending"#),
    // Only texts have a natural order.
    (#"\.number.natural.ascending"#, #"\.number.ascending"#),
  ]

  private static let fetches = [
    // A null is not less than a null, but projects without a client exist.
    ("Project.overdue(now: nil, client: nil)", "Project.overdue(now: Date.distantPast, client: nil)")
  ]

  @Test func invalidTypedPredicatesDoNotCompile() throws {
    let compiler = try Compiler()
    let pairs =
      Self.projects.map { ("GraphPredicate(Project.self) { ", $0, " }") }
      + Self.people.map { ("GraphPredicate(Person.self) { ", $0, " }") }
      + Self.orders.map { ("[SortKey](Person.self, [", $0, "])") } + Self.fetches.map { ("", $0, "") }
    // A file with each mistake after the imports, and the correction below it.
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
