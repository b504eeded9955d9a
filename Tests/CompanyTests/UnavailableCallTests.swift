import Testing

/// Calls of Core Data and SwiftData that a context or an object does not have: the compiler says what to call instead.
@Suite struct UnavailableCallTests {
  /// A statement, and a part of the compiler's message.
  private static let calls = [
    ("try context.save()", "call client.save()"),
    ("context.undo()", "call client.undo()"),
    ("context.redo()", "call client.redo()"),
    ("_ = context.undoManager", "call client.undo()"),
    ("context.refresh(person)", "call client.fetchOne(Person.self, id: id)"),
    ("context.refresh(person, mergeChanges: true)", "call client.fetchOne(Person.self, id: id)"),
    ("_ = try context.fetch(Person.self)", "call client.fetch(Person.self"),
    ("_ = try context.fetch(Person.self, where: { $0.remote })", "call client.fetch(Person.self"),
    (
      #"_ = try context.fetch(Person.self, where: { $0.name == "Ann" }, sort: [\.name.ascending])"#,
      "call client.fetch(Person.self"
    ),
    ("_ = context.object(with: person.id)", "call client.fetchOne(Person.self, id: id)"),
    ("_ = try context.existingObject(with: person.id)", "call client.fetchOne(Person.self, id: id)"),
    ("context.insert(person)", "Person(in: client.context)"),
    ("context.perform { context.delete(person) }", "background context"),
    ("_ = context.automaticallyMergesChangesFromParent", "always merges"),
    ("_ = Person(context: context)", "renamed to 'init(in:)'"),
    ("_ = Person()", "Person(in: client.context)"),
    ("person.reports.append(person)", "renamed to 'insert(_:)'"),
    ("_ = person.objectID", "renamed to 'id'"),
    ("_ = person.persistentModelID", "renamed to 'id'"),
    ("_ = person.managedObjectContext", "renamed to 'context'"),
    ("_ = person.modelContext", "renamed to 'context'"),
  ]

  @Test func compilerNamesTheCallToUseInstead() throws {
    let compiler = try Compiler()
    let head = "import GraphModel; import GraphReplica; func use(_ context: ObjectContext, _ person: Person) throws {"
    // The calls of this library below, which compile.
    let valid = "let new = Person(in: context); context.delete(new); _ = (person.id, person.context)"
    let program = ([head] + Self.calls.map(\.0) + [valid, "}", ""]).joined(separator: "\n")
    let result = try compiler.check(["main.swift": program, "Generated.swift": compiler.classes(ofSchema: "Company")])
    #expect(result.status != 0)
    var messages = [Int: String]()
    for line in result.text.split(separator: "\n") where line.contains(": error: ") {
      // FILE:LINE:COLUMN: error: …
      let place = line.split(separator: ":", maxSplits: 3)
      let isOurs = place.count == 4 && place[0].hasSuffix("/main.swift")
      #expect(isOurs, "\(line)")
      if isOurs, let number = Int(place[1]) { messages[number, default: ""] += place[3] }
    }
    for (index, (call, part)) in Self.calls.enumerated() {
      #expect(messages[index + 2]?.contains(part) == true, "\(call): \(messages[index + 2, default: "no message"])")
    }
    #expect(messages.count == Self.calls.count, "\(result.text)")
    try compiler.clean()
  }
}
